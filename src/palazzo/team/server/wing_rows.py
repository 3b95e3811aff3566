"""The derived rows of a wing: its drawers, the postings of their terms, their lengths and vectors.

A drawer has a slot. A posting row has, for a term and a block of 65,536 slots, the slots (16 bits each, little-endian,
within the block) and how often the term occurs in each (8 bits). The length of a drawer is its number of tokens (16
bits). A slot without a drawer has the length `FREE`, and no other row; the next new drawer gets it.

Only the rows of drawers that have changed are written, with the postings of their terms. A drawer that is gone leaves
no row, nor a place in a posting.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from palazzo.frozen_class import frozen
from palazzo.store import keyword_columns, keyword_table, keyword_tokens
from palazzo.team.server.row_batches import insert_rows, split, split_columns
from palazzo.team.server.scratch_palace import TeamDrawer
from palazzo.team.server.team_database import Session
from palazzo.text.word_forms import index_form

BLOCK = 1 << 16
FREE = 65_535
"""The length of a slot that has no drawer."""
_MOST_COUNT, _MOST_LENGTH = 255, FREE - 1
_LONGEST_TERM = 1_000
"""Longer terms are cut: an entry of an index in PostgreSQL has at most 2,700 bytes."""
_DRAWERS_AT_ONCE = 10_000
_SCOPE_TOKENS = len(keyword_table.scope_tokens(0, 0, "note").split())
"""The tokens of a drawer without tags that are none of its terms."""
_Lengths = NDArray[np.uint16]
_DRAWER_COLUMNS = {
    "wing": "int", "slot": "int", "uid": "bytea", "digest": "bytea", "person": "int", "trust": "text",
    "kind": "text", "role": "text", "author": "text", "room": "text", "title": "text", "branch": "text",
    "created_at": "bigint", "body": "text", "source": "bigint", "thread": "bigint", "ordinal": "bigint",
    "start": "int", "size": "int", "marks": "int",
}  # fmt: skip
_LENGTH_COLUMNS = {"wing": "int", "block": "int", "lengths": "bytea"}
_POSTING_COLUMNS = {
    "wing": "int", "term": "text", "block": "int", "n": "int", "slots": "bytea", "counts": "bytea"
}  # fmt: skip
_PASSAGE_COLUMNS = {
    "wing": "int", "slot": "int", "part": "int", "embedder": "text", "scale": "real", "code": "bytea"
}  # fmt: skip


@frozen
class StoredDrawer:
    """What the rows of a wing have of a drawer: its slot, its digest, and the text from which its terms were made."""

    slot: int
    digest: bytes
    text: str


def find_differences(
    session: Session, wing: int, drawers: Iterable[TeamDrawer]
) -> tuple[list[TeamDrawer], list[bytes]]:
    """Return those of a wing's `drawers` whose rows are missing or differ, and the ids of those and of what is gone."""
    rows = session.execute("SELECT uid, digest FROM team.drawer WHERE wing = %s", (wing,))
    digests = {bytes(uid): bytes(digest) for uid, digest in rows}
    changed = [drawer for drawer in drawers if digests.pop(drawer.uid, b"") != drawer.digest]
    return changed, [*digests, *(drawer.uid for drawer in changed)]


def update_wing(
    session: Session, wing: int, drawers: Sequence[TeamDrawer], uids: Sequence[bytes], embedder: str
) -> list[bytes]:
    """Write the rows of `drawers`; `uids` are the ids of all that may have changed: those of no drawer are deleted.

    All other rows of the wing stay. Return the ids of drawers that it had and has no more.
    """
    rows_by_uid = _read_stored(session, wing, uids)
    changed = [
        drawer for drawer in drawers if drawer.uid not in rows_by_uid or rows_by_uid[drawer.uid].digest != drawer.digest
    ]
    removed = sorted(rows_by_uid.keys() - {drawer.uid for drawer in drawers})
    replaced_uids = [drawer.uid for drawer in changed if drawer.uid in rows_by_uid]
    if not changed and not removed:
        return []
    lengths = _read_lengths(session, wing)
    if removed or replaced_uids:
        _remove(session, wing, [rows_by_uid[uid] for uid in (*removed, *replaced_uids)], lengths)
    slots = chain(np.flatnonzero(lengths == FREE).tolist(), count(len(lengths)))
    for part in split(zip(slots, changed), _DRAWERS_AT_ONCE):  # noqa: B905 - slots have no end
        lengths = _add(session, wing, dict(part), lengths, embedder)
    _write_lengths(session, wing, lengths)
    return removed


def _read_stored(session: Session, wing: int, uids: Sequence[bytes]) -> dict[bytes, StoredDrawer]:
    rows = session.execute(
        "SELECT uid, slot, digest, body, title, author, created_at, room FROM team.drawer"
        " WHERE wing = %s AND uid = ANY (%b)",
        (wing, [*uids]),
    )
    return {
        bytes(uid): StoredDrawer(
            slot, bytes(digest), f"{index_form(body)}\n{keyword_columns.context(title, author, created_at, room)}"
        )
        for uid, slot, digest, body, title, author, created_at, room in rows
    }


# --- removing ----------------------------------------------------------------------------------------------


def _remove(session: Session, wing: int, former: Sequence[StoredDrawer], lengths: _Lengths) -> None:
    """Delete the rows of some drawers, and take them out of the postings."""
    slots = [drawer.slot for drawer in former]
    terms = {_cut_term(term) for drawer in former for term in keyword_tokens.stems(drawer.text)}
    removed = _remove_postings(session, wing, slots, "AND term = ANY (%b)", [*terms])
    missing = [slot for slot in slots if removed[slot] + _SCOPE_TOKENS != lengths[slot]]
    if missing:  # it may have terms that its row does not tell, such as those of its source's title
        _remove_postings(session, wing, missing, "AND block = ANY (%b)", sorted({slot // BLOCK for slot in missing}))
    for table in ("drawer", "passage"):
        session.execute(
            sql.SQL("DELETE FROM {} WHERE wing = %s AND slot = ANY (%b)").format(sql.Identifier("team", table)),
            (wing, slots),
        )
    lengths[slots] = FREE


def _remove_postings(
    session: Session, wing: int, slots: Sequence[int], condition: Any, values: Sequence[Any]
) -> Counter[int]:
    """Take slots out of the posting rows that meet a condition; return how many terms each of them lost."""
    gone_slots, lost_counts = np.array(sorted(slots), dtype=np.int64), Counter[int]()
    emptied_rows, shortened_rows = [], []
    rows = session.execute(
        sql.SQL("SELECT term, block, slots, counts FROM team.posting WHERE wing = %s ") + sql.SQL(condition),
        (wing, values),
    )
    for term, block, slot_bytes, count_bytes in rows:
        own = np.frombuffer(slot_bytes, "<u2")
        is_gone = np.isin(own.astype(np.int64) + block * BLOCK, gone_slots)
        if not is_gone.any():
            continue
        counts = np.frombuffer(count_bytes, np.uint8)
        for slot, occurrences in zip(own[is_gone].tolist(), counts[is_gone].tolist(), strict=True):
            lost_counts[slot + block * BLOCK] += occurrences
        if is_gone.all():
            emptied_rows.append((term, block))
        else:
            rest = own[~is_gone]
            shortened_rows.append((term, block, len(rest), rest.tobytes(), counts[~is_gone].tobytes()))
    for columns in split_columns(emptied_rows):
        session.execute(
            "DELETE FROM team.posting USING unnest(%b::text[], %b::int[]) AS own(term, block)"
            " WHERE posting.wing = %s AND posting.term = own.term AND posting.block = own.block",
            (*columns, wing),
        )
    for columns in split_columns(shortened_rows):
        session.execute(
            "UPDATE team.posting SET n = own.n, slots = own.slots, counts = own.counts FROM"
            " unnest(%b::text[], %b::int[], %b::int[], %b::bytea[], %b::bytea[]) AS own(term, block, n, slots, counts)"
            " WHERE posting.wing = %s AND posting.term = own.term AND posting.block = own.block",
            (*columns, wing),
        )
    return lost_counts


# --- adding ------------------------------------------------------------------------------------------------


def _add(session: Session, wing: int, drawers: Mapping[int, TeamDrawer], lengths: _Lengths, embedder: str) -> _Lengths:
    """Write the rows of drawers, by slot, except their lengths; return the lengths of the wing with theirs."""
    insert_rows(session, "drawer", _DRAWER_COLUMNS, (_row_of(wing, slot, own) for slot, own in drawers.items()))
    _write_postings(session, wing, drawers)
    passages = (
        (wing, slot, part, embedder, scale, code)
        for slot, drawer in drawers.items()
        for part, (scale, code) in enumerate(drawer.vectors)
    )
    insert_rows(session, "passage", _PASSAGE_COLUMNS, passages)
    size = max(len(lengths), max(drawers, default=-1) + 1)
    longer_lengths = np.append(lengths, np.full(size - len(lengths), FREE, dtype=np.uint16))
    longer_lengths[[*drawers]] = [min(drawer.length, _MOST_LENGTH) for drawer in drawers.values()]
    return longer_lengths


def _row_of(wing: int, slot: int, drawer: TeamDrawer) -> tuple[Any, ...]:
    own = drawer.details
    texts = map(_storable, (own.kind, own.role, own.author, own.room, own.title, own.branch))
    body = _storable(drawer.body)
    return (
        wing,
        slot,
        drawer.uid,
        drawer.digest,
        drawer.person,
        drawer.trust,
        *texts,
        own.created_at,
        body,
        *drawer.position,
    )


def _write_postings(session: Session, wing: int, drawers: Mapping[int, TeamDrawer]) -> None:
    postings: defaultdict[tuple[str, int], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for slot, drawer in drawers.items():
        block, position = divmod(slot, BLOCK)
        for term, occurrences in Counter(map(_cut_term, drawer.terms)).items():
            slots, counts = postings[term, block]
            slots.append(position)
            counts.append(min(occurrences, _MOST_COUNT))
    rows = (
        (wing, term, block, len(slots), np.array(slots, dtype="<u2").tobytes(), bytes(counts))
        for (term, block), (slots, counts) in sorted(postings.items())
    )
    insert_rows(session, "posting", _POSTING_COLUMNS, rows, _APPEND)


_APPEND = sql.SQL(
    "ON CONFLICT (wing, term, block) DO UPDATE SET n = own.n + excluded.n,"
    " slots = own.slots || excluded.slots, counts = own.counts || excluded.counts"
)


def _read_lengths(session: Session, wing: int) -> _Lengths:
    rows = session.execute("SELECT lengths FROM team.length WHERE wing = %s ORDER BY block", (wing,))
    return np.frombuffer(b"".join(bytes(lengths) for (lengths,) in rows), "<u2").astype(np.uint16)


def _write_lengths(session: Session, wing: int, lengths: _Lengths) -> None:
    rows = [
        (wing, start // BLOCK, lengths[start : start + BLOCK].astype("<u2").tobytes())
        for start in range(0, len(lengths), BLOCK)
    ]
    insert_rows(session, "length", _LENGTH_COLUMNS, rows, _REPLACE)


_REPLACE = sql.SQL(
    "ON CONFLICT (wing, block) DO UPDATE SET lengths = excluded.lengths WHERE own.lengths <> excluded.lengths"
)


def _cut_term(term: str) -> str:
    return _storable(term)[:_LONGEST_TERM]


def _storable(text: Any) -> str:
    """Return a text as PostgreSQL can store it: without NUL and lone surrogates."""
    return str(text).replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
