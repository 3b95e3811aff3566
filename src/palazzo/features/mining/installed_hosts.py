"""Detection of the coding agents installed here, by the directories that they keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_HOSTS: tuple[tuple[str, str, str], ...] = (
    ("claude-code", "CLAUDE_CONFIG_DIR", ".claude"),
    ("codex", "CODEX_HOME", ".codex"),
    ("opencode", "OPENCODE_CONFIG_DIR", ".config/opencode"),
    ("opencode", "", ".local/share/opencode"),
    ("pi", "PI_CODING_AGENT_DIR", ".pi/agent"),
    ("gemini-cli", "", ".gemini"),
    ("cursor", "", ".cursor"),
)
"""The name, the environment variable that relocates its directory, and the default directory below the home
directory.
"""


@dataclass(frozen=True, slots=True)
class HostFound:
    """An installed agent program, and the directory that proves it."""

    name: str
    directory: str


def hosts_found(variables: Mapping[str, str]) -> tuple[HostFound, ...]:
    """Return the installed hosts, each once."""
    home = Path(variables.get("HOME") or Path.home())
    hosts: dict[str, HostFound] = {}
    for name, variable, below in _HOSTS:
        directory = Path(variables[variable]) if variables.get(variable) else home / below
        if name not in hosts and directory.is_dir():
            hosts[name] = HostFound(name, str(directory))
    return tuple(hosts.values())
