"""instructions: the short texts that tell an agent how to do something.

Hosts' slash commands and skills print them, and the prompts of the MCP server contain the same texts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

from palazzo.features.hosts.contract import InstructionsName, InstructionsRequest, InstructionsResult
from palazzo.features.hosts.instruction_prompts import OWN_NAMES, PROMPTS, render_prompt
from palazzo.injection import tool_names

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_TEXTS = Path(__file__).parent / "instruction_texts"
_PLACEHOLDERS = (
    *("search", "wake_up", "read", "remember", "diary_write", "diary_read", "kg_add", "kg_end", "check_duplicate"),
    *("checkpoint", "status"),
)


def instructions(context: Context, request: InstructionsRequest) -> InstructionsResult:
    """Print a short text that tells an agent how to use the memory."""
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


NAMES: tuple[str, ...] = get_args(InstructionsName)
"""All names of instruction texts."""
