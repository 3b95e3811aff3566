"""Completion of the request that opens a connection: some clients leave out what the protocol requires."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ASSUMED_VERSION = "2025-03-26"
"""The version that the protocol assumes if a client states none."""


def complete(message: dict[str, Any]) -> dict[str, Any]:
    """Return an `initialize` request with all required fields; any other message unchanged."""
    params = message.get("params")
    if message.get("method") != "initialize" or not (params is None or isinstance(params, dict)):
        return message
    return {**message, "params": _complete_params(params or {})}


class CompleteHandshakes:
    """Completes `initialize` requests for an application whose messages each have their whole body."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def receive_complete() -> Message:
            message = await receive()
            body = message.get("body", b"")
            if b'"initialize"' not in body or message.get("more_body", False):
                return message
            return {**message, "body": _complete_body(body)}

        await self._application(scope, receive_complete, send)


def _complete_body(body: bytes) -> bytes:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return body  # the application reports the error
    return json.dumps(complete(message)).encode() if isinstance(message, dict) else body


def _complete_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with defaults for missing or mistyped ones; only the required ones if more is wrong."""
    version, capabilities, client = (params.get(name) for name in ("protocolVersion", "capabilities", "clientInfo"))
    version = version if isinstance(version, str) else _ASSUMED_VERSION
    capabilities = capabilities if isinstance(capabilities, dict) else {}
    client = client if isinstance(client, dict) else {}
    identity = {name: _text(client.get(name)) for name in ("name", "version")}
    minimum = {"protocolVersion": version, "capabilities": {}, "clientInfo": identity}
    complete_params = {**params, **minimum, "capabilities": capabilities, "clientInfo": {**client, **identity}}
    try:
        types.InitializeRequestParams.model_validate(complete_params, by_name=False)
    except ValidationError:
        return minimum
    return complete_params


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
