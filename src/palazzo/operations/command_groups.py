"""Groups of commands in the program's help, with a short summary of each command.

A command stands in the group that its operation names. Those of `_LISTED` are listed one a line, in that order; the
others share the last lines of their group. Completion in a shell shows the summaries of both.
"""

from __future__ import annotations

from palazzo.operations.command_index import COMMANDS

ALIASES = {"ls": "list-drawers", "rm": "forget"}
"""Short names of commands, by those who know them from a shell."""

_LISTED = {
    "Everyday": ("setup", "today", "search", "show", "remember", "mine", "feed", "undo"),
    "Look back": (
        "view",
        "sessions",
        "timeline",
        "digest",
        "resume",
        "handoff",
        "wake-up",
        "blame",
        "files",
        "fix",
        "how",
    ),
    "Facts and tasks": ("kg", "todo", "remind", "reminders", "diary"),
    "Arrange": ("forget", "tag", "wing", "room", "tunnel", "quarantine"),
    "Keep and move": ("backup", "restore", "export", "import", "sync", "team", "erase"),
    "Agents": ("install", "uninstall", "mcp", "pause", "token"),
    "Upkeep": ("status", "doctor", "verify", "repair", "settings", "service", "completion"),
}
"""The commands that people need most, by the heading of their group."""

_GROUPS_AND_LOCAL_COMMANDS = {
    "Facts and tasks": {
        "kg": "State, query and end facts",
        "todo": "Add, list and close to-dos",
        "diary": "Read and write agents' diaries",
    },
    "Arrange": {
        "wing": "List, rename and merge wings (projects)",
        "room": "List, rename, merge and move rooms (topics)",
        "tunnel": "Link rooms, and follow the links",
        "quarantine": "Review what agents wrote after untrusted content",
    },
    "Keep and move": {"sync": "Use one palace on several machines", "team": "Share wings with a team"},
    "Agents": {
        "mcp": "Serve this memory to an agent as MCP tools",
        "event": "Leave events for other agents, and read theirs",
        "artifact": "Store and fetch what agents hand over exactly",
        "token": "Grant access to the palace over HTTP",
        "statusline": "Print one line for a host's prompt",
    },
    "Upkeep": {
        "service": "Start, stop or inspect the background service",
        "completion": "Complete commands in bash, zsh or fish",
        "help": "Show this help, or that of a command",
    },
}
"""Summaries of groups of subcommands, and of commands that only the command line has, by heading."""


class CommandGroup:
    """A heading of the help, and the summaries of its commands by name."""

    __slots__ = ("commands", "further", "heading")

    def __init__(self, heading: str, listed: tuple[str, ...]) -> None:
        summaries = {**_GROUPS_AND_LOCAL_COMMANDS.get(heading, {}), **COMMANDS.get(heading, {})}
        self.heading = heading
        self.commands = {name: summaries.pop(name) for name in listed}
        self.further = summaries

    @property
    def summaries(self) -> dict[str, str]:
        """Return the summaries of all commands of the group."""
        return {**self.commands, **self.further}


COMMAND_GROUPS = tuple(CommandGroup(heading, listed) for heading, listed in _LISTED.items())
"""The groups, in the order of the help. A command that is not installed is left out."""


def summary_of(command: str) -> str:
    """Return a command's summary; empty if no group has it."""
    return next((group.summaries[command] for group in COMMAND_GROUPS if command in group.summaries), "")
