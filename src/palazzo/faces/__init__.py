"""Interfaces of Palazzo: the command line and MCP."""
