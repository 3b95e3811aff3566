"""The palace's clock: the machine's, but never behind what other devices have said.

A hybrid logical clock (Kulkarni and others, 2014: https://cse.buffalo.edu/tech-reports/2014-04.pdf), so that what is
written after something was taken in is also later by its time. Where the latter's time is ahead of this machine's
clock, this one goes on from there, at a tenth of its speed, until the machine's clock has caught up. So it depends on
nothing but what is stored and what the machine shows: all processes have the same, also after they were killed, and
it does not go back. On a machine that shares with none it is the machine's clock.

A device more than a day ahead moves no other's clock; it is named (`Skew`), and its times are kept as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from palazzo.model import Micros
from palazzo.store import clock_drift
from palazzo.store.clock_drift import FURTHEST
from palazzo.store.database import Connection, Database

_SLOWER = 10
"""How many times slower it goes while it is ahead: distinct commands stay distinct by their milliseconds."""


@dataclass(frozen=True, slots=True)
class Skew:
    """A device whose clock is further ahead of this machine's than can be: by `ahead` micros."""

    device: str
    lead_time: Micros

    def sentence(self, name: str = "") -> str:
        """Return what to tell the person; `called` is what people call the device."""
        hours = self.lead_time / 3_600_000_000
        far = f"{hours / 24:,.0f} days" if hours >= 48 else f"{hours:.0f} hours"
        return (
            f"The clock of device {name or self.device[:8]} is {far} ahead of this machine's: set the wrong one "
            "right. What was recorded there keeps its times."
        )


def read_time(database: Database, wall: Micros) -> Micros:
    """Return the palace's time when the machine's clock shows `wall`."""
    with database.snapshot() as connection:
        return compute_time(clock_drift.last_seen(connection), wall)


def compute_time(last: tuple[Micros, Micros] | None, wall: Micros) -> Micros:
    """Return the time at `wall`, where `last` is what was seen of others, and when by the machine's clock."""
    if last is None:
        return wall
    device_time, machine_time = last
    on = device_time + 1 + max(0, wall - machine_time) // _SLOWER
    return Micros(max(wall, min(on, wall + FURTHEST)))


def observe(connection: Connection, device: str, device_time: Micros, wall: Micros) -> Skew | None:
    """Take in that a device's clock showed `seen`: from now on nothing is written here before it.

    `wall` is what the machine's own clock shows. Returns the Skew, and nothing changes, where the device is too far
    ahead.
    """
    if device_time > wall + FURTHEST:
        return Skew(device, Micros(device_time - wall))
    if device_time >= compute_time(clock_drift.last_seen(connection), wall):
        clock_drift.note(connection, device_time, wall)
    return None
