"""The calls that all faces share: the command line, MCP tools and the socket come from this one registry.

An operation is a name, a frozen request, a frozen result, and one function of a `Context` and the request.
One module for each; `registry` lists them. Nothing here prints, asks, or knows a terminal or a protocol.
"""
