"""Recognition of Palazzo's entries in a host's settings: by the command line that they start, never by their position.

A line that does anything besides starting `palazzo hook`, `palazzo mcp` or `palazzo statusline` was written by a
person, and belongs to that person.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from palazzo.frozen_class import frozen

_PROGRAMS = ("palazzo", "palazzo.exe", "palazzo.cmd")
_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?(?:\.exe)?")
FORMER_MODULE = "palazzo.cli"
"""The former name of the module `palazzo`; `python -m` still starts Palazzo by it."""
_MODULES = ("palazzo", FORMER_MODULE)
_OPTIONS = ("--palace", "--profile", "--toolset")


@frozen
class Ours:
    """One of our command lines: how it starts Palazzo, its command, and the options after it."""

    program: tuple[str, ...]
    asks: tuple[str, ...]
    options: tuple[str, ...]

    @property
    def program_text(self) -> str:
        """Return the program as text, for a person."""
        return shlex.join(self.program)


def hook(handler: Any, host: str, platform: str = sys.platform) -> Ours | None:
    """Return what a handler of a host's hook starts if it is `palazzo hook HOST EVENT`; else None."""
    if not isinstance(handler, dict) or handler.get("type", "command") != "command":
        return None
    launch = _ours(words(handler, platform), 3)
    return launch if launch and launch.asks[:2] == ("hook", host) else None


def server(entry: Any, platform: str = sys.platform) -> Ours | None:
    """Return what an MCP server's entry starts if it is `palazzo mcp`; else None."""
    if not isinstance(entry, dict) or not isinstance(entry.get("args"), list):
        return None
    launch = _ours(words(entry, platform), 1)
    return launch if launch and launch.asks == ("mcp",) else None


def status_line(entry: Any, platform: str = sys.platform) -> Ours | None:
    """Return what the entry of a status line starts if it is `palazzo statusline`; else None."""
    if not isinstance(entry, dict) or entry.get("type", "command") != "command":
        return None
    launch = _ours(words(entry, platform), 1)
    return launch if launch and launch.asks == ("statusline",) else None


def words(entry: Any, platform: str = sys.platform) -> list[str]:
    """Return the words of an entry's command line; empty if it has none that can be parsed."""
    command, arguments = entry.get("command"), entry.get("args")
    if not isinstance(command, str):
        return []
    if isinstance(arguments, list):
        return [command, *arguments] if all(isinstance(word, str) for word in arguments) else []
    try:
        if platform == "win32":
            return [word.strip('"') for word in shlex.split(command, posix=False)]
        return shlex.split(command)
    except ValueError:
        return []


def base(word: str) -> str:
    """Return the last part of a POSIX or Windows path, in lower case."""
    return re.split(r"[/\\]", word)[-1].lower()


def _ours(line: Sequence[str], asks: int) -> Ours | None:
    program = _program(line)
    rest = line[program:]
    options = rest[asks:]
    if not program or len(rest) < asks or len(options) % 2 or any(option not in _OPTIONS for option in options[::2]):
        return None
    return Ours(tuple(line[:program]), tuple(rest[:asks]), tuple(options))


def _program(line: Sequence[str]) -> int:
    """Return how many of the words name the program; 0 for another program."""
    if line and base(line[0]) in _PROGRAMS:
        return 1
    if line and _PYTHON.fullmatch(base(line[0])):
        for n, word in enumerate(line[1:-1], 1):
            if word == "-m":
                return n + 2 if line[n + 1] in _MODULES else 0
            if not word.startswith("-"):
                return 0
    return 0
