"""Parsing of shell command lines: words, prefixes of a program, the program's plain name. Pure.

Meant for reading what an agent ran, not for running it: text that it cannot parse still yields words.
"""

from __future__ import annotations

import re
import shlex

from palazzo.text.lazy_patterns import make_regex

_AROUND = make_regex(r"(?:sudo|time|env|nohup|exec|command|npx|bunx|uvx|nice|stdbuf)\Z")
_RUNNERS = make_regex(r"(?:uv|poetry|pipenv|hatch|pdm|rye|bundle)\Z")
SHELLS = frozenset(["bash", "sh", "zsh", "dash", "fish"])
INLINE = frozenset(["-c", "-e", "-lc", "-", "--eval"])
"""Options that are followed by the code to run."""


def words_of(command: str) -> list[str]:
    """Return the words of a command line, including separators of commands and redirections."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:  # a quote that nothing closes
        return command.split()


def strip_wrappers(words: list[str]) -> list[str]:
    """Drop what precedes the program: variables, `sudo`, `uv run`; in `python -m x`, the program is x."""
    while words:
        if re.match(r"\w+=", words[0]) or _AROUND.match(words[0]):
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[1:]
        elif _leads_by_two(words):
            words = words[2:]
        else:
            break
    return words


def program_name(word: str) -> str:
    """Return a program's name without its directory, file extension and interpreter version."""
    name = re.split(r"[/\\]", word)[-1].lower()
    return re.sub(r"^(python|ruby|perl|php|pip)[\d.]+$", r"\1", re.sub(r"\.(?:exe|cmd|bat|ps1)$", "", name))


def _leads_by_two(words: list[str]) -> bool:
    """Whether the program is the third word: `timeout 60 x`, `uv run x`, `python -m x`."""
    first, second, *_ = [*words, "", ""]
    if _RUNNERS.match(first):
        return second in ("run", "exec")
    return first == "timeout" or (program_name(first) == "python" and second == "-m")
