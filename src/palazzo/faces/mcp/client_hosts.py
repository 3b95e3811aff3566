"""Detection of the calling host from what a client says about itself."""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext

from palazzo.hosts import host_registry

_HOST_NAMES = (*(host.client or host.name for host, _ in host_registry.server_settings().values()), "windsurf")
_EXTENSION_PREFIX = "palazzo-"
"""The prefix by which Palazzo's own extension of a host names itself."""
_LONGEST = 60


def host_of(context: ServerRequestContext[Any, Any]) -> str:
    """Return the host's name as Palazzo knows it, else as the client gives it; '' if it gives none."""
    client_params = context.session.client_params
    return host_called(client_params.client_info.name) if client_params is not None else ""


def host_called(client: str) -> str:
    """Return the host for a client's name: codex for `codex-mcp-client`."""
    plain = "-".join(client.strip().lower().split())[:_LONGEST]
    plain = "".join(letter for letter in plain if letter.isalnum() or letter in "-_.")
    host = plain.removeprefix(_EXTENSION_PREFIX)
    return next((name for name in _HOST_NAMES if host == name or host.startswith(f"{name}-")), plain)
