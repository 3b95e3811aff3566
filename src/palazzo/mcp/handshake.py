"""Completes the request with which a client opens a connection: clients leave out what the protocol requires of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ASSUMED_VERSION = "2025-03-26"
"""The protocol's own assumption where a client names no version."""


def complete(message: dict[str, Any]) -> dict[str, Any]:
    """Return an `initialize` request with all that it requires; any other message as it is."""
    params = message.get("params")
    if message.get("method") != "initialize" or not (params is None or isinstance(params, dict)):
        return message
    return {**message, "params": _completed(params or {})}


class CompleteHandshakes:
    """Completes opening requests on their way to the application, which are whole when they come here."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def completed() -> Message:
            message = await receive()
            body = message.get("body", b"")
            if b'"initialize"' not in body or message.get("more_body", False):
                return message
            return {**message, "body": _completed_body(body)}

        await self._application(scope, completed, send)


def _completed_body(body: bytes) -> bytes:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return body  # the application says what is wrong with it
    return json.dumps(complete(message)).encode() if isinstance(message, dict) else body


def _completed(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, with defaults for what is missing or of another type; of what else is wrong, nothing is kept."""
    version, capabilities, client = (params.get(name) for name in ("protocolVersion", "capabilities", "clientInfo"))
    client = client if isinstance(client, dict) else {}
    named = {name: _text(client.get(name)) for name in ("name", "version")}
    version = version if isinstance(version, str) else _ASSUMED_VERSION
    required = {"protocolVersion": version, "capabilities": {}, "clientInfo": named}
    capabilities = capabilities if isinstance(capabilities, dict) else {}
    whole = {**params, **required, "capabilities": capabilities, "clientInfo": {**client, **named}}
    try:
        types.InitializeRequestParams.model_validate(whole, by_name=False)
    except ValidationError:
        return required
    return whole


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
