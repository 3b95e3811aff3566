"""Ranking: all signals about each of the best candidates and their surroundings, combined into one number.

    fused candidates ──best RERANKED──> + their neighbours ──signals──> a weighted sum

A drawer is judged by its own words and vector, by its neighbours in the conversation or document, by its source, by its
writer, and by the form of its text. The weights are fitted (`benchmarks/fit_ranking.py`) on LoCoMo questions with
leave-one-conversation-out; `benchmarks/README.md` states the contribution of each signal.
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
from palazzo.security.tool_kinds import is_shell
from palazzo.store.drawers import DrawerPlacement
from palazzo.text.questions import Marks

RERANK_LIMIT = 30
"""The most candidates that are reranked, in addition to their neighbours. On LoCoMo this does as well as reranking
all.
"""
_NEAREST = 4
"""How many of them are the nearest by vector, whatever their words: an answer in other words has no word of the query,
and the fused score puts any candidate that has some before it.
"""
_DEFAULT_COSINE = 0.5
"""The value of a cosine that has no other to compare with."""
_LONG_ENOUGH = 200
"""Characters above which the length of a text says nothing more about it."""
_LENGTHS = tuple(math.log1p(size) / math.log1p(_LONG_ENOUGH) for size in range(_LONG_ENOUGH + 1))
"""The signal `length` by number of characters."""
_ASKS, _SPEAKS_OF_TIME = int(Marks.ASKS), int(Marks.SPEAKS_OF_TIME)


class Signals(NamedTuple):
    """The ranking signals of a drawer, from 0 to 1; but `beside` and `near` are sums of two, `branch` begins at -1."""

    words: float = 0.0
    """Its BM25, relative to the best in the answer."""
    vector: float = 0.0
    """Its cosine, scaled between the lowest and the highest in the answer."""
    beside: float = 0.0
    """The sum of `words` of the drawers immediately before and after it."""
    near: float = 0.0
    """The sum of `words` of the next two."""
    window: float = 0.0
    """The cosine of the mean of its own vector and its neighbours' vectors."""
    stretch: float = 0.0
    """The same with two neighbours on each side."""
    source: float = 0.0
    """The best fused score in its source, relative to the best in the answer."""
    others: float = 0.0
    """The fused scores of other candidates of its source, each weighted half of the one before, relative to the
    best.
    """
    covered: float = 0.0
    """The share of the query words' total worth (IDF) that occurs anywhere in its source."""
    place: float = 0.0
    """Whether the query names its wing."""
    home: float = 0.0
    """Whether it belongs to the caller's project."""
    tool: float = 0.0
    """Whether it is the input and output of a tool: it contains the words, but prose gives the reason."""
    named: float = 0.0
    """Whether the query names its author."""
    timed: float = 0.0
    """Whether the query asks when, and the text mentions a time."""
    asks: float = 0.0
    """Whether it is itself a question."""
    length: float = 0.0
    """How long it is; a few words seldom answer anything."""
    document: float = 0.0
    """Whether it is a section of a document: there are many, and each mentions a little of everything."""
    held: float = 0.0
    """The share of the query words' total worth that it contains itself."""
    follows: float = 0.0
    """The same for the message immediately before it: a terse answer does not repeat the question."""
    command: float = 0.0
    """Whether the query asks how to do something, and it is a shell command."""
    latest: float = 0.0
    """Whether it contains the query's rarest identifier, in the source that mentioned it last."""
    together: float = 0.0
    """How often it was used together with a drawer that ranks high here, or that the session has used."""
    branch: float = 0.0
    """In the caller's project: 1 if it was written on the branch that is checked out. If that branch is a main line: 0
    for what belongs to it, and -1 for what was written on another branch. So a main line, to which nearly everything
    belongs, does not lift one project above others.
    """
    tokens: float = 0.0
    """How well its tokens match the query's, scaled between the lowest and the highest of those that were compared."""
    rare_tokens: float = 0.0
    """The same with each token of the query weighted by the worth (IDF) of its word."""
    feedback: float = 0.0
    """What persons and agents judged of it (`store/feedback_rows`), from -1 to 1."""
    follows_tokens: float = 0.0
    """`rare_tokens` of the message immediately before it: an answer comes after what repeats the question."""
    reasoning: float = 0.0
    """Whether it is reasoning of an agent, which stands below what was said."""


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
    """Return candidates and their neighbours, best first; candidates that were not examined follow in their order.

    Signals in `disabled_stages` do not count.
    """
    talk, work = weights_without(TALK, disabled_stages), weights_without(WORK, disabled_stages)
    scale = _Scale(candidates, around)
    page = weights_without(PAGE, disabled_stages) if scale.has_cosines else work
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
        weights = talk if is_talk else page if placement.kind == "section" else work
        looked_at.append(CandidateRank(candidate, signals, total(signals, weights), weights, is_talk))
    if around.partners:
        looked_at = _lift_partners(looked_at, around)
    looked_at.sort(key=lambda one: (-one.rank, *_newest(around.placements[one.candidate.row])))
    ranked_rows = set(around.rows)
    least = looked_at[-1].rank if looked_at else 0.0
    rest = [
        CandidateRank(leftover, NOT_EXAMINED, least - 1 + leftover.rank_score / 2, work)
        for leftover in candidates
        if leftover.row not in ranked_rows
    ]
    return looked_at + rest


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
    scale = _Scale(said_candidates, around_said) if said_candidates else _Scale(candidates, around)
    scale.add_words(candidates)
    wings = {placement.wing: float(parsed_query.names_wing(placement.wing)) for placement in around.placements.values()}
    ranks = []
    for candidate in candidates:
        if candidate.row not in around.placements:
            continue
        signals = _signals(candidate, parsed_query, around, scale, wings)
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


class _Scale:
    """The lowest and highest values in the answer, used to scale each candidate."""

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
        self._top = top = max((scores[0] for scores in by_source.values()), default=0.0)
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

    def add_words(self, candidates: Sequence[Candidate]) -> None:
        """Add the signal `words` of candidates that do not count in the scale."""
        for candidate in candidates:
            if candidate.bm25 is not None:
                self.words[candidate.row] = min(self._share(candidate.bm25), 1.0)

    def share_of_best(self, rank_score: float) -> float:
        """Return a fused score, relative to the best in the answer."""
        return min(rank_score / self._top, 1.0) if self._top > 1e-9 else 1.0

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
        feedback=around.feedback.get(row, 0.0),
        branch=_of_branch(placement.branch, parsed_query.checked_out) if placement.wing == parsed_query.home else 0.0,
    )


def _of_branch(branch: str, checked_out: str | None) -> float:
    """Return the signal `branch` of a drawer in the home place."""
    if checked_out is None:
        return 0.0
    if checked_out in MAIN_LINES:
        return 0.0 if branch in MAIN_LINES else -1.0
    return 1.0 if branch == checked_out else 0.0


def belongs(branch: str, checked_out: str | None) -> bool:
    """Return whether a branch's words belong to the current branch: main lines to each other, none to None."""
    if checked_out is None:
        return False
    return branch == checked_out or (branch in MAIN_LINES and checked_out in MAIN_LINES)


def _at(word_scores: Mapping[int, float], side: Sequence[int], n: int) -> float:
    return word_scores.get(side[n], 0.0) if len(side) > n else 0.0
