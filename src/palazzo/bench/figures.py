"""Figures of a benchmark run: means over its questions, by type and by case, beside the baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from palazzo.bench.baselines import WAYS
from palazzo.bench.measures import margin, mean, measure, percentile
from palazzo.bench.retrieval import OURS, QuestionResult
from palazzo.bench.summaries import Levels, Share, Unanswerable


def select_scored(results: Iterable[QuestionResult]) -> list[QuestionResult]:
    """Return the questions that the data set's own evaluation counts and that have a known source."""
    return [result for result in results if result.question.is_scored and result.sessions]


def levels(results: Sequence[QuestionResult], way: str = OURS) -> Levels:
    """Return the means of one search method."""
    return Levels(mean(rows(results, "session", way)), mean(rows(results, "turn", way)))


def margins(results: Sequence[QuestionResult]) -> Levels:
    """Return half the width of each mean's 95 % interval over questions."""
    return Levels(margin(rows(results, "session")), margin(rows(results, "turn")))


def baselines(results: Sequence[QuestionResult]) -> dict[str, Levels]:
    """Return the means of the baselines."""
    return {way: levels(results, way) for way in WAYS}


def share(results: Sequence[QuestionResult]) -> Share:
    """Return the means of some of the questions, and how many have gold."""
    level_means = levels(results)
    return Share(level_means.session, level_means.turn, sum(bool(result.sessions) for result in results))


def by_type(results: Sequence[QuestionResult]) -> dict[str, Share]:
    """Return the means for each type of question, by name."""
    return _group_shares(results, lambda one: one.question.type)


def by_case(results: Sequence[QuestionResult]) -> dict[str, Share]:
    """Return the means for each case, in the file's order; nothing where each has one question."""
    shares_by_case = _group_shares(results, lambda one: one.case, in_order=True)
    return shares_by_case if len(shares_by_case) < len(results) else {}


def unanswerable(results: Sequence[QuestionResult]) -> Unanswerable:
    """Return how often the answer to an unanswerable question was empty."""
    unanswerable_results = [result for result in results if result.question.unanswerable]
    silent = sum(not result.rankings[OURS].sessions for result in unanswerable_results)
    return Unanswerable(
        len(unanswerable_results), round(100 * silent / len(unanswerable_results), 2) if unanswerable_results else None
    )


def latency(results: Sequence[QuestionResult]) -> dict[str, float]:
    """Return p50 and p95 of the search times, in milliseconds."""
    took = [result.took_ms for result in results]
    return {name: round(percentile(took, part), 2) for name, part in (("p50", 0.5), ("p95", 0.95))}


def rows(results: Iterable[QuestionResult], level: str, way: str = OURS) -> list[dict[str, float]]:
    """Return the measures of each question that has gold at `session` or `turn` level."""
    measures = []
    for result in results:
        ranking, gold = result.rankings[way], result.sessions if level == "session" else result.turns
        if gold:
            measures.append(measure(ranking.sessions if level == "session" else ranking.turns, gold))
    return measures


def _group_shares(
    results: Sequence[QuestionResult], of: Callable[[QuestionResult], str], in_order: bool = False
) -> dict[str, Share]:
    groups: dict[str, list[QuestionResult]] = {}
    for result in results:
        groups.setdefault(of(result), []).append(result)
    return {name: share(groups[name]) for name in (groups if in_order else sorted(groups))}
