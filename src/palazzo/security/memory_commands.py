"""Recognition of command lines that only print memory content: `palazzo search …` in an agent's shell. Pure.

The output of such a command was recorded before, like the results of memory tools (`memory_tools`). A line may contain
other commands. Its output is left out only if every command in the line is Palazzo's or has no output of its own, and
every pipe leads into a program that only filters its input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from palazzo.text.lazy_patterns import make_regex
from palazzo.text.shell_text import INLINE, SHELLS, program_name, strip_wrappers, words_of

_LONGEST = 4_000
_MEMORIES = frozenset(["palazzo", "mempalace"])
_RECALL_COMMANDS = frozenset(
    [
        "search",
        "show",
        "list-drawers",
        "check-duplicate",
        "wake-up",
        "proactive-context",
        "context-summary",
        "digest",
        "diff",
        "reminders",
        "why",
    ]
)
_TELLING_OF_GROUP = frozenset(
    [
        *(("kg", verb) for verb in ("query", "timeline", "conflicts", "suggest")),
        *(("diary", verb) for verb in ("read", "handoff")),
        ("todo", "list"),
    ]
)
"""Commands whose output contains words from memory. The output of other commands (`doctor`, `mine`, `status`) is not in
memory yet.
"""
_SILENT = frozenset(["cd", "export", "set", "unset", "true", ":", "sleep"])
_ECHO_COMMANDS = frozenset(["echo", "printf"])
_FILTER_PROGRAMS = {
    **dict.fromkeys(("head", "tail", "cat", "less", "more", "sort", "uniq", "wc", "nl", "fold", "cut"), 0),
    "grep": 1,
    "egrep": 1,
    "rg": 1,
    "jq": 1,
    "tee": 1,
    "tr": 2,
}
"""Programs that print all or part of their input, and the number of plain words they take that do not name a file to
read.
"""
_OF_FILES = make_regex(r"--files0-from\b")
_GREP_OF_FILES = make_regex(r"-\w*[rRf]|--(?:recursive|dereference-recursive|file)\b")
_SED_PRINT = make_regex(r"\d+(?:,\d+)?p\Z")
_REDIRECT = make_regex(r"[<>&|]+\Z")
_NEXT = frozenset(["&&", "||", ";", ";;", "|", "|&"])


def tells_memory(command: str) -> bool:
    """Return whether a command line prints nothing but a memory's content."""
    if len(command) > _LONGEST or not any(name in command for name in _MEMORIES):
        return False
    commands = list(_commands(command))
    verdicts = [_tells(words, is_piped) for words, is_piped in commands]
    return all(verdict is not None for verdict in verdicts) and any(verdicts)


def _tells(words: Sequence[str], is_piped: bool) -> bool | None:
    """Return whether a command prints a memory's content; None if it may print something else."""
    plain = strip_wrappers(list(words))
    if not plain:
        return False if words else None
    name, rest = program_name(plain[0]), plain[1:]
    if name in SHELLS and len(rest) > 1 and rest[0] in INLINE and not is_piped:
        return True if tells_memory(" ".join(rest[1:])) else None
    if name in _MEMORIES:
        return True if _is_telling(rest) else None
    if is_piped:
        return False if _only_picks(name, rest) else None
    if name in _SILENT or name.startswith("#"):
        return False
    return False if name in _ECHO_COMMANDS and not any(mark in word for word in rest for mark in "$`") else None


def _is_telling(rest: Sequence[str]) -> bool:
    """Return whether the words after the program's name are a command that prints the memory's content."""
    words = iter(rest)
    verbs = []
    for word in words:
        if word == "--palace":
            next(words, None)
        elif not word.startswith("-"):
            verbs.append(word)
    return verbs[:1] != [] and (verbs[0] in _RECALL_COMMANDS or tuple(verbs[:2]) in _TELLING_OF_GROUP)


def _only_picks(name: str, rest: Sequence[str]) -> bool:
    plain = [word for word in rest if not word.startswith("-") and not word.isdigit()]
    if name == "sed":
        return rest[:1] == ["-n"] and len(rest) == 2 and _SED_PRINT.match(rest[1]) is not None
    file_options = _GREP_OF_FILES if "grep" in name else _OF_FILES
    return (
        name in _FILTER_PROGRAMS
        and len(plain) <= _FILTER_PROGRAMS[name]
        and not any(file_options.match(word) for word in rest)
    )


def _commands(command: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the words of each command without redirections, and whether it reads an earlier one's output.

    A command that is not plain has no words: its output is unknown.
    """
    words: list[str] = []
    is_piped = False
    tokens = iter(words_of(re.sub(r"\\\n", " ", command).strip().replace("\n", " ; ")))
    for word in tokens:
        if word in _NEXT:
            if words:
                yield words, is_piped
            words, is_piped = [], word in ("|", "|&")
        elif word in (">", ">>", ">&", "&>", "&>>"):
            if words and words[-1].isdigit():
                words.pop()
            next(tokens, None)
        elif _REDIRECT.match(word) or set(word) <= set("();"):
            yield [], is_piped
        else:
            words.append(word)
    if words:
        yield words, is_piped
