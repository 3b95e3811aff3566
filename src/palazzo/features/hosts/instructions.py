"""instructions: the short texts that tell an agent how to do something.

Hosts' slash commands and skills print them, and the prompts of the MCP server contain the same texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from palazzo.features.hosts.instruction_prompts import OWN_NAMES, PROMPTS, render_prompt
from palazzo.injection import tool_names
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context

Name = Literal[
    "help", "init", "search", "mine", "status", "remember", "diary", "doctor",
    "recall", "save_session", "what_do_we_know_about",
]  # fmt: skip
ToolNames = Literal["palazzo", "mempalace", "shodh"]
_TEXTS = Path(__file__).parent / "instruction_texts"
_PLACEHOLDERS = (
    *("search", "wake_up", "read", "remember", "diary_write", "diary_read", "kg_add", "kg_end", "check_duplicate"),
    *("checkpoint", "status"),
)


@dataclass(frozen=True, slots=True)
class InstructionsRequest:
    """The text, and the profile whose tool names it uses."""

    name: Annotated[Name, About("The text to print.", positional=True)]
    profile: Annotated[ToolNames, About("The profile whose tool names are used.")] = "palazzo"


@dataclass(frozen=True, slots=True)
class InstructionsResult:
    """The text, in Markdown."""

    name: str
    text: str


def instructions(context: Context, request: InstructionsRequest) -> InstructionsResult:
    """Print a short text that tells an agent how to use the memory.

    Slash commands and skills of hosts print it. `recall`, `save_session` and `what_do_we_know_about` are the texts of
    the MCP server's prompts of the same names.
    """
    profile_names = tool_names.NAMES[request.profile]
    prompt = next((entry for entry in PROMPTS if entry.name == request.name), None)
    if prompt is not None:
        sentences = render_prompt(
            prompt, OWN_NAMES if request.profile == "palazzo" else profile_names, "…"
        ).splitlines()
        steps = "\n".join(f"- {line}" for line in sentences)
        return InstructionsResult(request.name, f"# {prompt.title}\n\n{prompt.description}\n\n{steps}\n")
    text = (_TEXTS / f"{request.name}.md").read_text(encoding="utf-8")
    for name in _PLACEHOLDERS:
        text = text.replace(f"{{{name}}}", profile_names.get(name, name))
    alternatives = ", ".join(f"`{entry}`" for entry in NAMES if entry != request.name)
    return InstructionsResult(request.name, text.replace("{others}", alternatives))


NAMES: tuple[str, ...] = get_args(Name)
"""All names of instruction texts."""
OPERATION = Operation(
    "instructions",
    InstructionsRequest,
    InstructionsResult,
    instructions,
    scope="read",
    examples=("palazzo instructions search",),
)
