"""Rules for compilers, test runners, linters, tasks and the project's own programs. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.security import known_programs as known
from palazzo.security.git_commands import last_component
from palazzo.security.loopback import names_foreign_address
from palazzo.security.package_managers import MANAGERS
from palazzo.security.program_arguments import FOREIGN, HELP, OUTPUT, Outcome, plain_words, values_behind
from palazzo.security.project_paths import LOCAL_TEXT, is_dependency

if TYPE_CHECKING:
    from palazzo.security.command_trust import Shell


def judge_tool_run(shell: Shell, arguments: Sequence[str]) -> Outcome:
    """Judge a compiler, test runner or linter: local unless its arguments lead out of the project."""
    previous_word = ""
    for word in arguments:
        if names_foreign_address(word):
            return FOREIGN
        is_output = previous_word in OUTPUT
        if word.startswith("-") and word != "-":
            _, _, value = word.partition("=")
            if (
                re.match(r"[~/]|\.\./", value)
                and not re.match(r"/(?:tmp|var/tmp|dev/null)", value)
                and not shell.is_own(value)
            ):
                return FOREIGN
            if re.match(r"-I[~/]|-I\.\./", word) and not shell.is_own(word[2:]):
                return FOREIGN
        elif not is_output and (re.match(r"[~/]|(?:\.\./)", word) or is_dependency(word)) and not shell.is_own(word):
            return FOREIGN
        previous_word = word
    return Outcome(True)


def compile_files(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge a compiler: it must compile the project's files, not its input."""
    return FOREIGN if "-" in arguments else judge_tool_run(shell, arguments)


def run_own_program(shell: Shell, program: str, arguments: list[str]) -> Outcome:
    """Judge a script or binary of the project: local if its name says that it builds or tests, or for its help."""
    shell.effect.runs.add(last_component(program))
    if not shell.is_own(program):
        return FOREIGN
    if any(names_foreign_address(word) for word in arguments):
        return FOREIGN
    if HELP & set(arguments):
        return Outcome(True)
    words = [word for word in arguments if re.fullmatch(r"[a-z][\w:-]{1,40}", word)]
    stem = re.sub(r"(?:\.\w{1,5}){1,2}$", "", last_component(program))
    if re.match(r"(?:\./)?(?:tests?|spec|__tests__)/", program):
        stem = "test"
    if known.is_build_task(stem) and not any(known.is_fetching_task(word) for word in words):
        return judge_tool_run(shell, arguments)
    if shell.is_judged_script(program) or (
        _is_built(shell, program)
        and all(word in _OWN_VERBS or (shell.is_own(word) and re.search(r"[./]", word)) for word in words_of(arguments))
    ):
        return judge_tool_run(shell, arguments)
    shell.effect.pulls |= any(known.is_fetching_task(word) for word in (stem, *words))
    return FOREIGN


_OWN_VERBS = known.TASK_WORDS | frozenset(
    [
        "parse",
        "render",
        "convert",
        "explain",
        "tokens",
        "ast",
        "eval",
        "hash",
        "sort",
        "demo",
        "example",
        "examples",
        "dump",
        "compare",
        "hello",
        "sum",
        "encode",
        "decode",
        "run",
    ]
)


def words_of(arguments: Sequence[str]) -> list[str]:
    """Return the plain words in the arguments of one of the project's own programs."""
    return [word for word in arguments if not word.startswith("-") and not word.isdigit()]


def _is_built(shell: Shell, program: str) -> bool:
    """Whether the project's own build makes this program, or it was compiled just before."""
    if re.match(
        r"(?:\./)?(?:build|target/(?:[\w-]+/)?(?:debug|release)|cmake-build-\w+|_build|zig-out/bin|\.build|bin)/",
        program,
    ):
        return not program.endswith((".sh", ".py", ".js", ".rb", ".pl"))
    plain = shell.plain(program)
    return bool(plain) and shell.was_made(plain)


def run_tasks(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge make, just, rake and similar programs by the names of their targets."""
    shell.effect.runs.add(known.FILES_OF_RUNNERS.get(name, ""))
    if any(
        word in ("-n", "--dry-run", "--just-print", "--list", "-l", "-T", "--summary", "--help", "-q")
        for word in arguments
    ):
        return judge_tool_run(shell, arguments)
    plain = plain_words(
        arguments, frozenset(("-C", "-f", "--file", "-j", "-l", "-o", "-W", "-I", "--directory", "--justfile"))
    )
    files = values_behind(arguments, ("-C", "-f", "--file", "--directory", "--justfile", "-I"))
    targets = [word for word in plain if "=" not in word and not word.isdigit() and LOCAL_TEXT not in word]
    if not all(shell.is_own(word) for word in files) or any(names_foreign_address(word) for word in plain):
        return FOREIGN
    if all(known.is_build_task(word) for word in targets):
        return Outcome(True)
    shell.effect.pulls |= any(known.is_fetching_task(word) for word in targets)
    return FOREIGN


def run_managed(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge a package manager or build system by the rules in `package_managers`."""
    shell.effect.runs.add(known.FILES_OF_RUNNERS.get(name, ""))
    verdict = MANAGERS[name](arguments)
    if verdict.runs:
        return shell.judge(verdict.runs, has_input, input_lists_files)
    shell.effect.pulls |= verdict.pulls
    if name in ("bazel", "bazelisk", "buck2", "pants"):  # their targets begin with strokes
        return Outcome(verdict.is_local and not any(names_foreign_address(word) for word in arguments))
    return judge_tool_run(shell, arguments) if verdict.is_local else FOREIGN


def run_package_tool(
    shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool
) -> Outcome:
    """Judge npx and similar programs: local for a known tool that is installed."""
    plain = [word for word in arguments if not word.startswith("-")]
    if any(word in ("-y", "--yes", "-p", "--package", "-c", "--call", "--from", "--with") for word in arguments):
        first = next((n for n, word in enumerate(arguments) if not word.startswith("-")), len(arguments))
        if any(
            word in ("-y", "--yes", "-p", "--package", "-c", "--call", "--from", "--with") for word in arguments[:first]
        ):
            return FOREIGN
    if not plain or "@" in plain[0][1:] or name == "pipx":
        return FOREIGN
    at = arguments.index(plain[0])
    return shell.judge(arguments[at:], has_input, input_lists_files)


def run_debugged(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge gdb, lldb, valgrind, strace: they must run a program that the project built."""
    if "--args" in arguments:
        arguments = arguments[arguments.index("--args") + 1 :]
    elif "--" in arguments:
        arguments = arguments[arguments.index("--") + 1 :]
    program = next(iter(plain_words(arguments, frozenset(("-ex", "-x", "-p", "-o", "-e")))), "")
    built = re.match(r"(?:\./)?(?:build|target|bin|out|cmake-build-\w+|_build|zig-out|\.build)/|\./", program)
    is_own = bool(built) and shell.is_own(
        program.replace("out/", "build/", 1) if program.startswith("out/") else program
    )
    return Outcome(is_own and not any(names_foreign_address(word) for word in arguments))
