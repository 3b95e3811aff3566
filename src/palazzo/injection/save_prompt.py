"""What an agent is asked to keep, when it is asked. Pure; the tools are called what the agent's profile calls them."""

from __future__ import annotations

from collections.abc import Mapping

from palazzo.injection.tool_names import NAMES
from palazzo.security.injected_text import SAVE, save_spans


def save_prompt(agent: str, humans: int, names: Mapping[str, str] = NAMES["palazzo"]) -> str:
    """Return the words that ask for a save after so many messages; `names` maps our tools' names to the profile's."""
    diary, remember, check, fact = (
        names.get(tool, tool) for tool in ("diary_write", "remember", "check_duplicate", "kg_add")
    )
    return (
        f"{SAVE}{humans} messages. What was said is kept already; what it came to is not. "
        f"Before you stop: 1. `{diary}` (agent `{agent}`): what was done, decided and left open, in a few lines. "
        f"2. `{remember}` for each decision, discovery or preference that will matter later, in the words it was said "
        f"in, after `{check}` has shown that it is not there. 3. Where a fact began or ceased to hold, `{fact}`. "
        "Do not write this into CLAUDE.md, AGENTS.md, MEMORY.md or other memory files of this program. "
        "If nothing is worth keeping, say so and stop."
    )


def is_save_prompt(text: str) -> bool:
    """Whether these are words of ours that asked for a save."""
    return bool(save_spans(text))
