"""Resources: a drawer, a wing and a diary by address. Each is what a tool answers, as text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

from palazzo.errors import PalaceMissing
from palazzo.guard.fences import escaped
from palazzo.mcp.answering import Context, Refused, answer, page, whole
from palazzo.mcp.tools import Answer, Tool
from palazzo.mcp.toolsets.filed import LIST_DRAWERS
from palazzo.mcp.toolsets.recalling import DIARY_READ, READ
from palazzo.text.counts import count_noun

_ADDRESS = re.compile(r"palazzo://(?P<kind>[a-z]+)/(?P<name>[^?#]+)")
_SHOWN = 60
_PLAIN = "text/plain"


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of address, `{argument}` its last part, and the tool that reads it."""

    tool: Tool
    argument: str
    part: str
    description: str


_KINDS = {
    "drawer": _Kind(READ, "id", "id", "A drawer, note, session or fact whole, by its id."),
    "wing": _Kind(LIST_DRAWERS, "wing", "name", "What was filed last in a wing: a project, a person, an agent."),
    "diary": _Kind(DIARY_READ, "agent", "agent", "An agent's diary, newest entry first."),
}

_WINGS = Tool(
    "wings",
    "wing_list",
    "",
    lambda result, given: Answer({"named": [(one.wing, one.drawers) for one in result.wings]}),
)
_AGENTS = Tool(
    "agents",
    "list_agents",
    "",
    lambda result, given: Answer({"named": [(one.name, one.entries) for one in result.agents]}),
)
"""What a list of resources is made of; no client calls these."""


async def templates(context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    """List the kinds of addresses."""
    found = [
        types.ResourceTemplate(
            name=name,
            uri_template=f"palazzo://{name}/{{{kind.part}}}",
            description=kind.description,
            mime_type=_PLAIN,
        )
        for name, kind in _KINDS.items()
    ]
    shown, cursor = page(found, params)
    return types.ListResourceTemplatesResult(resource_templates=list(shown), next_cursor=cursor)


async def show(context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    """List the wings and the diaries that there are; drawers are found by search."""
    found = [
        *(_resource("wing", name, count_noun(number, "drawer")) for name, number in await _named(context, _WINGS)),
        *(_resource("diary", name, count_noun(number, "entry")) for name, number in await _named(context, _AGENTS)),
    ]
    shown, cursor = page(found, params)
    return types.ListResourcesResult(resources=list(shown), next_cursor=cursor)


async def read(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """Read what an address names; the protocol's error, naming it, where it names nothing."""
    address = _ADDRESS.fullmatch(params.uri)
    kind = _KINDS.get(address["kind"]) if address else None
    if address is None or kind is None:
        there = ", ".join(f"palazzo://{name}/{{{one.part}}}" for name, one in _KINDS.items())
        raise MCPError(types.INVALID_PARAMS, f"'{params.uri[:_SHOWN]}' is no address here; there are: {there}.")
    try:
        answered = await answer(context, kind.tool, {kind.argument: unquote(address["name"])})
    except Refused as why:
        raise MCPError(types.INVALID_PARAMS, str(why), {"uri": params.uri[:_SHOWN]}) from None
    text = types.TextResourceContents(uri=params.uri, mime_type=_PLAIN, text=whole(answered.readable))
    return types.ReadResourceResult(contents=[text])


def _resource(kind: str, name: str, holds: str) -> types.Resource:
    return types.Resource(
        uri=f"palazzo://{kind}/{quote(whole(name), safe='')}",
        name=f"{kind} {escaped(whole(name))}",
        description=holds,
        mime_type=_PLAIN,
    )


async def _named(context: Context, tool: Tool) -> list[tuple[str, int]]:
    """What there is of a kind, and how much each holds; nothing where there is no palace yet."""
    try:
        answered = await answer(context, tool, {})
    except Refused as why:
        if isinstance(why.error, PalaceMissing):
            return []
        raise MCPError(types.INTERNAL_ERROR, str(why)) from None
    return list(answered.structured["named"])
