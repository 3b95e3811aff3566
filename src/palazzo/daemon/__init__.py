"""Processes in the background.

`service` is the warm process of one palace, which serves calls and MCP to clients (`palazzo.client.rpc`);
`embedding_process` computes the pending vectors, and exits.
"""
