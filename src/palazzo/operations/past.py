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
    from palazzo.palace import Palace
    from palazzo.store.database import Connection

HELP = "As things stood then: a date (to its end), a time, or a name such as last month."


@dataclass(frozen=True, slots=True)
class AsOf:
    """The moment that was asked for. `before` is None where that is now, or not yet, which `note` then says."""

    asked: Micros | None
    before: Micros | None
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


@contextlib.contextmanager
def reading(palace: Palace, when: AsOf) -> Iterator[Connection]:
    """Read the palace as it stood then, or as it is."""
    if when.before is None:
        with palace.database.snapshot() as connection:
            yield connection
    else:
        with palace.as_of(when.before) as connection:
            yield connection
