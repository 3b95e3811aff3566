"""What a host tells of, and what it is answered: the same for every host. Knows nothing of any host's payloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Event = Literal[
    "session-start",
    "prompt",
    "pre-tool",
    "post-tool",
    "tool-failure",
    "subagent-start",
    "subagent-stop",
    "stop",
    "pre-compact",
    "session-end",
]
EVENTS: tuple[Event, ...] = get_args(Event)
Beginning = Literal["startup", "resume", "clear", "compact", "fork"]
"""How a session begins. `clear` and `compact` go on without what was said: a new epoch."""
ToolKind = Literal["read", "command", "search", "agent", "edit", "todos", "other"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool: what sort of tool, and what it was given and gave, as far as the host tells."""

    name: str
    kind: ToolKind = "other"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    output: str = ""
    error: str = ""

    @property
    def command(self) -> str:
        """The command line that was run, if one was."""
        command = self.arguments.get("command", "")
        return " ".join(map(str, command)) if isinstance(command, list) else str(command)

    @property
    def file(self) -> str:
        """The file that was read or written, as it was named, if one was."""
        candidates = (
            self.arguments.get(name) for name in ("file_path", "filePath", "path", "absolute_path", "notebook_path")
        )
        return next((str(value) for value in candidates if isinstance(value, str) and value), "")


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One event of a session. What a host does not tell is empty.

    `last_message` is what the agent said last, which its transcript may not hold yet. `agent` is the id of the
    sub-agent that it is about. `asked` says that the session goes on because a hook asked for it.
    """

    host: str
    event: Event
    session: str
    cwd: str
    transcript: str = ""
    beginning: Beginning = "startup"
    prompt: str = ""
    tool: ToolUse | None = None
    agent: str = ""
    agent_kind: str = ""
    last_message: str = ""
    trigger: str = ""
    is_continuation: bool = False

    @property
    def hearer(self) -> str:
        """Who is told, as sessions are kept: a sub-agent begins with nothing, and what it is told only it knows."""
        return f"{self.session}/{self.agent}" if self.agent else self.session


@dataclass(frozen=True, slots=True)
class Reaction:
    """What a host is answered: words for the agent, a reason to go on for one more turn, a line for the person.

    `hold_back` says of a compaction that it must wait.
    """

    inject: str = ""
    ask: str = ""
    tell: str = ""
    hold_back: bool = False


NOTHING = Reaction()
"""Nothing to add."""
