"""What a run's questions come to: means over them, by type and by case, beside the baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from palazzo.bench.measures import margin, mean, measure, percentile
from palazzo.bench.plain import WAYS
from palazzo.bench.retrieval import OURS, Asked
from palazzo.bench.summaries import Levels, Share, Unanswerable


def counted(asked: Iterable[Asked]) -> list[Asked]:
    """Return the questions that the data set's own evaluation counts, as far as it names where the answer is."""
    return [one for one in asked if one.question.counted and one.sessions]


def levels(asked: Sequence[Asked], way: str = OURS) -> Levels:
    """Return the means of one way of looking."""
    return Levels(mean(rows(asked, "session", way)), mean(rows(asked, "turn", way)))


def margins(asked: Sequence[Asked]) -> Levels:
    """Return half the width of each mean's 95 % interval over questions."""
    return Levels(margin(rows(asked, "session")), margin(rows(asked, "turn")))


def baselines(asked: Sequence[Asked]) -> dict[str, Levels]:
    """Return the means of the baselines."""
    return {way: levels(asked, way) for way in WAYS}


def share(asked: Sequence[Asked]) -> Share:
    """Return the means of some of the questions, and how many have gold."""
    found = levels(asked)
    return Share(found.session, found.turn, sum(bool(one.sessions) for one in asked))


def by_type(asked: Sequence[Asked]) -> dict[str, Share]:
    """Return the means for each type of question, by name."""
    return _grouped(asked, lambda one: one.question.type)


def by_case(asked: Sequence[Asked]) -> dict[str, Share]:
    """Return the means for each case, in the file's order; nothing where each has one question."""
    found = _grouped(asked, lambda one: one.case, in_order=True)
    return found if len(found) < len(asked) else {}


def unanswerable(asked: Sequence[Asked]) -> Unanswerable:
    """Return how often nothing was the answer to a question that has none."""
    those = [one for one in asked if one.question.unanswerable]
    silent = sum(not one.found[OURS].sessions for one in those)
    return Unanswerable(len(those), round(100 * silent / len(those), 2) if those else None)


def latency(asked: Sequence[Asked]) -> dict[str, float]:
    """Return p50 and p95 of what searches took, in milliseconds."""
    took = [one.took_ms for one in asked]
    return {name: round(percentile(took, part), 2) for name, part in (("p50", 0.5), ("p95", 0.95))}


def rows(asked: Iterable[Asked], level: str, way: str = OURS) -> list[dict[str, float]]:
    """Return the measures of each question that has gold at `session` or `turn` level."""
    found = []
    for one in asked:
        ranking, wanted = one.found[way], one.sessions if level == "session" else one.turns
        if wanted:
            found.append(measure(ranking.sessions if level == "session" else ranking.turns, wanted))
    return found


def _grouped(asked: Sequence[Asked], of: Callable[[Asked], str], in_order: bool = False) -> dict[str, Share]:
    groups: dict[str, list[Asked]] = {}
    for one in asked:
        groups.setdefault(of(one), []).append(one)
    return {name: share(groups[name]) for name in (groups if in_order else sorted(groups))}
