"""event append, ack, task: write events for other agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive.exchange_log import PROJECT, NewEvent
from palazzo.errors import NotFound
from palazzo.features.exchange.contract import (
    EventAckRequest,
    EventAppendRequest,
    EventAppendResult,
    EventTaskRequest,
    EventTaskResult,
    Status,
)
from palazzo.features.exchange.exchange_fields import (
    append,
    check_body,
    commit_id,
    event_type,
    object_id,
    one_of,
    parse_metadata,
    required_route,
    route,
    stream_of,
    task_label,
    wing_of_project,
)
from palazzo.features.exchange.exchange_results import event_view
from palazzo.store import exchange_rows
from palazzo.store.exchange_rows import EVENT, ExchangeRow

if TYPE_CHECKING:
    from palazzo.operations.context import Context

ACK = "event.ack"
_TASK = (
    "Goal:\n{goal}\n\nDefinition of done:\n{done}\n\nDelivery:\nAnswer through this log: acknowledge the request as "
    "claimed, then submit a patch, or reply with the evidence why it is blocked or failed."
)


def event_append(context: Context, request: EventAppendRequest) -> EventAppendResult:
    """Append an event."""
    return _append(context, new_event(context, request))


def new_event(context: Context, request: EventAppendRequest) -> NewEvent:
    """Return the event of a request; UsageError before anything is written."""
    metadata = parse_metadata(request.metadata)
    fields = {
        "type": event_type(request.type),
        "topic": route("--topic", request.topic),
        "to": route("--to", request.to),
        "correlation": route("--correlation", request.correlation),
        "status": one_of("--status", request.status, Status),
        "metadata": metadata,
    }
    return NewEvent(
        stream_of(context, request.stream),
        required_route("--room", request.room),
        route("--by", request.by),
        check_body(request.body),
        route("--branch", request.branch),
        route("--commit", request.commit),
        {name: value for name, value in fields.items() if value},
        tuple(dict.fromkeys(object_id("artifact", artifact) for artifact in request.artifacts)),
    )


def event_ack(context: Context, request: EventAckRequest) -> EventAppendResult:
    """Append an event.ack for the author of an event. The event itself stays as it is."""
    event = find_event(context, request.id)
    topic = event.fields.get("topic") if request.topic is None else route("--topic", request.topic)
    fields = {
        "type": ACK,
        "topic": topic,
        "to": event.author,
        "correlation": event.fields.get("correlation") or event.uid,
        "status": one_of("--status", request.status, Status),
        "metadata": {"ack_of": event.uid},
    }
    ack = NewEvent(
        str(event.fields["stream"]),
        str(event.fields["room"]),
        route("--by", request.by),
        check_body(request.body),
        fields={name: value for name, value in fields.items() if value},
    )
    return _append(context, ack)


def find_event(context: Context, uid: str) -> ExchangeRow:
    """Return the event with that id; NotFound if there is none."""
    event_id = object_id("event", uid)
    with context.reading().database.snapshot() as connection:
        event = exchange_rows.find(connection, EVENT, event_id)
    if event is None:
        raise NotFound(f"There is no event '{event_id}'. 'palazzo event list' lists them.")
    return event


def event_task(context: Context, request: EventTaskRequest) -> EventTaskResult:
    """Append a task.request with a new correlation id."""
    to, label, checkout = required_route("--to", request.to), task_label(request.goal), context.project
    branch, commit = request.branch or checkout.branch or "", request.commit or checkout.commit or ""
    goal, done = required_text("The goal", request.goal), required_text("--done", request.done)
    event = NewEvent(
        f"{PROJECT}{wing_of_project(context, request.project)}",
        "delegation",
        route("--by", request.by),
        check_body(_TASK.format(goal=goal, done=done)),
        route("--branch", branch),
        commit_id(commit) if commit else "",
        {"type": "task.request", "to": to, "correlation": label, "status": "open"},
    )
    result = _append(context, event)
    handoff = (
        f"Open task {label} as {to} (event_list with this correlation id). Claim it with event_ack, follow its exact "
        "definition of done, and deliver through the log."
    )
    return EventTaskResult(result.event, handoff, result.redacted)


def required_text(subject: str, text: str) -> str:
    """Return a text that must not be empty."""
    required_route(subject, " ".join(text.split())[:1])
    return text


def _append(context: Context, event: NewEvent) -> EventAppendResult:
    (row,), is_redacted = append(context, event)
    return EventAppendResult(event_view(row), is_redacted)
