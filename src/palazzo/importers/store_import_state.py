"""Store import state: the change group, the counts, and the local spelling of a store's names, shared by its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

from palazzo.archive import identity
from palazzo.git.project_rooms import slug
from palazzo.importers import DiaryEntry, Fact, Note, StoreReader, StoreRecord, Task, Tunnel
from palazzo.knowledge import fact_change
from palazzo.model import Micros
from palazzo.store import change_groups
from palazzo.store.change_groups import MemberKind
from palazzo.store.database import Connection

FilingOutcome = Literal["new", "there", "changed", "merged"]
_KEYS_TOLD = 5
"""Maximum number of keys that are named of the things that could not be imported."""
_LONGEST_TOLD = 100
"""Maximum characters of a store's own name in a report."""


class MigrationSummary:
    """The counts of a migration, in the order of first occurrence."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[FilingOutcome]] = {}
        self.left: dict[tuple[str, str], tuple[int, list[str]]] = {}
        self.renamed: dict[tuple[str, str, str], None] = {}

    def count(self, kind: str, outcome: FilingOutcome) -> None:
        """Count one thing."""
        self.counts.setdefault(kind, Counter())[outcome] += 1

    def leave(self, kind: str, reason: str, key: str = "", size: int = 1) -> None:
        """Count what cannot be imported."""
        total, keys = self.left.get((kind, reason), (0, []))
        if key and len(keys) < _KEYS_TOLD:
            keys.append(_clean_name(key))
        self.left[kind, reason] = total + size, keys

    def record_name(self, kind: str, was: str, new_name: str) -> str:
        """Record that something has another name here, if it has; return the name here."""
        if was and was != new_name:
            self.renamed.setdefault((kind, _clean_name(was), new_name))
        return new_name


def _clean_name(name: str) -> str:
    """Return a store's own name in a form safe to print: a store must not control a terminal."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in name[:_LONGEST_TOLD])
    return f"{plain}…" if len(name) > _LONGEST_TOLD else plain


class Change:
    """One migration: its store, its actor, its time, and its change group, which begins with the first new thing."""

    def __init__(self, reader: StoreReader, actor: str, clock: Callable[[], Micros], summary: MigrationSummary) -> None:
        self.store, self.title = reader.name, reader.title
        self.actor, self.clock, self.tally = actor, clock, summary
        self._row: int | None = None
        self.uid: str | None = None

    def group(self, connection: Connection) -> int:
        """Return the row id of the change group."""
        if self._row is None:
            now = self.clock()
            self.uid = identity.new_id(now)
            self._row = change_groups.begin(connection, bytes.fromhex(self.uid), self.actor, "import", now, self.title)
        return self._row

    def begin(self, connection: Connection) -> fact_change.Change:
        """Begin the graph changes of this transaction; `adopt_group` adds them to the change group."""
        return fact_change.Change(connection, self.actor, "import", self.clock(), self._row, self.title)

    def adopt_group(self, connection: Connection, change: fact_change.Change) -> None:
        """Add the graph changes to the change group, which they may have begun."""
        if self._row is None and change.group is not None:
            self._row, self.uid = change.group, change_groups.read(connection, change.group).uid

    def did(self, connection: Connection, kind: MemberKind, rows: list[int]) -> None:
        """Add these rows to the change group."""
        if rows:
            group = self.group(connection)
            change_groups.add(connection, group, kind, rows)
            change_groups.count(connection, group, len(rows))


def wing_of(summary: MigrationSummary, wing_name: str, store: str, instead: str | None) -> str:
    """Return the wing for the store's wing `wing_name`; `instead` is the wing for everything, if given."""
    return instead or summary.record_name("wing", wing_name, slug(wing_name, slug(store)))


def room_of(summary: MigrationSummary, room_name: str, default_room: str) -> str:
    """Return the room for the store's room `room_name`."""
    return summary.record_name("room", room_name, slug(room_name, default_room))


def what_of(thing: StoreRecord) -> str:
    """Return the kind of an entry, as reports count it."""
    if isinstance(thing, Note):
        return "notes"
    if isinstance(thing, DiaryEntry):
        return "diary entries"
    if isinstance(thing, Task):
        return "to-dos" if thing.kind == "todo" else "reminders"
    if isinstance(thing, Fact):
        return "facts"
    return "tunnels" if isinstance(thing, Tunnel) else thing.what
