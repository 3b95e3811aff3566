"""Unfinished imports: imports that began and did not end, as one row of `meta` that exists only while there are any."""

from __future__ import annotations

import json
from typing import NamedTuple

from palazzo.store.database import Connection

STANDARD_INPUT = "standard input"
"""The path recorded for an import from standard input."""
_KEY = "unfinished imports"


class Import(NamedTuple):
    """A file being imported: its path, and the digest of its bytes, by which a copy of it is recognised."""

    path: str
    digest: str


def begin(connection: Connection, source_file: Import) -> None:
    """Record that an import has begun."""
    _keep(connection, {**_read_paths(connection), source_file.digest: source_file.path})


def end(connection: Connection, source_file: Import) -> None:
    """Record that an import has ended, which also ends interrupted imports of that file or of a copy of it."""
    paths_by_digest = _read_paths(connection)
    remainder = {
        digest: path
        for digest, path in paths_by_digest.items()
        if digest != source_file.digest and path != source_file.path
    }
    if remainder != paths_by_digest:
        _keep(connection, remainder)


def paths(connection: Connection) -> list[str]:
    """Return the files that were imported in part and whose rest is still to come."""
    return sorted(set(_read_paths(connection).values()))


def _read_paths(connection: Connection) -> dict[str, str]:
    """Return the paths, by digest."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)):
        return {str(digest): str(path) for digest, path in json.loads(value).items()}
    return {}


def _keep(connection: Connection, paths_by_digest: dict[str, str]) -> None:
    if paths_by_digest:
        connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (_KEY, json.dumps(paths_by_digest)))
    else:
        connection.execute("DELETE FROM meta WHERE key = ?", (_KEY,))
