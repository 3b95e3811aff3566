"""A profile: the tools, names and texts that a server presents to its client."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from palazzo.errors import UsageError
from palazzo.operations.agent_tools.tool import Tool

MODULES = {
    "palazzo": "palazzo.faces.mcp.profiles.own_profile",
    "mempalace": "palazzo.faces.mcp.profiles.mempalace",
    "shodh": "palazzo.faces.mcp.profiles.shodh",
}
"""Each module defines `PROFILE`, and is imported when its profile is first used."""
TOOLSETS = ("core", "full")


@dataclass(frozen=True)
class Profile:
    """A server's name, its instructions for the client, and the tools of each toolset.

    `tools` is called with one of `TOOLSETS`. `names` gives its tools' names for the verbs of `prompts.OWN_NAMES`; a
    verb without a tool is omitted. `instructions` reach the model verbatim, and are all that it sees if a host loads
    tools only on demand. `stands_in` says that its clients were written for another server, which answers -32601 to an
    unknown tool.
    """

    name: str
    title: str
    instructions: str
    tools: Callable[[str], tuple[Tool, ...]]
    names: Mapping[str, str] = field(default_factory=dict)
    stands_in: bool = False


def profile_called(name: str) -> Profile:
    """Return the profile of that name; raises UsageError if there is none."""
    if name not in MODULES:
        raise UsageError(f"Unknown profile '{name}'; profiles: {', '.join(MODULES)}.")
    profile: Profile = importlib.import_module(MODULES[name]).PROFILE
    return profile


def check_toolset(name: str) -> None:
    """Raise UsageError for an unknown toolset."""
    if name not in TOOLSETS:
        raise UsageError(f"Unknown toolset '{name}'; toolsets: {', '.join(TOOLSETS)}.")
