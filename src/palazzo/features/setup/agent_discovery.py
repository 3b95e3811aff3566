"""The agents on this machine: those that Palazzo can be wired into, and those of which it can only read the history."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.errors import NotFound, UsageError
from palazzo.features.hosts.install import ALIASES, HOSTS
from palazzo.features.hosts.install_state import HostStatus, inspect_hosts
from palazzo.features.mining.installed_hosts import hosts_found
from palazzo.sources import host_histories

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_PROGRAMS = {"claude-code": "claude", "codex": "codex", "opencode": "opencode", "pi": "pi"}
_TITLES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini-cli": "Gemini CLI",
    "cursor": "Cursor",
    "copilot": "Copilot CLI",
    "continue": "Continue",
    "aider": "Aider",
}


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent on this machine; `location` is the directory or the program that shows it.

    `status` is None if Palazzo has no installer for it, or only its old history is left.
    """

    host: str
    title: str
    location: str
    status: HostStatus | None

    @property
    def has_plugin(self) -> bool:
        """Whether Palazzo is wired as the host's plugin, so that its settings must not name Palazzo again."""
        return self.status is not None and "plugin" in self.status.scopes


def find_agents(context: Context, only: Sequence[str] = ()) -> tuple[Agent, ...]:
    """Return the agents on this machine, or those of the named hosts; nothing is started.

    Raises UsageError for an unknown host, NotFound for a host that is not on this machine.
    """
    hosts = [ALIASES.get(host, host) for host in only]
    known_hosts = list(dict.fromkeys([*HOSTS, *host_histories.HOSTS, "cursor"]))
    for host in hosts:
        if host not in known_hosts:
            raise UsageError(f"--only: '{host}' is not a host; choose from {', '.join(known_hosts)}.")
    agents = _list_agents(context)
    for host in hosts:
        if host not in agents:
            present = ", ".join(agents) or "none"
            raise NotFound(f"--only: '{host}' was not found on this machine; found: {present}.")
    return tuple(agent for host, agent in agents.items() if not hosts or host in hosts)


def _list_agents(context: Context) -> dict[str, Agent]:
    statuses = {status.host: status for status in inspect_hosts(context, try_out=False)}
    locations = {host.name: host.directory for host in hosts_found(context.variables)}
    for history in host_histories.histories(context.variables, (), context.project_root):
        locations.setdefault(history.host, str(history.path))
    for host in statuses:
        program = shutil.which(_PROGRAMS[host], path=context.variables.get("PATH", ""))
        locations.setdefault(host, program or "")
    names = [host for host in HOSTS if host in locations]
    names += [host for host in locations if host not in HOSTS]
    return {host: Agent(host, _TITLES.get(host, host), locations[host], statuses.get(host)) for host in names}
