"""Isolation of failures: a text that a consumer cannot process is set aside, and the rest goes on.

Only errors of computing on a text count. What says that the disk, the database, the memory or the program itself is at
fault is raised as ever: no other text would fare better.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from palazzo.errors import PalazzoError, TextRefused
from palazzo.model import Micros
from palazzo.store import dead_letters
from palazzo.store.database import Connection, DatabaseError, ValueRefused
from palazzo.store.dead_letters import DeadLetter

_OF_VALUES = (*ValueRefused, TextRefused)
"""Errors of the database and of an embedder that are due to what they were given."""
_OF_SURROUNDINGS = (PalazzoError, DatabaseError, OSError, MemoryError, ImportError)


class OtherThingFailed(Exception):
    """Processing some things failed because of another one, which `letter` names; `error` is what was raised."""

    def __init__(self, letter: DeadLetter, error: Exception) -> None:
        super().__init__(letter.label)
        self.letter, self.error = letter, error


def is_of_text(error: Exception) -> bool:
    """Whether an error may be due to the text that was processed."""
    return isinstance(error, _OF_VALUES) or not isinstance(error, _OF_SURROUNDINGS)


def letter(consumer: str, thing: int, label: str, version: int, error: BaseException) -> DeadLetter:
    """Return a dead letter of now."""
    return DeadLetter(consumer, thing, label, version, type(error).__name__, Micros(time.time_ns() // 1000))


_logs: list[Callable[[str], None]] = []


def write_log_by(write: Callable[[str], None]) -> None:
    """Let the tracebacks of what this process sets aside be written by `write`."""
    _logs[:] = [write]


def set_aside(connection: Connection, dead: DeadLetter, error: BaseException) -> None:
    """Set a thing aside, and write the traceback to the log, without the error's message: it may quote the text."""
    import traceback  # what nothing fails in does without it

    dead_letters.put(connection, dead)
    frames = "".join(traceback.format_tb(error.__traceback__)).rstrip()
    for write in _logs:
        write(f"{dead.consumer}: {dead.label} is set aside ({dead.error})\n{frames}")


def drawer_label(connection: Connection, drawer: int) -> str:
    """Return how a drawer is named for a person."""
    rows = connection.execute("SELECT uid FROM drawer WHERE id = ?", (drawer,))
    return next((f"drawer {bytes(uid).hex()}" for (uid,) in rows), f"drawer {drawer}")


def item_label(connection: Connection, item: int) -> str:
    """Return how an item is named for a person."""
    rows = connection.execute("SELECT uid FROM item WHERE id = ?", (item,))
    return next((f"item {bytes(uid).hex()}" for (uid,) in rows), f"item {item}")


def session_label(connection: Connection, source: int) -> str:
    """Return how a session is named for a person."""
    rows = connection.execute("SELECT session_id FROM source WHERE id = ?", (source,))
    return next((f"session {session}" for (session,) in rows if session), f"source {source}")
