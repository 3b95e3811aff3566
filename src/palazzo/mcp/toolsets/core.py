"""The core toolset: what an agent needs in a session. `tools/list` of it stays under 10,000 characters."""

from __future__ import annotations

from palazzo.mcp.toolsets import facts, keeping, recalling, tending

CORE = (
    recalling.SEARCH,
    recalling.READ,
    keeping.REMEMBER,
    keeping.FORGET,
    keeping.CHECKPOINT,
    recalling.WAKE_UP,
    recalling.PROACTIVE_CONTEXT,
    keeping.DIARY_WRITE,
    recalling.DIARY_READ,
    facts.KG_QUERY,
    facts.KG_ADD,
    facts.KG_END,
    tending.STATUS,
)
