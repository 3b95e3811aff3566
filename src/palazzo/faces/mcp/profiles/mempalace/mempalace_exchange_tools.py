"""The log of events and artifacts between agents, with MemPalace's names and fields.

Ids are Palazzo's. `origin_replica` is the id of the device, `origin_seq` the event's number on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from palazzo.faces.mcp.profiles.client_formats import fit_rows
from palazzo.faces.mcp.profiles.mempalace.mempalace_shapes import (
    answer_with_notice,
    document,
    failure,
    failure_without_success,
    rest,
)
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
from palazzo.features.exchange.tools import encode_metadata
from palazzo.model import Micros
from palazzo.operations.agent_tools.tool import ADDS, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, NUMBER, OBJECT, TEXT, shape
from palazzo.text.times import to_iso

_PREVIEW = 200
"""The characters of an event's text that a preview shows, as in MemPalace."""
_MOST_LISTED = 60_000
"""The most characters of the events of one answer; `left_out` counts the rest."""
_SYNC_SECONDS = 0.0
"""The answer to the seconds between two syncs: the service syncs after changes, in no fixed interval."""
_ORDERS = {"asc": "oldest", "desc": "newest"}
_NOT_A_FILTER = (
    "from_agent is your identity and does not filter. Filter by the author with writer, and use to_agent for your"
    " inbox."
)
_METADATA = Argument("metadata", "", None, {"type": "object"})


def _second(moment: Micros) -> str:
    return f"{to_iso(moment)[:19]}Z"


def event_fields(event: EventView) -> dict[str, Any]:
    """Return an event with MemPalace's fields."""
    return {
        "id": event.id,
        "seq": event.seq,
        "origin_replica": event.device,
        "origin_seq": event.device_seq,
        "hlc": f"{event.at // 1000:013d}-{event.device_seq & 0xFFFFFF:06x}-{event.device}",
        "type": event.type,
        "stream": event.stream,
        "room": event.room,
        "topic": event.topic,
        "from_agent": event.by,
        "to_agent": event.to,
        "correlation_id": event.correlation,
        "branch": event.branch,
        "base_commit": event.commit,
        "status": event.status,
        "artifact_ids": list(event.artifacts),
        "body": event.body,
        "created_at": _second(event.at),
        "metadata": json.loads(event.metadata),
        "trust": event.trust,
    }


def artifact_fields(artifact: ArtifactView, warnings: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return an artifact without its content, with MemPalace's fields."""
    fields = {
        "id": artifact.id,
        "kind": artifact.kind,
        "sha256": artifact.sha256,
        "size_bytes": artifact.size,
        "created_by": artifact.by,
        "created_at": _second(artifact.at),
        "origin_replica": artifact.device,
        "trust": artifact.trust,
    }
    return {**fields, **({"warnings": list(warnings)} if warnings else {})}


def _redaction(is_redacted: bool) -> dict[str, bool]:
    return {"redacted": True} if is_redacted else {}


def _fill_event(call: CallArguments) -> Mapping[str, Any]:
    artifacts = call["artifact_ids"]
    return {**encode_metadata(call), **({"artifacts": tuple(artifacts)} if artifacts else {})}


def _answer_append(result: EventAppendResult, call: CallArguments) -> Answer:
    return document({"success": True, "event": event_fields(result.event), **_redaction(result.redacted)})


_FROM = Argument("from_agent", "Your name.", "by", is_required=True)
_ROUTING = (
    Argument("to_agent", "The agent, or * for all.", "to"),
    Argument("correlation_id", "The id that a task and its replies share.", "correlation"),
    Argument("branch"),
    Argument("base_commit", "", "commit"),
)
_STATUS = Argument("status", "open, claimed, ready, applied, blocked, failed or superseded.", schema=TEXT)

EVENT_APPEND = Tool(
    name="mempalace_event_append",
    operation="event_append",
    description="Append an event for other agents: task.request, task.reply, patch.ready. Events are never changed.",
    arguments=(
        Argument("type"),
        Argument("stream", "Such as project/shop.", is_required=True),
        Argument("room", "Such as delegation, patches or reviews.", is_required=True),
        Argument("topic"),
        _FROM,
        *_ROUTING,
        _STATUS,
        Argument("body"),
        _METADATA,
        Argument("artifact_ids", "Ids of stored artifacts.", None, {"type": "array", "items": TEXT}),
    ),
    hints=ADDS,
    fields=_fill_event,
    answer=_answer_append,
    output=shape(success=FLAG, event=OBJECT),
    failure=failure,
)


def _answer_task(result: EventTaskResult, call: CallArguments) -> Answer:
    fields = {"success": True, "task": event_fields(result.event), "handoff": result.handoff}
    return document({**fields, **_redaction(result.redacted)})


TASK_CREATE = Tool(
    name="mempalace_task_create",
    operation="event_task",
    description="Append a complete task.request for another agent, with a line to paste into its session.",
    arguments=(
        Argument("project", is_required=True),
        _FROM,
        Argument("to_agent", "The agent that is to do it.", "to"),
        Argument("goal"),
        Argument("branch", is_required=True),
        Argument("base_commit", "The commit from which the work starts, in hexadecimal.", "commit", is_required=True),
        Argument("done", "When it is done."),
    ),
    hints=ADDS,
    answer=_answer_task,
    output=shape(success=FLAG, task=OBJECT, handoff=TEXT),
    failure=failure,
)


def _preview(event: dict[str, Any]) -> dict[str, Any]:
    body = event["body"]
    if len(body) <= _PREVIEW:
        return event
    return {**event, "body": body[:_PREVIEW], "body_truncated": True, "body_length": len(body)}


def _listed(events: tuple[EventView, ...], call: CallArguments, is_preview: bool = False) -> dict[str, Any]:
    shown = [_preview(row) if is_preview else row for row in map(event_fields, events)]
    fitting_rows, left_out = fit_rows(shown, "body", _MOST_LISTED)
    note = {"note": _NOT_A_FILTER} if call["from_agent"] and not call["writer"] else {}
    return {"events": fitting_rows, "count": len(fitting_rows), **note, **rest(left_out)}


def _answer_list(result: EventListResult, call: CallArguments) -> Answer:
    return answer_with_notice(_listed(result.events, call, call["preview"]))


def _fill_list(call: CallArguments) -> Mapping[str, Any]:
    order = (call["order"] or "").strip().lower()
    return {"order": _ORDERS.get(order, order)} if order else {}


_FILTERS = (
    Argument("stream"),
    Argument("room"),
    Argument("topic"),
    Argument("type"),
    Argument("to_agent", "Events for this agent, and those for all.", "to"),
    Argument("from_agent", "Your name; it does not filter.", None, TEXT),
    Argument("writer", "Events by this author.", "by"),
    Argument("correlation_id", "", "correlation"),
    _STATUS,
    Argument("since_event_id", "Events that arrived after this one.", "after"),
    Argument("since_created_at", "Events from this time on; to resume, give since_event_id instead.", "since"),
    Argument("limit"),
)

EVENT_LIST = Tool(
    name="mempalace_event_list",
    operation="event_list",
    description="List events between agents, the newest first; after since_event_id, the oldest first.",
    arguments=(
        *_FILTERS,
        Argument("before_event_id", "Events that arrived before this one.", "before"),
        Argument("order", "asc or desc.", None, TEXT),
        Argument("preview", "Cut each text to 200 characters.", None, FLAG, False),
    ),
    fields=_fill_list,
    answer=_answer_list,
    output=shape(events=LIST, count=NUMBER),
    failure=failure_without_success,
)


def _answer_wait(result: EventWaitResult, call: CallArguments) -> Answer:
    return answer_with_notice({"timed_out": result.timed_out, **_listed(result.events, call)})


EVENT_WAIT = Tool(
    name="mempalace_event_wait",
    operation="event_wait",
    description="Wait until an event matches, at most five minutes. No event in time is no error.",
    arguments=(*_FILTERS, Argument("timeout_ms", "Milliseconds; 300,000 at the most.")),
    answer=_answer_wait,
    output=shape(timed_out=FLAG, events=LIST, count=NUMBER),
    failure=failure_without_success,
)

EVENT_ACK = Tool(
    name="mempalace_event_ack",
    operation="event_ack",
    description="Answer an event with an event.ack for its author. The event itself stays as it is.",
    arguments=(
        Argument("event_id", "", "id"),
        _FROM,
        _STATUS,
        Argument("body"),
        Argument("topic"),
    ),
    hints=ADDS,
    answer=_answer_append,
    output=shape(success=FLAG, event=OBJECT),
    failure=failure,
)


def _answer_put(result: ArtifactPutResult, call: CallArguments) -> Answer:
    artifact = artifact_fields(result.artifact, result.warnings)
    return document({"success": True, "artifact": artifact, **_redaction(result.redacted)})


ARTIFACT_PUT = Tool(
    name="mempalace_artifact_put",
    operation="artifact_put",
    description="Store a text that another agent must get exactly; returns its id and sha256.",
    arguments=(
        Argument("kind", "patch, file, log, json or note.", schema=TEXT),
        Argument("content"),
        Argument("created_by", "Your name.", "by", is_required=True),
        _METADATA,
    ),
    hints=ADDS,
    fields=encode_metadata,
    answer=_answer_put,
    output=shape(success=FLAG, artifact=OBJECT),
    failure=failure,
)


def _answer_get(result: ArtifactGetResult, call: CallArguments) -> Answer:
    metadata = json.loads(result.artifact.metadata)
    artifact = {**artifact_fields(result.artifact), "content": result.content, "metadata": metadata}
    return answer_with_notice({"artifact": artifact})


ARTIFACT_GET = Tool(
    name="mempalace_artifact_get",
    operation="artifact_get",
    description="Show an artifact's exact content, with its sha256.",
    arguments=(Argument("artifact_id", "", "id"),),
    answer=_answer_get,
    output=shape(artifact=OBJECT),
    failure=failure_without_success,
)


def _answer_patch(result: EventPatchResult, call: CallArguments) -> Answer:
    fields = {
        "success": True,
        "artifact": artifact_fields(result.artifact, result.warnings),
        "event": event_fields(result.event),
    }
    return document({**fields, **_redaction(result.redacted)})


PATCH_SUBMIT = Tool(
    name="mempalace_patch_submit",
    operation="event_patch",
    description="Store a patch as an artifact, and append its patch.ready event.",
    arguments=(
        Argument("content", "The unified diff."),
        _FROM,
        Argument("stream", "Such as project/shop.", is_required=True),
        Argument("room"),
        Argument("topic"),
        *_ROUTING,
        Argument("body", "Notes on the patch."),
        _METADATA,
    ),
    hints=ADDS,
    fields=encode_metadata,
    answer=_answer_patch,
    output=shape(success=FLAG, artifact=OBJECT, event=OBJECT),
    failure=failure,
)


def _answer_peers(result: EventPeersResult, call: CallArguments) -> Answer:
    vector = {writer.device: writer.last for writer in result.writers}
    return document(
        {
            "self": {"replica_id": result.device, "name": result.name, "version_vector": vector, "profile": {}},
            "peers": [
                {
                    "name": peer.name,
                    "url": peer.address,
                    "reachable": peer.failure is None,
                    "last_sync_at": peer.pulled_at and _second(peer.pulled_at),
                    "last_error": peer.failure,
                }
                for peer in result.peers
            ],
            "unnamed_origins": sorted(vector.keys() - {result.device}),
            "origin_profiles": {},
            "sync_interval_s": _SYNC_SECONDS,
            "estate_source": {"in_process": True, "published_at": None, "writer_alive": True},
        }
    )


MESH_PEERS = Tool(
    name="mempalace_mesh_peers",
    operation="event_peers",
    description="Show this device, the devices whose agents write to the log, and the remotes between them.",
    answer=_answer_peers,
    output=shape(self=OBJECT, peers=LIST),
    failure=failure_without_success,
)

TOOLS = (
    EVENT_APPEND,
    TASK_CREATE,
    EVENT_LIST,
    EVENT_WAIT,
    EVENT_ACK,
    ARTIFACT_PUT,
    ARTIFACT_GET,
    PATCH_SUBMIT,
    MESH_PEERS,
)
