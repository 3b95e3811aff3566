"""The scratch palace of a wing: a palace on the worker's disk, into which the wing's segments are merged.

    segments ──whose items──> records ──merge, cut, taint, embed──> scratch palace ──> drawers

It only saves time. A worker without it, or with one of another generation of the wing, builds it again from the
segments. The records are merged as those of another person (`sync/foreign_records`): nobody can forget, move or
replace what another has sent, and taint is computed here, not believed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from palazzo.errors import EmbedderUnavailable
from palazzo.frozen_class import frozen
from palazzo.palace import EmbedderFactory, Palace, system_clock
from palazzo.store import (
    change_log,
    drawer_listing,
    drawer_positions,
    drawers,
    items,
    keyword_columns,
    keyword_table,
    vector_rows,
)
from palazzo.store.change_log import ChangeKind
from palazzo.store.database import Connection
from palazzo.store.drawer_listing import Listing
from palazzo.store.drawer_positions import DrawerPosition
from palazzo.store.drawers import DrawerDetails
from palazzo.sync.merge import Origin, merge
from palazzo.sync.records.item_records import Item
from palazzo.sync.records.record_kind import Record
from palazzo.sync.records.source_records import Repetition, Revision, Source
from palazzo.text.word_forms import index_form

_AT_ONCE, _NO_LIMIT = 500, 1 << 60
_WHOLESALE: tuple[ChangeKind, ...] = ("reset", "erased")
"""Changes that do not say of which drawers they are."""
_FOLLOWED_KINDS: tuple[ChangeKind, ...] = ("drawer+", "drawer-", "drawer~", "vector+", *_WHOLESALE)
TEAMMATE = "teammate"
"""The trust of what a teammate said: below `user`, which is the person alone."""
_TRUSTS = {"user": TEAMMATE, "agent": TEAMMATE}
"""The trust that words have for others. `repo`, `tool` and `external` stay what they are."""


IsApproved = Callable[[bytes, str, int], bool]
"""Whether a drawer's text is approved, by its id, text, and the person who shared it."""


@frozen
class SentRecords:
    """The records of one segment, who sent it, and a name that identifies it."""

    name: str
    person: int
    records: Sequence[Record]

    @property
    def own_items(self) -> set[bytes]:
        """Return the ids of the items that it has."""
        return {bytes.fromhex(record.id) for record in self.records if isinstance(record, Item)}

    @property
    def item_uids(self) -> set[bytes]:
        """Return the ids of the items of which it says anything."""
        repeated_items = (record.item for record in self.records if isinstance(record, Repetition | Revision))
        return self.own_items | {bytes.fromhex(item) for item in repeated_items}


class TeamPosition(NamedTuple):
    """Where a drawer stands among others, as numbers that are the same in each scratch palace.

    Drawers with the same `thread` are neighbours, in the order of `ordinal` and `start`. `size` is in code points;
    `marks` are those of `text/questions`.
    """

    source: int
    thread: int
    ordinal: int
    start: int
    size: int
    marks: int


@frozen
class TeamDrawer:
    """A drawer of a wing: whose, its text, its terms in the order of the text, and its vectors as (scale, int8).

    `length` is its number of tokens in a palace's keyword index, which also has tokens for its place, kind and tags.
    """

    uid: bytes
    person: int
    trust: str
    details: DrawerDetails
    body: str
    terms: tuple[str, ...]
    length: int
    position: TeamPosition
    vectors: tuple[tuple[float, bytes], ...] = ()

    @property
    def digest(self) -> bytes:
        """Return a hash of all that is stored of it."""
        own = self.details
        names = (own.kind, own.role, own.author, own.room, own.title, own.branch, own.created_at)
        parts = (
            *(self.uid, self.person, self.trust, names, self.body),
            *(self.terms, self.length, tuple(self.position), self.vectors),
        )
        return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


@frozen
class ScratchState:
    """What a finished scratch palace holds: the segments that are merged, and the rows that were written from it.

    The rows of the wing were written when its change `built` was, from the scratch palace's change log up to `seq`.
    """

    merged_names: frozenset[str] = frozenset()
    built: int = 0
    seq: int = 0


class ScratchChanges(NamedTuple):
    """Drawers that may have changed: the row ids of those that are live, and the ids of all."""

    rows: list[int]
    uids: list[bytes]


class ScratchPalace:
    """The palace of one wing and generation, below a directory of the worker. Close it, or use `with`."""

    def __init__(
        self, directory: Path, generation: int, segment_names: Collection[str], embedder: EmbedderFactory
    ) -> None:
        self._path = directory / "merged.json"
        state = _load_state(self._path, generation)
        if state is not None and not state.merged_names.issubset(segment_names):
            state = None  # of a database that was restored from a backup since
        if state is None:
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True, mode=0o700)
        self._generation = generation
        self.state = state or ScratchState()
        self._merged_names = set(self.state.merged_names)
        self._palace = Palace.open(directory / "palace.db", embedder=embedder)

    def __enter__(self) -> ScratchPalace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the palace; its file stays."""
        self._palace.close()

    def add(self, segments: Iterable[SentRecords], owners: dict[bytes, int]) -> None:
        """Merge segments. `owners` says whose each item is; it gets those that are new. `save` ends this.

        Until then the palace counts as unfinished: a worker that is killed in between builds it again.
        """
        self._path.unlink(missing_ok=True)
        for segment in segments:
            merge(
                self._palace.database,
                _own_records(segment, owners),
                system_clock,
                origin=Origin("other", "user"),
            )
            self._merged_names.add(segment.name)
        self._embed()

    def save(self, built: int) -> None:
        """Note what is merged, once the wing's rows and owners are written for its change `built`."""
        with self._palace.database.snapshot() as connection:
            seq = change_log.head(connection)
        content = {"generation": self._generation, "built": built, "seq": seq, "merged": sorted(self._merged_names)}
        self._path.write_text(json.dumps(content), encoding="utf-8")

    def _embed(self) -> None:
        """Make vectors where there is a model: without one the team searches by keyword alone."""
        try:
            self._palace.embed_pending()
        except EmbedderUnavailable:
            return

    def find_changes(self) -> ScratchChanges | None:
        """Return the drawers that have changed since `save`; None if any drawer may have."""
        with self._palace.database.snapshot() as connection:
            log = change_log.since(connection, self.state.seq, _FOLLOWED_KINDS, _NO_LIMIT)
            if any(change.kind in _WHOLESALE for change in log):
                return None
            rows = {change.ref for change in log if change.kind != "vector+"}
            passages = [change.ref for change in log if change.kind == "vector+"]
            rows |= vector_rows.drawers_of_passages(connection, passages)
            live = [row for row in sorted(rows) if drawers.is_live(connection, row)]
            return ScratchChanges(live, drawers.uids_of(connection, sorted(rows)))

    def list_rows(self) -> list[int]:
        """Return the row ids of all live drawers, ascending."""
        with self._palace.database.snapshot() as connection:
            return sorted(listed.row for listed in drawer_listing.list_drawers(connection, Listing()))

    def find_items(self, rows: Sequence[int]) -> list[bytes]:
        """Return the ids of the items of which drawers consist."""
        with self._palace.database.snapshot() as connection:
            spans = drawers.spans_of(connection, rows).values()
            return [uid for _, uid in items.uids_of(connection, {item for own in spans for item, _, _ in own})]

    def find_rows(self, uids: Iterable[bytes]) -> list[int]:
        """Return the row ids of those of these drawers that are live, ascending."""
        with self._palace.database.snapshot() as connection:
            rows = (drawers.find_drawer(connection, uid) for uid in uids)
            return sorted(row for row in rows if row is not None and drawers.is_live(connection, row))

    def read_drawers(
        self, rows: Sequence[int], owners: Mapping[bytes, int], is_approved: IsApproved
    ) -> Iterator[TeamDrawer]:
        """Yield drawers, without what agents thought; `owners` has the owners of their items."""
        with self._palace.database.snapshot() as connection:
            for start in range(0, len(rows), _AT_ONCE):
                yield from describe_drawers(connection, rows[start : start + _AT_ONCE], owners, is_approved)

    @property
    def embedder_name(self) -> str:
        """Return the id of the model whose vectors the drawers have; '' without one."""
        with self._palace.database.snapshot() as connection:
            names = [name for _, name, _ in vector_rows.embedders(connection)]
        return names[-1] if names else ""


def _load_state(path: Path, generation: int) -> ScratchState | None:
    """Return what a scratch palace holds; None if it is of another generation, or was not finished."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        if state["generation"] != generation:
            return None
        return ScratchState(frozenset(map(str, state["merged"])), int(state["built"]), int(state["seq"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _own_records(segment: SentRecords, owners: dict[bytes, int]) -> Iterator[Record]:
    """Yield a segment's records as they are merged: items that no other person sent first, in sources of their own.

    So nobody can add to a conversation of another, or replace the current version of another's document.
    """
    for record in segment.records:
        match record:
            case Item():
                if owners.setdefault(bytes.fromhex(record.id), segment.person) == segment.person:
                    yield replace(record, source=_own_source(record.source, segment.person))
            case Repetition() | Revision():
                if owners.get(bytes.fromhex(record.item)) == segment.person:
                    yield replace(record, source=_own_source(record.source, segment.person))
            case Source():
                yield replace(record, id=_own_source(record.id, segment.person))
            case _:
                yield record


def _own_source(source: str, person: int) -> str:
    """Return the id that a person's source has in the scratch palace."""
    return blake2b(f"{person}/{source}".encode(), digest_size=16).hexdigest()


def describe_drawers(
    connection: Connection,
    rows: Sequence[int],
    owners: Mapping[bytes, int],
    is_approved: IsApproved = lambda uid, body, person: False,
) -> Iterator[TeamDrawer]:
    """Yield the drawers of a palace in the order of their row ids, without what agents thought."""
    spans = drawers.spans_of(connection, rows)
    item_rows = {item for own in spans.values() for item, _, _ in own}
    uids, texts = dict(items.uids_of(connection, item_rows)), items.read_texts(connection, item_rows)
    vectors, positions = _read_vectors(connection, rows), drawer_positions.positions_of(connection, rows)
    for details in sorted(drawers.describe(connection, rows), key=lambda one: one.row):
        if details.kind == "reasoning":
            continue
        own_spans = spans[details.row]
        body = "\n\n".join(texts[item][start:end] for item, start, end in own_spans)
        context = keyword_columns.context_of(connection, details.row)
        terms = tuple(connection.stems(f"{index_form(body)}\n{context}"))
        person = min(owners[uids[item]] for item, _, _ in own_spans)
        is_quarantined = details.kind == "note" and details.trust == "external"
        trust = "agent" if is_quarantined and is_approved(details.uid, body, person) else details.trust
        yield TeamDrawer(
            details.uid,
            person,
            _TRUSTS.get(trust, trust),
            details,
            body,
            terms,
            len(terms) + len(keyword_table.scope_of(connection, details.row).split()),
            _number_position(positions[details.row], details.kind, own_spans[0][1]),
            tuple(vectors.get(details.row, ())),
        )


def _number_position(position: DrawerPosition, kind: str, start: int) -> TeamPosition:
    source = _hash_number(position.source)
    thread = _hash_number(position.source, kind.encode(), position.thread.encode("utf-8", "surrogatepass"))
    return TeamPosition(source, thread, position.ordinal, start, position.size, position.marks)


def _hash_number(*parts: bytes) -> int:
    """Return a number of 64 bits, with a sign, as PostgreSQL stores it."""
    return int.from_bytes(blake2b(b"\0".join(parts), digest_size=8).digest(), "big", signed=True)


def _read_vectors(connection: Connection, rows: Sequence[int]) -> dict[int, list[tuple[float, bytes]]]:
    vectors: dict[int, list[tuple[float, bytes]]] = {}
    embedders: list[Any] = vector_rows.embedders(connection)
    if embedders:
        for vector in vector_rows.vectors_of(connection, embedders[-1][0], rows):
            vectors.setdefault(vector.drawer, []).append((vector.scale, vector.body))
    return vectors
