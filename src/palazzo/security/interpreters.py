"""Rules for interpreters and shells: local if their code is, or if a script's name says that it builds. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.security import inline_code
from palazzo.security import known_programs as known
from palazzo.security.build_programs import judge_tool_run, run_managed, run_own_program
from palazzo.security.file_programs import judge_reader
from palazzo.security.git_commands import last_component
from palazzo.security.loopback import is_own_server
from palazzo.security.package_managers import MANAGERS
from palazzo.security.program_arguments import FOREIGN, HELP, PURE_OUTCOME, Outcome, values_behind
from palazzo.security.project_paths import LOCAL_TEXT, UNKNOWN_TEXT

if TYPE_CHECKING:
    from palazzo.security.command_trust import Shell


def python_program(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge Python by its code, its module or its script."""
    while arguments and re.fullmatch(r"-(?:[uBEsSIOqx]+|W|X|Wignore|Xutf8|Xdev)|-[WX]\S+", arguments[0]):
        arguments = arguments[2:] if arguments[0] in ("-W", "-X") else arguments[1:]
    if not arguments or arguments[0] == "-":
        return FOREIGN if not arguments and not has_input else _fed_python(shell)
    if arguments[0] in ("--version", "-V"):
        return PURE_OUTCOME
    if arguments[0] == "-c" and len(arguments) > 1:
        return Outcome(inline_code.is_own_python(arguments[1], shell.is_own) and _are_own_paths(shell, arguments[2:]))
    if arguments[0] == "-m" and len(arguments) > 1:
        return _python_module(shell, arguments[1], arguments[2:], has_input, input_lists_files)
    if last_component(arguments[0]) == "manage.py":
        return django_command(shell, arguments[1:])
    return run_own_program(shell, arguments[0], arguments[1:])


def _fed_python(shell: Shell) -> Outcome:
    return Outcome(shell.fed_text is not None and inline_code.is_own_python(shell.fed_text, shell.is_own))


def _are_own_paths(shell: Shell, words: Sequence[str]) -> bool:
    return all(shell.is_own(word) for word in words if "/" in word or "." in word)


_PYTHON_MODULES = frozenset(
    """
    json.tool compileall py_compile venv doctest timeit tabnanny symtable ast tokenize dis build pip-noop pyclbr
    trace cProfile pdb unittest pytest zipapp calendar platform sysconfig site this
    """.split()
)


def _python_module(
    shell: Shell, module: str, arguments: list[str], has_input: bool, input_lists_files: bool
) -> Outcome:
    if module == "json.tool":
        return judge_reader(shell, arguments)
    if module == "http.server":
        place = next(iter(values_behind(arguments, ("-d", "--directory"))), ".")
        is_own = shell.is_own(place)
        if not is_own or not shell.is_here():
            shell.effect.ports.update({*(word for word in arguments if word.isdigit()), "8000"})
        return Outcome(is_own and shell.is_here(), False)
    plain = module.replace("_", "-")
    if module in _PYTHON_MODULES or plain in known.TESTS_AND_LINTERS or module in known.TESTS_AND_LINTERS:
        return judge_tool_run(shell, arguments)
    if module in MANAGERS:
        return run_managed(shell, module, arguments, has_input, input_lists_files)
    if HELP & set(arguments) or any(part in ("test", "tests") for part in module.split(".")):
        return Outcome(True)
    return FOREIGN


_DJANGO = frozenset(
    [
        "test",
        "check",
        "makemigrations",
        "migrate",
        "showmigrations",
        "sqlmigrate",
        "collectstatic",
        "compilemessages",
        "makemessages",
        "diffsettings",
        "startapp",
        "squashmigrations",
        "show_urls",
        "validate_templates",
        "optimizemigration",
        "help",
    ]
)


def django_command(shell: Shell, arguments: list[str]) -> Outcome:
    """Judge a command of a Django project."""
    return judge_tool_run(shell, arguments) if arguments and arguments[0] in _DJANGO else FOREIGN


_RAILS = frozenset(
    (
        "test",
        "routes",
        "test:system",
        "test:all",
        "zeitwerk:check",
        "generate",
        "g",
        "destroy",
        "d",
        "about",
        "stats",
        "notes",
        "version",
    )
)


def rails_command(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge a command of a Rails project."""
    command = next((word for word in arguments if not word.startswith("-")), "")
    is_local = command in _RAILS or re.fullmatch(
        r"db:(?:migrate(?::\w+)?|rollback|create|drop|schema:\w+|version|abort\S*|test:\w+|prepare|setup|reset)",
        command,
    )
    return (
        judge_tool_run(shell, arguments)
        if is_local or (name == "rake" and known.is_build_task(command or "test"))
        else FOREIGN
    )


def php_program(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge PHP by its script."""
    if arguments[:1] == ["-l"]:
        return judge_tool_run(shell, arguments)
    if name == "artisan" or (arguments and last_component(arguments[0]) == "artisan"):
        rest = arguments if name == "artisan" else arguments[1:]
        command = next(iter(rest), "")
        return (
            judge_tool_run(shell, rest)
            if re.fullmatch(
                r"test|route:list|migrate(?::\w+)?|make:\w+|list|config:\w+|view:\w+|about|optimize(?::clear)?|env|key:generate",
                command,
            )
            else FOREIGN
        )
    if arguments and known.SYSTEM_DIRECTORY.match(arguments[0]):
        return shell.judge([last_component(arguments[0]), *arguments[1:]], has_input, input_lists_files)
    return (
        run_own_program(shell, arguments[0], arguments[1:])
        if arguments and not arguments[0].startswith("-")
        else FOREIGN
    )


def node_program(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge Node.js by its code or its script."""
    for n, word in enumerate(arguments):
        if word in ("-e", "--eval", "-p", "--print", "-pe", "eval") and n + 1 < len(arguments):
            is_own = inline_code.is_own_javascript(arguments[n + 1], shell.is_own)
            return Outcome(is_own and _are_own_paths(shell, arguments[n + 2 :]))
        if word in ("--test", "-c", "--check"):
            return judge_tool_run(shell, [argument for argument in arguments if argument != word])
        if not word.startswith("-"):
            return run_own_program(shell, word, arguments[n + 1 :])
    return FOREIGN


def perl_program(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge Perl or Ruby by its code or its script."""
    if arguments[:1] in (["-c"], ["-wc"], ["-cw"]):
        return judge_tool_run(shell, arguments[1:])
    codes = [code for flag, code in itertools.pairwise(arguments) if re.fullmatch(r"-\w*[eE]", flag)]
    if any(word.startswith(("-M", "-m", "-r", "-I", "-S")) for word in arguments):
        return FOREIGN
    if not codes:
        script = next((word for word in arguments if not word.startswith("-")), "")
        return run_own_program(shell, script, arguments[arguments.index(script) + 1 :]) if script else FOREIGN
    plain = [
        word
        for n, word in enumerate(arguments)
        if not word.startswith("-") and not re.fullmatch(r"-\w*[eE]", arguments[n - 1])
    ]
    is_own = all(inline_code.is_own_perl(code) for code in codes) and all(shell.is_own(word) for word in plain)
    return Outcome(is_own)


def run_shell(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge a shell by its script."""
    while arguments and re.fullmatch(
        r"[-+](?!\w*[cs])\w+|--(?:norc|noprofile|login|posix)|pipefail|errexit", arguments[0]
    ):
        if arguments[0] in ("-n", "-nv"):  # the shell only parses the script
            return Outcome(all(shell.is_own(word) for word in arguments[1:]))
        arguments = arguments[1:]
    if arguments and re.fullmatch(r"-\w*c\w*", arguments[0]) and len(arguments) > 1:
        positional = {str(n): [text] for n, text in enumerate(arguments[2:])}
        positional["@"] = positional["*"] = arguments[3:]
        return run_text(shell, arguments[1], positional)
    if not arguments or arguments[0] in ("-s", "-"):
        return run_text(shell, shell.fed_text, {}) if shell.fed_text is not None else FOREIGN
    return run_own_program(shell, arguments[0], arguments[1:])


def run_text(shell: Shell, text: str | None, variables: dict[str, list[str]]) -> Outcome:
    """Judge a text that a shell runs."""
    if text is None or UNKNOWN_TEXT in text or LOCAL_TEXT in text:
        return FOREIGN
    old_variables, directory = dict(shell.variables), shell.directory
    shell.variables.update(variables)
    could_run = shell.run_text(text)
    shell.variables, shell.directory = old_variables, directory
    return Outcome(could_run, False)


def eval_text(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge the text that eval runs."""
    return run_text(shell, " ".join(arguments), {})


def source_script(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge a script that is read into the shell."""
    if arguments and re.search(r"(?:^|/)\.?v?env/(?:bin|Scripts)/activate$", arguments[0]):
        return PURE_OUTCOME
    return run_own_program(shell, arguments[0], arguments[1:]) if arguments else FOREIGN


def run_powershell(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge PowerShell by its code."""
    for n, word in enumerate(arguments):
        if word.lower() in ("-c", "-command", "-commandwithargs") and n + 1 < len(arguments):
            code = " ".join(arguments[n + 1 :])
            return Outcome(inline_code.is_own_powershell(code, shell.is_own, lambda said: _judges_part(shell, said)))
    return FOREIGN


def _judges_part(shell: Shell, part: str) -> bool:
    words = part.split()
    if words[:1] in (["git"], ["dotnet"]):
        return shell.judge(words, False, False).is_local
    return is_own_server(part)


def cmd_program(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge cmd.exe: always foreign, because its language is not parsed."""
    return FOREIGN
