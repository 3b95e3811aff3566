"""Which sessions touched a file: the citations of their drawers, by path, by drawer and by session."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import NamedTuple

from palazzo.model import Anchor, Micros
from palazzo.store.database import Connection

_SELECT = (
    "SELECT a.drawer, hex(d.uid), d.source, s.session_id, s.kind, w.name, d.created_at, d.branch, d.commit_id, d.trust,"
    " a.path, a.first, a.last, a.digest, a.lines, a.blob, a.how FROM anchor a"
    " JOIN drawer d ON d.id = a.drawer AND d.retired_at IS NULL JOIN room r ON r.id = d.room"
    " JOIN wing w ON w.id = r.wing JOIN source s ON s.id = d.source"
)
_IN_SCOPE = (
    "s.session_id <> '' AND w.name IN (SELECT value FROM json_each(?1))"
    " AND d.created_at >= coalesce(?2, d.created_at) AND (?3 IS NULL OR d.created_at < ?3)"
)


class FileTouch(NamedTuple):
    """A citation of a file in a session: the drawer (row id and id), the session's source, and the citation."""

    drawer: int
    uid: str
    source: int
    session: str
    host: str
    wing: str
    at: Micros
    branch: str
    commit: str
    trust: str
    anchor: Anchor


def of_paths(
    connection: Connection,
    paths: Collection[str],
    wings: Collection[str],
    since: Micros | None = None,
    until: Micros | None = None,
) -> list[FileTouch]:
    """Return the citations of files with these paths in sessions of these wings, newest first."""
    rows = connection.execute(
        f"{_SELECT} WHERE {_IN_SCOPE} AND a.path IN (SELECT value FROM json_each(?4)) ORDER BY d.created_at DESC, a.id",
        (json.dumps(list(wings)), since, until, json.dumps(list(paths))),
    )
    return [_touch(*row) for row in rows]


def of_drawers(connection: Connection, drawers: Iterable[int]) -> list[FileTouch]:
    """Return the citations of these drawers (row ids) that are not retired, newest first."""
    rows = connection.execute(
        f"{_SELECT} WHERE a.drawer IN (SELECT value FROM json_each(?)) ORDER BY d.created_at DESC, a.id",
        (json.dumps(sorted(set(drawers))),),
    )
    return [_touch(*row) for row in rows]


def turns_of(connection: Connection, drawers: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """Return, for each of these drawers (row ids), the drawers of the same turn of its session, itself included.

    A turn is cut into a drawer of the words and drawers of the tools. A drawer of no session is alone.
    """
    mates: dict[int, list[int]] = {}
    rows = connection.execute(
        "SELECT own.id, mate.id FROM drawer own JOIN source s ON s.id = own.source JOIN drawer mate"
        " ON mate.source = own.source AND mate.thread = own.thread AND mate.retired_at IS NULL"
        " AND (mate.id = own.id OR (mate.turn = own.turn AND s.session_id <> ''))"
        " WHERE own.id IN (SELECT value FROM json_each(?)) ORDER BY own.id, mate.id",
        (json.dumps(sorted(set(drawers))),),
    )
    for own, mate in rows:
        mates.setdefault(int(own), []).append(int(mate))
    return {own: tuple(rows) for own, rows in mates.items()}


def edits_of_sources(connection: Connection, sources: Iterable[int]) -> list[FileTouch]:
    """Return what the sessions of these sources edited, newest first."""
    rows = connection.execute(
        f"{_SELECT} WHERE d.source IN (SELECT value FROM json_each(?)) AND s.session_id <> '' AND a.how = 'edited'"
        " ORDER BY d.created_at DESC, a.id",
        (json.dumps(sorted(set(sources))),),
    )
    return [_touch(*row) for row in rows]


def paths_ending_in(connection: Connection, ending: str, wings: Collection[str], limit: int) -> list[str]:
    """Return the cited paths in these wings that are `ending`, or whose last names are it, in alphabetical order."""
    rows = connection.execute(
        "SELECT DISTINCT a.path FROM anchor a JOIN drawer d ON d.id = a.drawer AND d.retired_at IS NULL"
        " JOIN room r ON r.id = d.room JOIN wing w ON w.id = r.wing"
        " WHERE w.name IN (SELECT value FROM json_each(?1)) AND (a.path = ?2"
        " OR substr(a.path, -length(?2) - 1) = '/' || ?2) ORDER BY 1 LIMIT ?3",
        (json.dumps(list(wings)), ending, limit),
    )
    return [str(path) for (path,) in rows]


def are_cited(connection: Connection, paths: Collection[str], wings: Collection[str]) -> bool:
    """Return whether a live drawer of these wings cites a file with one of these paths."""
    rows = connection.execute(
        "SELECT 1 FROM anchor a JOIN drawer d ON d.id = a.drawer AND d.retired_at IS NULL"
        " JOIN room r ON r.id = d.room JOIN wing w ON w.id = r.wing"
        " WHERE a.path IN (SELECT value FROM json_each(?1)) AND w.name IN (SELECT value FROM json_each(?2)) LIMIT 1",
        (json.dumps(list(paths)), json.dumps(list(wings))),
    )
    return next(iter(rows), None) is not None


def _touch(
    drawer: int,
    uid: str,
    source: int,
    session: str,
    host: str,
    wing: str,
    at: int,
    branch: str,
    commit: str,
    trust: str,
    path: str,
    first: int,
    last: int,
    digest: bytes,
    lines: int,
    blob: bytes,
    how: str,
) -> FileTouch:
    anchor = Anchor(path, first, last, bytes(digest), lines, bytes(blob).hex(), how)  # type: ignore[arg-type]
    return FileTouch(drawer, uid.lower(), source, session, host, wing, Micros(at), branch, commit, trust, anchor)
