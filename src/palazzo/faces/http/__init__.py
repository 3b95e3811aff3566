"""What every server over HTTP shares: agents' tools (`faces/mcp`), the viewer (`faces/web`) and a team (`faces/team`).

http_socket      parses an address, and listens at it
http_protocol    closes connections whose request does not arrive in time
http_serving     uvicorn with the settings that all of them have
"""
