"""instructions: the short texts that tell an agent how to go about something."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from palazzo.attention import tool_names
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context

Name = Literal["help", "init", "search", "mine", "status"]
ToolNames = Literal["palazzo", "mempalace", "shodh"]
_TEXTS = Path(__file__).parent / "instruction_texts"
_NAMED = ("search", "wake_up", "read", "remember", "diary_write", "kg_add", "check_duplicate", "status")


@dataclass(frozen=True, slots=True)
class InstructionsRequest:
    """Which text, and by which names it is to call the tools."""

    name: Annotated[Name, About("Which text.", positional=True)]
    profile: Annotated[ToolNames, About("Whose names the tools go by.")] = "palazzo"


@dataclass(frozen=True, slots=True)
class InstructionsResult:
    """The text, in Markdown."""

    name: str
    text: str


def instructions(context: Context, request: InstructionsRequest) -> InstructionsResult:
    """Print a short text that tells an agent how to use the memory: help, init, search, mine or status.

    Slash commands of hosts print them.
    """
    text = (_TEXTS / f"{request.name}.md").read_text(encoding="utf-8")
    called = tool_names.NAMES[request.profile]
    for name in _NAMED:
        text = text.replace(f"{{{name}}}", called.get(name, name))
    return InstructionsResult(request.name, text)


NAMES: tuple[str, ...] = get_args(Name)
OPERATION = Operation("instructions", InstructionsRequest, InstructionsResult, instructions)
