"""The save prompt: what an agent is asked to save. Pure; tools are named as in the agent's profile."""

from __future__ import annotations

from collections.abc import Mapping

from palazzo.injection.tool_names import NAMES
from palazzo.security.injected_text import SAVE, save_spans


def save_prompt(agent: str, humans: int, names: Mapping[str, str] = NAMES["palazzo"]) -> str:
    """Return the prompt that asks for a save after so many messages; `names` maps our tool names to the profile's."""
    diary, remember, check, fact = (
        names.get(tool, tool) for tool in ("diary_write", "remember", "check_duplicate", "kg_add")
    )
    return (
        f"{SAVE}{humans} messages. The words are saved already; the conclusions are not. Before you stop: 1. "
        f"`{diary}` (agent `{agent}`): write in a few lines what was done, decided and left open. 2. `{remember}`: "
        f"save each decision, discovery or preference that will matter later, in its original words, after `{check}` "
        f"has shown that it is not stored yet. 3. `{fact}`: record each fact that began or ceased to hold. Do not "
        "write this into CLAUDE.md, AGENTS.md, MEMORY.md or other memory files of this program. If nothing is worth "
        "keeping, say so and stop."
    )


def is_save_prompt(text: str) -> bool:
    """Return whether a text is our request for a save."""
    return bool(save_spans(text))
