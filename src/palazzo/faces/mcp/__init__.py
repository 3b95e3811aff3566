"""The MCP server: operations as tools for agents. Only this package uses Pydantic and the SDK; no lower layer does.

A tool (`operations/agent_tools`) is an operation, the arguments that fill its request, and how its result is displayed.
The features have Palazzo's own tools; `profiles/` selects them, and has those of other memories. `server` serves one
profile on a pair of streams, `stdio_server` does so in its own process. The caller that serves provides the `Call` that
runs operations. Only `stdio_server`, and `http_tokens` to look tokens up, open a palace.
"""
