"""event list and event wait: read what agents left for each other."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from palazzo.errors import NotFound, UsageError
from palazzo.features.exchange.contract import (
    EventListRequest,
    EventListResult,
    EventWaitRequest,
    EventWaitResult,
    Order,
    Status,
)
from palazzo.features.exchange.exchange_fields import event_type, object_id, one_of, route
from palazzo.features.exchange.exchange_results import event_view
from palazzo.operations.arguments import moment
from palazzo.store import exchange_rows
from palazzo.store.exchange_rows import EVENT, EventFilter

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.exchange_rows import ExchangeRow

MOST = 500
"""The most events of one answer: MemPalace's limit."""
LONGEST_WAIT = 300_000
"""The most milliseconds of a wait: MemPalace's limit."""
_FIRST_POLL, _LONGEST_POLL, _GROWTH = 0.1, 1.0, 1.5
"""Seconds between two looks at the log: short at first, because the other agent is often about to answer."""


def event_list(context: Context, request: EventListRequest) -> EventListResult:
    """List events."""
    limit, newest_first = _limit(request.limit), _is_newest_first(request)
    with context.reading().database.snapshot() as connection:
        rows = exchange_rows.list_events(connection, _filter(context, connection, request), limit, newest_first)
    return EventListResult(tuple(map(event_view, rows)))


def event_wait(context: Context, request: EventWaitRequest) -> EventWaitResult:
    """Wait for an event; each look is a short read, and the caller may stop between two."""
    if request.timeout_ms < 0:
        raise UsageError("--timeout-ms must be 0 or more.")
    limit, started, pause = _limit(request.limit), time.monotonic(), _FIRST_POLL
    seconds = min(request.timeout_ms, LONGEST_WAIT) / 1000
    while not (rows := _matching(context, request, limit)):
        passed = time.monotonic() - started
        if passed >= seconds:
            return EventWaitResult((), True)
        context.report("waiting for an event", int(passed * 1000), int(seconds * 1000))
        time.sleep(min(pause, seconds - passed))
        pause = min(pause * _GROWTH, _LONGEST_POLL)
    return EventWaitResult(tuple(map(event_view, rows)), False)


def _matching(context: Context, request: EventWaitRequest, limit: int) -> list[ExchangeRow]:
    with context.reading().database.snapshot() as connection:
        return exchange_rows.list_events(connection, _filter(context, connection, request), limit, newest_first=False)


def _filter(context: Context, connection: Connection, request: EventListRequest | EventWaitRequest) -> EventFilter:
    fields = {
        "stream": route("--stream", request.stream),
        "room": route("--room", request.room),
        "topic": route("--topic", request.topic),
        "type": event_type(request.type) if request.type else "",
        "correlation": route("--correlation", request.correlation),
        "status": one_of("--status", request.status, Status),
    }
    before = request.before if isinstance(request, EventListRequest) else None
    return EventFilter(
        {name: value for name, value in fields.items() if value},
        route("--to", request.to) or None,
        route("--by", request.by) or None,
        _row_of(connection, "--after", request.after),
        _row_of(connection, "--older-than", before),
        moment(request.since, context.now, "--since"),
    )


def _row_of(connection: Connection, option: str, uid: str | None) -> int | None:
    """Return the place of an event in the order of arrival; NotFound if there is none."""
    if not uid:
        return None
    event = exchange_rows.find(connection, EVENT, object_id("event", uid))
    if event is None:
        raise NotFound(f"{option}: there is no event '{uid.strip()}'.")
    return event.row


def _limit(limit: int) -> int:
    if limit < 1:
        raise UsageError("--limit must be 1 or more.")
    return min(limit, MOST)


def _is_newest_first(request: EventListRequest) -> bool:
    order = one_of("--order", request.order, Order)
    return order == "newest" if order else not request.after
