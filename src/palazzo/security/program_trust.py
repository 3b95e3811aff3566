"""Trust of one program with its arguments: whether its output is known to be local. Pure.

Each program has a rule of its own, or an entry in a table of `known_programs`. Any other program is foreign.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from palazzo.security import known_programs as known
from palazzo.security.build_programs import (
    compile_files,
    judge_tool_run,
    run_debugged,
    run_managed,
    run_own_program,
    run_package_tool,
    run_tasks,
)
from palazzo.security.client_programs import ask_database, judge_client, openssl_command, sqlite_command
from palazzo.security.file_programs import (
    apply_patch,
    change_directory,
    copy_files,
    fd_files,
    find_files,
    judge_archive,
    judge_reader,
    list_files,
    run_text_script,
    search_files,
    synchronise_files,
    tee_files,
)
from palazzo.security.git_commands import OWN_REVISION, last_component
from palazzo.security.interpreters import (
    cmd_program,
    django_command,
    eval_text,
    node_program,
    perl_program,
    php_program,
    python_program,
    rails_command,
    run_powershell,
    run_shell,
    source_script,
)
from palazzo.security.package_managers import MANAGERS
from palazzo.security.program_arguments import (
    ARCHIVE_SUFFIX,
    FOREIGN,
    OUTPUT,
    PURE_OUTCOME,
    Outcome,
    plain_words,
    program_name,
)
from palazzo.security.project_paths import LOCAL_TEXT, OWN_FILE, UNKNOWN_TEXT
from palazzo.security.project_services import (
    CLUSTER,
    compose_program,
    git_program,
    judge_few_commands,
    kubectl_command,
    mercurial_command,
)
from palazzo.security.wrapper_programs import run_in_environment, run_measured, run_parallel, run_wrapped, run_xargs

if TYPE_CHECKING:
    from palazzo.security.command_trust import Shell


_VERSION = frozenset({"--version", "-V", "-version", "--help", "-v", "version"})


_FILLS_ITS_ARGUMENTS = frozenset(
    """
    cp mv ln install scp rsync rclone aws gsutil az tar bsdtar unzip gunzip 7z zstd xz unrar cargo degit tiged dd
    docker podman kubectl gh glab git-lfs dvc sftp ftp oc nerdctl b2 s3cmd mc hf huggingface-cli wget aria2c axel
    """.split()
)
"""Programs that write foreign files to a path given as a plain argument."""


_SERVERS = frozenset(
    [
        "kubectl",
        "oc",
        "ssh",
        "docker",
        "podman",
        "nerdctl",
        "socat",
        "ngrok",
        "cloudflared",
        "http-server",
        "serve",
        "caddy",
        "cloud_sql_proxy",
        "nginx",
        "httpd",
        "busybox",
        "npx",
        "darkhttpd",
        "miniserve",
        "tailscale",
        "mitmproxy",
    ]
)
"""Programs that may serve untrusted content at a port of this machine, unless their call is local."""


_FILLS_ANYTHING = frozenset(("dvc", "git-lfs", "git-annex", "kaggle", "patch", "unrar"))
"""Programs that write foreign files that the command does not name."""


def judge_program(shell: Shell, words: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge a program; note the paths that it writes and the ports that it serves.

    `has_input`: the program gets input. `input_lists_files`: its input lists names of the project's own files.
    """
    program, arguments = words[0], words[1:]
    if (
        UNKNOWN_TEXT in program
        or LOCAL_TEXT in program
        or OWN_FILE in program
        or OWN_REVISION in program
        or not program
    ):
        return FOREIGN
    if any(word.startswith(("/dev/tcp/", "/dev/udp/")) for word in arguments):
        return FOREIGN
    name = program_name(program)
    if program in shell.functions:
        return Outcome(shell.call_function(program), False)
    outcome = _outcome(shell, program, name, arguments, has_input, input_lists_files)
    if name in shell.own and "/" not in program:
        outcome = outcome._replace(is_local=True)
    _note_written(shell, name, arguments)
    if not outcome.is_local:
        _note_foreign_names(shell, name, arguments)
    return outcome


def is_plain_program(program: str) -> bool:
    """Whether a program prints only texts and files, regardless of its environment."""
    return (
        program in known.PURE
        or program in known.TEXT
        or program in known.WITH_PATTERN
        or program in ("cd", "ls", "git", "find")
    )


def _outcome(
    shell: Shell, program: str, name: str, arguments: list[str], has_input: bool, input_lists_files: bool
) -> Outcome:
    if "/" in program and not known.SYSTEM_DIRECTORY.match(program) and name not in known.OWN_TOOLS:
        return run_own_program(shell, program, arguments)
    if len(arguments) == 1 and arguments[0] in _VERSION - {"--help"}:
        return PURE_OUTCOME if arguments[0] != "-v" or name not in known.TEXT else FOREIGN
    rule = _RULES.get(name)
    if rule is not None:
        return rule(shell, name, arguments, has_input, input_lists_files)
    if name in known.PURE:
        return PURE_OUTCOME._replace(status={"true": True, ":": True, "false": False}.get(name))
    if name in ("du", "stat", "file", "wc") and "-w" not in arguments:
        return list_files(shell, name, arguments, has_input, input_lists_files)
    if name in known.TEXT:
        return judge_reader(shell, arguments)
    if name in known.TESTS_AND_LINTERS:
        shell.effect.runs.add(known.FILES_OF_RUNNERS.get(name, ""))
        return judge_tool_run(shell, arguments)
    return FOREIGN


def _note_written(shell: Shell, name: str, arguments: Sequence[str]) -> None:
    """Note the paths that a program's arguments tell it to write."""
    if name in known.TEXT or name in known.WITH_PATTERN:
        return
    for flag, path in itertools.pairwise(arguments):
        if flag in OUTPUT or re.fullmatch(r"-[A-Za-z#]{0,12}[oOPCd]", flag):
            shell.written.append(path)
    for word in arguments:
        option, equals, value = word.partition("=")
        if equals and (
            option in OUTPUT or re.fullmatch(r"--?[\w-]*(?:out|output|report|file|xml|profile|dir)[\w-]*", option)
        ):
            shell.written.append(value)
        elif match := re.fullmatch(r"-[oOCP]([\w./~$][^\s]*)", word):
            shell.written.append(match[1])
    if name in ("cp", "mv", "ln", "install"):
        plain = plain_words(arguments, frozenset(("-m", "-o", "-g")))
        shell.written += plain[-1:]
        if plain[-1:] and (plain[-1].endswith("/") or plain[-1] in (".", "..")):
            shell.written += [f"{plain[-1].rstrip('/')}/{last_component(word)}" for word in plain[:-1]]
    elif name in ("mktemp", "touch"):
        shell.written += [word for word in arguments if not word.startswith("-")]


def _note_foreign_names(shell: Shell, name: str, arguments: Sequence[str]) -> None:
    """Note the names of the files that a foreign program writes."""
    foreign_names = shell.effect.foreign_names
    plain = [word for word in arguments if not word.startswith("-") and UNKNOWN_TEXT not in word]
    if name in _FILLS_ITS_ARGUMENTS or name in ("yt-dlp", "youtube-dl", "vendor"):
        for word in plain:
            last = last_component(re.split(r"[?#]", word.rpartition(":")[2] if "://" not in word else word)[0])
            foreign_names.update({last, ARCHIVE_SUFFIX.sub("", last)})
    if name in ("curl", "http", "xh") and any(
        re.fullmatch(r"-[A-Za-z#]*O|--remote-name(?:-all)?|--download|-d", word) for word in arguments
    ):
        foreign_names.update(last_component(re.split(r"[?#]", word)[0]) for word in plain)
    if name in ("gh", "glab") and plain[:2] == ["repo", "clone"] and len(plain) > 2:
        foreign_names.add(last_component(plain[-1]).removesuffix(".git"))
    if name in ("gh", "glab") and len(plain) > 1 and plain[1] in ("checkout", "co"):
        shell.note_detour()
    if name in _FILLS_ANYTHING or (name in ("tar", "bsdtar", "unzip", "7z") and _unpacks_here(arguments)):
        shell.effect.pulls = True
    if name in ("gh", "glab") and plain[1:2] == ["download"] and not {"-D", "--dir", "-O", "--output"} & set(arguments):
        shell.effect.pulls = True
    if name in ("npx", "bunx", "pnpx", "cookiecutter", "copier", "degit", "create-react-app") or plain[:1] in (
        ["create"],
        ["dlx"],
        ["new"],
    ):
        foreign_names.update(last_component(word) for word in plain if "@" not in word)
    if name in MANAGERS or name in ("pip", "pip3", "bundle"):
        foreign_names.update(_LOCK_FILES)
    if name in _SERVERS:
        shell.effect.ports.update(re.findall(r"(?<![\d.])\d{2,5}(?![\d.])", " ".join(arguments)[:4_000]))


_LOCK_FILES = (
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "Cargo.lock",
    "poetry.lock",
    "uv.lock",
    "go.sum",
    "Gemfile.lock",
    "composer.lock",
)


def _unpacks_here(arguments: Sequence[str]) -> bool:
    """Whether an archive is unpacked into the current directory, with file names that the command does not state."""
    flags = "".join(word for word in arguments if word.startswith("-")) + (arguments[0] if arguments else "")
    is_shown = any(sign in flags for sign in ("p", "l", "t", "O", "Z")) and "x" not in flags.split("-")[-1]
    return not is_shown and not {"-d", "-C", "--directory"} & set(arguments)


Rule = Callable[["Shell", str, list[str], bool, bool], Outcome]


_RULES: dict[str, Rule] = {
    **dict.fromkeys(known.WRAPPERS, run_wrapped),
    **dict.fromkeys(known.CLIENTS, judge_client),
    **dict.fromkeys(known.TASK_RUNNERS, run_tasks),
    **dict.fromkeys(MANAGERS, run_managed),
    **dict.fromkeys(known.PACKAGE_RUNNERS, run_package_tool),
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "rg", "ripgrep", "ag", "ack", "ugrep", "ast-grep", "sg", "comby", "sd"), search_files
    ),
    **dict.fromkeys(
        ("sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq", "gojq", "jaq", "yq", "xq", "tomlq", "dasel", "fx", "gron"),
        run_text_script,
    ),
    **dict.fromkeys(("ls", "tree", "eza", "exa", "lsd", "ll", "la"), list_files),
    **dict.fromkeys(("cp", "mv", "ln", "install"), copy_files),
    **dict.fromkeys(("cd", "pushd", "popd", "chdir"), change_directory),
    **dict.fromkeys(known.SHELL_NAMES, run_shell),
    "node": node_program,
    **dict.fromkeys(("perl", "ruby"), perl_program),
    **dict.fromkeys(("php", "artisan"), php_program),
    **dict.fromkeys(("python", "pypy", "py"), python_program),
    **dict.fromkeys(("pwsh", "powershell"), run_powershell),
    **dict.fromkeys(("rails", "rake"), rails_command),
    **dict.fromkeys(("gdb", "lldb", "valgrind", "strace", "ltrace", "perf", "heaptrack", "rr"), run_debugged),
    **dict.fromkeys(("hg", "svn", "jj"), mercurial_command),
    **dict.fromkeys(("docker", "docker-compose", "podman", "podman-compose"), compose_program),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), compile_files),
    **dict.fromkeys(CLUSTER.keys() - {"docker-compose", "mise", "pyenv", "rbenv"}, judge_few_commands),
    **dict.fromkeys(known.ENVIRONMENT_RUNNERS.keys() - {"mise", "asdf", "direnv"}, run_in_environment),
    "git": git_program,
    "find": find_files,
    "fd": fd_files,
    "fdfind": fd_files,
    "xargs": run_xargs,
    "parallel": run_parallel,
    "eval": eval_text,
    "source": source_script,
    ".": source_script,
    "hyperfine": run_measured,
    "kubectl": kubectl_command,
    "sqlite3": sqlite_command,
    "openssl": openssl_command,
    "tee": tee_files,
    "patch": apply_patch,
    "tar": judge_archive,
    "bsdtar": judge_archive,
    "zip": judge_archive,
    "unzip": judge_archive,
    "rsync": synchronise_files,
    "psql": ask_database,
    "cmd": cmd_program,
    "manage.py": lambda shell, name, arguments, *_: django_command(shell, arguments),
}
