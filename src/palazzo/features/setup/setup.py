"""setup: wire every agent on this machine, and index their history."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from palazzo.features.mining.contract import FeedRequest, FeedResult
from palazzo.features.mining.feed import feed
from palazzo.features.setup.agent_discovery import find_agents
from palazzo.features.setup.agent_wiring import wire_agent
from palazzo.features.setup.contract import (
    NO_HISTORY,
    IndexedHistory,
    PalaceContents,
    SetupRequest,
    SetupResult,
    StarterQuestion,
)
from palazzo.features.setup.starter_questions import suggest_questions
from palazzo.host_names import WITH_HISTORY
from palazzo.store import palace_overview

if TYPE_CHECKING:
    from palazzo.features.setup.agent_discovery import Agent
    from palazzo.operations.context import Context

_QUESTIONS = 3


def setup(context: Context, request: SetupRequest) -> SetupResult:
    """Find every agent on this machine, wire Palazzo into each, and index their history."""
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
    hosts = tuple(agent.host for agent in agents if agent.host in WITH_HISTORY)
    return feed(context, FeedRequest(hosts, dry_run=request.dry_run)) if hosts else NO_HISTORY


def _look_into_palace(context: Context, dry_run: bool) -> tuple[PalaceContents, tuple[StarterQuestion, ...]]:
    palace = context.reading()
    if not dry_run:
        palace.follow_digests(lambda done, total: context.report("digesting sessions", done, total))
    with palace.database.snapshot() as connection:
        counts = palace_overview.count_sources(connection)
        drawers = sum(sum(rooms.values()) for rooms in palace_overview.drawers_by_place(connection).values())
        questions = () if dry_run else suggest_questions(connection, _QUESTIONS)
    return PalaceContents(counts.sessions, counts.documents, drawers), questions
