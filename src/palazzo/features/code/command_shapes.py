"""Commands of a line that run one program, and their shapes: the command without what differs between runs. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from palazzo.text.shell_text import INLINE, SHELLS, program_name, strip_wrappers, words_of

PLACEHOLDER = "…"
"""Stands in a shape for arguments: files, names, numbers, texts."""
_SEPARATOR = re.compile(r"[();&|\n]+\Z")
_REDIRECTION = re.compile(r"[<>&|]*[<>][<>&|]*\Z")
_OPTION = re.compile(r"(?:--?[A-Za-z][\w-]*|--)\Z")
_SUBCOMMAND = re.compile(r"[A-Za-z][\w:-]*\Z")
_TWO_WORDS = frozenset(["run", "compose", "exec", "tool", "stash", "remote", "config", "worktree", "submodule"])
"""Subcommands whose next word is part of them: `npm run build`, `docker compose up`."""
_WITHOUT_SUBCOMMANDS = frozenset(
    {
        "ag", "awk", "cat", "chmod", "chown", "cp", "curl", "diff", "du", "echo", "eslint", "find", "flake8", "grep",
        "head", "jest", "jq", "less", "ln", "ls", "mkdir", "mv", "mypy", "patch", "printf", "psql", "pyright", "pytest",
        "rg", "rm", "rsync", "scp", "sed", "sqlite3", "ssh", "stat", "tail", "tar", "tee", "test", "touch", "tree",
        "tsc", "vitest", "wc", "wget", "which", "xargs", "zip",
    }
)  # fmt: skip
"""Common programs whose first word is an argument. For any other program it counts as a subcommand."""
_INTERPRETERS = SHELLS | {"python", "node", "ruby", "perl", "deno", "bun", "php", "tsx"}
"""Programs that run a file, which is part of the shape."""
_FILE = re.compile(r"[\w-]\.\w{1,5}\Z")
_LONGEST_LINE = 4_000
"""Maximum characters of a line that are parsed: a longer one is a script."""
_DEEPEST = 3


def shapes_of_program(line: str, program: Sequence[str]) -> list[str]:
    """Return the shapes of the commands of a line that run a program, given with or without a subcommand.

    Both the program before a wrapper and the one behind it count: `uv run pytest` runs `uv` and `pytest`.
    """
    shapes: dict[str, None] = {}
    for words in _commands(line[:_LONGEST_LINE], 0):
        for candidate in (words, strip_wrappers(words)):
            if _runs(candidate, program):
                shapes[shape(candidate)] = None
    return list(shapes)


def count_commands(line: str) -> int:
    """Return the number of commands of a line."""
    return sum(1 for _ in _commands(line[:_LONGEST_LINE], 0))


def shape(words: Sequence[str]) -> str:
    """Return a command without what differs between runs: `git commit -m …`, `pytest … -k …`."""
    name, *arguments = words
    parts = [program_name(name)]
    count = 0
    for previous, word in zip(words, arguments, strict=False):
        option, equals, _ = word.partition("=")
        if _OPTION.match(option):
            parts.append(f"{option}={PLACEHOLDER}" if equals else option)
        elif count < _subcommand_words(parts) and _SUBCOMMAND.match(word) and not _OPTION.match(previous):
            parts.append(word)
            count += 1
        elif parts[0] in _INTERPRETERS and not count and _FILE.search(word):
            parts.append(word.rpartition("/")[2])
            count += 1
        elif parts[-1] != PLACEHOLDER:
            parts.append(PLACEHOLDER)
    return " ".join(parts)


def _subcommand_words(parts: Sequence[str]) -> int:
    if parts[0] in _WITHOUT_SUBCOMMANDS or parts[0] in _INTERPRETERS:
        return 0
    return 2 if len(parts) > 1 and parts[1] in _TWO_WORDS else 1


def _runs(words: Sequence[str], program: Sequence[str]) -> bool:
    if not words or program_name(words[0]) != program_name(program[0]):
        return False
    plain = [word for word in words[1:] if not word.startswith("-")]
    return plain[: len(program) - 1] == list(program[1:])


def _commands(line: str, depth: int) -> Iterator[list[str]]:
    """Yield the words of each command of a line, also behind a pipe and in `sh -c`, without redirections."""
    words: list[str] = []
    is_target = False
    for word in [*words_of(line.replace("\n", " ; ")), ";"]:
        if _REDIRECTION.match(word):
            is_target = not word.endswith("&")
            words = words[:-1] if words and words[-1].isdigit() else words
        elif _SEPARATOR.match(word):
            yield from _without_prefix(words, depth)
            words, is_target = [], False
        elif is_target:
            is_target = False
        else:
            words.append(word)


def _without_prefix(words: list[str], depth: int) -> Iterator[list[str]]:
    """Yield a command without variables before it; for an inline script of a shell also its commands."""
    while words and re.match(r"\w+=", words[0]):
        words = words[1:]
    if not words:
        return
    yield words
    if program_name(words[0]) in SHELLS and len(words) > 2 and words[1] in INLINE and depth < _DEEPEST:
        yield from _commands(" ".join(words[2:]), depth + 1)
