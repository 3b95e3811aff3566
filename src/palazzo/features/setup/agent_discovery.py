"""The agents on this machine: those that Palazzo can be wired into, and those of which it can only read the history."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.errors import NotFound, UsageError
from palazzo.features.hosts.install_state import HostStatus, inspect_hosts
from palazzo.frozen_class import frozen
from palazzo.host_names import ALIASES, INSTALLABLE
from palazzo.hosts import host_histories, host_registry
from palazzo.hosts.installed_hosts import hosts_found

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@frozen
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
    known_hosts = [host.name for host in host_registry.hosts() if host.is_found_by_directory]
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
    descriptors = {host.name: host for host in host_registry.hosts()}
    for host in statuses:
        program = shutil.which(descriptors[host].program, path=context.variables.get("PATH", ""))
        locations.setdefault(host, program or "")
    names = [host for host in INSTALLABLE if host in locations]
    names += [host for host in locations if host not in INSTALLABLE]
    return {host: Agent(host, descriptors[host].title, locations[host], statuses.get(host)) for host in names}
