"""A profile: the tools, names and words with which a server meets its client."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from palazzo.errors import UsageError
from palazzo.faces.mcp.tool import Tool

MODULES = {
    "palazzo": "palazzo.faces.mcp.toolsets",
    "mempalace": "palazzo.faces.mcp.profiles.mempalace",
    "shodh": "palazzo.faces.mcp.profiles.shodh",
}
"""Each module defines `PROFILE`, and is imported when its profile is first asked for."""
TOOLSETS = ("core", "full")


@dataclass(frozen=True)
class Profile:
    """What a server is called, what its client is told at first, and the tools of each toolset.

    `tools` is asked for a toolset that is one of `TOOLSETS`. `names` says what its tools for the verbs of
    `prompts.OWN_NAMES` are called; a verb that it has no tool for is left out. `instructions` reach the model word for
    word, and are all that it sees where a host loads tools only when they are asked for. `stands_in` says that its
    clients were written for another server, which answers -32601 to an unknown tool.
    """

    name: str
    title: str
    instructions: str
    tools: Callable[[str], tuple[Tool, ...]]
    names: Mapping[str, str] = field(default_factory=dict)
    stands_in: bool = False


def profile_called(name: str) -> Profile:
    """Return the profile of that name; UsageError when there is none."""
    if name not in MODULES:
        raise UsageError(f"There is no profile '{name}'; there are: {', '.join(MODULES)}.")
    profile: Profile = importlib.import_module(MODULES[name]).PROFILE
    return profile


def check_toolset(name: str) -> None:
    """Raise UsageError for a toolset that there is not."""
    if name not in TOOLSETS:
        raise UsageError(f"There is no toolset '{name}'; there are: {', '.join(TOOLSETS)}.")
