"""Requests, results and operations of `setup`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated

from palazzo.features.hosts.contract import FileView, OtherView
from palazzo.features.mining.contract import FailedFile, FeedResult, all_failed
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.operations.shared_views import ReminderView, TodoView
from palazzo.text.count_phrases import count_noun


@frozen
class HealthNote:
    """One fact: its name, whether it is in order, the fact in words, and the command that changes it."""

    name: str
    ok: bool
    detail: str
    mend: str = ""


@frozen
class AgentSetup:
    """An agent: the directory or program that shows it, and whether Palazzo is wired into it now.

    `changes` are the files that its installer wrote, would write, or found unchanged. `error` is why it could not be
    wired. `can_wire` is false if Palazzo has no installer for it: then only its history is read. `others` are entries
    of other memories in its settings.
    """

    host: str
    title: str
    found: str
    can_wire: bool
    wired: bool
    plugin: bool
    changes: tuple[FileView, ...] = ()
    error: str = ""
    others: tuple[OtherView, ...] = ()
    note: Annotated[str, PERSON_ONLY] = ""
    """What the person does next in this agent."""

    @property
    def changed_files(self) -> tuple[FileView, ...]:
        """The files that were changed, or would be."""
        return tuple(change for change in self.changes if change.state != "same")


@frozen
class StarterQuestion:
    """A command to try, and where its words come from: what the person `asked` or `decided`, in which wing and when."""

    command: str
    kind: str
    wing: str
    said_at: Micros


NO_HISTORY = FeedResult(0, 0, 0, 0, (), 0, 0, (), 0.0)


@frozen
class SetupRequest:
    """Find every agent on this machine, wire Palazzo into each, and index their history.

    Shows the changes of the agents' settings as a diff and asks once. Existing settings stay, and a copy of each
    changed file is kept beside it. If an agent cannot be wired, the others still are (exit code 1). Running it again
    changes only what is new. 'palazzo uninstall HOST' removes Palazzo from an agent.
    """

    only: Annotated[
        tuple[str, ...],
        About("Only this agent: claude-code, codex, opencode, pi, …; may be given several times.", metavar="HOST"),
    ] = ()
    dry_run: Annotated[bool, About("Show what would be changed and indexed; change nothing.")] = False


@frozen
class IndexedHistory:
    """The agents' sessions, how many of them were new or had grown, and the drawers that came of them.

    In a dry run, `new` and `grown` are yet to be indexed, which takes about `estimate_s` seconds.
    """

    sessions: int
    new: int
    grown: int
    drawers: int
    failed: tuple[FailedFile, ...]
    estimate_s: float


@frozen
class PalaceContents:
    """What the palace holds now."""

    sessions: int
    documents: int
    drawers: int


@frozen
class SetupResult:
    """The agents, their history, what the palace holds afterwards (null if there is none), and questions to try."""

    hosts: tuple[AgentSetup, ...]
    fed: IndexedHistory
    palace: str
    contents: PalaceContents | None
    questions: tuple[StarterQuestion, ...]
    dry_run: bool
    took_s: float
    feed_result: Annotated[FeedResult, PERSON_ONLY] = NO_HISTORY

    @property
    def to_wire(self) -> int:
        """The number of agents whose settings were changed, or would be."""
        return sum(bool(host.changed_files) for host in self.hosts)

    @property
    def to_index(self) -> int:
        """The number of sessions that were new or had grown."""
        return self.fed.new + self.fed.grown


def _make_question(would: SetupResult) -> str:
    """Return the one question to ask; '' if nothing would change."""
    agents = f"Wire {count_noun(would.to_wire, 'agent')}"
    if would.to_wire and would.to_index:
        return f"{agents} and index their history?"
    if would.to_wire:
        return f"{agents}?"
    return f"Index {count_noun(would.to_index, 'session')} of history?" if would.to_index else ""


def _has_failed(result: SetupResult) -> bool:
    """Return whether an agent could not be wired, or no session could be read."""
    return any(host.error for host in result.hosts) or all_failed(result.feed_result)


SETUP = Operation(
    "setup",
    SetupRequest,
    SetupResult,
    scope="admin",
    group="Everyday",
    summary="Find agents, connect them, and index their history",
    writes=True,
    steps=True,
    asks=lambda request: True,
    question=_make_question,
    failed=_has_failed,
    examples=("palazzo setup", "palazzo setup --only claude-code --dry-run"),
)


@frozen
class TodayRequest:
    """Show what is due and open, the last session of each project, what is new since yesterday, and the health.

    'palazzo' without a command shows the same.
    """


@frozen
class ProjectSession:
    """The last session of a project: its wing, its id, the program that wrote it, and when it last went on."""

    wing: str
    session: str
    host: str
    title: str
    last_at: Micros
    age: Annotated[str, PERSON_ONLY] = ""


@frozen
class NewSinceYesterday:
    """What went on or was written since the beginning of yesterday."""

    since: Micros
    sessions: int
    decisions: int
    documents: int
    notes: int


@frozen
class TodayResult:
    """Today's state; all parts are empty if the palace does not exist yet.

    `due` are reminders whose time has come, of all wings; `todos` the open to-dos that are due first.
    """

    palace: str
    exists: bool
    due: tuple[ReminderView, ...] = ()
    todos: tuple[TodoView, ...] = ()
    open_todos: int = 0
    sessions: tuple[ProjectSession, ...] = ()
    new: NewSinceYesterday = NewSinceYesterday(Micros(0), 0, 0, 0, 0)
    health: tuple[HealthNote, ...] = ()


TODAY = Operation(
    "today",
    TodayRequest,
    TodayResult,
    scope="read",
    group="Everyday",
    summary="Show what is due, what is open, and the last sessions",
    examples=("palazzo today", "palazzo today --json"),
)
