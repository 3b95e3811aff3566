"""Session state for hooks: the current epoch, the last request to save, and the notices shown to the person.

An epoch is the part of a session during which the agent still has the text that it was given.
"""

from __future__ import annotations

from typing import Any

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store.database import Connection


@frozen
class HookSession:
    """One session, or a sub-agent in one, which receives its own injections.

    `saved_at` is the number of the human's messages at the last save; `noticed` says that the person was informed that
    memory is incomplete.
    """

    row: int
    host: str
    session: str
    epoch: int
    saved_at: int
    noticed: bool
    began_at: Micros
    epoch_at: Micros
    heard_at: Micros


def find(connection: Connection, host: str, session: str) -> HookSession | None:
    """Return a session; None if no hook event of it is recorded."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM hook_session WHERE host = ? AND session = ?", (host, session))
    return next((_session(row) for row in rows), None)


def of_id(connection: Connection, session: str) -> list[HookSession]:
    """Return the sessions with that id, which may be from several hosts."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM hook_session WHERE session = ? ORDER BY id", (session,))
    return [_session(row) for row in rows]


def with_agents(connection: Connection, session: HookSession) -> list[HookSession]:
    """Return a session and its sub-agents, whose ids are its id, a slash, and their own."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM hook_session WHERE host = ?1 AND (session = ?2"
        " OR substr(session, 1, length(?2) + 1) = ?2 || '/') ORDER BY session <> ?2, id",
        (session.host, session.session),
    )
    return [_session(row) for row in rows]


def hosts(connection: Connection) -> frozenset[str]:
    """Return the hosts from which any hook event was received."""
    return frozenset(str(host) for (host,) in connection.execute("SELECT DISTINCT host FROM hook_session"))


def by_prefix(connection: Connection, prefix: str, at_most: int = 20) -> list[HookSession]:
    """Return the sessions whose ids have this prefix, most recently active first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM hook_session WHERE substr(session, 1, length(?1)) = ?1 ORDER BY heard_at DESC"
        " LIMIT ?2",
        (prefix, at_most),
    )
    return [_session(row) for row in rows]


def record_hook(connection: Connection, host: str, session: str, at: Micros, new_epoch: bool = False) -> HookSession:
    """Record a hook event of a session, and whether an epoch began with it; return the session's current state."""
    connection.execute(
        "INSERT INTO hook_session(host, session, epoch, saved_at, held_back, noticed, began_at, epoch_at, heard_at)"
        " VALUES(?1, ?2, 0, 0, 0, 0, ?3, ?3, ?3) ON CONFLICT(host, session) DO UPDATE SET"
        " heard_at = max(heard_at, ?3), epoch = epoch + ?4, epoch_at = CASE WHEN ?4 THEN ?3 ELSE epoch_at END,"
        " held_back = CASE WHEN ?4 THEN 0 ELSE held_back END",
        (host, session, at, int(new_epoch)),
    )
    ((row,),) = connection.execute("SELECT id FROM hook_session WHERE host = ? AND session = ?", (host, session))
    return next(
        _session(record) for record in connection.execute(f"SELECT {_COLUMNS} FROM hook_session WHERE id = ?", (row,))
    )


def record_save(connection: Connection, row: int, humans: int) -> bool:
    """Record that a save was requested or made after so many user messages; False if that was already recorded."""
    updates = connection.execute(
        "UPDATE hook_session SET saved_at = ?1 WHERE id = ?2 AND saved_at < ?1 RETURNING id", (humans, row)
    )
    return bool(list(updates))


def notice(connection: Connection, row: int) -> None:
    """Record that the user was notified, in this session, that memory is incomplete."""
    connection.execute("UPDATE hook_session SET noticed = 1 WHERE id = ?", (row,))


# --- what fails again and again ----------------------------------------------------------------------------


def failures(connection: Connection, row: int, target: bytes) -> tuple[int, Micros]:
    """Return how often in a row a command (a hash of its target) failed in a session, and the last time."""
    rows = connection.execute("SELECT count, last FROM hook_failure WHERE session = ? AND target = ?", (row, target))
    return next(((int(count), Micros(last)) for count, last in rows), (0, Micros(0)))


def failed(connection: Connection, row: int, target: bytes, count: int, last: Micros) -> None:
    """Record how often in a row a command failed, and the last time."""
    connection.execute(
        "INSERT OR REPLACE INTO hook_failure(session, target, count, last) VALUES(?, ?, ?, ?)",
        (row, target, count, last),
    )


def passed(connection: Connection, row: int, target: bytes) -> None:
    """Record that a command succeeded."""
    connection.execute("DELETE FROM hook_failure WHERE session = ? AND target = ?", (row, target))


def forget_failures(connection: Connection) -> None:
    """Delete the failures of all sessions: a hash of erased words would confirm a guess."""
    connection.execute("DELETE FROM hook_failure")


_COLUMNS = "id, host, session, epoch, saved_at, noticed, began_at, epoch_at, heard_at"


def _session(row: Any) -> HookSession:
    own, host, session, epoch, saved_at, has_notice, *moments = row
    return HookSession(int(own), host, session, int(epoch), int(saved_at), bool(has_notice), *map(Micros, moments))
