"""What a palace holds, for a comparison with a copy of it that was damaged."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from palazzo.errors import PalazzoError
from palazzo.store import items
from palazzo.store.database import Database
from palazzo.sync import record_lines, record_reader


@dataclass
class Truth:
    """A palace's items, by id the hash of their text; and each record of an export, by kind and line."""

    items: dict[str, int]
    records: Counter[tuple[str, bytes]]

    @classmethod
    def of(cls, path: Path) -> Truth:
        """Read all of it."""
        with contextlib.closing(Database(path, "read")) as database, database.snapshot() as connection:
            records = Counter(
                (record_lines.kind_of(record), record_lines.to_line(record))
                for record in record_reader.records(connection)
            )
        del records[next(key for key in records if key[0] == "header")]
        item_records = [json.loads(line) for kind, line in records if kind == "item"]
        return cls({item["id"]: hash(item.get("text", "")) for item in item_records}, records)


def read_items(path: Path, expected_items: Mapping[str, int]) -> dict[str, bool]:
    """Read items as `show` reads them; return for each that can be read whether its text is the expected one."""
    is_expected: dict[str, bool] = {}
    with contextlib.suppress(PalazzoError), contextlib.closing(Database(path, "read")) as database:
        for item, text in expected_items.items():
            with contextlib.suppress(Exception), database.snapshot() as connection:
                row = items.known_items(connection, [bytes.fromhex(item)])[bytes.fromhex(item)]
                is_expected[item] = hash(items.read_item(connection, row).text) == text
    return is_expected


def readable_items(path: Path, expected_items: Mapping[str, int]) -> set[str]:
    """Return which items are read as they were, by their ids."""
    return {item for item, is_same in read_items(path, expected_items).items() if is_same}
