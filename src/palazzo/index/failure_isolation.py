"""Isolation of failures: a text that a consumer cannot process is set aside, and processing continues.

Only errors of computing on a text are isolated. An error of the disk, the database, the memory or the program is
raised: it would affect any other text too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from palazzo.errors import PalazzoError, TextRefused
from palazzo.model import Micros
from palazzo.store import dead_letters
from palazzo.store.database import Connection, DatabaseError, ValueRefused
from palazzo.store.dead_letters import DeadLetter

_TEXT_ERRORS = (*ValueRefused, TextRefused)
"""Errors with which the database and an embedder refuse a value."""
_SYSTEM_ERRORS = (PalazzoError, DatabaseError, OSError, MemoryError, ImportError)
Result = TypeVar("Result")


class OtherThingFailed(Exception):
    """Some things could not be processed because of another thing. `letter` names it; `error` says why it failed."""

    def __init__(self, letter: DeadLetter, error: Exception) -> None:
        super().__init__(letter.label)
        self.letter, self.error = letter, error


def process_text(process: Callable[[], Result]) -> Result | Exception:
    """Return the result of `process`, or the error that it raised, if the text may be the cause.

    The caller sets the text aside. Every other error is raised: those of the disk, the database, the memory, the
    program.
    """
    try:
        return process()
    except Exception as error:
        if isinstance(error, _SYSTEM_ERRORS) and not isinstance(error, _TEXT_ERRORS):
            raise
        return error


def letter(consumer: str, thing: int, label: str, version: int, error: BaseException) -> DeadLetter:
    """Return a dead letter with the current time."""
    return DeadLetter(consumer, thing, label, version, type(error).__name__, Micros(time.time_ns() // 1000))


_logs: list[Callable[[str], None]] = []


def write_log_by(write: Callable[[str], None]) -> None:
    """Write the tracebacks of texts that this process sets aside with `write`."""
    _logs[:] = [write]


def set_aside(connection: Connection, dead: DeadLetter, error: BaseException) -> None:
    """Set a thing aside. Log the traceback without the error's message, which may quote the text."""
    import traceback  # here, because hooks load this module and failures are rare

    dead_letters.put(connection, dead)
    frames = "".join(traceback.format_tb(error.__traceback__)).rstrip()
    for write in _logs:
        write(f"{dead.consumer}: {dead.label} is set aside ({dead.error})\n{frames}")


def set_drawer_aside(connection: Connection, consumer: str, drawer: int, version: int, error: BaseException) -> None:
    """Set a drawer aside, and log why."""
    set_aside(connection, letter(consumer, drawer, drawer_label(connection, drawer), version, error), error)


def drawer_label(connection: Connection, drawer: int) -> str:
    """Return a drawer's name for a person."""
    rows = connection.execute("SELECT uid FROM drawer WHERE id = ?", (drawer,))
    return next((f"drawer {bytes(uid).hex()}" for (uid,) in rows), f"drawer {drawer}")


def item_label(connection: Connection, item: int) -> str:
    """Return an item's name for a person."""
    rows = connection.execute("SELECT uid FROM item WHERE id = ?", (item,))
    return next((f"item {bytes(uid).hex()}" for (uid,) in rows), f"item {item}")


def session_label(connection: Connection, source: int) -> str:
    """Return a session's name for a person."""
    rows = connection.execute("SELECT session_id FROM source WHERE id = ?", (source,))
    return next((f"session {session}" for (session,) in rows if session), f"source {source}")
