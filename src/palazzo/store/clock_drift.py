"""Clock drift: how far other devices' clocks were ahead when this palace last saw it, as one row of `meta`."""

from __future__ import annotations

from palazzo.model import Micros
from palazzo.store.database import Connection

FURTHEST = Micros(24 * 60 * 60 * 1_000_000)
"""The most that the palace's clock can be set ahead of the machine's: a clock in the wrong zone is half a day off."""
_KEY = "clock"


def last_seen(connection: Connection) -> tuple[Micros, Micros] | None:
    """Return (the latest time seen on other devices, the local clock at that moment); None if none was ahead."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)):
        remote_time, _, wall = str(value).partition(" ")
        return Micros(int(remote_time)), Micros(int(wall))
    return None


def note(connection: Connection, remote_time: Micros, wall: Micros) -> None:
    """Record a time of another device, and the local clock's time."""
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (_KEY, f"{remote_time} {wall}"))
