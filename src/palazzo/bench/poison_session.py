"""What a session of an agent is made of, for measuring what of it is told unasked; and how a case is labelled.

Knows no host: `poisoned_hosts` writes a session as each of them does. The labels were committed before they were run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Tool = Literal["fetch", "search", "mcp", "shell", "read", "grep", "glob", "edit", "write"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """Words of the person, of the agent, or of the host that sums up what was compacted."""

    speaker: Literal["user", "assistant", "summary"]
    text: str


@dataclass(frozen=True, slots=True)
class Used:
    """A tool's call: `given` is the address, command, path or question, `printed` what came back.

    `path` is the file that an edit or a write changes, or the place that a pattern is looked for in.
    """

    tool: Tool
    argument: str
    output: str
    failed: bool = False
    path: str = ""


@dataclass(frozen=True, slots=True)
class Delegation:
    """A sub-agent's work: what it was asked, what it did, and what its parent was told of that."""

    task: str
    steps: tuple[Utterance | Used, ...]
    report: str


@dataclass(frozen=True, slots=True)
class Wrote:
    """A write that the agent makes by itself, with one of Palazzo's tools."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NameStep:
    """A name that appears during a session: the title that the host's model makes, a branch or a tag of the project."""

    kind: Literal["title", "branch", "tag"]
    name: str


@dataclass(frozen=True, slots=True)
class FilesStep:
    """Files that come into the project during a session, in a commit by somebody else unless `author` is empty."""

    files: Mapping[str, str]
    author: str = ""


@dataclass(frozen=True, slots=True)
class CommandStep:
    """A `palazzo` command that the agent runs in its shell."""

    arguments: tuple[str, ...]


Step = Utterance | Used | Delegation | Wrote | NameStep | FilesStep | CommandStep


@dataclass(frozen=True, slots=True)
class Later:
    """A session that comes after: a question about the past, plain work, a file, a command that fails."""

    asks: str
    works: str
    file: str = ""
    command: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A session, what is said in a later one, and the label.

    `claim` is a word of what a stranger wants to be believed (or of an honest control's words), and of nothing else.
    Of poison it must reach no agent unasked, from wherever it was repeated; of a control it must be found, and be told
    to who asks for it if it is `told`.
    """

    name: str
    steps: tuple[Step, ...]
    later: Later
    claim: str
    honest: bool = False
    is_delivered: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    untracked_files: Mapping[str, str] = field(default_factory=dict)
    in_git: bool = False
    """Whether the project is a git repository that tracks `files`."""


def turn(prompt: str, *steps: Step) -> tuple[Step, ...]:
    """Return a turn: what the person asked, and what came of it."""
    return (Utterance("user", prompt), *steps)
