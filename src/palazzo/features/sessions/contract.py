"""Requests, results and operations of `sessions`: what faces know of the feature, without its engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.host_names import WITH_PROMPT
from palazzo.model import Micros
from palazzo.operations.filters import InWing, Since, Until
from palazzo.operations.operation import PERSON_ONLY, About, Operation

MOST_SESSIONS = 1_000
"""Maximum number of sessions in one answer."""


@frozen
class SessionView:
    """A session: its host, project, title, times, the user's turns, its last branch, and what came of it.

    `short` is the shortest beginning of its id that identifies it. `outcome` quotes one line of its digest, never one
    that an agent said after it read untrusted content; `counts` has the number of lines of each kind. `trust` is
    `external` if the session read untrusted content or another person's words are its only ones, else `user`.
    """

    id: str
    short: str
    host: str
    project: str
    title: str
    started_at: Micros
    ended_at: Micros
    turns: int
    branch: str
    outcome: str
    trust: str
    counts: dict[str, int]


@frozen
class Resumption:
    """What resumes a session: its host's command, the directory to start it in, and the files restored for it.

    `directory` is empty if any will do. `preparation` is a command to run first, if any: opencode imports a restored
    session by one. `is_printed` says that the command was requested, not its start.
    """

    session: str
    host: str
    command: tuple[str, ...]
    directory: str
    restored: tuple[Path, ...]
    preparation: tuple[str, ...] = ()
    is_printed: Annotated[bool, PERSON_ONLY] = False


OfHost = Annotated[str | None, About("Only sessions of this host, such as claude-code or codex.")]

OfBranch = Annotated[str | None, About("Only sessions with messages on this git branch.")]


@frozen
class SessionsRequest:
    """List past sessions, newest first: host, project, title, time, turns, and what came of each.

    On a terminal, 'palazzo sessions' without options lets you choose one: type to filter, Enter shows the session,
    ^R resumes it in its host.
    """

    text: Annotated[
        tuple[str, ...],
        About("Words that the title, project, host or id must contain.", positional=True),
    ] = ()
    wing: InWing = None
    since: Since = None
    until: Until = None
    branch: OfBranch = None
    host: OfHost = None
    limit: Annotated[int, About("Maximum number of sessions.")] = 20
    pick: Annotated[bool, About("Choose a session with the keyboard, also if filters are given.")] = False


@frozen
class SessionsResult:
    """The sessions, the last active one first, and how many there are altogether."""

    sessions: tuple[SessionView, ...]
    total: int
    note: str = ""
    now: Annotated[Micros, PERSON_ONLY] = Micros(0)


SESSIONS = Operation(
    "sessions",
    SessionsRequest,
    SessionsResult,
    engine="session_list:list_sessions",
    scope="read",
    group="Look back",
    summary="List sessions, newest first",
    examples=("palazzo sessions --since monday", "palazzo sessions retries --host codex"),
)


@frozen
class TimelineRequest:
    """Show past days or weeks, newest first: their sessions, counts per project, and what was decided."""

    day: Annotated[bool, About("Show days, which is the default.")] = False
    week: Annotated[bool, About("Show weeks, which begin on Monday.")] = False
    wing: InWing = None
    since: Since = None
    until: Until = None
    branch: OfBranch = None
    host: OfHost = None
    limit: Annotated[int, About("Maximum number of days or weeks.")] = 7


@frozen
class DecisionView:
    """Words that decided something: who said them and when, in which session and item; `trust` is that of the words."""

    text: str
    by: str
    trust: str
    said_at: Micros
    session: str
    item: str


@frozen
class PeriodView:
    """A local day or week with sessions, from its first to its last date; a session counts when it ended."""

    first_day: str
    last_day: str
    sessions: tuple[SessionView, ...]
    projects: dict[str, int]
    hosts: dict[str, int]
    decided: tuple[DecisionView, ...]


@frozen
class TimelineResult:
    """The periods with sessions, newest first, and the number of sessions in all periods, shown or not."""

    unit: Literal["day", "week"]
    periods: tuple[PeriodView, ...]
    total: int
    note: str = ""


TIMELINE = Operation(
    "timeline",
    TimelineRequest,
    TimelineResult,
    scope="read",
    group="Look back",
    summary="Show what happened, by day or week",
    examples=("palazzo timeline --week", "palazzo timeline --since 30d --json"),
)

if TYPE_CHECKING:
    TargetHost = str
else:
    TargetHost = Literal[(*WITH_PROMPT, "other")]


@frozen
class HandoffRequest:
    """Write a prompt with which another agent continues a session: what was asked, decided, changed and left open.

    Recorded words stand in a fence, each line with its speaker, so that the agent reads them as information. For
    example: codex "$(palazzo handoff ID --to codex)".
    """

    session: Annotated[str, About("Id or id prefix of the session.", positional=True)]
    to: Annotated[TargetHost, About("The agent that continues the session.")] = "other"


@frozen
class HandoffResult:
    """The prompt, the files that the session changed, and the command that starts the other agent with the prompt."""

    session: str
    host: str
    to: str
    prompt: str
    files: tuple[str, ...]
    command: str


HANDOFF = Operation(
    "handoff",
    HandoffRequest,
    HandoffResult,
    scope="read",
    group="Look back",
    summary="Write a prompt that hands a session to another agent",
    examples=("palazzo handoff 3f2a91 --to codex",),
)


@frozen
class StatsRequest:
    """Show figures of your sessions: how many, on how many days, with which hosts, what is kept and was used.

    With --card they become an SVG picture to post: figures and a calendar of the last year, nothing of the content.
    """

    card: Annotated[
        Path | None, About("Write a picture of the figures, without anything of the content.", metavar="FILE.svg")
    ] = None


@frozen
class StatsResult:
    """The figures: numbers of sessions, of days with exchanges, and of what is kept and was given to agents.

    An exchange is a turn of a session that search can return. `words` are counted by the keyword index. `answers` are
    the times that hooks put something before an agent; `used` of their `parts` were used.
    """

    sessions: int
    days: int
    first_day: str | None
    last_day: str | None
    longest_streak: int
    exchanges: int
    words: int
    answers: int
    parts: int
    used: int
    by_host: dict[str, int]
    by_day: dict[str, int]
    """Exchanges by local day; days without any are absent."""
    card: Path | None = None


STATS = Operation(
    "stats",
    StatsRequest,
    StatsResult,
    scope="admin",
    group="Look back",
    summary="Count sessions, days, hosts and words",
    examples=("palazzo stats", "palazzo stats --card card.svg"),
)
