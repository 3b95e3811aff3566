"""The worker: takes a wing that has new segments, merges them, and writes the wing's rows.

Any number of workers may run, on any machines; one at a time has a wing (`TeamDatabase.hold_wing`). A worker that is
killed leaves nothing half-written: the rows of a wing change in one transaction, and the scratch palace is made again.
A build costs as much as what is new: it reads new segments, and writes the rows of drawers that these have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from palazzo.frozen_class import frozen
from palazzo.palace import EmbedderFactory, without_embedder
from palazzo.sync.segments import SegmentName
from palazzo.team import protocol
from palazzo.team.server import approvals, erasures, wing_rows
from palazzo.team.server.approvals import WingApprovals
from palazzo.team.server.item_owners import ItemOwners
from palazzo.team.server.scratch_copies import ScratchCopies
from palazzo.team.server.scratch_palace import ScratchPalace, SentRecords, TeamDrawer
from palazzo.team.server.team_database import HeldWing, Session, TeamDatabase


@frozen
class WingState:
    """A wing to build; `changed` is the number of its last change that the build includes, `built` that of its rows."""

    uid: bytes
    key: bytes
    generation: int
    changed: int
    built: int


@frozen
class StoredSegment:
    """A segment of a wing, without its content."""

    device: bytes
    person: int
    name: SegmentName

    @property
    def label(self) -> str:
        """Return the name by which a scratch palace knows it."""
        return f"{self.device.hex()}/{self.name}"


class Worker:
    """Builds wings, below a scratch directory; workers of one machine may share it."""

    def __init__(self, database: TeamDatabase, scratch: Path, embedder: EmbedderFactory = without_embedder) -> None:
        self._database, self._embedder = database, embedder
        self._copies = ScratchCopies(database, scratch)

    def run(self) -> int:
        """Build the wings that have changed and that no other worker has; return how many."""
        self._copies.purge()
        with self._database.as_server() as session:
            wings = session.execute(
                "SELECT id FROM team.wing WHERE changed > built ORDER BY changed - built"
            ).fetchall()
        count = 0
        for (wing,) in wings:
            with self._database.hold_wing(wing) as held:
                count += held is not None and self._build(held)
        return count

    def _build(self, held: HeldWing) -> bool:
        """Build a wing; return False if there was nothing to do, or if something was withdrawn meanwhile."""
        with held.transaction() as session:
            state = _read_state(session, held.wing)
            if state is None:
                return False
            segments = _list_segments(session, held.wing)
            wing_approvals = approvals.read_approvals(session, held.wing, state.key, state.built)
        directory = self._copies.register(held.wing, state.uid)
        with ScratchPalace(directory, state.generation, segments.keys(), self._embedder) as scratch:
            self._copies.update(held.wing, state.generation)
            owners = _merge_segments(held, state, scratch, segments)
            drawers, uids = _find_changes(held, state, scratch, owners, wing_approvals)
            with held.transaction() as session:
                if not _is_current(session, held.wing, state):
                    return False
                owners.write(session)
                removed_uids = wing_rows.update_wing(session, held.wing, drawers, uids, scratch.embedder_name)
                approvals.forget_approvals(session, held.wing, removed_uids)
                erasures.note_rows(session, held.wing, state.generation, removed_uids)
                session.execute("UPDATE team.wing SET built = %s WHERE id = %s", (state.changed, held.wing))
            scratch.save(state.changed)
        return True


def _merge_segments(
    held: HeldWing, state: WingState, scratch: ScratchPalace, segments: Mapping[str, StoredSegment]
) -> ItemOwners:
    """Merge those of the segments that the scratch palace does not have; return the owners of their items."""
    owners = ItemOwners(held)
    merged_names = scratch.state.merged_names
    if not merged_names and owners.load_all():
        owners.settle(_read_records(held, state, segments.values()))

    def load_owners() -> Iterator[SentRecords]:
        new = (segment for name, segment in segments.items() if name not in merged_names)
        for segment_records in _read_records(held, state, new):
            if merged_names:
                owners.load(segment_records.item_uids)
            yield segment_records

    scratch.add(load_owners(), owners.current)
    return owners


def _find_changes(
    held: HeldWing, state: WingState, scratch: ScratchPalace, owners: ItemOwners, wing_approvals: WingApprovals
) -> tuple[list[TeamDrawer], list[bytes]]:
    """Return the drawers whose rows are to be written, and the ids of those and of what may be gone.

    Where another worker has written the rows since this scratch palace was used, all drawers are compared with them.
    """
    changes = scratch.find_changes() if scratch.state.built == state.built else None
    if changes is None:
        rows = scratch.list_rows()
    else:
        rows = sorted({*changes.rows, *scratch.find_rows(wing_approvals.changed)})
    owners.load(scratch.find_items(rows))
    drawers = scratch.read_drawers(rows, owners.current, wing_approvals.cover)
    if changes is not None:
        return list(drawers), [*{*changes.uids, *wing_approvals.changed}]
    with held.transaction() as session:
        return wing_rows.find_differences(session, held.wing, drawers)


def _read_state(session: Session, wing: int) -> WingState | None:
    row = session.execute(
        "SELECT uid, key, generation, changed, built FROM team.wing WHERE id = %s AND changed > built", (wing,)
    ).fetchone()
    return None if row is None else WingState(*row)


def _is_current(session: Session, wing: int, state: WingState) -> bool:
    """Lock the wing; return whether nothing was withdrawn since the build began."""
    row = session.execute("SELECT generation FROM team.wing WHERE id = %s FOR UPDATE", (wing,)).fetchone()
    return row == (state.generation,)


def _list_segments(session: Session, wing: int) -> dict[str, StoredSegment]:
    """Return the wing's segments by name, in the order in which they came, without their content."""
    rows = session.execute(
        "SELECT device, person, epoch, n, hash FROM team.segment WHERE wing = %s ORDER BY seq", (wing,)
    )
    segments = (StoredSegment(bytes(device), person, SegmentName(*name)) for device, person, *name in rows)
    return {segment.label: segment for segment in segments}


def _read_records(held: HeldWing, state: WingState, segments: Iterable[StoredSegment]) -> Iterator[SentRecords]:
    """Yield the records of segments, but for one that was withdrawn meanwhile."""
    for own in segments:
        with held.transaction() as session:
            row = session.execute(
                "SELECT content FROM team.segment WHERE wing = %s AND device = %s AND epoch = %s AND n = %s",
                (held.wing, own.device, own.name.epoch, own.name.n),
            ).fetchone()
        if row is not None:
            segment = protocol.open_segment(bytes(row[0]), own.name, own.device.hex(), state.uid.hex(), state.key)
            yield SentRecords(own.label, own.person, protocol.parse_records(segment))
