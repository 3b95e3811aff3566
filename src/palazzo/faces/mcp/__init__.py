"""The MCP server: operations as tools for agents. Only this package uses Pydantic and the SDK; no lower layer does.

A tool is a row of a table (`tools.Tool`): an operation, the arguments that fill its request, and how its result is
displayed. `toolsets/` and `profiles/` contain these tables. `server` serves one of them on a pair of streams, `stdio`
does so in its own process. The caller that serves provides the `Call` that runs operations; nothing here opens a
palace.
"""
