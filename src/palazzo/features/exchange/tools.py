"""Tools for the log between agents: events, tasks, patches and artifacts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from palazzo.features.exchange.contract import (
    ArtifactGetResult,
    ArtifactPutResult,
    ArtifactView,
    EventAppendResult,
    EventListResult,
    EventPatchResult,
    EventPeersResult,
    EventTaskResult,
    EventView,
    EventWaitResult,
)
from palazzo.operations.agent_tools.tool import ADDS, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import (
    LIST,
    MOST,
    NOTICE,
    OBJECT,
    TEXT,
    indent,
    minute,
    rows,
    shape,
    shorten,
)
from palazzo.text.count_phrases import count_noun

_METADATA = Argument("metadata", "Further fields.", None, {"type": "object"})


def encode_metadata(call: CallArguments) -> Mapping[str, Any]:
    """Return the field of a request with the further fields of a call."""
    return {"metadata": json.dumps(call["metadata"], ensure_ascii=False)} if call["metadata"] else {}


def _write_fields(call: CallArguments) -> Mapping[str, Any]:
    by = call["by"] or call.host
    return {"by": by, **(encode_metadata(call) if "metadata" in call.arguments else {})}


_BY = Argument("by", "Your name. Default: your host's.", None, TEXT)


def event_fields(event: EventView, longest: int | None = None) -> dict[str, Any]:
    """Return an event as JSON fields, without the empty ones; a longer text is cut."""
    body = event.body if longest is None else shorten(event.body, longest)
    fields = {
        "id": event.id,
        "at": minute(event.at),
        "type": event.type,
        "stream": event.stream,
        "room": event.room,
        "topic": event.topic,
        "by": event.by,
        "to": event.to,
        "correlation": event.correlation,
        "branch": event.branch,
        "commit": event.commit,
        "status": event.status,
        "artifacts": list(event.artifacts),
        "body": body,
        "cut_from": len(event.body) if body != event.body else None,
        "metadata": json.loads(event.metadata),
        "trust": event.trust if event.trust == "external" else None,
    }
    return {name: value for name, value in fields.items() if value}


def _event_line(event: Mapping[str, Any]) -> str:
    marks = (event.get(name) for name in ("type", "correlation", "status", "trust"))
    route = " → ".join(filter(None, (event.get("by"), event.get("to"))))
    head = " · ".join(
        filter(None, (f"[{event['id']}]", event["at"], f"{event['stream']}/{event['room']}", *marks, route))
    )
    artifacts = [f"artifact {artifact}" for artifact in event.get("artifacts", ())]
    return "\n".join([head, *filter(None, (indent(event.get("body", "")), *map(indent, artifacts)))])


def _artifact_fields(artifact: ArtifactView) -> dict[str, Any]:
    fields = {
        "id": artifact.id,
        "kind": artifact.kind,
        "sha256": artifact.sha256,
        "size": artifact.size,
        "by": artifact.by,
        "at": minute(artifact.at),
        "metadata": json.loads(artifact.metadata),
        "trust": artifact.trust if artifact.trust == "external" else None,
    }
    return {name: value for name, value in fields.items() if value}


def _answer_append(result: EventAppendResult, call: CallArguments) -> Answer:
    return Answer({"id": result.event.id, "redacted": result.redacted}, f"Appended event {result.event.id}.")


EVENT_APPEND = Tool(
    name="event_append",
    operation="event_append",
    description="Leave an event for other agents of this palace: a reply, a status, an announcement.",
    arguments=(
        Argument("type", "task.reply, status.report, …"),
        Argument("body", "What to tell."),
        Argument("to", "The agent, or * for all."),
        Argument("stream", "Default: this project's."),
        Argument("room"),
        Argument("topic"),
        Argument("correlation", "The id of the task."),
        Argument("branch"),
        Argument("commit"),
        Argument("status"),
        Argument("artifacts", "Ids of stored artifacts."),
        _METADATA,
        _BY,
    ),
    hints=ADDS,
    fields=_write_fields,
    answer=_answer_append,
    output=shape(id=TEXT),
)


def _answer_list(result: EventListResult, call: CallArguments) -> Answer:
    longest = MOST // max(len(result.events), 1)
    events = [event_fields(event, longest) for event in result.events]
    return rows(f"{NOTICE}: {count_noun(len(events), 'event')}.", "events", events, _event_line)


_FILTERS = (
    Argument("to", "Events for this agent, and for all."),
    Argument("by", "Events by this author."),
    Argument("correlation", "The id of a task."),
    Argument("type"),
    Argument("status"),
    Argument("stream"),
    Argument("room"),
    Argument("topic"),
    Argument("after", "Events that arrived after the one with this id."),
    Argument("since", "Events from this time on."),
    Argument("limit", schema={"minimum": 1, "maximum": 500}),
)

EVENT_LIST = Tool(
    name="event_list",
    operation="event_list",
    description="List events that agents left for each other. To resume, give the last event's id as `after`.",
    arguments=(*_FILTERS, Argument("before", "Events that arrived before the one with this id."), Argument("order")),
    answer=_answer_list,
    output=shape(notice=TEXT),
)


def _answer_wait(result: EventWaitResult, call: CallArguments) -> Answer:
    longest = MOST // max(len(result.events), 1)
    events = [event_fields(event, longest) for event in result.events]
    notice = "No event came in time." if result.timed_out else f"{NOTICE}: {count_noun(len(events), 'event')}."
    return rows(notice, "events", events, _event_line, timed_out=result.timed_out)


EVENT_WAIT = Tool(
    name="event_wait",
    operation="event_wait",
    description="Wait until an event matches, at most five minutes. No event in time is no error.",
    arguments=(*_FILTERS, Argument("timeout_ms", schema={"minimum": 0, "maximum": 300_000})),
    answer=_answer_wait,
    output=shape(notice=TEXT),
)

EVENT_ACK = Tool(
    name="event_ack",
    operation="event_ack",
    description="Answer an event, for example that you claim the task. The event itself stays as it is.",
    arguments=(Argument("id"), Argument("status"), Argument("body", "Notes."), Argument("topic"), _BY),
    hints=ADDS,
    fields=_write_fields,
    answer=_answer_append,
    output=shape(id=TEXT),
)


def _answer_task(result: EventTaskResult, call: CallArguments) -> Answer:
    fields = {"id": result.event.id, "correlation": result.event.correlation, "handoff": result.handoff}
    return Answer(fields, f"Requested task {result.event.correlation}. For the other agent: {result.handoff}")


TASK_CREATE = Tool(
    name="task_create",
    operation="event_task",
    description="Request a task from another agent. Show the person the exact task first.",
    arguments=(
        Argument("goal"),
        Argument("done", "When it is done."),
        Argument("to", "The agent that is to do it."),
        Argument("branch", "Default: the current one."),
        Argument("commit", "The commit from which the work starts, in hexadecimal. Default: the current one."),
        Argument("project", "Default: this one."),
        _BY,
    ),
    hints=ADDS,
    fields=_write_fields,
    answer=_answer_task,
    output=shape(id=TEXT, correlation=TEXT, handoff=TEXT),
)


def _answer_patch(result: EventPatchResult, call: CallArguments) -> Answer:
    fields = {"artifact": result.artifact.id, "event": result.event.id, "warnings": list(result.warnings)}
    lines = [f"Stored patch {result.artifact.id}, event {result.event.id}.", *result.warnings]
    return Answer(fields, " ".join(lines))


PATCH_SUBMIT = Tool(
    name="patch_submit",
    operation="event_patch",
    description="Hand over a patch: store it exactly, and tell the other agents.",
    arguments=(
        Argument("content", "The unified diff."),
        Argument("to", "The agent, or * for all."),
        Argument("correlation", "The id of the task."),
        Argument("body", "Notes on the patch."),
        Argument("branch"),
        Argument("commit", "The commit to which it applies."),
        Argument("stream", "Default: this project's."),
        Argument("room"),
        Argument("topic"),
        _METADATA,
        _BY,
    ),
    hints=ADDS,
    fields=_write_fields,
    answer=_answer_patch,
    output=shape(artifact=TEXT, event=TEXT),
)


def _answer_put(result: ArtifactPutResult, call: CallArguments) -> Answer:
    fields = {"artifact": _artifact_fields(result.artifact), "warnings": list(result.warnings)}
    return Answer(fields, " ".join([f"Stored {result.artifact.kind} {result.artifact.id}.", *result.warnings]))


ARTIFACT_PUT = Tool(
    name="artifact_put",
    operation="artifact_put",
    description="Store a text that another agent must get exactly.",
    arguments=(Argument("kind"), Argument("content"), _METADATA, _BY),
    hints=ADDS,
    fields=_write_fields,
    answer=_answer_put,
    output=shape(artifact=OBJECT),
)


def _answer_get(result: ArtifactGetResult, call: CallArguments) -> Answer:
    start = call["offset"]
    content = result.content[start : start + MOST]
    left_out = max(len(result.content) - start - MOST, 0)
    rest = f" Continue with offset {start + MOST}: {left_out:,} characters are left." if left_out else ""
    notice = f"{NOTICE}: {result.artifact.kind}, sha256 {result.artifact.sha256}.{rest}"
    fields = {"notice": notice, "artifact": _artifact_fields(result.artifact), "content": content}
    return Answer({**fields, **({"left_out": left_out} if left_out else {})}, f"{notice}\n\n{content}")


ARTIFACT_GET = Tool(
    name="artifact_get",
    operation="artifact_get",
    description="Show an artifact's exact content.",
    arguments=(
        Argument("id"),
        Argument("offset", "Start at this character.", None, {"type": "integer", "minimum": 0}, 0),
    ),
    answer=_answer_get,
    output=shape(artifact=OBJECT, content=TEXT),
)


def _answer_peers(result: EventPeersResult, call: CallArguments) -> Answer:
    fields = {
        "device": {"id": result.device, "name": result.name},
        "writers": [{"device": writer.device, "name": writer.name, "last": writer.last} for writer in result.writers],
        "peers": [
            {
                "name": peer.name,
                "pushed_at": peer.pushed_at and minute(peer.pushed_at),
                "pulled_at": peer.pulled_at and minute(peer.pulled_at),
                "failure": peer.failure,
            }
            for peer in result.peers
        ],
    }
    return Answer(fields)


MESH_PEERS = Tool(
    name="mesh_peers",
    operation="event_peers",
    description="Show the devices whose agents write to this log, and the remotes between them.",
    answer=_answer_peers,
    output=shape(device=OBJECT, writers=LIST, peers=LIST),
)

FULL = (
    EVENT_APPEND,
    EVENT_LIST,
    EVENT_WAIT,
    EVENT_ACK,
    TASK_CREATE,
    PATCH_SUBMIT,
    ARTIFACT_PUT,
    ARTIFACT_GET,
    MESH_PEERS,
)
