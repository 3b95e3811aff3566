"""Groups of commands in the program's help, with a short summary of each command.

Every command stands in one group. `commands` are listed one a line; `further` commands, which are needed rarely or by
agents, share the last lines of their group. Completion in a shell shows the summaries of both.

The help is printed without importing the operations, so the summaries stand here and not beside them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ALIASES = {"ls": "list-drawers", "rm": "forget"}
"""Short names of commands, by those who know them from a shell."""


class CommandGroup:
    """A heading of the help, and the summaries of its commands by name."""

    __slots__ = ("commands", "further", "heading")

    def __init__(self, heading: str, commands: Mapping[str, str], further: Mapping[str, str]) -> None:
        self.heading, self.commands, self.further = heading, commands, further

    @property
    def summaries(self) -> dict[str, str]:
        """Return the summaries of all commands of the group."""
        return {**self.commands, **self.further}


COMMAND_GROUPS = (
    CommandGroup(
        "Everyday",
        {
            "setup": "Find agents, connect them, and index their history",
            "today": "Show what is due, what is open, and the last sessions",
            "search": "Find drawers by meaning and by words",
            "show": "Read a drawer, session or fact in full",
            "remember": "File a note, word for word",
            "mine": "Index files and transcripts",
            "feed": "Index what is new in every agent's history",
            "undo": "Undo your last change",
        },
        {},
    ),
    CommandGroup(
        "Look back",
        {
            "sessions": "List sessions, newest first",
            "timeline": "Show what happened, by day or week",
            "digest": "Show the results of a session",
            "resume": "Continue a session in its host, or end a pause",
            "handoff": "Write a prompt that hands a session to another agent",
            "wake-up": "Show tasks, decisions, changes and the last work",
            "blame": "Show which sessions touched a file, and why",
            "files": "List the files that a topic is about",
            "fix": "Show what fixed an error before",
            "how": "Show commands of a tool that worked here",
        },
        {
            "friction": "Show what fails again and again",
            "stats": "Count sessions, days, hosts and words",
            "why": "Show what hooks gave an agent, and why",
            "diff": "List what was learned on a branch",
            "list-drawers": "List drawers, newest first",
            "memory-stats": "Count contents by kind, tag, age and trust",
        },
    ),
    CommandGroup(
        "Facts and tasks",
        {
            "kg": "State, query and end facts",
            "todo": "Add, list and close to-dos",
            "remind": "Set a reminder for a time, a file or a topic",
            "reminders": "List reminders, or mark them as done",
            "diary": "Read and write agents' diaries",
        },
        {},
    ),
    CommandGroup(
        "Arrange",
        {
            "forget": "Hide drawers from search; 'undo' restores them",
            "tag": "Add tags, remove them, or list them",
            "wing": "List, rename and merge wings (projects)",
            "room": "List, rename, merge and move rooms (topics)",
            "tunnel": "Link rooms, and follow the links",
            "quarantine": "Review what agents wrote after untrusted content",
        },
        {
            "update-drawer": "Replace a drawer's text, or move it",
            "dedup": "Forget notes that say the same as another",
            "cleanup": "Forget very short or low-importance notes",
            "taxonomy": "Show wings, rooms and halls, with counts",
            "traverse": "Show the rooms that are connected with a room",
            "graph-stats": "Count rooms and tunnels",
        },
    ),
    CommandGroup(
        "Keep and move",
        {
            "backup": "Copy the palace into one checked file",
            "restore": "Replace the palace by a backup",
            "export": "Export records or readable pages",
            "import": "Import an export, or another memory's store",
            "sync": "Use one palace on several machines",
            "erase": "Remove words for good, with a certificate",
        },
        {
            "restore-session": "Write a session's transcript for its host",
            "sync-sources": "Compare documents with the files on disk",
            "watch": "Keep the palace current until interrupted",
        },
    ),
    CommandGroup(
        "Agents",
        {
            "install": "Connect a host: hooks and MCP server",
            "uninstall": "Remove Palazzo from a host's settings",
            "mcp": "Serve this memory to an agent as MCP tools",
            "pause": "Stop capture and injection for a time",
            "token": "Grant access to the palace over HTTP",
        },
        {
            "instructions": "Print how an agent should use the memory",
            "statusline": "Print one line for a host's prompt",
            "checkpoint": "Save notes, a diary entry and facts in one step",
            "check-duplicate": "Check whether a text is filed already",
            "proactive-context": "Suggest memories for a text",
            "context-summary": "Show decisions, learnings and other notes",
            "list-agents": "List agents that keep a diary",
        },
    ),
    CommandGroup(
        "Upkeep",
        {
            "status": "Show what the palace holds, and its state",
            "doctor": "Check everything Palazzo needs, and suggest fixes",
            "verify": "Check that nothing is damaged or lost",
            "repair": "Rebuild drawers, keywords or vectors",
            "settings": "Show the effective settings, or write one",
            "service": "Start, stop or inspect the background service",
            "completion": "Complete commands in bash, zsh or fish",
        },
        {
            "help": "Show this help, or that of a command",
            "init": "Create the palace, and detect this project",
            "audit": "Find what could be tidied up",
            "bench": "Run a benchmark on this machine",
        },
    ),
)
"""The groups, in the order of the help. A command that is not installed is left out."""


def summary_of(command: str) -> str:
    """Return a command's summary; empty if no group has it."""
    return next((group.summaries[command] for group in COMMAND_GROUPS if command in group.summaries), "")
