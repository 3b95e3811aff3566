"""list_agents: list the agents that keep a diary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive import diary_entries
from palazzo.features.diary.contract import AgentView, ListAgentsRequest, ListAgentsResult

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def list_agents(context: Context, request: ListAgentsRequest) -> ListAgentsResult:
    """List the agents that keep a diary, the most recent writer first."""
    with context.reading().database.snapshot() as connection:
        agents = diary_entries.agents(connection)
    return ListAgentsResult(
        tuple(AgentView(agent.name, agent.wing, agent.entries, agent.first_at, agent.last_at) for agent in agents)
    )
