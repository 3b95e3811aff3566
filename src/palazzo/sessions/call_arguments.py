"""Arguments of a tool call, parsed from the text into which transcript readers render it. Pure.

Rendered text is ambiguous where an argument has several lines. Every line that may be part of a command then counts as
part of it: an extra line makes a command less trusted, never more.
"""

from __future__ import annotations

import re

from palazzo.index import digest_work as work
from palazzo.security.tool_kinds import is_shell
from palazzo.text.lazy_patterns import make_regex

_FIELD = make_regex(r"^(\w{1,40}):(?: (.*))?$", re.MULTILINE)
_MEMBER = make_regex(r"^ {2,4}- ?(.*)$", re.MULTILINE)
_COMMAND = make_regex(r"^(?:command|cmd|script|CommandLine)\s*[:=][ \t]*\n?", re.MULTILINE)
_TRAILING = make_regex(
    r"\n(?:description: [^\n]*|(?:timeout|timeout_ms|yield_time_ms|max_output_tokens|max_chars): \d+"
    r"|(?:run_in_background|dangerouslyDisableSandbox|login|tty|with_escalated_permissions|is_background|requires_approval"
    r"|blocking|restart|sandbox): (?:true|false)|(?:justification|sandbox_permissions|explanation|prefix_rule): [^\n]*"
    r"|(?P<place>workdir|cwd|directory|working_directory|dir_path|Cwd): (?P<directory>[^\n]*))$"
)
_LONGEST = 262_144
"""Maximum characters of a call that are read."""


def arguments_of(tool: str, words: str) -> dict[str, object]:
    """Return the arguments of a call of `tool`, rendered as `words`; for a shell, its command and directory."""
    words = words[:_LONGEST]
    return _shell_arguments(words) if is_shell(tool) else _fields(words)


def _shell_arguments(words: str) -> dict[str, object]:
    match = _COMMAND.search(words)
    if match is None:
        _, _, rest = words.partition("\n")
        return {"command": rest} if rest else {}
    arguments: dict[str, object] = {}
    for field in _FIELD.finditer(words, 0, match.start()):
        arguments[field[1]] = field[2] or ""
    command = words[match.end() :]
    while trailing := _TRAILING.search(command[-2_000:]):
        if trailing["place"]:
            arguments[trailing["place"]] = trailing["directory"]
        command = command[: len(command) - len(trailing[0])]
    shell_list = work.LISTED_SHELL.match(command.lstrip())
    if shell_list:
        command = command.lstrip()[shell_list.end() :]
    elif command.startswith("  - "):
        members = _MEMBER.findall(command)
        is_patch = bool(members) and members[0] == "apply_patch"
        arguments["command"] = (
            ["apply_patch"]
            if is_patch
            else members
            if "\n".join(f"  - {member}" for member in members) == command
            else command
        )
        return arguments
    arguments["command"] = command
    return arguments


def _fields(words: str) -> dict[str, object]:
    """Return the values of each key at the beginning of a line, as a list."""
    arguments: dict[str, object] = {}
    fields = list(_FIELD.finditer(words))
    for n, field in enumerate(fields):
        end = fields[n + 1].start() if n + 1 < len(fields) else len(words)
        values = [field[2]] if field[2] else _MEMBER.findall(words, field.end(), end)[:64]
        field_values = arguments.setdefault(field[1], [])
        if isinstance(field_values, list):
            field_values += values
    return arguments
