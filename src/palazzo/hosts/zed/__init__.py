"""Zed, an editor with agents; it gets the MCP server, and nothing of it is read."""
