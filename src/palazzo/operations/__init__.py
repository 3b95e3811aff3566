"""The operations that all faces share: the command line, MCP tools and the socket use this one registry.

An operation is a name, a frozen request, a frozen result, and one function of a `Context` and the request. Each
operation has one module; `registry` lists them. Nothing here prints, prompts, or knows a terminal or a protocol.
"""
