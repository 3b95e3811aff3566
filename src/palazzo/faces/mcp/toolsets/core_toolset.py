"""The core toolset: what an agent needs in a session. Its `tools/list` stays under 10,000 characters."""

from __future__ import annotations

from palazzo.faces.mcp.toolsets import fact_tools, note_tools, search_tools, upkeep_tools

CORE = (
    search_tools.SEARCH,
    search_tools.READ,
    note_tools.REMEMBER,
    note_tools.FORGET,
    note_tools.CHECKPOINT,
    search_tools.WAKE_UP,
    search_tools.PROACTIVE_CONTEXT,
    note_tools.DIARY_WRITE,
    search_tools.DIARY_READ,
    fact_tools.KG_QUERY,
    fact_tools.KG_ADD,
    fact_tools.KG_END,
    upkeep_tools.STATUS,
)
