"""Prompts that a person selects in a host to make the agent recall or save, with the active profile's tool names."""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError

from palazzo.faces.mcp.tool_call import Context, page
from palazzo.features.hosts.instruction_prompts import PROMPTS, PromptText, render_prompt

LONGEST_TOPIC = 2000


class Prompts:
    """The prompts with the tool names of one profile."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._listed = [_describe_prompt(prompt) for prompt in PROMPTS]

    async def show(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """List the prompts."""
        prompts, cursor = page(self._listed, params)
        return types.ListPromptsResult(prompts=list(prompts), next_cursor=cursor)

    async def get(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return a prompt with its argument filled in; on an error raise the protocol's error, naming it."""
        prompt = next((candidate for candidate in PROMPTS if candidate.name == params.name), None)
        if prompt is None:
            names = ", ".join(candidate.name for candidate in PROMPTS)
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt '{params.name[:60]}'; prompts: {names}.")
        arguments = params.arguments or {}
        if strange := [name for name in arguments if name != "topic" or not prompt.topic]:
            takes = "its only argument is topic" if prompt.topic else "it has no arguments"
            raise MCPError(types.INVALID_PARAMS, f"{prompt.name} has no argument '{strange[0][:60]}'; {takes}.")
        topic = arguments.get("topic", "").strip()
        if prompt.topic and not topic:
            raise MCPError(types.INVALID_PARAMS, f"{prompt.name} needs the argument 'topic'.")
        text = render_prompt(prompt, self._names, topic[:LONGEST_TOPIC])
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])


def _describe_prompt(prompt: PromptText) -> types.Prompt:
    topic = types.PromptArgument(name="topic", description=prompt.topic, required=True)
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[topic] if prompt.topic else [],
    )
