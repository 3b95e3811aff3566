"""Entries of other memories in a host's settings, recognised by the program that they start, and by marks and headings.

`predecessor_programs` says which program belongs to which memory. Nothing is removed before a person has seen it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from palazzo.frozen_class import frozen
from palazzo.hosts import host_settings
from palazzo.hosts.predecessor_programs import NAMES, memory_of_hook, memory_of_plugin, memory_of_server
from palazzo.text import appended_block
from palazzo.text.outlines import closed_fences, outline_of

_WITHOUT_TEXT = ("mem0", "server-memory", "mcp-server-memory", "wt-hook-memory")
"""Names of programs that write no instructions for agents; a heading with one is a person's."""
_MARKS = "|".join(sorted((re.escape(name) for name in NAMES if name not in _WITHOUT_TEXT), key=len, reverse=True))
_BLOCK = re.compile(
    rf"^<(?P<tag>(?:{_MARKS})[\w-]*)>.*?^</(?P=tag)>"
    rf"|^<!--[ ]*(?P<mark>{_MARKS})\b[^>\n]*(?:begin|start)\b[^>\n]*-->"
    r".*?^<!--[ ]*/?[ ]*(?P=mark)\b[^>\n]*(?:end|stop)\b[^>\n]*-->"
    rf"|^<!--[ ]*(?P<kind>(?:{_MARKS})\b[ ]*[\w-]*)[^>\n]*-->.*?^<!--[ ]*/[ ]*(?P=kind)[^>\n]*-->",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
"""`<claude-mem-context>…</claude-mem-context>`, `<!-- mempalace:begin -->…<!-- mempalace:end -->`,
`<!-- wt-memory hooks -->…<!-- /wt-memory hooks -->`, each on lines of its own."""
_BEGIN = re.compile(r"^<!--[^>\n]*\b(?:begin|start)\b", re.MULTILINE | re.IGNORECASE)
_NAME_PATTERN = re.compile(rf"(?<![\w-])(?:{_MARKS})(?![\w-])", re.IGNORECASE)
_GENERAL_TITLES = ("persistent memory", "proactive memory")
"""Headings that wt-memory writes into CLAUDE.md. Others use them too, so the section must name its program."""
_OF_WT_MEMORY = re.compile(r"wt-tools:managed|(?<![\w-])wt-memory(?![\w-])")
_ORDER_LINE = re.compile(r"^[^\n]*(?<![\w-])wt-memory\s+(?:recall|remember)\b[^\n]*(?:\n|\Z)", re.MULTILINE)
"""Lines by which wt-memory tells an agent to call it, as it wrote them into skills and slash commands."""


@frozen
class Predecessor:
    """Something that belongs to another memory program: its name, its path, and what it is."""

    name: str
    path: str
    what: str


def is_hook(handler: Any) -> bool:
    """Return whether a handler starts another memory."""
    return memory_of_hook(handler) is not None


def is_server(name: str, entry: Any) -> bool:
    """Return whether an MCP server belongs to another memory."""
    return memory_of_server(name, entry) is not None


def is_plugin(name: str) -> bool:
    """Return whether a plugin of Claude Code belongs to another memory."""
    return memory_of_plugin(name) is not None


def hooks_in(text: str) -> list[tuple[str, str]]:
    """Return (memory, description) for each handler of another memory."""
    handlers = host_settings.handlers(text, has_comments=True)
    found_memories = ((memory_of_hook(handler.value), handler.event) for handler in handlers)
    return [(memory, f"hook {event}") for memory, event in found_memories if memory is not None]


def plugins_in(text: str) -> list[tuple[str, str]]:
    """Return (memory, description) for each plugin of another memory that Claude Code's settings enable."""
    found_memories = ((memory_of_plugin(name), name) for _, name in host_settings.enabled_plugins(text))
    return [(memory, f"enabled plugin '{name}'") for memory, name in found_memories if memory is not None]


def servers_in(servers: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Return (memory, description) for each server of another memory."""
    found_memories = ((memory_of_server(name, entry), name) for name, entry in servers)
    return [(memory, f"MCP server '{name}'") for memory, name in found_memories if memory is not None]


def blocks_in(text: str) -> list[tuple[str, str]]:
    """Return (memory, description) for each block of instructions, found by its markers or by a heading with a name."""
    blocks = []
    for start, end in _blocks(text):
        first, *rest = text[start:end].splitlines()
        name_match = re.search(_MARKS, first, re.IGNORECASE)
        memory = NAMES[name_match[0].lower()] if name_match else "wt-memory"
        below = f" and {len(rest):,} line{'' if len(rest) == 1 else 's'} below" if rest else ""
        blocks.append((memory, f"'{first.strip()}'{below}"))
    return blocks


def without_blocks(text: str | None) -> str | None:
    """Return the text without blocks of other memories."""
    while text is not None and (spans := list(_blocks(text))):
        text = appended_block.remove_block(text, *spans[-1])
    return text


def orders_in(text: str) -> list[tuple[str, str]]:
    """Return (memory, description) for the lines of a skill or a slash command that tell an agent to call a memory."""
    count = len(_ORDER_LINE.findall(without_blocks(text) or ""))
    return [("wt-memory", f"{count:,} line{'' if count == 1 else 's'} that call it")] if count else []


def without_orders(text: str | None) -> str | None:
    """Return a skill or a slash command without blocks and lines of other memories."""
    plain = without_blocks(text)
    return None if plain is None else _ORDER_LINE.sub("", plain)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each block, in order and without nesting. A block in fenced code is an example."""
    fences = closed_fences(text)
    spans = [
        match.span()
        for match in _BLOCK.finditer(text)
        if not any(start <= match.start() < end for start, end in fences)
    ]
    headings = outline_of(text, "markdown").headings
    for n, heading in enumerate(headings):
        section_ends = (next_heading.start for next_heading in headings[n + 1 :] if next_heading.level <= heading.level)
        end = next(section_ends, len(text))
        if _NAME_PATTERN.search(heading.title) or _is_of_wt_memory(heading.title, text[heading.start : end]):
            block = _BEGIN.search(text, heading.end, end)  # ours, or another program's: no part of the section
            section = text[heading.start : block.start() if block else end]
            spans.append((heading.start, heading.start + len(section.rstrip())))
    last = 0
    for start, end in sorted(spans):
        if start >= last:
            yield start, end
            last = end


def _is_of_wt_memory(title: str, section: str) -> bool:
    return title.strip().lower() in _GENERAL_TITLES and _OF_WT_MEMORY.search(section) is not None
