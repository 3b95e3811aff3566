"""The scope of questions about code: the project's wing or all, a time range, and whether untrusted content counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.operations.arguments import check_place, moment
from palazzo.security.trust_order import trusted_down_to
from palazzo.store import place_rows

if TYPE_CHECKING:
    from palazzo.model import Micros, Trust
    from palazzo.operations.context import Context

LARGEST_LIMIT = 1_000


class ScopedRequest(Protocol):
    """The fields that every question about code has."""

    @property
    def wing(self) -> str | None: ...
    @property
    def everywhere(self) -> bool: ...
    @property
    def since(self) -> str | None: ...
    @property
    def until(self) -> str | None: ...
    @property
    def external(self) -> bool: ...
    @property
    def limit(self) -> int: ...


@frozen
class CodeScope:
    """The scope of one question. `wing` is None if it covers all wings, whose names are in `wings`."""

    wing: str | None
    wings: tuple[str, ...]
    since: Micros | None
    until: Micros | None
    trusts: tuple[Trust, ...]

    def covers(self, at: int) -> bool:
        """Return whether a time is in the range."""
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


def read_scope(context: Context, request: ScopedRequest) -> CodeScope:
    """Return the scope of a request: the project's wing unless it says otherwise; without a project, all wings."""
    if request.wing is not None and request.everywhere:
        raise UsageError("--wing and --everywhere exclude each other: give one of them.")
    if not 1 <= request.limit <= LARGEST_LIMIT:
        raise UsageError(f"The limit is {request.limit}; it must be between 1 and {LARGEST_LIMIT:,}.")
    now = context.now
    since, until = moment(request.since, now, "--since"), moment(request.until, now, "--until")
    if since is not None and until is not None and since >= until:
        raise UsageError("The time range is inverted: --since must be before --until.")
    palace = context.reading()
    home = None if request.everywhere or request.wing is not None else context.home
    with palace.database.snapshot() as connection:
        wing, _ = check_place(connection, request.wing or home, None, context.notice)
        wings = (wing,) if wing is not None else tuple(place_rows.wing_names(connection))
    return CodeScope(wing, wings, since, until, trusted_down_to("external" if request.external else "tool"))


def widening_options(request: ScopedRequest, scope: CodeScope) -> str:
    """Return what makes an empty answer less narrow, for the end of a sentence; '' if nothing does."""
    options = [f"without --{name}" for name in ("since", "until") if getattr(request, name) is not None]
    options += ["with --everywhere"] if scope.wing is not None else []
    return " or ".join(options)
