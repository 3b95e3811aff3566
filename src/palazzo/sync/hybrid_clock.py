"""Hybrid logical clock of the palace: the machine's clock, but never behind the times that other devices have recorded.

The algorithm is that of Kulkarni and others, 2014 (https://cse.buffalo.edu/tech-reports/2014-04.pdf): data that is
written after a merge also has a later time than the merged data. If a merged time is ahead of this machine's clock,
this clock continues from that time at a tenth of its speed, until the machine's clock has caught up. It depends only on
stored data and on the machine's clock: all processes see the same time, also after they were killed, and it never goes
back. On a machine that shares with no other, it is the machine's clock.

A device that is more than a day ahead does not move the clock of another; it is reported (`Skew`), and its times are
kept as they are.
"""

from __future__ import annotations

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import clock_drift
from palazzo.store.clock_drift import FURTHEST
from palazzo.store.database import Connection, Database

_SLOWER = 10
"""Factor by which the clock slows down while it is ahead: the milliseconds of separate commands remain different."""


@frozen
class Skew:
    """A device whose clock is ahead of this machine's by `lead_time` microseconds, which is more than is plausible."""

    device: str
    lead_time: Micros

    def sentence(self, name: str = "") -> str:
        """Return a message for the user; `name` is the device's name."""
        hours = self.lead_time / 3_600_000_000
        far = f"{hours / 24:,.0f} days" if hours >= 48 else f"{hours:.0f} hours"
        return (
            f"The clock of device {name or self.device[:8]} is {far} ahead of this machine's: correct the wrong "
            "clock. Recorded times from that device are kept."
        )


def read_time(database: Database, wall: Micros) -> Micros:
    """Return the palace's time when the machine's clock shows `wall`."""
    with database.snapshot() as connection:
        return compute_time(clock_drift.last_seen(connection), wall)


def compute_time(last: tuple[Micros, Micros] | None, wall: Micros) -> Micros:
    """Return the time at `wall`; `last` is the latest time seen from others, and when this clock saw it."""
    if last is None:
        return wall
    device_time, machine_time = last
    on = device_time + 1 + max(0, wall - machine_time) // _SLOWER
    return Micros(max(wall, min(on, wall + FURTHEST)))


def observe(connection: Connection, device: str, device_time: Micros, wall: Micros) -> Skew | None:
    """Record that a device's clock showed `device_time`: from now on nothing is written here with an earlier time.

    `wall` is the time of the machine's own clock. If the device is too far ahead, returns the Skew, and nothing
    changes.
    """
    if device_time > wall + FURTHEST:
        return Skew(device, Micros(device_time - wall))
    if device_time >= compute_time(clock_drift.last_seen(connection), wall):
        clock_drift.note(connection, device_time, wall)
    return None
