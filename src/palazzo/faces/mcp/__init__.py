"""The MCP server: operations as tools for agents. Only this package uses Pydantic and the SDK; no lower layer does.

A tool is a row of a table (`tool.Tool`): an operation, the arguments that fill its request, and how its result is
displayed. `toolsets/` and `profiles/` contain these tables. `server` serves one of them on a pair of streams,
`stdio_server` does so in its own process. The caller that serves provides the `Call` that runs operations. Only
`stdio_server`, and `http_tokens` to look tokens up, open a palace.
"""
