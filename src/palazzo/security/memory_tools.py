"""Detection of memory tools: Palazzo's own, and those of the memories whose tool names it provides. Pure.

The result of such a tool consists of recorded words. A host writes it into its transcript like any tool's output. If it
were taken in from there, searches would find it again as if it were new.

    mcp__palazzo__search, mcp__plugin_palazzo_palazzo__search    Claude Code, Codex, pi
    palazzo__search                                              Codex before 0.80
    mcp_palazzo_search                                           Gemini CLI, Cursor
    palazzo_search                                               opencode, extensions of pi
    palazzo-search                                               Copilot
    palazzo___search                                             Droid
"""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex

_MEMORIES = r"(?:palazzo|mempalace|shodh(?:[-_]memory)?)"
_SERVER_TOOL = make_regex(
    f"(?:mcp(?:__?|[-.]))?(?:plugin_(?P<plugin>{_MEMORIES})_[\\w-]+?__|(?P<server>{_MEMORIES})(?:__|[-_./:]))(?P<tool>\\w+)",
    re.IGNORECASE,
)
_PREFIXED_TOOL = make_regex(r"(?:[\w.-]*(?:__|[-_./:]))?mempalace_(?P<tool>\w+)", re.IGNORECASE)
"""Matches under any server name, because the tools' own names begin like this."""
_FILES = make_regex(r"(?:^|_)(?:remember|add|write|update|checkpoint|supersede|create|todo|remind|store|save)(?:_|$)")


def is_memory_tool(name: str) -> bool:
    """Whether this tool returns things that were said before."""
    return _match(name) is not None


def memory_of(name: str) -> str:
    """Return the memory that the tool belongs to: 'palazzo', 'mempalace' or 'shodh'; '' if none."""
    match = _match(name)
    if match is None:
        return ""
    groups = match.groupdict()
    server = str(groups.get("plugin") or groups.get("server") or "mempalace").lower()
    return "shodh" if server.startswith("shodh") else server


def says_something_new(name: str) -> bool:
    """Whether a call of a memory tool contains words that exist nowhere else: it files them, and not in Palazzo.

    A query is not a memory. What Palazzo files is a note, and a call that repeats it would outlive that note.
    """
    match = _match(name)
    if match is None:
        return True
    return memory_of(name) != "palazzo" and _FILES.search(match["tool"].lower()) is not None


def is_writing_tool(name: str) -> bool:
    """Whether this memory tool files something: its result repeats what its caller said."""
    match = _match(name)
    return match is not None and _FILES.search(match["tool"].lower()) is not None


def _match(name: str) -> re.Match[str] | None:
    return _SERVER_TOOL.fullmatch(name) or _PREFIXED_TOOL.fullmatch(name)
