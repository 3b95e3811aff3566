"""What one merge knows while it goes on: where ids lead here, how words are kept here, and what it has done.

Row ids never change, so where an id leads is looked up once. What a record refers to and is not here raises Missing
before anything of the record is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple

from palazzo.archive.incoming_items import Authority
from palazzo.archive.ingest_guard import Guard
from palazzo.model import Micros
from palazzo.store import change_groups, tombstones
from palazzo.store.change_groups import MemberKind
from palazzo.store.database import Connection, Value, well_formed
from palazzo.store.packs import PackReader

Outcome = Literal["added", "changed", "same"]
Table = Literal[
    "device",
    "wing",
    "room",
    "source",
    "item",
    "change_group",
    "act",
    "task_state",
    "entity",
    "entity_link",
    "predicate_rule",
    "fact",
    "fact_version",
    "conflict",
    "arrangement",
    "tunnel",
    "erasure",
]
"""Tables whose rows have an id (`uid`)."""


class Missing(LookupError):
    """What a record refers to is not here."""


@dataclass(slots=True)
class Report:
    """What a merge did, by kind of record.

    `added` was not here, `changed` made something here more than it was, `same` was here. `missing` refers to what
    neither came nor is here, and was left out; so was what is `refused`: another person's record that would change
    something that was here before. `variants` are the items (ids) that came with other content than they have here.
    `conflicts` are the ids of facts' conflicts that were found by it, `erased` how many items lost words here, `forked`
    the devices (ids) whose chain was written twice from one place on.
    """

    added: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    variants: set[str] = field(default_factory=set)
    conflicts: list[str] = field(default_factory=list)
    erasure_count: int = 0
    forks: set[str] = field(default_factory=set)

    def note(self, kind: str, outcome: Outcome, number: int = 1) -> None:
        """Count records of a kind."""
        if number:
            {"added": self.added, "changed": self.changed, "same": self.same}[outcome][kind] += number


class ImportChange:
    """The change group of an import, by which `undo` takes it back as a whole. It begins with the first new record.

    It is not exported before it is undone, so an export of the imported records equals the original.
    """

    def __init__(self, uid: bytes, actor: str, at: Micros, summary: str) -> None:
        self._uid, self._actor, self._at, self._summary = uid, actor, at, summary
        self._row: int | None = None

    @property
    def uid(self) -> str | None:
        """The id of the group; None if nothing was new."""
        return None if self._row is None else self._uid.hex()

    def add(self, connection: Connection, table: str, rows: Sequence[int]) -> None:
        """Record that the import added rows of a table, if an undo needs to know it."""
        kind = _MEMBERS.get(table)
        if kind is None or not rows:
            return
        if self._row is None:
            self._row = change_groups.begin(
                connection, self._uid, self._actor, change_groups.IMPORT_OF_EXPORT, self._at, self._summary
            )
        change_groups.add(connection, self._row, kind, rows)
        change_groups.count(connection, self._row, len(rows))


_MEMBERS: dict[str, MemberKind] = {
    "item": "note",
    "fact_version": "fact+",
    "entity_link": "link+",
    "predicate_rule": "predicate",
    "arrangement": "arrangement",
    "tunnel": "tunnel+",
}
"""The kind of a group's member for each table. Acts and states belong to items, which an undo forgets."""


class Version(NamedTuple):
    """A row that counts from one time to another. Of several about the same only the last one counts for good."""

    row: int
    uid: bytes
    recorded_at: int
    retired_at: int | None
    nth: int | None = None


class Work:
    """What a merge does in one transaction; `known_rows` is kept for the next one of the same merge."""

    def __init__(
        self,
        connection: Connection,
        guard: Guard,
        now: Micros,
        report: Report,
        known_rows: dict[tuple[str, str], int],
        authority: Authority = "device",
        change: ImportChange | None = None,
    ) -> None:
        self.connection, self.guard, self.now, self.report = connection, guard, now, report
        self.authority: Authority = authority
        self.change = change
        self.is_ending = False
        """Whether all records have been read, and only those that waited for others remain."""
        self._known_rows = known_rows
        self.arranged = False
        """Whether wings or rooms may stand otherwise now."""
        self.documents: set[int] = set()
        """Documents (row ids of their sources) of which more than the last versions may have changed."""
        self.reader = PackReader(connection)

    # --- where ids lead ----------------------------------------------------------------------------------------

    def find(self, table: Table, uid: str) -> int | None:
        """Return the row id of what has that id (hex); None where it is not here."""
        row = self._known_rows.get((table, uid))
        if row is not None:
            return row
        for (row_id,) in self.connection.execute(f"SELECT id FROM {table} WHERE uid = ?", (bytes.fromhex(uid),)):
            self._known_rows[table, uid] = int(row_id)
            return int(row_id)
        return None

    def lead(self, table: Table, uid: str, row: int) -> None:
        """Let the id of a record lead to another row that is here, in this merge."""
        self._known_rows[table, uid] = row

    def need(self, table: Table, uid: str) -> int:
        """Return the row id of what has that id (hex); Missing where it is not here."""
        row = self.find(table, uid)
        if row is None:
            raise Missing(f"{table} {uid}")
        return row

    def optional(self, table: Table, uid: str | None) -> int | None:
        """Return the row id of what has that id, None for None; Missing where it is not here."""
        return None if uid is None else self.need(table, uid)

    def uid_of(self, table: Table, row: int) -> str:
        """Return the id (hex) of the row of that row id."""
        (uid,) = next(self.connection.execute(f"SELECT uid FROM {table} WHERE id = ?", (row,)))
        return bytes(uid).hex()

    # --- how words are kept ------------------------------------------------------------------------------------

    def name(self, text: str) -> str:
        """Return a name as it is kept here: with marks for what was erased."""
        return well_formed(tombstones.mask_text(self.guard.tombstone_finder, text))

    def words(self, text: str) -> str:
        """Return a few words as they are kept here: without secrets and what was erased."""
        return well_formed(self.guard.words(text)) if text else text

    def values(self, value: object) -> object:
        """Return what JSON holds as it is kept here: every string of it as a name is."""
        if isinstance(value, str):
            return self.name(value)
        if isinstance(value, dict):
            return {name: self.values(element) for name, element in value.items()}
        return [self.values(element) for element in value] if isinstance(value, (list, tuple)) else value


def earliest(first_time: int | None, second_time: int | None) -> int | None:
    """Return the earlier of two times of an end; None is none yet."""
    return min((at for at in (first_time, second_time) if at is not None), default=None)


def merge_end_states(
    first_state: tuple[int | None, int | None], second_state: tuple[int | None, int | None]
) -> tuple[int | None, int | None]:
    """Return what counts of two (ended at, taken back at): of the later taking back, else the earlier end."""
    if first_state[1] == second_state[1]:
        return earliest(first_state[0], second_state[0]), first_state[1]
    return max(first_state, second_state, key=lambda state: -1 if state[1] is None else state[1])


def retirements(versions: list[Version]) -> dict[int, int | None]:
    """Return by row id when each of the versions of one thing ends: when a later one was recorded, at the latest.

    Whatever became of the later one: so it does not matter which was heard of first. Of one moment the later is the one
    of the higher `nth`, then of the greater id. Where none is known, of two that both would count the greater id does.
    """
    moments = sorted({version.recorded_at for version in versions})
    next_moments = dict(pairwise(moments))
    last = {version.recorded_at: version for version in sorted(versions, key=_place)}
    ends = {
        version.row: version.recorded_at
        if version.nth is not None and last[version.recorded_at] is not version
        else earliest(version.retired_at, next_moments.get(version.recorded_at))
        for version in versions
    }
    open_versions = sorted(
        (version.uid, version.row, version.recorded_at) for version in versions if ends[version.row] is None
    )
    return ends | {row: at for _, row, at in open_versions[:-1]}


def _place(version: Version) -> tuple[int, int, bytes]:
    return version.recorded_at, version.nth or 0, version.uid


def settle_versions(
    connection: Connection,
    table: str,
    condition: str,
    about: tuple[Value, ...],
    stated_ends: dict[int, int | None],
    nth: str = "NULL",
) -> bool:
    """Let the versions of one thing end when they should; return whether any of those that were here changed.

    `told` are the ends of rows as their records say, where the table does not yet.
    """
    rows = connection.execute(f"SELECT id, uid, recorded_at, retired_at, {nth} FROM {table} WHERE {condition}", about)
    current_versions = [Version(int(row), bytes(uid), int(at), retired_at, n) for row, uid, at, retired_at, n in rows]
    versions = [
        version._replace(retired_at=stated_ends.get(version.row, version.retired_at)) for version in current_versions
    ]
    ends = retirements(versions)
    stored_ends = {version.row: version.retired_at for version in current_versions}
    changes = [(row, end) for row, end in ends.items() if stored_ends[row] != end]
    for row, end in sorted(changes, key=lambda change: change[1] is None):  # two would count for a moment else
        connection.execute(f"UPDATE {table} SET retired_at = ? WHERE id = ?", (end, row))
    return any(row not in stated_ends for row, _ in changes)
