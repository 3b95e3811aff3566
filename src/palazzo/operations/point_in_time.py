"""As of when: what `--as-of` means, and reading the palace of then."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.model import Micros
from palazzo.text.times import parse_as_of, to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.palace import Palace
    from palazzo.store.database import Connection

HELP = "As things stood then: a date (to its end), a time, or a name such as last month."


@dataclass(frozen=True, slots=True)
class AsOf:
    """The moment that was asked for. `before` is None where that is now, or not yet, which `note` then says."""

    requested_time: Micros | None
    end_time: Micros | None
    note: str = ""


def as_of(text: str | None, now: Micros) -> AsOf:
    """Read the `--as-of` of a request; UsageError when it is no time."""
    if text is None:
        return AsOf(None, None)
    try:
        at = parse_as_of(text, now)
    except ValueError as error:
        raise UsageError(f"--as-of: {error}") from None
    if at > now:
        return AsOf(at, None, f"{to_iso(at)} has not come yet: this is how things stand now.")
    return AsOf(at, at if at < now else None)


def follow(context: Context, point_in_time: AsOf) -> Palace:
    """Return the palace, to read, brought up to date with its past if that was asked for."""
    palace = context.reading()
    if point_in_time.end_time is not None:
        palace.follow_past(lambda done, size: context.report("taking in the past", done, size))
    return palace


@contextlib.contextmanager
def reading(context: Context, point_in_time: AsOf) -> Iterator[Connection]:
    """Read the palace as it stood then, or as it is."""
    palace = follow(context, point_in_time)
    with (
        palace.database.snapshot()
        if point_in_time.end_time is None
        else palace.as_of(point_in_time.end_time) as connection
    ):
        yield connection
