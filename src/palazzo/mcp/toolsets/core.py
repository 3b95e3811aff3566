"""The core toolset: what an agent needs in a session. `tools/list` of it stays under 10,000 characters."""

from __future__ import annotations

from palazzo.mcp.toolsets import recalling

CORE = (recalling.SEARCH, recalling.READ)
