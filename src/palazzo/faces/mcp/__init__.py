"""The MCP server: operations as tools that an agent calls. Pydantic and the SDK live in this room and nowhere below.

A tool is a row of a table (`tools.Tool`): an operation, the arguments that fill its request, and how its result reads.
`toolsets/` and `profiles/` are those tables, `server` serves one of them on a pair of streams, `stdio` in a process of
its own. Whoever serves hands in the `Call` that carries operations out; nothing here opens a palace.
"""
