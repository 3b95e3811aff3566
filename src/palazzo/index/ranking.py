"""Ranking: what is known of each of the best candidates, and of what stands around it, as one number.

    fused candidates ──best RERANKED──> + their neighbours ──signals──> a weighted sum

A drawer is judged by its own words and vector, by its neighbours in the conversation or document, by the source it
stands in, by who wrote it, and by the form of its text. The weights are fitted (`benchmarks/fit_ranking.py`) on
LoCoMo questions, by leaving one conversation out; what each signal is worth stands in `benchmarks/README.md`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from operator import mul
from typing import NamedTuple

from palazzo.index.fusion import Candidate
from palazzo.index.neighbour_search import Around
from palazzo.index.query import ParsedQuery
from palazzo.model import MAIN_LINES
from palazzo.security.source_trust import is_shell
from palazzo.store.drawers import DrawerPlacement
from palazzo.text.questions import Marks

RERANK_LIMIT = 30
"""Candidates that are looked at closely, their neighbours besides. As many do as well as all on LoCoMo."""
_NEAREST = 4
"""Those of them that are the nearest by vector, whatever their words: an answer in other words has none of the
question's, and the fused score puts whatever has some before it."""
_DEFAULT_COSINE = 0.5
"""What a cosine counts that has no other to be held against."""
_LONG_ENOUGH = 200
"""Characters from which a text's length says no more about it."""
_LENGTHS = tuple(math.log1p(size) / math.log1p(_LONG_ENOUGH) for size in range(_LONG_ENOUGH + 1))
"""The signal `length` by characters."""
_ASKS, _SPEAKS_OF_TIME = int(Marks.ASKS), int(Marks.SPEAKS_OF_TIME)


class Signals(NamedTuple):
    """What speaks for a drawer; all within 0 and 1, but `beside` and `near`, sums of two, and `branch`, from -1 on."""

    words: float = 0.0
    """Its BM25, of the best in the answer."""
    vector: float = 0.0
    """Its cosine, between the least and the greatest in the answer."""
    beside: float = 0.0
    """`words` of the drawers right before and after it."""
    near: float = 0.0
    """`words` of the next two."""
    window: float = 0.0
    """The cosine of the mean of its own vector and its neighbours'."""
    stretch: float = 0.0
    """The same of two neighbours on each side."""
    source: float = 0.0
    """The best fused score in its source, of the best in the answer."""
    others: float = 0.0
    """The fused scores of its source's other candidates, each counting half of the one before, of the best."""
    covered: float = 0.0
    """The share of what the words asked for are worth (IDF) that its source has, somewhere in it."""
    place: float = 0.0
    """Whether the question names its wing."""
    home: float = 0.0
    """Whether it is of the project that is asked from."""
    tool: float = 0.0
    """Whether it is what a tool was told and answered: it holds the words, prose has the reason."""
    named: float = 0.0
    """Whether the question names its author."""
    timed: float = 0.0
    """Whether the question asks when, and the text speaks of a time."""
    asks: float = 0.0
    """Whether it is itself a question."""
    length: float = 0.0
    """How long it is; a few words seldom answer anything."""
    document: float = 0.0
    """Whether it is a section of a document: there are many, and each says something of everything."""
    held: float = 0.0
    """The share of what the words asked for are worth that it has itself."""
    follows: float = 0.0
    """The same of what was said right before it: a terse answer does not repeat what it answers."""
    command: float = 0.0
    """Whether the question asks how to do something, and it is what a shell was told."""
    latest: float = 0.0
    """Whether it holds the question's rarest identifier, in the source that spoke of it last."""
    together: float = 0.0
    """How often it was used together with something that ranks high here, or that the session has used."""
    branch: float = 0.0
    """In the project that is asked from: 1 for what was written on the branch that is checked out; where that is a main
    line, nothing for what belongs to it, and -1 for what was written on another branch. So a main line, of which nearly
    everything is, does not lift a project above others."""


class CandidateRank(NamedTuple):
    """A candidate, what speaks for it, the number that came of it, by which weights, and whether people talk in it."""

    candidate: Candidate
    signals: Signals
    rank: float
    weights: Signals
    is_talk: bool = False

    @property
    def of_its_own(self) -> float:
        """The rank without the lifts of place and of use, which make nothing more likely to answer."""
        signals, weights = self.signals, self.weights
        lifts = signals.home * weights.home + signals.together * weights.together + signals.branch * weights.branch
        return self.rank - lifts


_NOTHING = Signals()
CO_USE_WEIGHT = 0.2
"""The weight of `together`, set by hand on made-up logs of use (`benchmarks/used_together.py`): half as much gains next
to nothing where what was used is asked for again, more costs more where agents named what did not answer."""
BRANCH = 0.1
"""The weight of `branch`, set by hand to half of the least other lift: of two that answer about as well, the one that
belongs to what is checked out comes first. The coding suite loses nothing by it (`benchmarks/branch_lift.py`)."""
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
)
"""For what is said to agents and what these do, for documents and notes. `words` was fitted as 0.17 and `follows`,
since it is of exchanges alone, as 0.61; with either a lone word no longer finds the drawer that has it. `home` is set
by hand, since the suite that fits the rest is asked from nowhere. All else was fitted."""


def closest(candidates: Sequence[Candidate], near: Collection[int]) -> list[Candidate]:
    """Return the candidates to look at closely: the best, the nearest by vector, and of both those of wings `near`."""
    by_vector = sorted(
        (candidate for candidate in candidates if candidate.cosine is not None), key=lambda one: -(one.cosine or 0.0)
    )
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
    """Return candidates and their neighbours, best first; candidates that were not looked at follow in their order.

    Signals that `without` names count nothing.
    """
    talk, work = weights_without(TALK, disabled_stages), weights_without(WORK, disabled_stages)
    scale = _Scale(candidates, around)
    by_row = {candidate.row: candidate for candidate in candidates}
    wings = {
        wing: float(parsed_query.names_wing(wing)) for wing in {around.placements[row].wing for row in around.rows}
    }
    agents = _of_agents(around)
    looked_at = []
    for row in around.rows:
        candidate = by_row.get(row) or Candidate(row, around.cosines.get(row), None, 0.0)
        signals = _signals(candidate, parsed_query, around, scale, wings)
        placement = around.placements[row]
        is_talk = placement.source not in agents and _is_talk(placement)
        weights = talk if is_talk else work
        looked_at.append(CandidateRank(candidate, signals, total(signals, weights), weights, is_talk))
    if around.partners:
        looked_at = _lift_partners(looked_at, around)
    looked_at.sort(key=lambda one: (-one.rank, *_newest(around.placements[one.candidate.row])))
    ranked_rows = set(around.rows)
    least = looked_at[-1].rank if looked_at else 0.0
    rest = [
        CandidateRank(leftover, _NOTHING, least - 1 + leftover.rank_score / 2, work)
        for leftover in candidates
        if leftover.row not in ranked_rows
    ]
    return looked_at + rest


def _newest(placement: DrawerPlacement) -> tuple[int, bytes, int]:
    """What decides between equals: when it was said, and its id. Row ids alone would be another on each machine."""
    return -placement.created_at, placement.uid, -placement.row


def _lift_partners(candidate_ranks: Sequence[CandidateRank], around: Around) -> list[CandidateRank]:
    """What was used with something good is a little better: by how near that is to the best, all of it if it is used.

    Every lift is by the ranks without any, so that two do not lift each other to the top.
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
    """Whether somebody who is known by name said it, and no agent answered."""
    return placement.kind == "exchange" and bool(placement.author) and "assistant" not in placement.role


def _of_agents(around: Around) -> set[int]:
    """Return the sources in which, as far as is known, an agent answers or uses tools."""
    return {
        placement.source
        for placement in around.placements.values()
        if placement.kind == "tool" or "assistant" in placement.role
    }


def weights_without(weights: Signals, names: Collection[str]) -> Signals:
    """Return the weights with those of the named signals at nothing."""
    return weights._replace(**dict.fromkeys((name for name in names if name in Signals._fields), 0.0))


def total(signals: Signals, weights: Signals) -> float:
    """Return the weighted sum of the signals."""
    return float(sum(map(mul, signals, weights)))


class _Scale:
    """The greatest and least of the answer, against which each candidate is held."""

    def __init__(self, candidates: Sequence[Candidate], around: Around) -> None:
        cosines = [candidate.cosine for candidate in candidates if candidate.cosine is not None]
        self.has_cosines = bool(cosines)
        self._least = min(cosines, default=0.0)
        self._width = max(cosines, default=0.0) - self._least
        self._words = max((candidate.bm25 for candidate in candidates if candidate.bm25 is not None), default=0.0)
        by_source: dict[int, list[float]] = {}
        for candidate in candidates:
            placement = around.placements.get(candidate.row)
            if placement is not None:
                by_source.setdefault(placement.source, []).append(candidate.rank_score)
        for scores in by_source.values():
            scores.sort(reverse=True)
        top = max((scores[0] for scores in by_source.values()), default=0.0)
        self._by_source = {source: _of_source(scores, top) for source, scores in by_source.items()}
        self.words = {
            candidate.row: self._share(candidate.bm25) for candidate in candidates if candidate.bm25 is not None
        }
        """The signal `words` by row."""

    def cosine(self, value: float | None) -> float:
        if value is None:
            return 0.0
        return max(0.0, (value - self._least) / self._width) if self._width > 1e-9 else _DEFAULT_COSINE

    def source(self, source: int) -> tuple[float, float]:
        """Return the signals `source` and `others`."""
        return self._by_source.get(source, (0.0, 0.0))

    def _share(self, bm25: float) -> float:
        return bm25 / self._words if self._words > 1e-9 else 1.0


def _of_source(scores: Sequence[float], top: float) -> tuple[float, float]:
    if top <= 1e-9:
        return 0.0, 0.0
    return scores[0] / top, sum(score * 0.5**n for n, score in enumerate(scores[1:6])) / top


def _signals(
    candidate: Candidate, parsed_query: ParsedQuery, around: Around, scale: _Scale, wings: Mapping[str, float]
) -> Signals:
    row = candidate.row
    placement = around.placements[row]
    preceding_rows, following_rows = around.neighbours.get(row, ((), ()))
    own = candidate.cosine if candidate.cosine is not None else around.cosines.get(row)
    word_scores = scale.words
    words = word_scores.get(row, 0.0)
    vector = scale.cosine(own)
    window, stretch = scale.cosine(around.windows.get(row)), scale.cosine(around.stretches.get(row))
    if own is None and scale.has_cosines:  # its vector is still to be made: what is not known must not count against it
        vector, window, stretch = max(vector, words), max(window, words), max(stretch, words)
    source, sibling_score = scale.source(placement.source)
    return Signals(
        words=words,
        vector=vector,
        beside=_at(word_scores, preceding_rows, 0) + _at(word_scores, following_rows, 0),
        near=_at(word_scores, preceding_rows, 1) + _at(word_scores, following_rows, 1),
        window=window,
        stretch=stretch,
        source=source,
        others=sibling_score,
        covered=around.coverage.get(placement.source, 0.0),
        place=wings[placement.wing],
        home=1.0 if placement.wing == parsed_query.home else 0.0,
        tool=1.0 if placement.kind == "tool" else 0.0,
        named=1.0 if placement.author and placement.author in parsed_query.author_names else 0.0,
        timed=1.0 if parsed_query.asks_when and placement.marks & _SPEAKS_OF_TIME else 0.0,
        asks=1.0 if placement.marks & _ASKS else 0.0,
        length=_LENGTHS[min(placement.size, _LONG_ENOUGH)],
        document=1.0 if placement.kind == "section" else 0.0,
        held=around.share(row),
        follows=around.share(preceding_rows[0]) if preceding_rows and placement.kind == "exchange" else 0.0,
        command=1.0 if parsed_query.asks_how and placement.kind == "tool" and is_shell(placement.title) else 0.0,
        latest=1.0 if row in around.latest else 0.0,
        branch=_of_branch(placement.branch, parsed_query.checked_out) if placement.wing == parsed_query.home else 0.0,
    )


def _of_branch(branch: str, checked_out: str | None) -> float:
    """The signal `branch` of a drawer at home."""
    if checked_out is None:
        return 0.0
    if checked_out in MAIN_LINES:
        return 0.0 if branch in MAIN_LINES else -1.0
    return 1.0 if branch == checked_out else 0.0


def belongs(branch: str, checked_out: str | None) -> bool:
    """Whether words of a branch belong to the one that is checked out: the main lines' to each other, none to None."""
    if checked_out is None:
        return False
    return branch == checked_out or (branch in MAIN_LINES and checked_out in MAIN_LINES)


def _at(word_scores: Mapping[int, float], side: Sequence[int], n: int) -> float:
    return word_scores.get(side[n], 0.0) if len(side) > n else 0.0
