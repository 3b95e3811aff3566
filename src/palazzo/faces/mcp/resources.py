"""Resources: a drawer, a wing and a diary by address. Each returns the text of a tool's answer."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

from palazzo.errors import PalaceMissing
from palazzo.faces.mcp.tool_call import Context, ToolCallError, answer, page, whole
from palazzo.features.diary.tools import DIARY_READ
from palazzo.features.search.tools import LIST_DRAWERS, READ
from palazzo.frozen_class import frozen
from palazzo.operations.agent_tools.tool import Answer, Tool
from palazzo.security.fences import escape_tags
from palazzo.text.count_phrases import count_noun

_ADDRESS = re.compile(r"palazzo://(?P<kind>[a-z]+)/(?P<name>[^?#]+)")
_LONGEST_ADDRESS = 60
_PLAIN = "text/plain"


@frozen
class _Kind:
    """A kind of address whose last part is `{argument}`, and the tool that reads it."""

    tool: Tool
    argument: str
    part: str
    description: str


_KINDS = {
    "drawer": _Kind(READ, "id", "id", "A whole drawer, note, session or fact, by its id."),
    "wing": _Kind(LIST_DRAWERS, "wing", "name", "The newest entries of a wing: a project, a person, an agent."),
    "diary": _Kind(DIARY_READ, "agent", "agent", "An agent's diary, newest entry first."),
}

_WINGS = Tool(
    "wings",
    "",
    lambda result, given: Answer({"named": [(row.wing, row.drawers) for row in result.wings]}),
    operation="wing_list",
)
_AGENTS = Tool(
    "agents",
    "",
    lambda result, given: Answer({"named": [(row.name, row.entries) for row in result.agents]}),
    operation="list_agents",
)
"""The data source for lists of resources; no client calls these."""


async def templates(context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    """List the address templates."""
    resource_templates = [
        types.ResourceTemplate(
            name=name,
            uri_template=f"palazzo://{name}/{{{kind.part}}}",
            description=kind.description,
            mime_type=_PLAIN,
        )
        for name, kind in _KINDS.items()
    ]
    page_templates, cursor = page(resource_templates, params)
    return types.ListResourceTemplatesResult(resource_templates=list(page_templates), next_cursor=cursor)


async def show(context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    """List the existing wings and diaries; drawers are found by search."""
    resource_list = [
        *(
            _resource("wing", name, count_noun(number, "drawer"))
            for name, number in await _count_by_name(context, _WINGS)
        ),
        *(
            _resource("diary", name, count_noun(number, "entry"))
            for name, number in await _count_by_name(context, _AGENTS)
        ),
    ]
    page_resources, cursor = page(resource_list, params)
    return types.ListResourcesResult(resources=list(page_resources), next_cursor=cursor)


async def read(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """Read what an address names; raises the protocol's error, naming it, if there is nothing there."""
    address = _ADDRESS.fullmatch(params.uri)
    kind = _KINDS.get(address["kind"]) if address else None
    if address is None or kind is None:
        addresses = ", ".join(f"palazzo://{name}/{{{entry.part}}}" for name, entry in _KINDS.items())
        raise MCPError(
            types.INVALID_PARAMS, f"Unknown resource address '{params.uri[:_LONGEST_ADDRESS]}'; addresses: {addresses}."
        )
    try:
        tool_answer = await answer(context, kind.tool, {kind.argument: unquote(address["name"])})
    except ToolCallError as why:
        raise MCPError(types.INVALID_PARAMS, str(why), {"uri": params.uri[:_LONGEST_ADDRESS]}) from None
    text = types.TextResourceContents(uri=params.uri, mime_type=_PLAIN, text=whole(tool_answer.readable))
    return types.ReadResourceResult(contents=[text])


def _resource(kind: str, name: str, holds: str) -> types.Resource:
    return types.Resource(
        uri=f"palazzo://{kind}/{quote(whole(name), safe='')}",
        name=f"{kind} {escape_tags(whole(name))}",
        description=holds,
        mime_type=_PLAIN,
    )


async def _count_by_name(context: Context, tool: Tool) -> list[tuple[str, int]]:
    """Return the existing names of a kind, and the size of each; nothing if there is no palace yet."""
    try:
        tool_answer = await answer(context, tool, {})
    except ToolCallError as why:
        if isinstance(why.error, PalaceMissing):
            return []
        raise MCPError(types.INTERNAL_ERROR, str(why)) from None
    return list(tool_answer.structured["named"])
