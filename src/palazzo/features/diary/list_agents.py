"""list_agents: list the agents that keep a diary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.model import Micros
from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class ListAgentsRequest:
    """No arguments."""


@dataclass(frozen=True, slots=True)
class AgentView:
    """An agent, the wing of its diary, its number of entries, and the times of the first and the last."""

    name: str
    wing: str
    entries: int
    first_at: Micros
    last_at: Micros


@dataclass(frozen=True, slots=True)
class ListAgentsResult:
    """The agents, by their latest entry, newest first."""

    agents: tuple[AgentView, ...]


def list_agents(context: Context, request: ListAgentsRequest) -> ListAgentsResult:
    """List the agents that keep a diary, the most recent writer first."""
    from palazzo.archive import diary_entries

    with context.reading().database.snapshot() as connection:
        agents = diary_entries.agents(connection)
    return ListAgentsResult(
        tuple(AgentView(agent.name, agent.wing, agent.entries, agent.first_at, agent.last_at) for agent in agents)
    )


OPERATION = Operation(
    "list_agents",
    ListAgentsRequest,
    ListAgentsResult,
    list_agents,
    scope="read",
    examples=("palazzo list-agents",),
)
