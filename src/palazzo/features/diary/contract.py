"""Requests, results and operations of `diary`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations import point_in_time
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.operations.shared_views import FactView, ReminderView, TodoView


@frozen
class EntryView:
    """A complete entry. `date` is the day in this machine's time zone; `project` is a wing, '' if it is about none."""

    id: str
    agent: str
    date: str
    timestamp: Micros
    topic: str
    project: str
    content: str


@frozen
class DiaryWriteRequest:
    """Write an entry in an agent's diary. The whole text is kept unchanged, in the agent's own wing.

    Codex and codex are the same agent, shown with the spelling used first.
    """

    agent: Annotated[str, About("The agent's name.", positional=True)]
    text: Annotated[str, About("The entry; - reads it from standard input.", positional=True, stdin=True)]
    topic: Annotated[str | None, About("Topic, in one or two words.")] = None
    project: Annotated[
        str | None,
        About("Wing of the project that the entry is about, instead of the current project.", metavar="WING"),
    ] = None


@frozen
class DiaryWriteResult:
    """The saved entry; `agent` is spelled as in the agent's first entry."""

    id: str
    drawers: tuple[str, ...]
    agent: str
    wing: str
    topic: str
    project: str
    timestamp: Micros


DIARY_WRITE = Operation(
    "diary_write",
    DiaryWriteRequest,
    DiaryWriteResult,
    scope="write",
    writes=True,
    examples=('palazzo diary write codex "Moved the retries." --topic retries',),
)

READ_ENTRIES = 10


@frozen
class DiaryReadRequest:
    """Read an agent's diary, newest entry first, with full text.

    Days are in the local time zone. An empty diary is not an error.
    """

    agent: Annotated[str, About("The agent's name; case is ignored.", positional=True)]
    day: Annotated[
        str | None, About("Only from this day or period: today, yesterday, 2026-03-04, 'last week'.", metavar="WHEN")
    ] = None
    project: Annotated[str | None, About("Only about the project of this wing.", metavar="WING")] = None
    topic: Annotated[str | None, About("Only with this topic.")] = None
    limit: Annotated[int, About("Maximum number of entries.")] = READ_ENTRIES
    as_of: Annotated[str | None, About(point_in_time.HELP)] = None


@frozen
class DiaryReadResult:
    """Entries, newest first: `showing` of `total`. `near` lists agents with similar names if this one has no diary."""

    agent: str
    entries: tuple[EntryView, ...]
    total: int
    showing: int
    near: tuple[str, ...] = ()
    note: Annotated[str, PERSON_ONLY] = ""
    """The message to show if there are no entries."""


DIARY_READ = Operation(
    "diary_read",
    DiaryReadRequest,
    DiaryReadResult,
    scope="read",
    examples=("palazzo diary read codex", "palazzo diary read codex --day yesterday"),
)

HANDOFF_ENTRIES = 3


@frozen
class DiaryHandoffRequest:
    """Hand over an agent's work to another agent: open to-dos, the latest diary entries, and what has changed since.

    Every line has its date and its id. Nothing is written.
    """

    giver: Annotated[str, About("The agent that hands over.", positional=True, option="FROM")]
    receiver: Annotated[str, About("The agent that takes over.", positional=True, option="TO")]
    project: Annotated[
        str | None,
        About(
            "Only about the project of this wing; by default about all projects in the agent's last entries.",
            metavar="WING",
        ),
    ] = None
    entries: Annotated[
        int, About("Maximum number of entries.", option="--limit", metavar="N", aliases=("--entries",))
    ] = HANDOFF_ENTRIES
    budget: Annotated[int, About("Token limit for the text.", metavar="TOKENS")] = 1500


@frozen
class OpenLine:
    """Something that a session of these projects left open, quoted; `id` is the item that contains the words."""

    id: str
    session: str
    role: str
    said_at: Micros
    text: str


@frozen
class LaterSession:
    """A session with messages after the giver's last entry."""

    id: str
    title: str
    last_at: Micros


@frozen
class DiaryHandoffResult:
    """The text, and its sources. The `later` fields hold what came after the giver's last entry."""

    giver: str
    receiver: str
    projects: tuple[str, ...]
    last_at: Micros
    text: str
    tokens: int
    todos: tuple[TodoView, ...]
    reminders: tuple[ReminderView, ...]
    left_open: tuple[OpenLine, ...]
    entries: tuple[EntryView, ...]
    later_entries: tuple[EntryView, ...]
    later_facts: tuple[FactView, ...]
    later_sessions: tuple[LaterSession, ...]


DIARY_HANDOFF = Operation(
    "diary_handoff",
    DiaryHandoffRequest,
    DiaryHandoffResult,
    scope="read",
    examples=("palazzo diary handoff codex claude-code",),
)


@frozen
class ListAgentsRequest:
    """List the agents that keep a diary, the most recent writer first."""


@frozen
class AgentView:
    """An agent, the wing of its diary, its number of entries, and the times of the first and the last."""

    name: str
    wing: str
    entries: int
    first_at: Micros
    last_at: Micros


@frozen
class ListAgentsResult:
    """The agents, by their latest entry, newest first."""

    agents: tuple[AgentView, ...]


LIST_AGENTS = Operation(
    "list_agents",
    ListAgentsRequest,
    ListAgentsResult,
    scope="read",
    group="Agents",
    summary="List agents that keep a diary",
    examples=("palazzo list-agents",),
)

CheckpointPart = Literal["item", "diary"]


@frozen
class CheckpointRequest:
    """Save notes, a diary entry and facts in one step: all of them, or none if one is invalid.

    Exact copies of stored text are not filed again; near copies are filed and reported. 'palazzo undo' treats it all as
    one change.
    """

    document: Annotated[
        str,
        About(
            'JSON: {"items": [{"content", "wing", "room", "kind", "tags", "by"}], '
            '"diary": {"agent", "entry", "topic"}, "facts": [{"subject", "predicate", "object", "from", "to"}]}; '
            "- reads it from standard input.",
            positional=True,
            stdin=True,
        ),
    ]


@frozen
class SavedNote:
    """A note or an entry that was saved: its number in the document, its id, and its place."""

    part: CheckpointPart
    number: int
    id: str
    drawers: tuple[str, ...]
    wing: str
    room: str


@frozen
class DuplicateView:
    """A part that the palace already holds (`similarity` 1, and not `filed` again), or nearly holds.

    `id` is the drawer that says the same. If that is an earlier part of this checkpoint, it is the id of that part.
    """

    part: CheckpointPart
    number: int
    id: str
    similarity: float
    filed: bool
    wing: str
    room: str
    text: str


@frozen
class SavedFact:
    """A fact that was stated: whether it is new, what changed if it is not, and its conflicts."""

    number: int
    id: str
    new: bool
    changed: tuple[str, ...]
    conflicts: tuple[str, ...]


@frozen
class CheckpointResult:
    """What was saved. `change` is what 'palazzo undo' takes back; null if everything was already there."""

    change: str | None
    added: tuple[SavedNote, ...]
    duplicates: tuple[DuplicateView, ...]
    facts: tuple[SavedFact, ...]


CHECKPOINT = Operation(
    "checkpoint",
    CheckpointRequest,
    CheckpointResult,
    scope="write",
    group="Agents",
    summary="Save notes, a diary entry and facts in one step",
    writes=True,
    examples=("palazzo checkpoint - < session.json",),
)


@frozen
class SessionCheckpointRequest:
    """Add the new part of a session's digest to its agent's diary."""

    session: Annotated[str, About("The session id.")]
    agent: Annotated[str, About("The agent whose diary gets the entry.")]


@frozen
class SessionCheckpointResult:
    """The entry's id; null if there was nothing to write."""

    id: str | None


SESSION_CHECKPOINT = Operation(
    "session_checkpoint",
    SessionCheckpointRequest,
    SessionCheckpointResult,
    writes=True,
    scope="admin",
    callers="programs",
)
