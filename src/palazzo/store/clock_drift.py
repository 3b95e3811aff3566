"""How far other devices' clocks were ahead, as this palace last saw it: one row of `meta`."""

from __future__ import annotations

from palazzo.model import Micros
from palazzo.store.database import Connection

FURTHEST = Micros(24 * 60 * 60 * 1_000_000)
"""How far the palace's clock lets itself be led ahead of the machine's: one in the wrong zone is half a day off."""
_KEY = "clock"


def last_seen(connection: Connection) -> tuple[Micros, Micros] | None:
    """Return (the latest time seen of others, what the own clock showed then); None where none was ahead."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)):
        remote_time, _, wall = str(value).partition(" ")
        return Micros(int(remote_time)), Micros(int(wall))
    return None


def note(connection: Connection, remote_time: Micros, wall: Micros) -> None:
    """Remember a time of another device's, and what the own clock shows."""
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (_KEY, f"{remote_time} {wall}"))
