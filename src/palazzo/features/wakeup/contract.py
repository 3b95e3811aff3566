"""Requests, results and operations of `wakeup`: what faces know of the feature, without its engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations import point_in_time as past
from palazzo.operations.filters import FiledAs
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.operations.shared_views import FactView, ReminderView, TodoView

Depth = Literal["shallow", "medium", "deep"]


@frozen
class WakeUpRequest:
    """Write a short orientation: due and open tasks, decisions, changes, and the last work.

    Every line has its date, its author and its id. With a session, the text is stored, and returned unchanged when
    asked for again.
    """

    wing: Annotated[str | None, About("The wing to orient in. Default: the project's.")] = None
    budget: Annotated[
        int | None, About("Maximum number of tokens. Default: 300, 900 or 2,000, by depth.", metavar="TOKENS")
    ] = None
    depth: Annotated[Depth | None, About("Level of detail: shallow, medium or deep. Default: as in the settings.")] = (
        None
    )
    session: Annotated[str | None, About("Session ID. Repeated calls return identical text.", metavar="ID")] = None
    agent: Annotated[
        str | None, About("The agent that wakes up: its diary and its to-dos are included.", metavar="NAME")
    ] = None
    as_of: Annotated[str | None, About(past.HELP)] = None
    hurry: Annotated[bool, About("Leave out the outcomes of sessions rather than wait for them.", hidden=True)] = False
    epoch: Annotated[int, About("How often the session has lost its context.", hidden=True)] = 0
    host_session: Annotated[str, About("The session id of the host.", hidden=True)] = ""


@frozen
class WakeUpLine:
    """A line of the text, and why it is included. `text` is the beginning of the words if `truncated`.

    `id` is the full id of a note, item, fact, to-do or reminder; for a session, the session's id.
    """

    section: str
    id: str
    at: Micros
    origin: str
    trust: str
    text: str
    remark: str
    truncated: bool
    importance: float


@frozen
class WakeUpResult:
    """The text, and its sources. `frozen_at` is when a session first got this text, null without a session."""

    wing: str | None
    agent: str | None
    branch: str
    depth: str
    text: str
    tokens: int
    lines: tuple[WakeUpLine, ...]
    frozen_at: Micros
    as_of: Annotated[Micros | None, PERSON_ONLY] = None
    note: Annotated[str, PERSON_ONLY] = ""


WAKE_UP = Operation(
    "wake_up",
    WakeUpRequest,
    WakeUpResult,
    scope="read",
    group="Look back",
    summary="Show tasks, decisions, changes and the last work",
    warm=True,
    examples=("palazzo wake-up", "palazzo wake-up --wing api --depth deep"),
)

PROACTIVE_BUDGET = 500

PROACTIVE_LIMIT = 5


@frozen
class ProactiveContextRequest:
    """Suggest memories, reminders, to-dos, open threads and facts relevant to a text. Usually none.

    Searches the project's wing, the agent's and the one called 'user' for content that may be injected automatically
    (setting auto_inject_trust). A memory must score above a floor that ordinary prompts rarely reach.
    """

    context: Annotated[
        str, About("The current text or activity; - reads it from standard input.", positional=True, stdin=True)
    ]
    wing: Annotated[str | None, About("The wing to search instead of the project's.")] = None
    agent: Annotated[
        str | None, About("The agent that gets the suggestions; its own wing is also searched.", metavar="NAME")
    ] = None
    files: Annotated[
        tuple[str, ...],
        About("A file that is being opened; may be given several times.", option="--file", metavar="PATH"),
    ] = ()
    filed_as: FiledAs = ()
    floor: Annotated[
        float | None, About("The minimum score of a memory, if higher than the setting proactive_floor.")
    ] = None
    limit: Annotated[int, About("Maximum number of each kind.")] = PROACTIVE_LIMIT
    budget: Annotated[int, About("Maximum number of tokens in total.", metavar="TOKENS")] = PROACTIVE_BUDGET


@frozen
class MemoryView:
    """A drawer that is likely to help. `text` is its beginning if `truncated` is set."""

    id: str
    text: str
    truncated: bool
    wing: str
    room: str
    kind: str
    filed_as: str
    tags: tuple[str, ...]
    title: str
    created_at: Micros
    role: str
    author: str
    trust: str
    score: float


@frozen
class ThreadView:
    """Something that a session left open: `id` is the id of the message that says so, `by` its author."""

    id: str
    text: str
    wing: str
    session: str
    by: str
    said_at: Micros


@frozen
class ProactiveContextResult:
    """The relevant entries; all lists are empty if there are none. `floor` is the score that a memory had to reach."""

    memories: tuple[MemoryView, ...]
    reminders: tuple[ReminderView, ...]
    todos: tuple[TodoView, ...]
    facts: tuple[FactView, ...]
    threads: tuple[ThreadView, ...]
    wings: tuple[str, ...]
    floor: float
    labels: Mapping[str, str]
    """Labels by id: the branch of entries not known to be part of the current checkout, and the state of cited
    files.
    """
    tokens: int
    index: Literal["ready", "keyword-only", "building", "without-tokens"] | None
    """What was searched; null if the text has too few words for a search."""


PROACTIVE_CONTEXT = Operation(
    "proactive_context",
    ProactiveContextRequest,
    ProactiveContextResult,
    scope="read",
    group="Agents",
    summary="Suggest memories for a text",
    warm=True,
    examples=('palazzo proactive-context "the deploy fails again" --file deploy.sh',),
)

DIGEST_KINDS = ("asked", "decided", "changed", "failed", "fixed", "open")


@frozen
class DigestRequest:
    """Show the results of a session: asked, decided, changed, failed, fixed, left open.

    Each line quotes someone's words and cites their place. Rules select them, so some are missed and a few are wrong. A
    sub-agent has its own digest.
    """

    session: Annotated[str, About("Session id, or the beginning of one.", positional=True)]
    kind: Annotated[tuple[str, ...], About(f"Only lines of this kind: {', '.join(DIGEST_KINDS)}. Repeatable.")] = ()


@frozen
class QuoteView:
    """Quoted words and their place: drawer (null if no drawer holds them), item, and the span in it."""

    text: str
    drawer: str | None
    item: str
    start: int
    end: int


@frozen
class DigestLineView:
    """A digest line: its kind, the words, who said them and when, and the words that they answer, if any.

    `trust` is the trust level of the words, `about_trust` that of the words they answer: `external` for an agent's
    words after its session read untrusted content.
    """

    kind: str
    by: str
    said_at: str
    words: QuoteView
    about: QuoteView | None
    trust: str = "user"
    about_trust: str = ""


@frozen
class SubAgentView:
    """A sub-agent's session, its purpose, and the number of lines in its digest; `palazzo digest` shows it."""

    session: str
    title: str
    lines: int


@frozen
class DigestResult:
    """The lines in chronological order, and the session's sub-agents, which have digests of their own."""

    session: str
    title: str
    wing: str | None
    lines: tuple[DigestLineView, ...]
    sub_agents: tuple[SubAgentView, ...]


DIGEST = Operation(
    "digest",
    DigestRequest,
    DigestResult,
    scope="read",
    group="Look back",
    summary="Show the results of a session",
    view="digest_view:digest",
    examples=("palazzo digest 3f2a91", "palazzo digest 3f2a91 --kind decided --kind open"),
)
