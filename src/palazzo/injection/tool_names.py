"""Tool names: the names in each profile of the tools that our texts mention. Pure. An absent name is the same as
ours.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES: Mapping[str, Mapping[str, str]] = {
    "palazzo": {"check_duplicate": "search"},  # the core tools, which are all that most agents have, find what is there
    "mempalace": {
        "search": "mempalace_search",
        "wake_up": "mempalace_status",
        "read": "mempalace_get_drawer",
        "remember": "mempalace_add_drawer",
        "checkpoint": "mempalace_checkpoint",
        "diary_write": "mempalace_diary_write",
        "diary_read": "mempalace_diary_read",
        "kg_query": "mempalace_kg_query",
        "kg_add": "mempalace_kg_add",
        "kg_end": "mempalace_kg_invalidate",
        "check_duplicate": "mempalace_check_duplicate",
        "status": "mempalace_status",
    },
    "shodh": {
        "search": "recall",
        "wake_up": "context_summary",
        "read": "get_memory",
        "diary_write": "remember",
        "kg_add": "remember",
        "check_duplicate": "recall",
        "status": "memory_stats",
    },
}
