"""Wiring one agent: the installer's planned or written files, or the reason why it failed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import PalazzoError
from palazzo.features.hosts.install import FileView, InstallRequest, OtherView, install
from palazzo.operations.operation import PERSON_ONLY

if TYPE_CHECKING:
    from palazzo.features.setup.agent_discovery import Agent
    from palazzo.operations.context import Context

_MANUAL_HOSTS = ("gemini-cli", "cursor")
"""Hosts without an installer, whose settings for an MCP server Palazzo can print."""
_MANUAL = "Wire {title} by hand: 'palazzo mcp --print-config {host}' prints its settings for the MCP server."


@dataclass(frozen=True, slots=True)
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


def wire_agent(context: Context, agent: Agent, dry_run: bool) -> AgentSetup:
    """Run the agent's installer; an error of the installer becomes part of the result, so that others go on."""
    was_wired = agent.status is not None and agent.status.is_wired
    can_wire = agent.status is not None
    note = _MANUAL.format(title=agent.title, host=agent.host) if agent.host in _MANUAL_HOSTS else ""
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
