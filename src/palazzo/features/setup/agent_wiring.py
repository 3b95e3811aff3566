"""Wiring one agent: the installer's planned or written files, or the reason why it failed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError
from palazzo.features.hosts.contract import InstallRequest
from palazzo.features.hosts.install import install
from palazzo.features.setup.contract import AgentSetup
from palazzo.hosts.host_registry import server_settings

if TYPE_CHECKING:
    from palazzo.features.setup.agent_discovery import Agent
    from palazzo.operations.context import Context

_MANUAL = "Wire {title} by hand: 'palazzo mcp --print-config {host}' prints its settings for the MCP server."


def wire_agent(context: Context, agent: Agent, dry_run: bool) -> AgentSetup:
    """Run the agent's installer; an error of the installer becomes part of the result, so that others go on."""
    was_wired = agent.status is not None and agent.status.is_wired
    can_wire = agent.status is not None
    note = "" if can_wire or agent.host not in server_settings() else _MANUAL.format(title=agent.title, host=agent.host)
    setup = AgentSetup(agent.host, agent.title, agent.location, can_wire, was_wired, agent.has_plugin, note=note)
    if not can_wire or agent.has_plugin:
        return setup
    try:
        result = install(context, InstallRequest(agent.host, dry_run=dry_run))
    except PalazzoError as error:
        return replace(setup, error=str(error))
    is_unchanged = all(file.state == "same" for file in result.files)
    return replace(
        setup,
        wired=was_wired or is_unchanged or not dry_run,
        changes=result.files,
        others=result.others,
        note="" if is_unchanged else result.note,
    )
