"""Kilo Code's settings for an MCP server: those of opencode, from which it was made."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.hosts.opencode import opencode_settings
from palazzo.hosts.server_settings import NAME, ServerSettings, document


def _form(program: str, arguments: Sequence[str]) -> str:
    return document(["mcp", NAME], opencode_settings.entry(program, arguments[1:]))


SERVER = ServerSettings(
    file="~/.config/kilo/kilo.json, or kilo.json in a project",
    has_shell=True,
    form=_form,
)
