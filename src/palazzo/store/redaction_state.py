"""Redaction state of the palace: the key of its marks, and the rule versions that its items were checked with.

The key leaves the palace only for the same person's other devices (`sync/device_pairing`): nothing prints or exports
it.
"""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from palazzo.errors import PalaceUnusable
from palazzo.store.database import Connection

KEY_BYTES = 32
NO_RULES = 0
"""The rules version of items that were archived while redaction was off."""

_MOST_STRETCHES = 64
_KEY, _RULES, _SCAN = "fingerprint key", "rules", "looked through"


class Stretch(NamedTuple):
    """The items from row id `item` to the next range, and the version of the rules they were archived under."""

    rules: int
    item: int


class ArchiveScan(NamedTuple):
    """A finished scan of the archive: the rules version, and the last item (row id)."""

    rules: int
    item: int


def make_fingerprint_key(connection: Connection) -> None:
    """Create the key of a new palace."""
    connection.execute("INSERT INTO meta(key, value) VALUES(?, ?)", (_KEY, os.urandom(KEY_BYTES)))


def adopt_fingerprint_key(connection: Connection, key: bytes) -> None:
    """Adopt another palace's key; the caller ensures that nothing here depends on the previous key."""
    _set(connection, _KEY, key)


def is_key_used(connection: Connection) -> str:
    """Return what here depends on the key and cannot be recomputed with another, in a word; '' if nothing does."""
    for label, table in _KEY_USES.items():
        if any(True for _ in connection.execute(f"SELECT 1 FROM {table} LIMIT 1")):
            return label
    return ""


_KEY_USES = {
    "erased words": "tombstone",
    "dismissed facts": "unwanted_fact",
    "cited lines of facts": "fact_anchor WHERE lines > 0",
    "redacted secrets": "item WHERE json_extract(meta, '$.redacted') IS NOT NULL",
    "cited lines of notes": "item WHERE json_extract(meta, '$.cited') IS NOT NULL",
}


def fingerprint_key(connection: Connection) -> bytes:
    """Return the key of the palace's marks; raise PalaceUnusable if the palace has lost it."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)):
        if isinstance(value, bytes) and len(value) == KEY_BYTES:
            return value
    raise PalaceUnusable(
        "The palace has no key for its redaction marks, so nothing can be added to it. Restore a backup, or name "
        "another palace with --palace."
    )


def rules_used(connection: Connection) -> list[Stretch]:
    """Return the rules under which the items were archived, in the items' order."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE key = ?", (_RULES,)):
        return [Stretch(*map(int, pair)) for pair in json.loads(value)]
    return []


def note_rules(connection: Connection, rules: int, item: int) -> None:
    """Record that the items from row id `item` on are archived under that version of the rules."""
    used = rules_used(connection)
    if used and used[-1].rules == rules:
        return
    if len(used) >= _MOST_STRETCHES:  # two processes that differ, batch by batch: what is told may be older, not newer
        used = [Stretch(min(stretch.rules for stretch in used), used[0].item)]
    _set(connection, _RULES, json.dumps([*used, Stretch(rules, item)]))


def last_look(connection: Connection) -> ArchiveScan:
    """Return the last complete review of the archive; Looked(0, 0) before the first."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE key = ?", (_SCAN,)):
        return ArchiveScan(*map(int, json.loads(value)))
    return ArchiveScan(0, 0)


def note_look(connection: Connection, look: ArchiveScan) -> None:
    """Record a completed review of the archive."""
    _set(connection, _SCAN, json.dumps(look))


def _set(connection: Connection, key: str, value: str | bytes) -> None:
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (key, value))
