"""Reranking: the order of the candidates when the best of them were compared with the query token by token.

The weights are fitted as those of `ranking` are (`benchmarks/fit_ranking.py`). They are weights of their own, since a
match of tokens says most of what a vector says, and more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from palazzo.index.neighbour_search import Around
from palazzo.index.ranking import (
    BRANCH,
    CO_USE_WEIGHT,
    FEEDBACK_WEIGHT,
    NOT_EXAMINED,
    PAGE,
    REASONING_WEIGHT,
    WORK,
    CandidateRank,
    total,
    weights_without,
)
from palazzo.index.signals import Signals
from palazzo.index.token_matching import TokenMatch

TALK_BY_TOKENS = Signals(
    words=0.11,
    beside=0.10,
    near=0.21,
    window=0.24,
    stretch=0.34,
    source=0.57,
    others=-0.23,
    covered=0.70,
    place=1.00,
    home=0.80,
    tool=-0.40,
    named=0.25,
    timed=0.52,
    asks=-0.30,
    length=0.40,
    together=CO_USE_WEIGHT,
    branch=BRANCH,
    feedback=FEEDBACK_WEIGHT,
    tokens=0.56,
    rare_tokens=0.33,
    follows_tokens=0.14,
)
"""For messages between people."""
WORK_BY_TOKENS = Signals(
    words=0.10,
    vector=0.20,
    beside=-0.08,
    near=0.05,
    window=0.09,
    stretch=0.32,
    source=0.69,
    covered=0.88,
    place=1.06,
    home=0.80,
    tool=-0.18,
    named=0.25,
    timed=0.55,
    asks=-0.36,
    length=0.52,
    document=-0.28,
    held=0.10,
    follows=0.28,
    command=0.43,
    latest=0.08,
    together=CO_USE_WEIGHT,
    branch=BRANCH,
    feedback=FEEDBACK_WEIGHT,
    tokens=0.56,
    rare_tokens=0.33,
    follows_tokens=0.44,
)
"""For everything else but sections of documents. `home` is set by hand, as in `ranking`; `words` is a bound of the fit,
without which it is below zero.
"""
PAGE_BY_TOKENS = WORK_BY_TOKENS._replace(
    **{
        name: round(getattr(WORK_BY_TOKENS, name) + getattr(PAGE, name) - getattr(WORK, name), 2)
        for name in PAGE._fields
    }
)
"""For sections of documents: what they have more and less than work is the same as without tokens."""


def rerank(
    candidate_ranks: Sequence[CandidateRank],
    matches: Mapping[int, TokenMatch],
    around: Around,
    disabled_stages: Collection[str] = (),
) -> list[CandidateRank]:
    """Return the candidates in their order by tokens as well; `matches` are those of the best ones, by row.

    Candidates that were not examined stay behind the others.
    """
    talk, work, page = (
        weights_without(weights, disabled_stages) for weights in (TALK_BY_TOKENS, WORK_BY_TOKENS, PAGE_BY_TOKENS)
    )
    means = _spread({row: match.mean for row, match in matches.items()})
    weighted_means = _spread({row: match.weighted_mean for row, match in matches.items()})
    examined = [candidate_rank for candidate_rank in candidate_ranks if candidate_rank.signals is not NOT_EXAMINED]
    rest = candidate_ranks[len(examined) :]
    results = []
    for candidate_rank in examined:
        row = candidate_rank.candidate.row
        signals = candidate_rank.signals._replace(
            tokens=means.get(row, 0.0),
            rare_tokens=weighted_means.get(row, 0.0),
            follows_tokens=max(
                (weighted_means.get(before, 0.0) for before in _preceding_message(row, around)), default=0.0
            ),
        )
        weights = talk if candidate_rank.is_talk else page if signals.document else work
        results.append(candidate_rank._replace(signals=signals, weights=weights, rank=total(signals, weights)))
    results.sort(key=lambda candidate_rank: -candidate_rank.rank)
    change = results[-1].rank - examined[-1].rank if examined else 0.0
    return results + [candidate_rank._replace(rank=candidate_rank.rank + change) for candidate_rank in rest]


def rerank_reasoning(
    candidate_ranks: Sequence[CandidateRank],
    matches: Mapping[int, TokenMatch],
    other_matches: Mapping[int, TokenMatch],
    disabled_stages: Collection[str] = (),
) -> list[CandidateRank]:
    """Return reasoning in its order by tokens as well, on the scale of the others; what has no match is left out."""
    weights = weights_without(WORK_BY_TOKENS._replace(reasoning=REASONING_WEIGHT), disabled_stages)
    bounds = other_matches or matches
    results = []
    for candidate_rank in candidate_ranks:
        match = matches.get(candidate_rank.candidate.row)
        if match is not None:
            signals = candidate_rank.signals._replace(
                tokens=_scale_between(match.mean, [other.mean for other in bounds.values()]),
                rare_tokens=_scale_between(match.weighted_mean, [other.weighted_mean for other in bounds.values()]),
            )
            results.append(candidate_rank._replace(signals=signals, weights=weights, rank=total(signals, weights)))
    return sorted(results, key=lambda candidate_rank: -candidate_rank.rank)


def _scale_between(value: float, values: Collection[float]) -> float:
    least, most = min(values), max(values)
    return min(max((value - least) / (most - least), 0.0), 1.0) if most - least > 1e-9 else 1.0


def _preceding_message(row: int, around: Around) -> Sequence[int]:
    """Return the message immediately before a message, if there is one."""
    is_message = around.placements[row].kind == "exchange"
    return around.neighbours[row][0][:1] if is_message and row in around.neighbours else ()


def _spread(values: Mapping[int, float]) -> dict[int, float]:
    """Return the values scaled so that the lowest is 0 and the highest 1."""
    least, most = min(values.values(), default=0.0), max(values.values(), default=0.0)
    return {row: (value - least) / (most - least) if most - least > 1e-9 else 1.0 for row, value in values.items()}
