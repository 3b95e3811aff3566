"""Ranking: all signals about each of the best candidates and their surroundings, combined into one number.

    fused candidates ──best RERANKED──> + their neighbours ──signals──> a weighted sum

A drawer is judged by its own words and vector, by its neighbours in the conversation or document, by its source, by its
writer, and by the form of its text. The weights are fitted (`benchmarks/fit_ranking.py`) on LoCoMo questions with
leave-one-conversation-out; `benchmarks/README.md` states the contribution of each signal.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import repeat
from operator import attrgetter, mul
from typing import NamedTuple

from palazzo.index.fusion import Candidate
from palazzo.index.neighbour_search import Around
from palazzo.index.query import ParsedQuery
from palazzo.index.signals import Scale, Signals, compute_signals
from palazzo.named_tuples import make_rows
from palazzo.store.drawers import DrawerPlacement

RERANK_LIMIT = 30
"""The most candidates that are reranked, in addition to their neighbours. On LoCoMo this does as well as reranking
all.
"""
_NEAREST = 4
"""How many of them are the nearest by vector, whatever their words: an answer in other words has no word of the query,
and the fused score puts any candidate that has some before it.
"""


class CandidateRank(NamedTuple):
    """A candidate, its signals, its resulting rank score, the weights used, and whether it is talk between people."""

    candidate: Candidate
    signals: Signals
    rank: float
    weights: Signals
    is_talk: bool = False

    @property
    def of_its_own(self) -> float:
        """Return the rank without the lifts for place and use, which do not make a hit a likelier answer."""
        signals, weights = self.signals, self.weights
        lifts = signals.home * weights.home + signals.together * weights.together + signals.branch * weights.branch
        return self.rank - lifts


NOT_EXAMINED = Signals()
"""The signals of a candidate that was not examined."""
CO_USE_WEIGHT = 0.2
"""The weight of `together`, set by hand on synthetic usage logs (`benchmarks/used_together.py`): half of it gains
almost nothing where used entries are requested again; more costs more where agents named entries that did not answer.
"""
BRANCH = 0.1
"""The weight of `branch`, set by hand to half of the smallest other lift: of two drawers that answer about equally
well, the one that belongs to the current checkout comes first. The coding suite loses nothing by it
(`benchmarks/branch_lift.py`).
"""
FEEDBACK_WEIGHT = 0.5
"""The weight of `feedback`, set by hand on designed verdicts: of those tried the largest with which questions that were
not judged lose nothing, and verdicts by lot do no harm (`benchmarks/feedback.py`).
"""
REASONING_WEIGHT = -0.5
"""The weight of `reasoning`, set by hand: of those tried the largest with which what was said is found as before, and
reasoning that nobody said is found among five for 71 of 100 questions (`benchmarks/reasoning.py`).
"""
TALK = Signals(
    words=0.40,
    vector=0.70,
    beside=0.08,
    near=0.15,
    window=0.48,
    stretch=0.25,
    source=0.75,
    others=-0.22,
    covered=0.92,
    place=1.00,
    home=0.80,
    tool=-0.40,
    named=0.26,
    timed=0.26,
    asks=-0.30,
    length=1.08,
    together=CO_USE_WEIGHT,
    branch=BRANCH,
    feedback=FEEDBACK_WEIGHT,
)
"""For messages between people."""
WORK = Signals(
    words=0.40,
    vector=0.93,
    beside=-0.12,
    near=-0.19,
    window=0.35,
    stretch=0.16,
    source=0.86,
    others=0.04,
    covered=1.11,
    place=1.08,
    home=0.80,
    tool=-0.33,
    named=0.26,
    timed=0.35,
    asks=-0.31,
    length=1.04,
    document=-0.41,
    held=0.28,
    follows=0.40,
    command=0.45,
    latest=0.27,
    together=CO_USE_WEIGHT,
    branch=BRANCH,
    feedback=FEEDBACK_WEIGHT,
)
"""For messages to and actions of agents, for documents and notes. `words` was fitted as 0.17, and `follows`, which only
exchanges have, as 0.61; with either, a single word no longer finds the drawer that contains it. `home` is set by hand,
since the suite that fits the others has no current project. All others were fitted.
"""
PAGE = WORK._replace(vector=1.23, window=0.55, stretch=0.76, document=-1.29)
"""For sections of documents, if there are vectors: a page speaks of one subject, so its neighbouring sections say more
about a section than the turns around a message do. Raised on the dev halves of `benchmarks/docs_search.py`; `document`
falls by as much as the others rise on average, so that sections do not gain on messages.
"""


def closest(candidates: Sequence[Candidate], near: Collection[int]) -> list[Candidate]:
    """Return the candidates to examine: the best, the nearest by vector, and of both those of wings `near`."""
    with_vector = (candidate for candidate in candidates if candidate.cosine is not None)
    by_vector = sorted(with_vector, key=attrgetter("cosine"), reverse=True)
    picks = by_vector[:_NEAREST]
    if near:
        picks += [candidate for candidate in by_vector if candidate.row in near][:_NEAREST]
        picks += [candidate for candidate in candidates if candidate.row in near][:_NEAREST]
    rows = dict.fromkeys(candidate.row for candidate in (*picks, *candidates[:RERANK_LIMIT]))
    looked_at = frozenset(list(rows)[:RERANK_LIMIT])
    return [candidate for candidate in candidates if candidate.row in looked_at]


def rank(
    parsed_query: ParsedQuery, candidates: Sequence[Candidate], around: Around, disabled_stages: Collection[str] = ()
) -> list[CandidateRank]:
    """Return candidates and their neighbours, best first; candidates that were not examined follow in their order.

    Signals in `disabled_stages` do not count.
    """
    talk, work = weights_without(TALK, disabled_stages), weights_without(WORK, disabled_stages)
    scale = Scale(candidates, around)
    page = weights_without(PAGE, disabled_stages) if scale.has_cosines else work
    by_row = {candidate.row: candidate for candidate in candidates}
    wings = {
        wing: float(parsed_query.names_wing(wing)) for wing in {around.placements[row].wing for row in around.rows}
    }
    agents = _of_agents(around)
    examined_candidates = [by_row.get(row) or Candidate(row, around.cosines.get(row), None, 0.0) for row in around.rows]
    looked_at = []
    for candidate, signals in zip(
        examined_candidates, compute_signals(examined_candidates, parsed_query, around, scale, wings), strict=True
    ):
        placement = around.placements[candidate.row]
        is_talk = placement.source not in agents and _is_talk(placement)
        weights = talk if is_talk else page if placement.kind == "section" else work
        looked_at.append(CandidateRank(candidate, signals, total(signals, weights), weights, is_talk))
    if around.partners:
        looked_at = _lift_partners(looked_at, around)
    looked_at.sort(key=lambda one: (-one.rank, *_newest(around.placements[one.candidate.row])))
    ranked_rows = set(around.rows)
    least = looked_at[-1].rank if looked_at else 0.0
    leftovers = [candidate for candidate in candidates if candidate.row not in ranked_rows]
    ranks = [least - 1 + leftover.rank_score / 2 for leftover in leftovers]
    rest = zip(leftovers, repeat(NOT_EXAMINED), ranks, repeat(work), repeat(False))
    return looked_at + make_rows(CandidateRank, rest)


def rank_reasoning(
    parsed_query: ParsedQuery,
    candidates: Sequence[Candidate],
    around: Around,
    said_candidates: Sequence[Candidate],
    around_said: Around,
    disabled_stages: Collection[str] = (),
) -> list[CandidateRank]:
    """Return reasoning, best first, on the scale of the other candidates, which it leaves as they are.

    It has no neighbours. Its source counts by what else was found there, or by the reasoning itself.
    """
    weights = weights_without(WORK._replace(reasoning=REASONING_WEIGHT), disabled_stages)
    scale = Scale(said_candidates, around_said) if said_candidates else Scale(candidates, around)
    scale.add_words(candidates)
    wings = {placement.wing: float(parsed_query.names_wing(placement.wing)) for placement in around.placements.values()}
    examined_candidates = [candidate for candidate in candidates if candidate.row in around.placements]
    ranks = []
    for candidate, signals in zip(
        examined_candidates, compute_signals(examined_candidates, parsed_query, around, scale, wings), strict=True
    ):
        signals = signals._replace(
            source=max(signals.source, scale.share_of_best(candidate.rank_score)),
            covered=max(signals.covered, signals.held),
            reasoning=1.0,
        )
        ranks.append(CandidateRank(candidate, signals, total(signals, weights), weights))
    return sorted(ranks, key=lambda each: (-each.rank, *_newest(around.placements[each.candidate.row])))


def _newest(placement: DrawerPlacement) -> tuple[int, bytes, int]:
    """Return the tie-breaker: time of the statement, and ID. Row IDs alone would differ between machines."""
    return -placement.created_at, placement.uid, -placement.row


def _lift_partners(candidate_ranks: Sequence[CandidateRank], around: Around) -> list[CandidateRank]:
    """Lift drawers used together with good ones: by how close those are to the best, fully for those that were used.

    Every lift is computed from the ranks without lifts, so that two drawers do not lift each other to the top.
    """
    best = max(candidate_rank.rank for candidate_rank in candidate_ranks)
    good = {
        candidate_rank.candidate.row: math.exp(candidate_rank.rank - best) for candidate_rank in candidate_ranks
    } | dict.fromkeys(around.used, 1.0)
    results = []
    for candidate_rank in candidate_ranks:
        partners = around.partners.get(candidate_rank.candidate.row, {})
        co_use = max((strength * good.get(row, 0.0) for row, strength in partners.items()), default=0.0)
        signals = candidate_rank.signals._replace(together=co_use)
        results.append(
            candidate_rank._replace(
                signals=signals, rank=candidate_rank.rank + co_use * candidate_rank.weights.together
            )
        )
    return results


def _is_talk(placement: DrawerPlacement) -> bool:
    """Return whether a known person said it, and no agent answered."""
    return placement.kind == "exchange" and bool(placement.author) and "assistant" not in placement.role


def _of_agents(around: Around) -> set[int]:
    """Return the sources in which an agent is known to answer or to use tools."""
    return {
        placement.source
        for placement in around.placements.values()
        if placement.kind == "tool" or "assistant" in placement.role
    }


def weights_without(weights: Signals, names: Collection[str]) -> Signals:
    """Return the weights with those of the named signals set to zero."""
    return weights._replace(**dict.fromkeys((name for name in names if name in Signals._fields), 0.0))


def total(signals: Signals, weights: Signals) -> float:
    """Return the weighted sum of the signals."""
    return float(sum(map(mul, signals, weights)))
