"""Hook events and their answers, the same for every host. Independent of the payload formats of hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, get_args

from palazzo.frozen_class import frozen

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
"""How a session begins. `clear` and `compact` continue without the earlier messages: a new epoch."""
ToolKind = Literal["read", "command", "search", "agent", "edit", "todos", "other"]


@frozen
class ToolUse:
    """A tool call: the kind of tool, its input and its output, as far as the host reports them."""

    name: str
    kind: ToolKind = "other"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    output: str = ""
    error: str = ""

    @property
    def command(self) -> str:
        """Return the command line that was run, if any."""
        command = self.arguments.get("command", "")
        return " ".join(map(str, command)) if isinstance(command, list) else str(command)

    @property
    def file(self) -> str:
        """Return the file that was read or written, by the name given, if any."""
        candidates = (
            self.arguments.get(name) for name in ("file_path", "filePath", "path", "absolute_path", "notebook_path")
        )
        return next((str(value) for value in candidates if isinstance(value, str) and value), "")


@frozen
class HookEvent:
    """One event of a session. Fields that the host does not report are empty.

    `last_message` is the agent's last message, which its transcript may not contain yet. `agent` is the id of the
    sub-agent that the event concerns. `is_continuation` says that the session continues because a hook requested it,
    `takes_answer` that the host shows its agent an answer to this event.
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
    takes_answer: bool = True

    @property
    def hearer(self) -> str:
        """Return the recipient, by session; a sub-agent is its own recipient, and starts with nothing received."""
        return f"{self.session}/{self.agent}" if self.agent else self.session


@frozen
class Reaction:
    """The answer to a host: text for the agent, a reason to continue for one more turn, and a line for the user.

    `hold_back` says that a compaction must wait.
    """

    inject: str = ""
    ask: str = ""
    tell: str = ""
    hold_back: bool = False


NOTHING = Reaction()
"""The empty reaction."""
