"""Imports that have begun and not come to their end: one row of `meta`, there as long as there are any."""

from __future__ import annotations

import json
from typing import NamedTuple

from palazzo.store.database import Connection

STANDARD_INPUT = "standard input"
"""The path of what came by it."""
_KEY = "unfinished imports"


class Import(NamedTuple):
    """A file that is imported: its path, and the digest of its bytes, by which a copy of it is known."""

    path: str
    digest: str


def begin(connection: Connection, one: Import) -> None:
    """Note that an import has begun."""
    _keep(connection, {**_all(connection), one.digest: one.path})


def end(connection: Connection, one: Import) -> None:
    """Note that an import has come to its end, and with it what was interrupted of that file or of a copy of it."""
    before = _all(connection)
    left = {digest: path for digest, path in before.items() if digest != one.digest and path != one.path}
    if left != before:
        _keep(connection, left)


def paths(connection: Connection) -> list[str]:
    """Return the files of which a part came, and the rest is still to come."""
    return sorted(set(_all(connection).values()))


def _all(connection: Connection) -> dict[str, str]:
    """The paths, by digest."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)):
        return {str(digest): str(path) for digest, path in json.loads(value).items()}
    return {}


def _keep(connection: Connection, those: dict[str, str]) -> None:
    if those:
        connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (_KEY, json.dumps(those)))
    else:
        connection.execute("DELETE FROM meta WHERE key = ?", (_KEY,))
