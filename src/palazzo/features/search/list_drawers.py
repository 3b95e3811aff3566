"""list_drawers: list drawers, newest first, one page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.branches.branch_labels import Checkout
from palazzo.features.search import search
from palazzo.features.search.contract import ListDrawersRequest, ListDrawersResult
from palazzo.features.search.drawer_rows import drawer_rows
from palazzo.operations.arguments import check_place, label, moment
from palazzo.operations.source_filter import known_tags
from palazzo.store import drawer_listing, place_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context

MOST = 1_000
"""The most drawers on one page."""


def list_drawers(context: Context, request: ListDrawersRequest) -> ListDrawersResult:
    """List filed drawers, newest first: time, place, kind and beginning of the text."""
    _check(request)
    search.check_importance(request.min_importance)
    since = moment(request.since, context.now, "--since")
    end_time = moment(request.until, context.now, "--until")
    if since is not None and end_time is not None and since >= end_time:
        raise UsageError("The time range is inverted: --since must be before --until.")
    with context.reading().database.snapshot() as connection:
        wing, room = check_place(connection, request.wing, request.room, context.notice)
        drawer_filter = drawer_listing.Listing(
            rooms=place_rows.scope(connection, wing, room).rooms,
            kind=request.kind,
            since=since,
            end_time=end_time,
            tags=known_tags(connection, request.tags),
            filed_as=tuple(label("--filed-as", raw_label) for raw_label in request.filed_as),
            least=request.min_importance,
        )
        rows = drawer_listing.page(connection, drawer_filter, request.limit, request.offset)
        total = drawer_listing.count(connection, drawer_filter)
        return ListDrawersResult(drawer_rows(connection, rows, Checkout(context)), total, request.limit, request.offset)


def _check(request: ListDrawersRequest) -> None:
    if not 1 <= request.limit <= MOST:
        raise UsageError(f"The limit is {request.limit}; it must be between 1 and {MOST:,}.")
    if request.offset < 0:
        raise UsageError(f"The offset is {request.offset}; it must be 0 or more.")
