"""Prompts: what a person picks in a host to have the agent recall or save, in the names of the active profile."""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError

from palazzo.mcp.answering import Context, page
from palazzo.operations.instruction_prompts import PROMPTS, PromptText, written

LONGEST_TOPIC = 2000


class Prompts:
    """The prompts in the names of one profile."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._listed = [_listed(one) for one in PROMPTS]

    async def show(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """List them."""
        shown, cursor = page(self._listed, params)
        return types.ListPromptsResult(prompts=list(shown), next_cursor=cursor)

    async def get(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return one of them with its argument filled in; the protocol's error, naming it, for what is wrong."""
        found = next((one for one in PROMPTS if one.name == params.name), None)
        if found is None:
            there = ", ".join(one.name for one in PROMPTS)
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt '{params.name[:60]}'; there are: {there}.")
        given = params.arguments or {}
        if strange := [name for name in given if name != "topic" or not found.topic]:
            takes = "it takes topic" if found.topic else "it takes none"
            raise MCPError(types.INVALID_PARAMS, f"{found.name} has no argument '{strange[0][:60]}'; {takes}.")
        topic = given.get("topic", "").strip()
        if found.topic and not topic:
            raise MCPError(types.INVALID_PARAMS, f"{found.name} needs the argument 'topic'.")
        text = written(found, self._names, topic[:LONGEST_TOPIC])
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=found.description, messages=[message])


def _listed(prompt: PromptText) -> types.Prompt:
    topic = types.PromptArgument(name="topic", description=prompt.topic, required=True)
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[topic] if prompt.topic else [],
    )
