"""What the comparison with other memories rests on: the files that all get, and how hits are judged and read."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from benchmarks.peer_corpora import LabelledCorpus, LabelledQuestion, ShownHit, messages, write_coding, write_locomo
from benchmarks.peer_search import source_name
from benchmarks.peer_suite import figures, markdown

from benchmarks import peer_basic_memory, peer_deja_vu

CONVERSATION = {
    "sample_id": "conv-1",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kayak."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Which colour?"},
        ],
    },
    "qa": [
        {"question": "What did Ann buy?", "answer": "a kayak", "category": 4, "evidence": ["D1:1"]},
        {"question": "Who?", "answer": "?", "category": 4, "evidence": []},
    ],
}


@pytest.fixture
def locomo(tmp_path: Path) -> LabelledCorpus:
    """A conversation of two turns, written for all memories."""
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([CONVERSATION]), "utf-8")
    return write_locomo(tmp_path / "corpus", file, None, 1)


def test_a_conversation_becomes_a_transcript_with_both_speakers(locomo: LabelledCorpus) -> None:
    assert locomo.transcripts is not None
    (transcript,) = locomo.transcripts.rglob("*.jsonl")
    assert messages(transcript) == [("user", "Ann: I bought a kayak."), ("assistant", "Ben: Which colour?")]
    (question,) = locomo.questions
    assert question.sources == {transcript.stem}
    assert question.is_shown(ShownHit(transcript.stem, "> Ann: I bought\n> a kayak.\nBen: Which colour?"))
    assert not question.is_shown(ShownHit("another", "Ann: I bought a kayak."))
    assert not question.is_shown(ShownHit(transcript.stem, "Ben: Which colour?"))


def test_every_gold_answer_of_the_coding_suite_is_in_the_files(tmp_path: Path) -> None:
    corpus = write_coding(tmp_path / "corpus", 0, None, 1)
    assert corpus.transcripts is not None
    assert corpus.documents is not None
    texts = {path.stem: "\n".join(text for _, text in messages(path)) for path in corpus.transcripts.rglob("*.jsonl")}
    for page in corpus.documents.rglob("*.md"):
        texts[source_name(str(page), corpus)] = page.read_text("utf-8")
    assert len(corpus.questions) > 150
    for question in corpus.questions:
        assert question.sources <= texts.keys()
        assert any(question.is_shown(ShownHit(source, texts[source])) for source in question.sources), question.text


def test_shares_have_intervals_and_who_shows_no_words_answers_nothing() -> None:
    questions = tuple(LabelledQuestion(f"q{n}", frozenset({"a"}), ("seven",)) for n in range(4))
    corpus = LabelledCorpus("tiny", Path("nowhere"), questions)
    shown, other = ShownHit("a", "It is seven."), ShownHit("b", "seven")
    row = figures(corpus, "ours", [[shown], [other, shown], [other], []])
    assert row["source first"] == "25.0 (0–75)"
    assert str(row["words in 5"]).startswith("50.0 (")
    assert row["characters"] == 8
    assert markdown([row]).splitlines()[2].startswith("| tiny | ours | 4 | 25.0 (0–75) | 50.0 (")


def test_answers_of_peers_are_read() -> None:
    recalled = (
        "No exact match; sessions ranked by relevance to the whole query.\n\n"
        "1. [claude] tally · 6f1d6b52-1 · 3 matches · updated 2026-05-01 (6 months ago)\n  > the worker\n\n"
        "2. [claude] tally · 6f1d6b52-2 · 1 matches\n  round once\n"
    )
    assert [(hit.source, hit.text.splitlines()[-1].strip()) for hit in peer_deja_vu.read_hits(recalled)] == [
        ("6f1d6b52-1", "> the worker"),
        ("6f1d6b52-2", "round once"),
    ]
    found = {"results": [{"file_path": "sessions/s1.md", "content": "whole", "matched_chunk": "part"}]}
    assert peer_basic_memory.read_hits(json.dumps(found)) == [ShownHit("s1", "part")]


def test_a_note_of_basic_memory_without_words_or_with_a_part_without_a_vector_is_unindexed(tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    for name in ("whole", "half", "wordless"):
        (tmp_path / f"{name}.md").write_text("text", "utf-8")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE entity (id INTEGER PRIMARY KEY, file_path TEXT)")
        connection.execute("CREATE TABLE search_index (type TEXT, file_path TEXT)")
        connection.execute("CREATE TABLE search_vector_chunks (entity_id INTEGER, embedding_status TEXT)")
        connection.execute("INSERT INTO entity VALUES (1, 'whole.md'), (2, 'half.md'), (3, 'wordless.md')")
        connection.execute("INSERT INTO search_index VALUES ('entity', 'whole.md'), ('entity', 'half.md')")
        connection.execute("INSERT INTO search_index VALUES ('relation', 'wordless.md')")
        connection.execute("INSERT INTO search_vector_chunks VALUES (1, 'ready'), (2, 'ready'), (2, 'pending')")
    assert peer_basic_memory.unindexed_notes(tmp_path, database) == {"wordless.md"}
    assert peer_basic_memory.unindexed_notes(tmp_path, database, by_vectors=True) == {"half.md", "wordless.md"}
