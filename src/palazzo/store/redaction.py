"""What the palace remembers of its guard: the key of its marks, and which rules its items have been seen by.

The key never leaves the palace: nothing prints or exports it.
"""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from palazzo.errors import PalaceUnusable
from palazzo.store.database import Connection

KEY_BYTES = 32
WITHOUT = 0
"""The version of the rules of what was archived while redaction was off."""

_KEY, _RULES, _LOOKED = "fingerprint key", "rules", "looked through"


class Looked(NamedTuple):
    """A look through the archive that has come to its end: by which rules, and up to which item (row id)."""

    rules: int
    item: int


def make_fingerprint_key(connection: Connection) -> None:
    """Give a new palace its key."""
    connection.execute("INSERT INTO meta(key, value) VALUES(?, ?)", (_KEY, os.urandom(KEY_BYTES)))


def fingerprint_key(connection: Connection) -> bytes:
    """Return the key of the palace's marks; PalaceUnusable when the palace has lost it."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)):
        if isinstance(value, bytes) and len(value) == KEY_BYTES:
            return value
    raise PalaceUnusable(
        "The palace has no key for the marks of what is redacted, so nothing can be added to it. "
        "Restore a backup, or name another palace with --palace."
    )


def rules_used(connection: Connection) -> dict[int, int]:
    """Return, by version of the rules, the row id of the last item that was archived under it."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE key = ?", (_RULES,)):
        return {int(version): int(item) for version, item in json.loads(value).items()}
    return {}


def note_rules(connection: Connection, version: int, item: int) -> None:
    """Remember that items up to row id `item` were archived under that version of the rules."""
    _set(connection, _RULES, json.dumps(rules_used(connection) | {version: item}))


def last_look(connection: Connection) -> Looked:
    """Return the last whole look through the archive; Looked(0, 0) before the first."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE key = ?", (_LOOKED,)):
        return Looked(*map(int, json.loads(value)))
    return Looked(0, 0)


def note_look(connection: Connection, look: Looked) -> None:
    """Remember a look through the archive that has come to its end."""
    _set(connection, _LOOKED, json.dumps(look))


def _set(connection: Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (key, value))
