"""setup: wire every agent on this machine, and index their history."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.mining.feed import FeedRequest, FeedResult, feed
from palazzo.features.mining.mine import FailedFile, all_failed
from palazzo.features.setup.agent_wiring import AgentSetup, wire_agent
from palazzo.features.setup.starter_questions import StarterQuestion, suggest_questions
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.features.setup.agent_discovery import Agent
    from palazzo.operations.context import Context

_QUESTIONS = 3
_NO_HISTORY = FeedResult(0, 0, 0, 0, (), 0, 0, (), 0.0)


@dataclass(frozen=True, slots=True)
class SetupRequest:
    """Which agents, and whether only to look."""

    only: Annotated[
        tuple[str, ...],
        About("Only this agent: claude-code, codex, opencode, pi, …; may be given several times.", metavar="HOST"),
    ] = ()
    dry_run: Annotated[bool, About("Show what would be changed and indexed; change nothing.")] = False


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class PalaceContents:
    """What the palace holds now."""

    sessions: int
    documents: int
    drawers: int


@dataclass(frozen=True, slots=True)
class SetupResult:
    """The agents, their history, what the palace holds afterwards (null if there is none), and questions to try."""

    hosts: tuple[AgentSetup, ...]
    fed: IndexedHistory
    palace: str
    contents: PalaceContents | None
    questions: tuple[StarterQuestion, ...]
    dry_run: bool
    took_s: float
    feed_result: Annotated[FeedResult, PERSON_ONLY] = _NO_HISTORY

    @property
    def to_wire(self) -> int:
        """The number of agents whose settings were changed, or would be."""
        return sum(bool(host.changed_files) for host in self.hosts)

    @property
    def to_index(self) -> int:
        """The number of sessions that were new or had grown."""
        return self.fed.new + self.fed.grown


def setup(context: Context, request: SetupRequest) -> SetupResult:
    """Find every agent on this machine, wire Palazzo into each, and index their history.

    Shows the changes of the agents' settings as a diff and asks once. Existing settings stay, and a copy of each
    changed file is kept beside it. If an agent cannot be wired, the others still are (exit code 1). Running it again
    changes only what is new. 'palazzo uninstall HOST' removes Palazzo from an agent.
    """
    from palazzo.features.setup.agent_discovery import find_agents

    began = time.monotonic()
    context.check_palace_path()
    agents = find_agents(context, request.only)
    hosts = tuple(wire_agent(context, agent, request.dry_run) for agent in agents)
    if not request.dry_run and any(host.wired for host in hosts):
        context.writing()  # also without any history: what an agent wired to it finds is then an empty palace
    feed_result = _feed(context, request, agents)
    contents, questions = None, tuple[StarterQuestion, ...]()
    if context.has_palace:
        contents, questions = _look_into_palace(context, request.dry_run)
    fed = IndexedHistory(
        sessions=feed_result.sources,
        new=feed_result.new,
        grown=feed_result.grown,
        drawers=feed_result.drawers,
        failed=feed_result.failed,
        estimate_s=round(feed_result.estimate_s, 1),
    )
    took = round(time.monotonic() - began, 3)
    palace_path = str(context.palace_path)
    return SetupResult(hosts, fed, palace_path, contents, questions, request.dry_run, took, feed_result)


def _feed(context: Context, request: SetupRequest, agents: tuple[Agent, ...]) -> FeedResult:
    """Index the history of the agents."""
    from palazzo.sources.host_histories import HOSTS

    hosts = tuple(agent.host for agent in agents if agent.host in HOSTS)
    return feed(context, FeedRequest(hosts, dry_run=request.dry_run)) if hosts else _NO_HISTORY


def _look_into_palace(context: Context, dry_run: bool) -> tuple[PalaceContents, tuple[StarterQuestion, ...]]:
    from palazzo.store import palace_overview

    palace = context.reading()
    if not dry_run:
        palace.follow_digests(lambda done, total: context.report("digesting sessions", done, total))
    with palace.database.snapshot() as connection:
        counts = palace_overview.count_sources(connection)
        drawers = sum(sum(rooms.values()) for rooms in palace_overview.drawers_by_place(connection).values())
        questions = () if dry_run else suggest_questions(connection, _QUESTIONS)
    return PalaceContents(counts.sessions, counts.documents, drawers), questions


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


OPERATION = Operation(
    "setup",
    SetupRequest,
    SetupResult,
    setup,
    scope="admin",
    writes=True,
    steps=True,
    asks=lambda request: True,
    question=_make_question,
    failed=_has_failed,
    examples=("palazzo setup", "palazzo setup --only claude-code --dry-run"),
)
