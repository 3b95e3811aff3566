"""Rules for programs that run another program: the other program determines the result. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from palazzo.security import known_programs as known
from palazzo.security.build_programs import judge_tool_run, run_managed
from palazzo.security.interpreters import run_text
from palazzo.security.package_managers import MANAGERS
from palazzo.security.program_arguments import FOREIGN, PURE_OUTCOME, Outcome, plain_words, program_name, values_behind
from palazzo.security.project_paths import OWN_FILE, UNKNOWN_TEXT

if TYPE_CHECKING:
    from palazzo.security.command_trust import Shell


_WRAPPER_VALUES = frozenset(
    (
        "-u",
        "-g",
        "-n",
        "-c",
        "-s",
        "-k",
        "-p",
        "-i",
        "-o",
        "-e",
        "-f",
        "-E-value",
        "--signal",
        "--kill-after",
        "--interval",
        "-d",
    )
)


def run_wrapped(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge a program that runs another one."""
    rest = list(arguments)
    if name == "command" and rest[:1] in (["-v"], ["-V"]):
        return PURE_OUTCOME
    flags = frozenset(("-i", "-s", "-n", "-E", "-e", "-c", "-p", "-k")) if name in ("sudo", "env") else frozenset()
    while rest and (rest[0].startswith("-") or re.match(r"[A-Za-z_]\w*=", rest[0])):
        word = rest.pop(0)
        if re.match(r"[A-Za-z_]\w*=", word):
            if shell.is_dangerous_assignment(word):
                return FOREIGN
        elif name == "env" and word in ("-S", "--split-string") and rest:
            return run_text(shell, " ".join(rest), {})
        elif word in _WRAPPER_VALUES and (word not in flags or word == "-u") and rest:
            rest.pop(0)
    if name in ("timeout", "gtimeout", "taskset", "chrt") and rest:
        rest.pop(0)
    if name in ("mise", "asdf", "direnv", "dotenv") and rest[:1] in (["exec"], ["run"], ["x"]):
        rest.pop(0)
        rest = rest[1:] if rest[:1] in (["--"], ["."]) else rest
    if name == "watch" and len(rest) == 1:
        return run_text(shell, rest[0], {})
    if not rest:
        return PURE_OUTCOME if name in ("env", "exec", "command", "time") else FOREIGN
    return shell.judge(rest, has_input, input_lists_files)


def run_in_environment(
    shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool
) -> Outcome:
    """Judge uv run, poetry run, bundle exec: they run a program in the project's own environment."""
    verb = known.ENVIRONMENT_RUNNERS[name]
    plain = [word for word in arguments if not word.startswith("-")]
    if plain[:1] != [verb]:
        return run_managed(shell, name, arguments, has_input, input_lists_files) if name in MANAGERS else FOREIGN
    rest = arguments[arguments.index(verb) + 1 :]
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word in ("--with", "--from", "--with-requirements", "--index-url", "--with-editable"):
            return FOREIGN
        if (
            word
            in (
                "--extra",
                "--group",
                "--package",
                "-p",
                "--python",
                "--directory",
                "--project",
                "-n",
                "-e",
                "--env-file",
            )
            and rest
        ):
            rest.pop(0)
    if not rest:
        return FOREIGN
    if name in ("hatch",) and ":" in rest[0]:
        rest[0] = rest[0].rpartition(":")[2]
    if name in ("hatch", "pdm", "rye", "pixi", "devbox") and known.is_build_task(rest[0]):
        return judge_tool_run(shell, rest)
    return shell.judge(rest, has_input, input_lists_files)


def run_xargs(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge xargs by the program that it runs on each name."""
    rest = list(arguments)
    place = ""
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if re.fullmatch(r"-I|--replace", word) and rest:
            place = rest.pop(0)
        elif word.startswith("-I"):
            place = word[2:]
        elif (
            word in ("-n", "-P", "-L", "-d", "-s", "-E", "-a", "--max-args", "--max-procs", "--delimiter", "--arg-file")
            and rest
        ):
            rest.pop(0)
    value = OWN_FILE if input_lists_files else UNKNOWN_TEXT
    if not rest:
        return Outcome(input_lists_files)
    if place:
        return shell.judge([word.replace(place, value) for word in rest], False, False)
    if program_name(rest[0]) in known.SHELL_NAMES and "-c" in "".join(rest[1:2]):
        rest = [*rest, *(["_"] if len(rest) == 3 else [])]
    return shell.judge([*rest, value], False, False)


def run_parallel(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge parallel by the program that it runs on each value."""
    at = next((n for n, word in enumerate(arguments) if word in (":::", "::::")), len(arguments))
    command = [
        word
        for n, word in enumerate(arguments[:at])
        if not (
            word.startswith("-")
            and all(earlier_word.startswith("-") or earlier_word.isdigit() for earlier_word in arguments[:n])
        )
    ]
    values = (
        arguments[at + 1 :]
        if at < len(arguments) and arguments[at] == ":::"
        else [OWN_FILE if input_lists_files else UNKNOWN_TEXT]
    )
    if not command:
        return FOREIGN
    has_place = any("{}" in word for word in command)
    for value in values[:64]:
        words = [word.replace("{}", value) for word in command] + ([] if has_place else [value])
        if not shell.judge(words, False, False).is_local:
            return FOREIGN
    return Outcome(len(values) <= 64)


def run_measured(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge hyperfine: each plain argument is a command line."""
    plain = plain_words(
        arguments,
        frozenset(
            (
                "-w",
                "-r",
                "-m",
                "-M",
                "--warmup",
                "--runs",
                "--export-json",
                "--export-markdown",
                "-n",
                "-L",
                "-p",
                "--prepare",
            )
        ),
    )
    setup_commands = values_behind(arguments, ("-p", "--prepare", "-c", "--cleanup", "-s", "--setup"))
    return Outcome(all(run_text(shell, text, {}).is_local for text in (*plain, *setup_commands)))
