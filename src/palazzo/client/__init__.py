"""Programs that start in milliseconds: the clients of hooks, MCP and the status line. Standard library only."""
