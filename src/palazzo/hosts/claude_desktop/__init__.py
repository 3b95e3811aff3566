"""Claude Desktop, Anthropic's desktop program; it gets the MCP server, and nothing of it is read."""
