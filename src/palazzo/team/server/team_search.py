"""Search over the wings that a person may read: postings with BM25, and vectors in memory, scored as a palace's hits.

    query ──> terms ──> postings of the readable wings ──BM25──────────────> 200 best ┐
          └─> vector ──> sign bits ──> int8 codes of the nearest ──cosine──> 200 best ┴─ score ──> best ──> drawers

The score is a probability, on the scale of a palace's own hits (`index/score`), so a client may merge both.
Every figure counts readable wings only: how often a term occurs elsewhere changes no score. Lengths and codes of a wing
stay in memory for as long as the wing has not been built again; whether a person may read it is asked each time.
"""

from __future__ import annotations

import heapq
import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palazzo.archive.archive_reader import id_bounds
from palazzo.errors import EmbedderUnavailable
from palazzo.index.embedder import Embedder
from palazzo.index.posting_lists import length_factors, word_scores
from palazzo.index.query import Query, understand
from palazzo.index.score import team_relevance, word_worth
from palazzo.index.sign_bits import Signs
from palazzo.index.vector_index import RESCORE_LIMIT
from palazzo.palace import EmbedderFactory, without_embedder
from palazzo.store import keyword_tokens
from palazzo.team.server.accounts import Account
from palazzo.team.server.team_database import Session, TeamDatabase
from palazzo.team.server.wing_rows import BLOCK, FREE

CANDIDATES = 200
"""Drawers of each list that are scored, as in a palace (`index/search_pipeline`)."""
MOST_WINGS_IN_MEMORY = 256
MOST_HITS, LONGEST_QUERY = 50, 4_000
Slot = tuple[int, int]
"""A wing, and a slot in it."""


@dataclass(frozen=True, slots=True)
class TeamHit:
    """A drawer that was found: whose it is, how far it is trusted, and its text."""

    id: str
    wing: str
    person: str
    trust: str
    kind: str
    role: str
    author: str
    room: str
    title: str
    branch: str
    created_at: int
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class WingArrays:
    """What is kept in memory of a wing: the lengths by slot; the slots (ascending), scales and codes of its passages.

    `count` is the number of its drawers; a slot without one has the length 0. `signs` are those of the codes, for one
    thread at a time.
    """

    built: int
    count: int
    lengths: NDArray[np.float64]
    slots: NDArray[np.int64]
    scales: NDArray[np.float32]
    codes: NDArray[np.int8]
    signs: Signs
    lock: threading.Lock

    def find_near(self, vector: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return the passages that are nearest by their signs, unordered; all if there are no more than `count`."""
        if len(self.slots) <= count:
            return np.arange(len(self.slots))
        with self.lock:
            return self.signs.nearest(vector, np.ones(len(self.slots), dtype=np.bool_), count)

    def find_passages(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the passages of some slots."""
        ends = (np.searchsorted(self.slots, slots, side) for side in ("left", "right"))
        ranges = [np.arange(*pair) for pair in zip(*ends, strict=True)]
        return np.concatenate(ranges) if ranges else np.empty(0, np.int64)


class TermMatches(NamedTuple):
    """How well the drawers of a wing match the query's terms, by slot: BM25, and the share of their worth (0 to 1)."""

    bm25: NDArray[np.float64]
    held: NDArray[np.float64]


class TeamSearch:
    """Searches one database. Threads may share it."""

    def __init__(self, database: TeamDatabase, embedder: EmbedderFactory = without_embedder) -> None:
        self._database, self._make_embedder = database, embedder
        self._embedder: Embedder | None = None
        self._arrays: OrderedDict[int, WingArrays] = OrderedDict()
        self._lock = threading.Lock()

    def search(self, account: Account, text: str, limit: int = 10, wing: str | None = None) -> list[TeamHit]:
        """Return the best drawers of the wings that a person may read, best first; `wing` names one of them."""
        with self._database.as_reader(account.person) as session:
            best = _rank(*self.find_candidates(session, account, text, wing))[: min(limit, MOST_HITS)]
            rows = _read_drawers(session, [slot for slot, _ in best])
        names = self._read_names({rows[slot][0] for slot, _ in best if slot in rows})
        return [_make_hit(rows[slot], names, score) for slot, score in best if slot in rows]

    def find_candidates(
        self, session: Session, account: Account, text: str, wing: str | None = None
    ) -> tuple[set[Slot], dict[int, TermMatches], dict[int, NDArray[np.float64]]]:
        """Return the best drawers of each list; and by wing how well drawers match the words, and their cosines.

        Both have the values that a palace with the same drawers has (`index/keyword_candidates`, `index/vector_index`),
        except that a phrase counts as its words: postings have no positions.
        """
        parsed_query = understand(Query(text[:LONGEST_QUERY]))
        stems = Counter(stem for term in parsed_query.terms for stem in keyword_tokens.stems(term))
        vector = self._embed(parsed_query.sentence)
        wings = _readable_wings(session, account.person, wing)
        arrays = {row: self._load(session, row, built) for row, built in wings.items()}
        matches = _match_terms(session, stems, arrays)
        by_keyword = _take_best({wing: own.bm25 for wing, own in matches.items()})
        cosines = {} if vector is None else _compute_cosines(vector, arrays, by_keyword)
        return by_keyword | _take_best(cosines), matches, cosines

    def read(self, account: Account, prefix: str) -> list[TeamHit]:
        """Return the drawers that a person may read whose ids begin so. Raises NotFound if no id can."""
        low, high = id_bounds(prefix)
        with self._database.as_reader(account.person) as session:
            slots = session.execute(
                "SELECT wing, slot FROM team.drawer WHERE wing = ANY (%s) AND uid BETWEEN %s AND %s"
                " ORDER BY uid, wing LIMIT %s",
                ([*_readable_wings(session, account.person, None)], low, high, MOST_HITS),
            ).fetchall()
            rows = _read_drawers(session, slots)
        names = self._read_names({person for person, *_ in rows.values()})
        return [_make_hit(rows[slot], names, 1.0) for slot in slots]

    def _embed(self, text: str) -> NDArray[np.float32] | None:
        try:
            with self._lock:
                self._embedder = self._embedder or self._make_embedder()
            return self._embedder.embed_query(text)
        except EmbedderUnavailable:
            return None

    def _load(self, session: Session, wing: int, built: int) -> WingArrays:
        with self._lock:
            arrays = self._arrays.get(wing)
            if arrays is not None and arrays.built == built:
                self._arrays.move_to_end(wing)
                return arrays
        arrays = _read_arrays(session, wing, built)
        with self._lock:
            self._arrays[wing] = arrays
            while len(self._arrays) > MOST_WINGS_IN_MEMORY:
                self._arrays.popitem(last=False)
        return arrays

    def _read_names(self, persons: set[int]) -> dict[int, str]:
        """Return the names of people; which ones, the drawers have said that the searcher may read."""
        with self._database.as_server() as session:
            return dict(
                session.execute("SELECT id, name FROM team.person WHERE id = ANY (%s)", ([*persons],)).fetchall()
            )


def _readable_wings(session: Session, person: int, name: str | None) -> dict[int, int]:
    """Return the wings of a person, and the number of the last change that each one's rows include."""
    rows = session.execute(
        "SELECT wing.id, wing.built FROM team.wing JOIN team.member ON member.wing = wing.id"
        " WHERE member.person = %s AND (%s::text IS NULL OR wing.name = %s)",
        (person, name, name),
    )
    return {int(wing): int(built) for wing, built in rows}


def _read_arrays(session: Session, wing: int, built: int) -> WingArrays:
    blocks = session.execute("SELECT lengths FROM team.length WHERE wing = %s ORDER BY block", (wing,)).fetchall()
    lengths = np.frombuffer(b"".join(bytes(block) for (block,) in blocks), "<u2")
    is_used = lengths != FREE
    rows: list[Any] = session.execute(
        "SELECT slot, scale, code FROM team.passage WHERE wing = %s AND embedder = ("
        "SELECT max(embedder) FROM team.passage WHERE wing = %s) ORDER BY slot, part",
        (wing, wing),
    ).fetchall()
    codes = np.frombuffer(b"".join(bytes(code) for _, _, code in rows), np.int8)
    codes = codes.reshape(len(rows), -1) if rows else codes.reshape(0, 0)
    signs = Signs(codes.shape[1], len(rows))
    if rows:
        signs.put(0, codes)
    return WingArrays(
        built,
        int(is_used.sum()),
        np.where(is_used, lengths, 0).astype(np.float64),
        np.array([slot for slot, _, _ in rows], dtype=np.int64),
        np.array([scale for _, scale, _ in rows], dtype=np.float32),
        codes,
        signs,
        threading.Lock(),
    )


def _match_terms(session: Session, stems: Mapping[str, int], wings: Mapping[int, WingArrays]) -> dict[int, TermMatches]:
    """Return how well the drawers of each wing match. Frequencies and lengths are of all given wings together.

    `stems` says how many words of the query have each stem: BM25 counts each of them, as in a palace.
    """
    postings = session.execute(
        "SELECT wing, term, block, n, slots, counts FROM team.posting WHERE wing = ANY (%s) AND term = ANY (%s)",
        ([*wings], [*stems.keys()]),
    ).fetchall()
    total = sum(arrays.count for arrays in wings.values())
    frequencies = dict.fromkeys(stems, 0)
    for _, term, _, n, _, _ in postings:
        frequencies[term] += n
    worth = word_worth(frequencies, total)
    whole_worth = sum(worth.values()) or 1.0
    average = sum(float(arrays.lengths.sum()) for arrays in wings.values()) / max(total, 1) or 1.0
    factors = {wing: length_factors(arrays.lengths, average) for wing, arrays in wings.items()}
    matches = {
        wing: TermMatches(np.zeros(len(arrays.lengths)), np.zeros(len(arrays.lengths)))
        for wing, arrays in wings.items()
    }
    for wing, term, block, _, slots, counts in postings:
        at = np.frombuffer(slots, "<u2").astype(np.int64) + block * BLOCK
        scores = word_scores(total, frequencies[term], np.frombuffer(counts, np.uint8), factors[wing][at])
        matches[wing].bm25[at] += stems[term] * scores
        matches[wing].held[at] += worth[term] / whole_worth
    return matches


def _compute_cosines(
    vector: NDArray[np.float32], wings: Mapping[int, WingArrays], by_keyword: set[Slot]
) -> dict[int, NDArray[np.float64]]:
    """Return the cosines of the drawers of each wing that are near, or were found by keyword; -inf for the others.

    A drawer has the cosine of its best passage.
    """
    count = max(RESCORE_LIMIT // max(len(wings), 1), CANDIDATES)
    cosines = {}
    for wing, arrays in wings.items():
        if arrays.codes.shape[1] != len(vector):
            continue  # of another model: keywords find these drawers
        slots = np.array([slot for own, slot in by_keyword if own == wing], dtype=np.int64)
        rows = np.union1d(arrays.find_near(vector, count), arrays.find_passages(slots))
        products = np.einsum("ij,j->i", arrays.codes[rows].astype(np.float32), vector)  # as in `index/vector_index`
        values = products * arrays.scales[rows]
        cosines[wing] = np.full(len(arrays.lengths), -np.inf)
        np.maximum.at(cosines[wing], arrays.slots[rows], values)
    return cosines


def _rank(
    candidates: set[Slot], matches: Mapping[int, TermMatches], cosines: Mapping[int, NDArray[np.float64]]
) -> list[tuple[Slot, float]]:
    """Return candidates with their scores, best first."""
    scored = []
    for wing, slot in candidates:
        cosine = float(cosines[wing][slot]) if wing in cosines else -math.inf
        relevance = team_relevance(cosine if math.isfinite(cosine) else None, float(matches[wing].held[slot]))
        scored.append(((wing, slot), relevance, float(matches[wing].bm25[slot])))
    scored.sort(key=lambda own: (-own[1], -own[2], own[0]))
    return [(slot, relevance) for slot, relevance, _ in scored]


def _take_best(values: Mapping[int, NDArray[np.float64]]) -> set[Slot]:
    """Return the drawers with the highest positive values."""
    pairs = []
    for wing, own in values.items():
        slots = np.flatnonzero(own > 0)
        if len(slots) > CANDIDATES:
            slots = slots[np.argpartition(-own[slots], CANDIDATES - 1)[:CANDIDATES]]
        pairs += [(float(own[slot]), (wing, int(slot))) for slot in slots]
    return {slot for _, slot in heapq.nsmallest(CANDIDATES, pairs, key=lambda pair: (-pair[0], pair[1]))}


def _read_drawers(session: Session, slots: Sequence[Slot]) -> dict[Slot, tuple[Any, ...]]:
    rows = session.execute(
        "SELECT drawer.wing, drawer.slot, drawer.person, drawer.uid, wing.name, trust, kind, role, author, room, title,"
        " branch, drawer.created_at, body FROM team.drawer JOIN team.wing ON wing.id = drawer.wing"
        " JOIN unnest(%s::int[], %s::int[]) AS best(wing, slot) ON best.wing = drawer.wing AND best.slot = drawer.slot",
        ([wing for wing, _ in slots], [slot for _, slot in slots]),
    ).fetchall()
    return {(wing, slot): tuple(columns) for wing, slot, *columns in rows}


def _make_hit(row: tuple[Any, ...], names: dict[int, str], score: float) -> TeamHit:
    person, uid, wing, trust, kind, role, author, room, title, branch, created_at, body = row
    return TeamHit(
        bytes(uid).hex(), wing, names.get(person, ""), trust, kind, role, author, room, title, branch, created_at,
        round(score, 4), body,
    )  # fmt: skip
