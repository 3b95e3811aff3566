"""The comparison on public data sets: question by question, beside the better baseline."""

from __future__ import annotations

from benchmarks.public_sets import compare

from palazzo.bench.cases import Question
from palazzo.bench.retrieval import OURS, QuestionResult, Ranking


def results(ours: str, bm25: str, vector: str) -> list[QuestionResult]:
    """One question a letter, answered by session `a`; each letter is the session that a method puts first."""
    question = Question("?", "single-hop", frozenset(), frozenset("a"))
    return [
        QuestionResult(
            "case",
            question,
            frozenset(),
            question.sessions,
            {way: Ranking((), (session,)) for way, session in zip((OURS, "bm25", "vector"), found, strict=True)},
            1.0,
        )
        for found in zip(ours, bm25, vector, strict=True)
    ]


def test_differences_are_of_the_same_questions_and_from_the_better_baseline() -> None:
    row = compare(results("aaab", "abbb", "bbaa"), results("abab", "abbb", "bbaa"), "session", "any@1")
    assert row["by tokens"] == "75.0 (25–100)"
    assert (str(row["bm25"]).split()[0], str(row["vector"]).split()[0]) == ("25.0", "50.0")
    assert row["gained"] == "25.0 (0–75)"
    assert row["ahead"] == "25.0 (-50–100)"
