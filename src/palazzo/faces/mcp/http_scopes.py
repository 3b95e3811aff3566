"""Enforcement of a token's scope on each protocol request: at the tool call, and again where an operation runs.

The first check returns the protocol's own error, which names the scope. The second check cannot be bypassed: however an
operation is requested (a resource, a prompt, a step of a tool), it runs only within the token's scope.
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
from palazzo.faces.mcp import token_scopes
from palazzo.faces.mcp.client_calls import Call, OperationCall
from palazzo.faces.mcp.http_quotas import GRANT_KEY, Grant
from palazzo.operations import registry
from palazzo.operations.agent_tools.tool import Tool, request_of
from palazzo.store.token_rows import SCOPES, TokenScope

_token_scope: ContextVar[TokenScope] = ContextVar("the scope that the request's token allows")


@dataclass(frozen=True)
class Scopes:
    """Middleware of the SDK's server that enforces the scopes of tokens on its tools."""

    tools: dict[str, Tool]

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Pass a request on to its handler, or raise the protocol's error."""
        grant: Grant = ctx.request.scope[GRANT_KEY]  # type: ignore[union-attr]  # a request came by HTTP
        _token_scope.set(grant.scope)
        if ctx.method == "tools/call":
            self._check(ctx.params or {}, grant.scope)
        result = await call_next(ctx)
        return self._filter_tools(result, grant.scope) if ctx.method == "tools/list" else result

    def _check(self, params: Any, granted_scope: TokenScope) -> None:
        """Raise the protocol's error for a call that the token does not allow; the server handles invalid calls."""
        name, arguments = params.get("name"), params.get("arguments")
        tool = self.tools.get(name) if isinstance(name, str) else None
        if tool is None:
            return
        needed_scope = self._least(tool)
        try:
            steps = tool.plan_steps(tool.parse_call(arguments if isinstance(arguments, Mapping) else {}, ""))
            step_scopes = [
                token_scopes.scope_for(registry.operation(step.operation), request_of(step)) for step in steps
            ]
            needed_scope = max((needed_scope, *step_scopes), key=SCOPES.index)
        except (ValueError, TypeError, PalazzoError):
            pass  # arguments that fit no call: the server names them, to whom the tool is open at all
        if not token_scopes.covers(granted_scope, needed_scope):
            raise MCPError(
                types.INVALID_REQUEST,
                _refusal(tool.name, needed_scope, granted_scope),
                {"needed": needed_scope, "granted": granted_scope},
            )

    def _filter_tools(self, result: Any, granted_scope: TokenScope) -> Any:
        """Return the list without tools that the token does not allow: a model sees only what it may use."""
        open_tools = [tool for tool in result["tools"] if self._is_open(tool["name"], granted_scope)]
        return {**result, "tools": open_tools}

    def _is_open(self, name: str, granted_scope: TokenScope) -> bool:
        return token_scopes.covers(granted_scope, self._least(self.tools[name]))

    def _least(self, tool: Tool) -> TokenScope:
        least = token_scopes.least(registry.operation(tool.operation))
        return least if tool.hints.reads or least != "read" else "write"


def checked_by_scope(call: Call) -> Call:
    """Execute only what the token of the request allows, however it was requested."""

    async def check_and_call(operation_call: OperationCall) -> Any:
        needed_scope = token_scopes.scope_for(registry.operation(operation_call.operation), operation_call.request)
        if not token_scopes.covers(_token_scope.get(), needed_scope):
            raise UsageError(_refusal(operation_call.operation, needed_scope, _token_scope.get()))
        return await call(operation_call)

    return check_and_call


def _refusal(name: str, needed_scope: TokenScope, granted_scope: TokenScope) -> str:
    return f"{name} needs a token of scope '{needed_scope}'; this one has '{granted_scope}'."
