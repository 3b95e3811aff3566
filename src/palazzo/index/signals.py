"""The signals of ranking: what is known of a drawer, of its surroundings and of its source, as numbers.

`Scale` makes the values of one answer comparable with those of another; `ranking` weighs the signals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from palazzo.index.fusion import Candidate
from palazzo.index.neighbour_search import Around
from palazzo.index.query import ParsedQuery
from palazzo.index.recall_source import Sides
from palazzo.model import MAIN_LINES
from palazzo.named_tuples import make_rows
from palazzo.security.tool_kinds import is_shell
from palazzo.text.questions import Marks

_DEFAULT_COSINE = 0.5
"""The value of a cosine that has no other to compare with."""
_LONG_ENOUGH = 200
"""Characters above which the length of a text says nothing more about it."""
_LENGTHS = tuple(math.log1p(size) / math.log1p(_LONG_ENOUGH) for size in range(_LONG_ENOUGH + 1))
"""The signal `length` by number of characters."""
_NO_SIDES: Sides = ((), ())
_NO_ROW = -1
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


class Scale:
    """The lowest and highest values in the answer, used to scale each candidate."""

    def __init__(self, candidates: Sequence[Candidate], around: Around) -> None:
        cosines = [cosine for _, cosine, _, _ in candidates if cosine is not None]
        self.has_cosines = bool(cosines)
        self._least = min(cosines, default=0.0)
        self._width = max(cosines, default=0.0) - self._least
        self._words = max((bm25 for _, _, bm25, _ in candidates if bm25 is not None), default=0.0)
        by_source: dict[int, list[float]] = {}
        for candidate in candidates:
            placement = around.placements.get(candidate.row)
            if placement is not None:
                by_source.setdefault(placement.source, []).append(candidate.rank_score)
        for scores in by_source.values():
            scores.sort(reverse=True)
        self._top = top = max((scores[0] for scores in by_source.values()), default=0.0)
        self._by_source = {source: _of_source(scores, top) for source, scores in by_source.items()}
        most = self._words if self._words > 1e-9 else None
        self.words = {row: bm25 / most if most else 1.0 for row, _, bm25, _ in candidates if bm25 is not None}
        """The signal `words` by row."""

    def scale_cosines(self, cosines: Iterable[float | None]) -> list[float]:
        """Return cosines as shares of the answer's range; 0 where there is none."""
        least, width = self._least, self._width
        if width <= 1e-9:
            return [0.0 if cosine is None else _DEFAULT_COSINE for cosine in cosines]
        return [0.0 if cosine is None or cosine < least else (cosine - least) / width for cosine in cosines]

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


def compute_signals(
    candidates: Sequence[Candidate],
    parsed_query: ParsedQuery,
    around: Around,
    scale: Scale,
    wings: Mapping[str, float],
) -> list[Signals]:
    """Return the signals of each candidate; each signal is computed for all candidates before the next."""
    rows = [candidate.row for candidate in candidates]
    placements = [around.placements[row] for row in rows]
    sides = [around.neighbours.get(row, _NO_SIDES) for row in rows]
    word_scores = scale.words
    words = [word_scores.get(row, 0.0) for row in rows]
    cosines = [
        around.cosines.get(candidate.row) if candidate.cosine is None else candidate.cosine for candidate in candidates
    ]
    vector = scale.scale_cosines(cosines)
    window, stretch = (scale.scale_cosines(map(means.get, rows)) for means in (around.windows, around.stretches))
    if scale.has_cosines and None in cosines:  # a vector that is still to be made is unknown, and must not count
        for n, cosine in enumerate(cosines):
            if cosine is None:
                for values in (vector, window, stretch):
                    values[n] = max(values[n], words[n])
    source_signals = [scale.source(placement.source) for placement in placements]
    home, checked_out = parsed_query.home, parsed_query.checked_out
    columns = {
        "words": words,
        "vector": vector,
        "beside": _sum_at(word_scores, sides, 0),
        "near": _sum_at(word_scores, sides, 1),
        "window": window,
        "stretch": stretch,
        "source": [best for best, _ in source_signals],
        "others": [siblings for _, siblings in source_signals],
        "covered": [around.coverage.get(placement.source, 0.0) for placement in placements],
        "place": [wings[placement.wing] for placement in placements],
        "tool": [1.0 if placement.kind == "tool" else 0.0 for placement in placements],
        "asks": [1.0 if placement.marks & _ASKS else 0.0 for placement in placements],
        "length": [_LENGTHS[min(placement.size, _LONG_ENOUGH)] for placement in placements],
        "document": [1.0 if placement.kind == "section" else 0.0 for placement in placements],
        "held": around.compute_shares(rows),
        "follows": around.compute_shares(
            preceding_rows[0] if preceding_rows and placement.kind == "exchange" else _NO_ROW
            for placement, (preceding_rows, _) in zip(placements, sides, strict=True)
        ),
    }
    if home is not None:
        columns["home"] = [1.0 if placement.wing == home else 0.0 for placement in placements]
        columns["branch"] = [
            _of_branch(placement.branch, checked_out) if placement.wing == home else 0.0 for placement in placements
        ]
    if parsed_query.author_names:
        columns["named"] = [1.0 if placement.author in parsed_query.author_names else 0.0 for placement in placements]
    if parsed_query.asks_when:
        columns["timed"] = [1.0 if placement.marks & _SPEAKS_OF_TIME else 0.0 for placement in placements]
    if parsed_query.asks_how:
        columns["command"] = [
            1.0 if placement.kind == "tool" and is_shell(placement.title) else 0.0 for placement in placements
        ]
    if around.latest:
        columns["latest"] = [1.0 if row in around.latest else 0.0 for row in rows]
    if around.feedback:
        columns["feedback"] = [around.feedback.get(row, 0.0) for row in rows]
    absent = [0.0] * len(rows)
    return make_rows(Signals, zip(*(columns.get(name, absent) for name in Signals._fields), strict=True))


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


def _sum_at(word_scores: Mapping[int, float], sides: Sequence[Sides], n: int) -> list[float]:
    """Return, for each drawer, the sum of `words` of the n-th before it and the n-th after it, beginning at 0."""
    get = word_scores.get
    return [
        (get(preceding_rows[n], 0.0) if len(preceding_rows) > n else 0.0)
        + (get(following_rows[n], 0.0) if len(following_rows) > n else 0.0)
        for preceding_rows, following_rows in sides
    ]
