"""Holds each request of the protocol to what its token allows: where a tool is called, and where an operation is run.

The first is the protocol's own error, which names the scope. The second is what nothing gets round: whichever way an
operation is asked for (a resource, a prompt, a step of a tool), it is carried out for whom it may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError

from palazzo.errors import PalazzoError, UsageError
from palazzo.mcp import scopes
from palazzo.mcp.calls import Asked, Call
from palazzo.mcp.http_quotas import GRANT_KEY, Grant
from palazzo.mcp.tools import Tool, request_of
from palazzo.operations import registry
from palazzo.store.tokens import SCOPES, TokenScope

_held: ContextVar[TokenScope] = ContextVar("the scope that the request's token allows")


@dataclass(frozen=True)
class Scopes:
    """Middleware of the SDK's server that knows its tools."""

    tools: dict[str, Tool]

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Let a request through to what answers it, or raise the protocol's error."""
        grant: Grant = ctx.request.scope[GRANT_KEY]  # type: ignore[union-attr]  # a request came by HTTP
        _held.set(grant.scope)
        if ctx.method == "tools/call":
            self._check(ctx.params or {}, grant.scope)
        result = await call_next(ctx)
        return self._listed(result, grant.scope) if ctx.method == "tools/list" else result

    def _check(self, params: Any, held: TokenScope) -> None:
        """Raise the protocol's error for a call that the token does not allow; what is no call is the server's."""
        name, arguments = params.get("name"), params.get("arguments")
        tool = self.tools.get(name) if isinstance(name, str) else None
        if tool is None:
            return
        wanted = self._least(tool)
        try:
            steps = tool.wanted(tool.given(arguments if isinstance(arguments, Mapping) else {}, ""))
            asked = [scopes.needed(registry.operation(step.operation), request_of(step)) for step in steps]
            wanted = max((wanted, *asked), key=SCOPES.index)
        except (ValueError, TypeError, PalazzoError):
            pass  # arguments that fit no call: the server names them, to whom the tool is open at all
        if not scopes.covers(held, wanted):
            raise MCPError(
                types.INVALID_REQUEST, _refusal(tool.name, wanted, held), {"needed": wanted, "granted": held}
            )

    def _listed(self, result: Any, held: TokenScope) -> Any:
        """The list without tools that the token does not allow: a model is not shown what it may not do."""
        shown = [told for told in result["tools"] if self._is_open(told["name"], held)]
        return {**result, "tools": shown}

    def _is_open(self, name: str, held: TokenScope) -> bool:
        return scopes.covers(held, self._least(self.tools[name]))

    def _least(self, tool: Tool) -> TokenScope:
        least = scopes.least(registry.operation(tool.operation))
        return least if tool.hints.reads or least != "read" else "write"


def checked_by_scope(call: Call) -> Call:
    """Carry out only what the token of the request allows, whichever way it was asked for."""

    async def checked(asked: Asked) -> Any:
        wanted = scopes.needed(registry.operation(asked.operation), asked.request)
        if not scopes.covers(_held.get(), wanted):
            raise UsageError(_refusal(asked.operation, wanted, _held.get()))
        return await call(asked)

    return checked


def _refusal(what: str, wanted: TokenScope, held: TokenScope) -> str:
    return f"{what} needs a token of scope '{wanted}'; this one has '{held}'."
