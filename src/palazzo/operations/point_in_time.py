"""Point in time: the meaning of `--as-of`, and reading the palace of that time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.text.times import parse_as_of, to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.palace import Palace
    from palazzo.store.database import Connection

HELP = "Show the state as of then: a date (at its end), a time, or a name such as last month."


@frozen
class AsOf:
    """The requested time. `end_time` is None if that is now, or in the future; then `note` says so."""

    requested_time: Micros | None
    end_time: Micros | None
    note: str = ""


def as_of(text: str | None, now: Micros) -> AsOf:
    """Parse the `--as-of` of a request; UsageError if it is not a time."""
    if text is None:
        return AsOf(None, None)
    try:
        at = parse_as_of(text, now)
    except ValueError as error:
        raise UsageError(f"--as-of: {error}") from None
    if at > now:
        return AsOf(at, None, f"{to_iso(at)} is in the future: this is the current state.")
    return AsOf(at, at if at < now else None)


def follow(context: Context, point_in_time: AsOf) -> Palace:
    """Return the palace for reading; if a past time was requested, its index of the past is updated first."""
    palace = context.reading()
    if point_in_time.end_time is not None:
        palace.follow_past(lambda done, size: context.report("indexing the past", done, size))
    return palace


@contextlib.contextmanager
def reading(context: Context, point_in_time: AsOf) -> Iterator[Connection]:
    """Read the palace as of that time, or in its current state."""
    palace = follow(context, point_in_time)
    with (
        palace.database.snapshot()
        if point_in_time.end_time is None
        else palace.as_of(point_in_time.end_time) as connection
    ):
        yield connection
