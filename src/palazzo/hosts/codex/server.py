"""Codex's settings for an MCP server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.hosts.hook_wiring import PASSED_ON
from palazzo.hosts.server_settings import NAME, VARIABLE, ServerSettings
from palazzo.text import toml_edit


def _table(program: str, arguments: Sequence[str]) -> str:
    return _lines({"command": program, "args": [*arguments], "env_vars": [*PASSED_ON]})


def _http_table(url: str) -> str:
    return _lines({"url": url, "bearer_token_env_var": VARIABLE})


def _lines(entry: Mapping[str, Any]) -> str:
    return "\n".join(toml_edit.lines(("mcp_servers", NAME), entry))


SERVER = ServerSettings(
    file="~/.codex/config.toml",
    has_shell=True,
    form=_table,
    command="codex mcp add palazzo -- {}",
    http=_http_table,
)
