"""Claude Code's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.server_settings import VARIABLE, ServerSettings, http_form, json_form

SERVER = ServerSettings(
    file="~/.claude.json, or .mcp.json in a project",
    has_shell=True,
    form=json_form("mcpServers", type="stdio"),
    command="claude mcp add palazzo --scope user -- {}",
    http=http_form("mcpServers", type="http", authorization=f"${{{VARIABLE}}}"),
)
