"""Target of a call: its subject, by which a later call is recognised as another attempt at the same thing. Pure.

For a command: its program, the subcommand and the file that it names, and its other selectors. For an edit: the file.
For a tool of a server: its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from palazzo.index import digest_work as work
from palazzo.security.memory_tools import is_memory_tool
from palazzo.text.lazy_patterns import make_regex
from palazzo.text.shell_text import INLINE, SHELLS, program_name, strip_wrappers, words_of

_LONGEST_COMMAND = 2_000


class Target(NamedTuple):
    """The target of a command: its program, the subcommand and the file that it names. A missing part is empty."""

    program: str
    subcommand: str
    file: str


class Aim(NamedTuple):
    """A target, all files that a command names, and its other selections: tests by name, packages.

    Without knowledge of the program, the owner of a word after an option is unknown: it `may` be a selection.
    """

    target: Target
    files: frozenset[str] = frozenset()
    selection: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()


class Step(NamedTuple):
    """One command of a line: its aim (None for an inline script), and whether it certainly passed if the line did."""

    aim: Aim | None
    is_sure: bool = True


_SETTING_UP = make_regex(
    r"(?:cd|pushd|popd|export|set|source|\.|true|false|exit|sleep|mkdir|touch|pwd|date|:|wait|trap|ulimit|\$.*)\Z"
)
_KEYWORDS = frozenset(["do", "then", "else", "elif", "if", "while", "until", "!", "{", "}"])
_NO_COMMANDS = frozenset(["for", "case", "select", "done", "fi", "esac", "function", "in"])
_INTERPRETERS = SHELLS | {"python", "node", "ruby", "perl", "deno", "bun", "php"}
_INFO_OPTIONS = frozenset(["--version", "--help", "-V"])
_PICKS = make_regex(r"-k|-m|-t|-run|--(?:grep|test-?name-?pattern|tests|filter|testcase)", re.IGNORECASE)
_PICKS_WHAT_FAILED = frozenset(["--lf", "--last-failed", "--only-failures", "--onlyFailures", "--failed"])
_WITH_SHORT_OPTIONS = frozenset(["pytest", "jest", "vitest", "npm", "yarn", "pnpm", "bun"])
"""Programs whose `-k`, `-m` and `-t` select tests; for other programs they are a tag, a message or a module."""
_TASK_RUNNERS = frozenset(["make", "just", "task", "npm", "yarn", "pnpm", "bun", "gradle", "gradlew", "mvn", "rake"])
_ALL_CHECKS = make_regex(r"\brun ci\b|\bverify\b|\ball\b|\bbuild\b|\bprecommit\b")
_EDIT = "an edit"
_EDIT_TOOL = make_regex(
    r"edit|write|multiedit|notebookedit|update|create|strreplace\w*|writefile|editfile|createfile|replace|applypatch"
    r"|insert\w*|deletefile|patch"
)
_OF_HOSTS = make_regex(
    r"read\w*|grep\w*|glob|ls|list\w*|search\w*|view\w*|web\w*|googlewebsearch|fetch\w*|tool\w*|todo\w*|updateplan|task\w*"
    r"|agent|askuserquestion|question|exitplanmode|enterplanmode|skill|killshell|bashoutput|slashcommand|think|plan"
)
_SEPARATOR = make_regex(r"[();&|]+\Z")
_EXTENSION = make_regex(r"(?:^|[\w)])\.[A-Za-z]\w{0,5}$")
_NODE_ID = make_regex(r"(?:::.*|(?::\d+)+)$")


def target(command: str) -> Target | None:
    """Return the target of a command; None if it only looks, sets up, or is a script of its own."""
    last_aim = aim(command)
    return None if last_aim is None else last_aim.target


def aim(command: str) -> Aim | None:
    """Return the target of a command, and the parts of it that are selected.

    Of several commands it is the last significant one: `cd api && npm ci && npm test | tail` has the target `npm test`.
    """
    line_steps = steps(command)
    return line_steps[-1].aim if line_steps else None


def steps(command: str) -> list[Step]:
    """Return the steps of a line, in order, without commands that only look or set up.

    The line's result is that of its last command. An earlier command is certain to have passed with the line if only
    `&&` follows it; before `;`, `||`, `|` or a shell keyword its own result is not known.
    """
    line_steps: list[Step] = []
    is_sure = True
    for words, separator in _commands(command[:_LONGEST_COMMAND]):
        is_sure = is_sure and separator == "&&"
        words, has_keyword = _without_keywords(words)
        words = strip_wrappers(words)
        if not words or _SETTING_UP.match(words[0]) or work.only_looks(" ".join(words)) or _INFO_OPTIONS & {*words}:
            is_sure = is_sure and not has_keyword
            continue
        if program_name(words[0]) in SHELLS and len(words) > 2 and words[1] in INLINE:
            new_steps = steps(" ".join(words[2:]))  # quoted as one word, or a list that was joined
        else:
            command_aim = _aim(words)
            new_steps = [] if command_aim is None else [Step(command_aim)]
        if not is_sure or has_keyword:
            line_steps = [step._replace(is_sure=False) for step in line_steps]
        line_steps += new_steps or [Step(None)]
        is_sure = True
    return line_steps


def covers(passed: Aim, failed: Aim) -> bool:
    """Return whether a passed call shows that another would pass: the same call does, whatever its options.

    So does a call that does more: for tests, a call without a selection, which runs all of them; for anything else, a
    call that names everything that the other one names. A call that does less, or something else, says nothing about
    the failure.
    """
    if passed.target[:2] != failed.target[:2]:
        return False
    if passed.files and not (failed.files and failed.files <= passed.files):
        return False
    does_all = failed.selection <= passed.selection | passed.may
    if not _runs_tests(passed.target):
        return does_all
    return not passed.selection or (does_all and passed.selection <= failed.selection | failed.may)


def may_cover(passed: Aim, failed: Aim) -> bool:
    """Return whether a passed call may have run another's tests: of a directory, or by another program."""
    if covers(passed, failed):
        return True
    if not _runs_tests(failed.target):
        return False
    if passed.target[:2] != failed.target[:2]:
        return _runs_all(passed.target)
    return any(not _EXTENSION.search(path) for path in passed.files) and not passed.selection


def tool_target(tool: str, file: str = "") -> Target | None:
    """Return the target of a call without a command; None for harmless tools of hosts, and for memory tools."""
    if is_edit(tool):
        return Target(_EDIT, "", _path(file) or file) if file else None
    if not tool or is_memory_tool(tool) or _OF_HOSTS.fullmatch(re.sub(r"[^a-z]", "", tool.lower())):
        return None
    return Target(re.sub(r"^mcp_|\W", "", re.sub(r"[-_.:/]+", "_", tool.lower())), "", "")


def is_edit(tool: str) -> bool:
    """Return whether a tool of that name changes a file."""
    return _EDIT_TOOL.fullmatch(re.sub(r"[^a-z]", "", tool.lower())) is not None


def _without_keywords(words: list[str]) -> tuple[list[str], bool]:
    """Return a command without the shell's keywords before it, and whether there were any."""
    at = next((n for n, word in enumerate(words) if word not in _KEYWORDS), len(words))
    command = [] if words[at:] and words[at] in _NO_COMMANDS else words[at:]
    return command, len(command) < len(words)


def _commands(command: str) -> Iterator[tuple[list[str], str]]:
    """Yield the words of each command of a line, without redirections; of a pipe only those of the first command.

    Each comes with the separator between it and the command before: `&&` also for the first command.
    """
    words: list[str] = []
    is_in_pipe = skips_next = False
    separator = "&&"
    for word in words_of(re.sub(r"\\\n", " ", command).replace("\n", " ; ")):
        if _SEPARATOR.match(word):
            if words and not is_in_pipe:
                yield words, separator
                separator = "&&"
            if word.strip("()") not in ("", "&&"):
                separator = word
            words, is_in_pipe, skips_next = [], word in ("|", "|&"), False
        elif skips_next:
            skips_next = False
        elif word and not set(word) - set("<>&|") and set(word) & set("<>"):
            skips_next = True
            if words and words[-1].isdigit():
                words.pop()
        else:
            words.append(word)
    if words and not is_in_pipe:
        yield words, separator


def _aim(words: list[str]) -> Aim | None:
    program, rest = program_name(words[0]), words[1:]
    plain: list[str] = []
    unsure: list[str] = []
    files: list[tuple[bool, str]] = []
    selection: set[str] = set()
    for previous_word, word in zip([words[0], *rest], rest, strict=False):
        of_option = re.fullmatch(r"-\w|--[\w-]+", previous_word) is not None
        if narrows := _find_selector(program, previous_word, word):
            selection.add(narrows)
        if word.startswith("-") or "://" in word or " " in word or "\n" in word or re.match(r"\w+=", word):
            continue
        if path := _path(word):
            files.append((of_option, path))
        elif re.fullmatch(r"[\w:@.=<>~^-]+", word):
            (unsure if of_option else plain).append(word)
    size = 2 if plain[:1] in (["run"], ["compose"], ["exec"]) else 1
    files.sort(key=lambda one: one[0])
    if program in _INTERPRETERS and (not files or INLINE & {*rest}):
        return None
    subcommand = "" if program in _INTERPRETERS else " ".join(plain[:size])
    command_target = Target(program, subcommand, files[0][1] if files else "")
    if program in _INTERPRETERS:
        return Aim(command_target, frozenset([command_target.file]))  # what else there is are arguments of that file
    selection.update(plain[size:])
    return Aim(command_target, frozenset(path for _, path in files), frozenset(selection), frozenset(unsure))


def _find_selector(program: str, previous_word: str, word: str) -> str:
    """Return the tests that a word, or an option with its value, selects; empty if it selects none."""
    if node := _NODE_ID.search(word):
        return node[0] if node[0].startswith("::") else ""
    option, equals, _ = word.partition("=")
    if equals and _PICKS.fullmatch(option):
        return word
    if word in _PICKS_WHAT_FAILED:
        return word
    if _PICKS.fullmatch(previous_word) and (previous_word not in ("-k", "-m", "-t") or program in _WITH_SHORT_OPTIONS):
        return f"{previous_word}={word}"
    return ""


def _runs_tests(target: Target) -> bool:
    return re.search(r"test|spec|check|tox|nox|jest|mocha", f"{target.program} {target.subcommand}") is not None


def _runs_all(target: Target) -> bool:
    """Return whether a target runs a project's checks, including those of other programs."""
    return _runs_tests(target) or (
        target.program in _TASK_RUNNERS and (not target.subcommand or _ALL_CHECKS.search(target.subcommand) is not None)
    )


def _path(word: str) -> str:
    """Return a path's last two names, which identify it wherever it is named; empty if it is no path."""
    plain = _NODE_ID.sub("", word).replace("\\", "/")
    if "/" not in plain and not _EXTENSION.search(plain):
        return ""
    return "/".join([name for name in plain.split("/") if name not in ("", ".", "..")][-2:])
