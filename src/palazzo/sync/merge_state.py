"""Merge state: the mapping from ids to local rows, how text is stored here, and the counts of one merge in progress.

Row ids never change, so each id is looked up once. A record that refers to something that is not here raises Missing
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
from palazzo.store.database import Connection, Value
from palazzo.store.packs import PackReader
from palazzo.text.surrogates import well_formed

Outcome = Literal["added", "changed", "same"]


class Missing(LookupError):
    """A record refers to something that does not exist here."""


@dataclass(slots=True)
class Report:
    """Result of a merge, by kind of record.

    `added` did not exist here, `changed` extended something here, `same` existed here. `missing` refers to something
    that neither arrived nor exists here, and was omitted. `refusals` was omitted too: another person's record that
    would change something that existed here before. `variants` are the items (ids) that arrived with content different
    from the content here. `conflicts` are the ids of the conflicts of facts that the merge found, `erasure_count` is
    the number of items that lost words here, `forks` are the devices (ids) whose chain was written twice from one
    position on.
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
    """The change group of an import, with which `undo` reverts the whole import. It begins with the first new record.

    It is not exported before it is undone, so an export of the imported records equals the original.
    """

    def __init__(self, uid: bytes, actor: str, at: Micros, summary: str) -> None:
        self._uid, self._actor, self._at, self._summary = uid, actor, at, summary
        self._row: int | None = None

    @property
    def uid(self) -> str | None:
        """Return the id of the group; None if nothing was new."""
        return None if self._row is None else self._uid.hex()

    def add(self, connection: Connection, kind: MemberKind, rows: Sequence[int]) -> None:
        """Record that the import added rows, as members of that kind."""
        if not rows:
            return
        if self._row is None:
            self._row = change_groups.begin(
                connection, self._uid, self._actor, change_groups.IMPORT_OF_EXPORT, self._at, self._summary
            )
        change_groups.add(connection, self._row, kind, rows)
        change_groups.count(connection, self._row, len(rows))


class Version(NamedTuple):
    """A row that is valid from one time to another. Of several about the same thing only the last one stays valid."""

    row: int
    uid: bytes
    recorded_at: int
    retired_at: int | None
    nth: int | None = None


class Work:
    """The state of a merge in one transaction; `known_rows` is kept for the next transaction of the same merge."""

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
        """Whether all records have been read and only those that waited for others remain."""
        self._known_rows = known_rows
        self.arranged = False
        """Whether wings or rooms may be arranged differently now."""
        self.documents: set[int] = set()
        """Documents (row ids of their sources) of which more than the latest versions may have changed."""
        self.reader = PackReader(connection)

    # --- where ids lead ----------------------------------------------------------------------------------------

    def find(self, table: str, uid: str) -> int | None:
        """Return the row id for that id (hex); None if it is not here."""
        row = self._known_rows.get((table, uid))
        if row is not None:
            return row
        for (row_id,) in self.connection.execute(f"SELECT id FROM {table} WHERE uid = ?", (bytes.fromhex(uid),)):
            self._known_rows[table, uid] = int(row_id)
            return int(row_id)
        return None

    def lead(self, table: str, uid: str, row: int) -> None:
        """Map the id of a record to another row here, for this merge."""
        self._known_rows[table, uid] = row

    def need(self, table: str, uid: str) -> int:
        """Return the row id for that id (hex); raise Missing if it is not here."""
        row = self.find(table, uid)
        if row is None:
            raise Missing(f"{table} {uid}")
        return row

    def optional(self, table: str, uid: str | None) -> int | None:
        """Return the row id for that id, None for None; raise Missing if it is not here."""
        return None if uid is None else self.need(table, uid)

    def uid_of(self, table: str, row: int) -> str:
        """Return the id (hex) of the row with that row id."""
        (uid,) = next(self.connection.execute(f"SELECT uid FROM {table} WHERE id = ?", (row,)))
        return bytes(uid).hex()

    def insert(self, table: str, uid: str, **values: Value) -> int:
        """Insert a row with that id (hex) and these values by column; return its row id."""
        columns = {"uid": bytes.fromhex(uid), **values}
        query = f"INSERT INTO {table}({', '.join(columns)}) VALUES({', '.join('?' * len(columns))}) RETURNING id"
        return int(next(self.connection.execute(query, (*columns.values(),)))[0])

    # --- how words are kept ------------------------------------------------------------------------------------

    def name(self, text: str) -> str:
        """Return a name as it is stored here: with marks for erased text."""
        return well_formed(tombstones.mask_text(self.guard.tombstone_finder, text))

    def words(self, text: str) -> str:
        """Return a few words as they are stored here: without secrets and erased text."""
        return well_formed(self.guard.words(text)) if text else text

    def values(self, value: object) -> object:
        """Return a JSON value as it is stored here: every string in it is treated like a name."""
        if isinstance(value, str):
            return self.name(value)
        if isinstance(value, dict):
            return {name: self.values(element) for name, element in value.items()}
        return [self.values(element) for element in value] if isinstance(value, (list, tuple)) else value


def earliest(first_time: int | None, second_time: int | None) -> int | None:
    """Return the earlier of two end times; None means no end yet."""
    return min((at for at in (first_time, second_time) if at is not None), default=None)


def ended_by(work: Work, table: str, row: int, end: int | None) -> dict[int, int | None]:
    """Return the end that a record gives for a row here, if it is earlier than the known one."""
    (stored_end,) = next(work.connection.execute(f"SELECT retired_at FROM {table} WHERE id = ?", (row,)))
    return {row: end} if end is not None and (stored_end is None or end < stored_end) else {}


def merge_end_states(
    first_state: tuple[int | None, int | None], second_state: tuple[int | None, int | None]
) -> tuple[int | None, int | None]:
    """Return the valid one of two (ended at, undone at): the one with the later undo, else the earlier end."""
    if first_state[1] == second_state[1]:
        return earliest(first_state[0], second_state[0]), first_state[1]
    return max(first_state, second_state, key=lambda state: -1 if state[1] is None else state[1])


def retirements(versions: list[Version]) -> dict[int, int | None]:
    """Return by row id when each version of one thing ends: at the latest when a later one was recorded.

    This holds whatever became of the later version, so the order in which versions arrive does not matter. Of versions
    recorded at the same time, the later is the one with the higher `nth`, then with the greater id. Without an `nth`,
    if two versions would both count, the one with the greater id does.
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
    """Set the ends of the versions of one thing; return whether any of the versions here before changed.

    `stated_ends` are the ends of rows from their records, if the table does not have them yet.
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
