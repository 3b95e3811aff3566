"""Requests, results and operations of `exchange`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros, Trust
from palazzo.operations.operation import About, Operation

Status = Literal["open", "claimed", "ready", "applied", "blocked", "failed", "superseded"]
Order = Literal["newest", "oldest"]
ArtifactKind = Literal["patch", "file", "log", "json", "note"]

_BY = About("The author: an agent's or a person's name.", metavar="NAME")
_TO = About("The agent that it is for, or * for all.", metavar="NAME")
_STREAM = About("The stream, such as project/shop. Default: that of the current project.")
_ROOM = About("The room of the stream, such as delegation, patches or reviews.")
_TOPIC = About("The topic that groups related work.")
_CORRELATION = About("The id that a task and its replies share.", metavar="ID")
_BRANCH = About("The git branch that it concerns.")
_COMMIT = About("The git commit from which the work started.", metavar="COMMIT")
_METADATA = About("More fields, as a JSON object.", metavar="JSON")
_STATUS = About("The state of the work.")


@frozen
class EventView:
    """An event. `seq` is its place in the order in which events arrived here; `device_seq` its number on `device`.

    `trust` is external if the author had read untrusted content.
    """

    id: str
    seq: int
    device: str
    device_seq: int
    type: str
    stream: str
    room: str
    topic: str | None
    by: str
    to: str | None
    correlation: str | None
    branch: str | None
    commit: str | None
    status: str | None
    artifacts: tuple[str, ...]
    body: str
    at: Micros
    metadata: str
    trust: Trust


@frozen
class ArtifactView:
    """An artifact without its content. `sha256` and `size` (bytes of UTF-8) are those of the stored content."""

    id: str
    kind: str
    sha256: str
    size: int
    by: str
    at: Micros
    device: str
    metadata: str
    trust: Trust


@frozen
class EventAppendRequest:
    """Append an event for other agents of this palace. Events are never changed: a correction is a new event."""

    type: Annotated[str, About("The type: task.request, task.reply, patch.ready, or your own.", positional=True)]
    body: Annotated[str, About("What to tell; - reads it from standard input.", positional=True, stdin=True)] = ""
    stream: Annotated[str | None, _STREAM] = None
    room: Annotated[str, _ROOM] = "general"
    topic: Annotated[str | None, _TOPIC] = None
    by: Annotated[str, _BY] = ""
    to: Annotated[str | None, _TO] = None
    correlation: Annotated[str | None, _CORRELATION] = None
    branch: Annotated[str | None, _BRANCH] = None
    commit: Annotated[str | None, _COMMIT] = None
    status: Annotated[Status | None, _STATUS] = None
    metadata: Annotated[str | None, _METADATA] = None
    artifacts: Annotated[
        tuple[str, ...], About("The id of a stored artifact that belongs to it.", option="--artifact", metavar="ID")
    ] = ()


@frozen
class EventAppendResult:
    """The event as it was stored; `redacted` says that a secret or a private span was removed from it."""

    event: EventView
    redacted: bool


EVENT_APPEND = Operation(
    "event_append",
    EventAppendRequest,
    EventAppendResult,
    scope="write",
    writes=True,
    examples=('palazzo event append status.report "The schema is done." --to codex',),
)


@frozen
class EventListRequest:
    """List events that agents left for each other, the newest first; after a given event, the oldest first."""

    stream: Annotated[str | None, About("Only events of this stream.")] = None
    room: Annotated[str | None, About("Only events of this room.")] = None
    topic: Annotated[str | None, About("Only events of this topic.")] = None
    type: Annotated[str | None, About("Only events of this type.")] = None
    to: Annotated[str | None, About("Only events for this agent, and those for all.", metavar="NAME")] = None
    by: Annotated[str | None, About("Only events by this author.", metavar="NAME")] = None
    correlation: Annotated[str | None, About("Only the events of this task.", metavar="ID")] = None
    status: Annotated[Status | None, About("Only events with this state.")] = None
    after: Annotated[str | None, About("Only events that arrived after the event with this id.", metavar="ID")] = None
    before: Annotated[
        str | None,
        About("Only events that arrived before the event with this id.", option="--older-than", metavar="ID"),
    ] = None
    since: Annotated[str | None, About("Only events written at this time or later.", metavar="WHEN")] = None
    limit: Annotated[int, About("At most this many events, 500 at the most.")] = 50
    order: Annotated[Order | None, About("Which come first. Default: newest; with --after: oldest.")] = None


@frozen
class EventListResult:
    """Events, in the requested order."""

    events: tuple[EventView, ...]


EVENT_LIST = Operation(
    "event_list",
    EventListRequest,
    EventListResult,
    scope="read",
    examples=("palazzo event list --to codex", "palazzo event list --correlation task_schema_1f3a"),
)


@frozen
class EventWaitRequest:
    """Wait until an event matches, then list the matching ones."""

    stream: Annotated[str | None, About("Only events of this stream.")] = None
    room: Annotated[str | None, About("Only events of this room.")] = None
    topic: Annotated[str | None, About("Only events of this topic.")] = None
    type: Annotated[str | None, About("Only events of this type.")] = None
    to: Annotated[str | None, About("Only events for this agent, and those for all.", metavar="NAME")] = None
    by: Annotated[str | None, About("Only events by this author.", metavar="NAME")] = None
    correlation: Annotated[str | None, About("Only the events of this task.", metavar="ID")] = None
    status: Annotated[Status | None, About("Only events with this state.")] = None
    after: Annotated[str | None, About("Only events that arrived after the event with this id.", metavar="ID")] = None
    since: Annotated[str | None, About("Only events written at this time or later.", metavar="WHEN")] = None
    limit: Annotated[int, About("At most this many events, 500 at the most.")] = 50
    timeout_ms: Annotated[
        int, About("Milliseconds to wait, 300,000 at the most.", option="--timeout-ms", metavar="MS")
    ] = 60_000


@frozen
class EventWaitResult:
    """The matching events, the oldest first; `timed_out` if none came in time, which is no error."""

    events: tuple[EventView, ...]
    timed_out: bool


EVENT_WAIT = Operation(
    "event_wait",
    EventWaitRequest,
    EventWaitResult,
    scope="read",
    engine="event_list:event_wait",
    examples=("palazzo event wait --correlation task_schema_1f3a --type patch.ready",),
)


@frozen
class EventAckRequest:
    """Answer an event with an event.ack for its author, in the same stream, room and task."""

    id: Annotated[str, About("The id of the event to answer.", positional=True)]
    body: Annotated[str, About("Notes; - reads them from standard input.", positional=True, stdin=True)] = ""
    by: Annotated[str, _BY] = ""
    status: Annotated[Status | None, _STATUS] = None
    topic: Annotated[str | None, About("The topic. Default: that of the event.")] = None


EVENT_ACK = Operation(
    "event_ack",
    EventAckRequest,
    EventAppendResult,
    scope="write",
    engine="event_append:event_ack",
    writes=True,
    examples=("palazzo event ack 0197d2a4c1f07b3e8a52d6c0b9e4f713 --status claimed",),
)


@frozen
class EventTaskRequest:
    """Request a task from another agent: a complete task.request, and a line to paste into its session."""

    goal: Annotated[str, About("The goal; - reads it from standard input.", positional=True, stdin=True)]
    to: Annotated[str, About("The agent that is to do it.", metavar="NAME")]
    done: Annotated[str, About("When the task is done.")]
    branch: Annotated[str, About("The git branch for the work. Default: the current one.")] = ""
    commit: Annotated[
        str,
        About(
            "The commit from which the work starts, in hexadecimal; no branch and no tag. Default: the current one.",
            metavar="COMMIT",
        ),
    ] = ""
    project: Annotated[str | None, About("The project. Default: the current one.")] = None
    by: Annotated[str, _BY] = ""


@frozen
class EventTaskResult:
    """The stored task.request, and the line for the agent that is to do it."""

    event: EventView
    handoff: str
    redacted: bool


EVENT_TASK = Operation(
    "event_task",
    EventTaskRequest,
    EventTaskResult,
    scope="write",
    engine="event_append:event_task",
    writes=True,
    examples=('palazzo event task "Split the schema" --to codex --done "The tests pass."',),
)


@frozen
class EventPatchRequest:
    """Hand over a patch: store it as an artifact, and append the patch.ready event that names it."""

    content: Annotated[
        str, About("The patch; - reads it from standard input.", positional=True, stdin=True, may_be_bytes=True)
    ]
    stream: Annotated[str | None, _STREAM] = None
    room: Annotated[str, _ROOM] = "patches"
    topic: Annotated[str | None, _TOPIC] = None
    by: Annotated[str, _BY] = ""
    to: Annotated[str | None, _TO] = None
    correlation: Annotated[str | None, _CORRELATION] = None
    branch: Annotated[str | None, _BRANCH] = None
    commit: Annotated[str | None, About("The commit to which it applies.", metavar="COMMIT")] = None
    body: Annotated[str, About("Notes on the patch.")] = ""
    metadata: Annotated[str | None, _METADATA] = None


@frozen
class EventPatchResult:
    """The stored patch, with `warnings` if git would refuse it, and its event."""

    artifact: ArtifactView
    warnings: tuple[str, ...]
    event: EventView
    redacted: bool


EVENT_PATCH = Operation(
    "event_patch",
    EventPatchRequest,
    EventPatchResult,
    scope="write",
    engine="exchange_artifacts:event_patch",
    writes=True,
    examples=("git diff | palazzo event patch - --to codex",),
)


@frozen
class EventPeersRequest:
    """Show the devices whose agents write to this log, and the remotes through which events come and go."""


@frozen
class PeerView:
    """A remote, and when this device last pushed to it and pulled from it."""

    name: str
    address: str
    pushed_at: Micros | None
    pulled_at: Micros | None
    failure: str | None


@frozen
class WriterView:
    """A device, and the number of its last event or artifact that is known here."""

    device: str
    name: str
    last: int


@frozen
class EventPeersResult:
    """This device, all devices with events, and the remotes."""

    device: str
    name: str
    writers: tuple[WriterView, ...]
    peers: tuple[PeerView, ...]


EVENT_PEERS = Operation(
    "event_peers", EventPeersRequest, EventPeersResult, scope="read", examples=("palazzo event peers",)
)


@frozen
class ArtifactPutRequest:
    """Store a text that another agent must get exactly: a patch, a file, a log."""

    kind: Annotated[ArtifactKind, About("What it is.", positional=True)]
    content: Annotated[
        str, About("The content; - reads it from standard input.", positional=True, stdin=True, may_be_bytes=True)
    ]
    by: Annotated[str, _BY] = ""
    metadata: Annotated[str | None, _METADATA] = None


@frozen
class ArtifactPutResult:
    """The stored artifact; `warnings` say why git would refuse a patch."""

    artifact: ArtifactView
    warnings: tuple[str, ...]
    redacted: bool


ARTIFACT_PUT = Operation(
    "artifact_put",
    ArtifactPutRequest,
    ArtifactPutResult,
    scope="write",
    engine="exchange_artifacts:artifact_put",
    writes=True,
    examples=("palazzo artifact put log - < build.log",),
)


@frozen
class ArtifactGetRequest:
    """Print an artifact's exact content."""

    id: Annotated[str, About("The artifact's id.", positional=True)]


@frozen
class ArtifactGetResult:
    """An artifact with its content."""

    artifact: ArtifactView
    content: str


ARTIFACT_GET = Operation(
    "artifact_get",
    ArtifactGetRequest,
    ArtifactGetResult,
    scope="read",
    engine="exchange_artifacts:artifact_get",
    examples=("palazzo artifact get 0197d2a4c1f07b3e8a52d6c0b9e4f713",),
)
