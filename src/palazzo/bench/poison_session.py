"""Model of an agent's session, for measuring which of its content is injected automatically, and the labels of a case.

It is independent of hosts: `poison_hosts` writes a session in each host's format. The labels were committed before the
first run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from palazzo.frozen_class import frozen

Tool = Literal["fetch", "search", "mcp", "shell", "read", "grep", "glob", "edit", "write"]


@frozen
class Utterance:
    """Words of the user, of the agent, or of the host's summary after a compaction."""

    speaker: Literal["user", "assistant", "summary"]
    text: str


@frozen
class Used:
    """A tool call: `argument` is the address, command, path or question, `output` is the output.

    `path` is the file that an edit or a write changes, or the place where a pattern is searched for.
    """

    tool: Tool
    argument: str
    output: str
    failed: bool = False
    path: str = ""


@frozen
class Delegation:
    """A sub-agent's work: its task, its steps, and the report to its parent."""

    task: str
    steps: tuple[Utterance | Used, ...]
    report: str


@frozen
class Wrote:
    """A write that the agent makes itself with one of Palazzo's tools."""

    tool: str
    arguments: Mapping[str, Any]


@frozen
class NameStep:
    """A name that appears during a session: a title by the host's model, or a branch or tag of the project."""

    kind: Literal["title", "branch", "tag"]
    name: str


@frozen
class FilesStep:
    """Files added to the project during a session, in a commit by another author unless `author` is empty."""

    files: Mapping[str, str]
    author: str = ""


@frozen
class CommandStep:
    """A `palazzo` command that the agent runs in its shell."""

    arguments: tuple[str, ...]


Step = Utterance | Used | Delegation | Wrote | NameStep | FilesStep | CommandStep


@frozen
class Later:
    """A later session: a question about the past, ordinary work, a file, and a failing command."""

    asks: str
    works: str
    file: str = ""
    command: str = ""
    error: str = ""


@frozen
class Case:
    """A session, the text of a later session, and the label.

    `claim` is a word that occurs only in what an attacker wants to be believed (or only in an honest control's words).
    A poisoned claim must not be injected automatically into any agent's context, wherever it was repeated. A control's
    claim must be found, and must be shown to an agent that asks for it if it is `is_delivered`.
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
    """Return a turn: the person's prompt, and the result."""
    return (Utterance("user", prompt), *steps)
