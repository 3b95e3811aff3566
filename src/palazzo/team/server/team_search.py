"""Search over the wings that a person may read: a palace's own ranking and scores, over PostgreSQL.

    query ──> words ──> postings ──BM25──────────────> 200 best ┐
          └─> vector ──> sign bits ──codes──cosine──> 200 best ┴─fuse──> rank, score ──> drawers without copies

The stages are those of a palace (`index/recall_stages`); `team_source` reads for them. So a score means the same as a
palace's, and a client may merge hits of both.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palazzo.archive.archive_reader import id_bounds
from palazzo.errors import EmbedderUnavailable
from palazzo.frozen_class import frozen
from palazzo.index import certainty, fusion, score
from palazzo.index.embedder import Embedder
from palazzo.index.presentation import SeenTexts
from palazzo.index.query import ParsedQuery, Query, understand
from palazzo.index.ranking import CandidateRank
from palazzo.index.recall_stages import HitScorer, rank_candidates, with_evidence
from palazzo.palace import EmbedderFactory, without_embedder
from palazzo.team.server.accounts import Account
from palazzo.team.server.team_database import Session, TeamDatabase
from palazzo.team.server.team_source import TeamSource
from palazzo.team.server.wing_arrays import WingCache, split_number

MOST_HITS, LONGEST_QUERY = 50, 4_000
_READ_TOGETHER = 16
"""Drawers whose texts are read in one statement: most answers need no more."""
Slot = tuple[int, int]
"""A wing, and a slot in it."""


@frozen
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


class TeamAnswer(NamedTuple):
    """The best drawers, best first, without near-copies, and how likely there is an answer at all.

    `certainty` is how likely one of the best hits answers, if that is in doubt, and else 1 (`index/certainty`).
    """

    hits: tuple[TeamHit, ...] = ()
    chance: float = 1.0
    certainty: float = 1.0


class ReadableWing(NamedTuple):
    """A wing that a person may read; `built` is the number of the last change that its rows include."""

    name: str
    built: int


class TeamSearch:
    """Searches one database. Threads may share it."""

    def __init__(self, database: TeamDatabase, embedder: EmbedderFactory = without_embedder) -> None:
        self._database, self._make_embedder = database, embedder
        self._embedder: Embedder | None = None
        self._cache = WingCache()
        self._lock = threading.Lock()

    def search(self, account: Account, text: str, limit: int = 10, wing: str | None = None) -> list[TeamHit]:
        """Return the best drawers of the wings that a person may read, best first; `wing` names one of them.

        There are none if nothing is likely to answer. No hit is likelier than that there is an answer.
        """
        answer = self.rank(account, text, limit, wing)
        if answer.chance < score.ANSWER_FLOOR or all(hit.score < score.LENIENT_FLOOR for hit in answer.hits):
            return []
        return [replace(hit, score=round(min(hit.score, answer.certainty), 4)) for hit in answer.hits]

    def rank(self, account: Account, text: str, limit: int = 10, wing: str | None = None) -> TeamAnswer:
        """Return the best drawers whether they answer or not, with the scores that a palace gives them."""
        with self._database.as_reader(account.person) as session:
            wings = _readable_wings(session, account.person, wing)
            if not wings:
                return TeamAnswer()
            arrays = {row: self._cache.load(session, row, own.built) for row, own in wings.items()}
            authors = sorted({author for own in arrays.values() for author in own.authors})
            parsed_query = understand(Query(text[:LONGEST_QUERY]), authors)
            names = {row: own.name for row, own in wings.items()}
            named_wings = [row for row, name in names.items() if wing is None and parsed_query.names_wing(name)]
            team_source = TeamSource(session, arrays, names, parsed_query, self._embed(parsed_query.sentence))
            ranked = _rank(session, team_source, parsed_query, named_wings, min(limit, MOST_HITS))
        persons = self._read_names({row[0] for row, _ in ranked.drawers})
        hits = tuple(_make_hit(row, persons, probability) for row, probability in ranked.drawers)
        return TeamAnswer(hits, ranked.chance, ranked.certainty)

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

    def list_notes(self, account: Account, wing: str, limit: int) -> list[TeamHit]:
        """Return the newest notes that others have written in a wing, newest first."""
        with self._database.as_reader(account.person) as session:
            slots = session.execute(
                "SELECT wing, slot FROM team.drawer WHERE wing = ANY (%s) AND kind = 'note' AND person <> %s"
                " ORDER BY created_at DESC, uid LIMIT %s",
                ([*_readable_wings(session, account.person, wing)], account.person, min(limit, MOST_HITS)),
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

    def _read_names(self, persons: set[int]) -> dict[int, str]:
        """Return the names of people; which ones, the drawers have said that the searcher may read."""
        with self._database.as_server() as session:
            return dict(
                session.execute("SELECT id, name FROM team.person WHERE id = ANY (%s)", ([*persons],)).fetchall()
            )


def _readable_wings(session: Session, person: int, name: str | None) -> dict[int, ReadableWing]:
    """Return the wings of a person, or the one of that name, by id."""
    rows = session.execute(
        "SELECT wing.id, wing.name, wing.built FROM team.wing JOIN team.member ON member.wing = wing.id"
        " WHERE member.person = %s AND (%s::text IS NULL OR wing.name = %s)",
        (person, name, name),
    )
    return {int(wing): ReadableWing(own_name, int(built)) for wing, own_name, built in rows}


class _RankedDrawers(NamedTuple):
    """The columns and the score of each of the best drawers; see `TeamAnswer`."""

    drawers: list[tuple[tuple[Any, ...], float]]
    chance: float
    certainty: float


def _rank(
    session: Session, team_source: TeamSource, parsed_query: ParsedQuery, named_wings: Sequence[int], limit: int
) -> _RankedDrawers:
    keyword_candidates = team_source.find_by_words(named_wings)
    nearest, near = team_source.find_nearest(named_wings)
    bm25 = dict(keyword_candidates.row_scores)
    cosines = {**nearest, **team_source.compute_cosines([row for row in bm25 if row not in nearest])}
    candidate_ranks, around = rank_candidates(
        team_source,
        parsed_query,
        fusion.fuse(cosines, bm25),
        keyword_candidates,
        near | keyword_candidates.near,
    )
    evidence_ranks = with_evidence(candidate_ranks)
    drawers = _score_drawers(_read_ranked(session, evidence_ranks), keyword_candidates.max_bm25, limit)
    nearest_cosine = max(cosines.values(), default=None)
    held = around.most_held if keyword_candidates.frequencies else None
    is_talk = bool(evidence_ranks) and evidence_ranks[0].is_talk and evidence_ranks[0].candidate.cosine is not None
    chance = score.answer_chance(drawers[0][1] if drawers and not is_talk else None, nearest_cosine, held)
    if is_talk or nearest_cosine is None or not certainty.is_uncertain(candidate_ranks, {}, nearest_cosine, held):
        return _RankedDrawers(drawers, chance, 1.0)
    evidence = certainty.gather_evidence(candidate_ranks, {}, nearest_cosine, held)
    return _RankedDrawers(drawers, chance, certainty.answer_certainty(evidence, certainty.BY_VECTORS))


def _score_drawers(
    ranked_rows: Iterable[tuple[CandidateRank, tuple[Any, ...]]], max_bm25: float, limit: int
) -> list[tuple[tuple[Any, ...], float]]:
    """Return the columns and the scores of the first `limit` drawers that are no near-copies of an earlier one."""
    scorer, seen_texts = HitScorer(max_bm25), SeenTexts()
    drawers: list[tuple[tuple[Any, ...], float]] = []
    for candidate_rank, columns in ranked_rows:
        probability = scorer.score(candidate_rank)
        if seen_texts.find_original(columns[-1]) is None:
            drawers.append((columns, probability))
            if len(drawers) >= limit:
                break
    return drawers


def _read_ranked(
    session: Session, candidate_ranks: Sequence[CandidateRank]
) -> Iterator[tuple[CandidateRank, tuple[Any, ...]]]:
    """Yield each drawer with its columns."""
    for start in range(0, len(candidate_ranks), _READ_TOGETHER):
        part = {split_number(own.candidate.row): own for own in candidate_ranks[start : start + _READ_TOGETHER]}
        rows = _read_drawers(session, [*part])
        yield from ((own, rows[slot]) for slot, own in part.items() if slot in rows)


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
        score, body,
    )  # fmt: skip
