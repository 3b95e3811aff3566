"""Palace snapshots: what the records of an export are read from, and which rows a limited export selects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from palazzo.frozen_class import frozen
from palazzo.store.database import Connection

T = TypeVar("T")


@dataclass(slots=True)
class Selection:
    """The content of a limited export: row ids by table; `item_ids` are the ids of the chosen items.

    Records that concern other items too are left out, since they would reveal content of those items. `options` are
    the options of the export. In `whole_wings` it includes facts that no text states.
    """

    options: Mapping[str, object] = field(default_factory=dict)
    item_ids: set[bytes] = field(default_factory=set)
    whole_wings: set[int] = field(default_factory=set)
    rows: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))


@frozen
class PalaceSnapshot:
    """A palace at one moment, and how much of it is read.

    `tombstones` are data that only a palace with the same key can use: hashes of erased words and of unwanted facts.
    Without `addresses`, sources are read without their location, which differs on every device.
    """

    connection: Connection
    selection: Selection | None = None
    tombstones: bool = False
    addresses: bool = True

    def includes(self, table: str, row: int) -> bool:
        """Return whether a row belongs to what is read."""
        return self.selection is None or row in self.selection.rows[table]


def query_reader(record_class: Callable[..., T], table: str, query: str) -> Callable[[PalaceSnapshot], Iterator[T]]:
    """Return the reader of records whose fields a query yields, after the row of `table` by which exports are limited.

    Bytes are ids.
    """

    def read(snapshot: PalaceSnapshot) -> Iterator[T]:
        for row, *values in snapshot.connection.execute(query):
            if snapshot.includes(table, row):
                yield record_class(*map(_write_id, values))

    return read


def _write_id(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def hex_id(uid: bytes) -> str:
    """Return an id as it is written."""
    return bytes(uid).hex()


def hex_or_none(uid: bytes | None) -> str | None:
    """Return an id as it is written; None for None."""
    return None if uid is None else bytes(uid).hex()


def row_set(rows: Iterable[Any]) -> set[int]:
    """Return row ids that a query yields one by one."""
    return {int(row) for row in rows}
