"""Whether one program with its arguments is known to print local words. Pure.

Each program has a rule of its own, or stands in a table of `known_programs`. What neither knows is somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from palazzo.security import inline_code
from palazzo.security import known_programs as known
from palazzo.security.git_commands import OWN_REVISION, judge_git, last_component
from palazzo.security.loopback import host_of, is_loopback, is_own_server, names_foreign_address, port_of
from palazzo.security.package_managers import MANAGERS
from palazzo.security.project_paths import LOCAL_TEXT, OWN_FILE, UNKNOWN, is_dependency

if TYPE_CHECKING:
    from palazzo.security.command_trust import Shell


class Outcome(NamedTuple):
    """What is known of a program's output. `status` is its exit status where that is certain."""

    is_local: bool
    reads_project: bool = True
    lists_own_files: bool = False
    status: bool | None = None


FOREIGN = Outcome(False)
_PURE = Outcome(True, False)
_VERSION = frozenset({"--version", "-V", "-version", "--help", "-v", "version"})
_HELP = frozenset({"--help", "-h", "help", "--version", "-V", "-version"})
_OUTPUT = frozenset(
    """
    -o --output -O --out --output-file --output-document --output-dir --outdir --out-dir --outDir -d --destination --dest -P
    --directory-prefix --dir --directory -C --target -t --target-dir --local-dir -D --prefix --save --save-to --clobber --junitxml
    --path --modules-folder --report --outfile --outFile -p --roles-path --build --install-dir --download-dir
    """.split()  # noqa: SIM905 - a table
)
"""Options behind which what a program writes is named."""
_FILLS_ITS_ARGUMENTS = frozenset(
    """
    cp mv ln install scp rsync rclone aws gsutil az tar bsdtar unzip gunzip 7z zstd xz unrar cargo degit tiged dd docker podman kubectl
    gh glab git-lfs dvc sftp ftp oc nerdctl b2 s3cmd mc hf huggingface-cli wget aria2c axel
    """.split()  # noqa: SIM905 - a table
)
"""Programs that write what they bring where a plain argument says."""
_PACKED = re.compile(r"(?:\.tar)?\.(?:zip|t?gz|t?xz|tbz2?|tar|bz2|7z|zst)$", re.IGNORECASE)
_SERVERS = frozenset(
    "kubectl oc ssh docker podman nerdctl socat ngrok cloudflared http-server serve caddy php python cloud_sql_proxy fly heroku gcloud"
    " stripe nginx httpd ruby busybox npx darkhttpd miniserve mkcert tailscale mitmproxy".split()  # noqa: SIM905 - a table
)
"""Programs that may serve others' words at a port of this machine; only those are meant that are not local."""
_FILLS_ANYTHING = frozenset(("dvc", "git-lfs", "git-annex", "kaggle", "patch", "unrar"))
"""Programs that bring files whose names nobody says."""


def judge_program(shell: Shell, words: list[str], has_input: bool, listed: bool) -> Outcome:
    """Judge a program; note what it writes and serves.

    `has_input`: something is fed to it. `listed`: what is fed are names of the project's own files.
    """
    program, arguments = words[0], words[1:]
    if UNKNOWN in program or LOCAL_TEXT in program or OWN_FILE in program or OWN_REVISION in program or not program:
        return FOREIGN
    if any(word.startswith(("/dev/tcp/", "/dev/udp/")) for word in arguments):
        return FOREIGN
    name = program_name(program)
    if program in shell.functions:
        return Outcome(shell.call_function(program), False)
    outcome = _outcome(shell, program, name, arguments, has_input, listed)
    if name in shell.own and "/" not in program:
        outcome = outcome._replace(is_local=True)
    _note_written(shell, name, arguments)
    if not outcome.is_local:
        _note_brought(shell, name, arguments)
    return outcome


def is_plain_program(program: str) -> bool:
    """Whether a program prints texts and files alone, whatever its environment says."""
    return (
        program in known.PURE
        or program in known.TEXT
        or program in known.WITH_PATTERN
        or program in ("cd", "ls", "git", "find")
    )


def program_name(word: str) -> str:
    """Return a program's name without its directory, its ending and the version of an interpreter."""
    name = re.split(r"[/\\]", word)[-1]
    name = re.sub(r"\.(?:exe|cmd|bat)$", "", name, flags=re.IGNORECASE)
    return re.sub(r"^(python|ruby|perl|php|pip|node|pypy|lua)-?[\d.]+$", r"\1", name)


def _outcome(shell: Shell, program: str, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    if "/" in program and not known.SYSTEM_DIRECTORY.match(program) and name not in known.OWN_TOOLS:
        return _own_program(shell, program, arguments)
    if len(arguments) == 1 and arguments[0] in _VERSION - {"--help"}:
        return _PURE if arguments[0] != "-v" or name not in known.TEXT else FOREIGN
    rule = _RULES.get(name)
    if rule is not None:
        return rule(shell, name, arguments, has_input, listed)
    if name in known.PURE:
        return _PURE._replace(status={"true": True, ":": True, "false": False}.get(name))
    if name in known.TEXT:
        return _reader(shell, arguments)
    if name in known.TESTS_AND_LINTERS:
        shell.effect.runs.add(known.FILES_OF_RUNNERS.get(name, ""))
        return _tool(shell, arguments)
    return FOREIGN


# --- files --------------------------------------------------------------------------------------------------------


def _reader(shell: Shell, arguments: Sequence[str]) -> Outcome:
    """A program that prints the files that it is given."""
    return Outcome(all(_is_own_argument(shell, word) for word in arguments))


def _is_own_argument(shell: Shell, word: str) -> bool:
    if word.startswith("-") and word != "-":
        _, equals, value = word.partition("=")
        return not equals or not re.match(r"[~/]|\.\./", value) or shell.is_own(value)
    return shell.is_own(word)


_LIST_OWN = frozenset({"-l", "--files", "--files-with-matches", "-rl", "-rln", "-lr", "-il", "-rli", "-lri"})


def _searcher(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """A program that is given a pattern, then files; without files it searches its input, or all that is there."""
    options = [word for word in arguments if word.startswith("-")]
    plain = _positional(arguments, _SEARCH_VALUES)
    has_pattern = any(word in ("-e", "--regexp", "-f", "--file") or word.startswith("--regexp=") for word in options)
    lists_files = "--files" in options or name in ("fd", "fdfind")
    files = plain if has_pattern or "--files" in options else plain[1:]
    patterns = _values(arguments, ("-f", "--file"))
    if name in ("ag", "ack", "rg", "ripgrep", "ugrep", "fd", "fdfind") and any(
        re.match(r"-\w*u|--no-ignore|--unrestricted|-I$|-a$|--search-zip|-\w*z|--pre\b", word) for word in options
    ):
        return FOREIGN
    is_recursive = any(re.match(r"-\w*[rR]|--(?:dereference-)?recursive", word) for word in options)
    if name in known.RECURSIVE and is_recursive:
        left_out = any(re.match(r"--exclude-dir", word) and not is_own_only(word) for word in arguments)
        everything = not files or any(file.rstrip("/") in ("", ".", "*", "./*") for file in files)
        if everything and not left_out and not has_input:
            return FOREIGN
    shell.effect.shows_diff = True
    is_own = all(shell.is_own(file) for file in (*files, *patterns))
    return Outcome(is_own, lists_own_files=is_own and (lists_files or bool(_LIST_OWN & set(options))))


def is_own_only(option: str) -> bool:
    """Whether an option that leaves directories out leaves those of dependencies in."""
    return re.search(r"node_modules|venv|vendor|site-packages|target|\{", option) is None


_SEARCH_VALUES = frozenset(
    """
    -A -B -C -m -g -t -T -e -f -d -D --regexp --file --include --exclude --exclude-dir --glob --iglob --type --type-not -E --extension
    --max-depth --max-count --context --after-context --before-context --color --colors -M --max-columns -j --threads --sort --sortr
    -r --replace --max-filesize -x --exec -H-value -S-value --type-add --binary-files --ignore-dir --exclude-from
    """.split()  # noqa: SIM905 - a table
)


def _positional(arguments: Sequence[str], with_value: frozenset[str]) -> list[str]:
    plain: list[str] = []
    skip = is_over = False
    for word in arguments:
        if skip:
            skip = False
        elif word == "--" and not is_over:
            is_over = True
        elif word.startswith("-") and word != "-" and not is_over:
            skip = word in with_value
        else:
            plain.append(word)
    return plain


def _values(arguments: Sequence[str], options: Sequence[str]) -> list[str]:
    return [after for before, after in zip(arguments, arguments[1:], strict=False) if before in options]


def _find(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    starts: list[str] = []
    for word in arguments:
        if word.startswith(("-", "(", "!", ")")):
            break
        starts.append(word)
    is_own = all(shell.is_own(start) for start in starts)
    for n, word in enumerate(arguments):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            run = arguments[n + 1 :]
            end = next((at for at, one in enumerate(run) if one in (";", "+")), len(run))
            excludes = any(not is_own_only(one) for one in arguments[:n]) or all(
                start.rstrip("/") not in (".", "") for start in starts or ["."]
            )
            place = OWN_FILE if excludes and is_own else UNKNOWN
            inner = judge_program(shell, [one.replace("{}", place) for one in run[:end]] or ["false"], False, False)
            is_own = is_own and inner.is_local
        elif word in ("-fprint", "-fprintf", "-fls", "-files0-from"):
            is_own = False
    is_listing = not any(start.rstrip("/") in (".", "") for start in starts or ["."]) or any(
        not is_own_only(word) for word in arguments
    )
    return Outcome(is_own, lists_own_files=is_own and is_listing)


def _fd(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    for n, word in enumerate(arguments):
        if word in ("-x", "-X", "--exec", "--exec-batch"):
            run = [one.replace("{}", OWN_FILE) for one in arguments[n + 1 :]]
            inner = judge_program(shell, [*run, OWN_FILE], False, False) if run else FOREIGN
            found = _searcher(shell, name, arguments[:n], has_input, listed)
            return Outcome(found.is_local and inner.is_local)
    return _searcher(shell, name, arguments, has_input, listed)


def _list_files(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    if name == "tree":
        arguments = [
            word
            for n, word in enumerate(arguments)
            if n == 0 or arguments[n - 1] not in ("-I", "-P", "-L", "--filelimit")
        ]
    outcome = _reader(shell, arguments)
    return outcome._replace(
        lists_own_files=outcome.is_local and bool(_positional(arguments, frozenset())) and "." not in arguments
    )


def _script_reader(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """sed, awk, jq and their like: a program first, then files."""
    with_value = {
        "sed": frozenset(("-e", "-f", "--expression", "--file", "-l")),
        "jq": frozenset(("-f", "--from-file", "--indent", "--tab")),
    }.get(name.lstrip("g"), frozenset(("-F", "-v", "-f", "-e", "-p", "-o", "-I", "-k")))
    arguments = _without_named_values(arguments)
    plain = _positional(arguments, with_value)
    programs = _values(arguments, ("-e", "--expression"))
    files = _values(arguments, ("-f", "--file", "--from-file"))
    if not programs and not files:
        programs, plain = plain[:1], plain[1:]
    if name == "yq" and programs[:1] in (["eval"], ["e"], ["eval-all"], ["ea"]):
        programs, plain = plain[:1], plain[1:]
    is_safe = True
    if name in ("sed", "gsed"):
        is_safe = all(inline_code.is_own_sed(code) for code in programs)
    elif "awk" in name:
        is_safe = all(inline_code.is_own_awk(code) for code in programs)
        plain = [word for word in plain if not re.match(r"\w+=", word)]
    elif name in ("jq", "gojq", "jaq", "yq"):
        is_safe = not any(
            re.search(r"\benv\b|\$ENV|\bload\s*\(|\binput_filename|\bimport\b|\binclude\b|strenv", one)
            for one in programs
        )
    if any(word in ("-i", "-i.bak", "--in-place", "-ni", "-Ei") or word.startswith("-i") for word in arguments):
        return Outcome(is_safe and all(shell.is_own(word) for word in plain), False)
    return Outcome(is_safe and all(shell.is_own(word) for word in (*plain, *files)))


def _without_named_values(arguments: Sequence[str]) -> list[str]:
    """Leave out jq's `--arg name value`, `--argjson` and `--slurpfile`, the last with its file kept."""
    kept: list[str] = []
    skip = 0
    for word in arguments:
        if skip:
            skip -= 1
        elif word in ("--arg", "--argjson"):
            skip = 2
        elif word in ("--slurpfile", "--rawfile"):
            skip = 1
        else:
            kept.append(word)
    return kept


def _copy(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    plain = _positional(arguments, frozenset(("-t", "--target-directory", "-m", "-o", "-g", "-S")))
    sources = plain[:-1] if len(plain) > 1 else plain
    if name == "ln" and "-s" in "".join(word for word in arguments if word.startswith("-")) and len(plain) == 2:
        base = plain[1].rpartition("/")[0]
        target = plain[0] if plain[0].startswith(("/", "~")) or not base else f"{base}/{plain[0]}"
        return Outcome(shell.is_own(target), False)
    return Outcome(all(shell.is_own(word) for word in sources), False)


def _directory(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    plain = _positional(arguments, frozenset())
    if name == "popd" or plain in (["-"],):
        shell.directory = shell.project.directory or shell.project.root
        return _PURE
    is_own = shell.change_directory(plain[0] if plain else "~")
    return Outcome(is_own, False)


# --- tools of the project --------------------------------------------------------------------------------------------


def _tool(shell: Shell, arguments: Sequence[str]) -> Outcome:
    """A compiler, test runner or linter: it prints what it finds in the project, unless it is led elsewhere."""
    shell.effect.runs.update(last_component(word) for word in arguments[:64] if not word.startswith("-"))
    before = ""
    for word in arguments:
        if names_foreign_address(word):
            return FOREIGN
        is_output = before in _OUTPUT
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
        before = word
    return Outcome(True)


def _compiler(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    return FOREIGN if "-" in arguments else _tool(shell, arguments)


def _own_program(shell: Shell, program: str, arguments: list[str]) -> Outcome:
    """A script or a binary of the project: known by its name to build or to test, or asked for its help alone."""
    shell.effect.runs.add(last_component(program))
    if not shell.is_own(program):
        return FOREIGN
    if any(names_foreign_address(word) for word in arguments):
        return FOREIGN
    if _HELP & set(arguments):
        return Outcome(True)
    words = [word for word in arguments if re.fullmatch(r"[a-z][\w:-]{1,40}", word)]
    stem = re.sub(r"(?:\.\w{1,5}){1,2}$", "", last_component(program))
    if re.match(r"(?:\./)?(?:tests?|spec|__tests__)/", program):
        stem = "test"
    if known.is_build_task(stem) and not any(known.is_fetching_task(word) for word in words):
        return _tool(shell, arguments)
    if shell.is_judged_script(program) or (
        _is_built(shell, program)
        and all(word in _OWN_VERBS or shell.is_own(word) and re.search(r"[./]", word) for word in words_of(arguments))
    ):
        return _tool(shell, arguments)
    shell.effect.pulls |= any(known.is_fetching_task(word) for word in (stem, *words))
    return FOREIGN


_OWN_VERBS = known.TASK_WORDS | frozenset(
    "parse render convert explain tokens ast eval hash sort demo example examples dump compare hello sum encode decode run".split()  # noqa: SIM905
)


def words_of(arguments: Sequence[str]) -> list[str]:
    """The plain words of an own program's arguments."""
    return [word for word in arguments if not word.startswith("-") and not word.isdigit()]


def _is_built(shell: Shell, program: str) -> bool:
    """Whether a program is one that the project's own build makes, or that was compiled just before."""
    if re.match(
        r"(?:\./)?(?:build|target/(?:[\w-]+/)?(?:debug|release)|cmake-build-\w+|_build|zig-out/bin|\.build|bin)/",
        program,
    ):
        return not program.endswith((".sh", ".py", ".js", ".rb", ".pl"))
    plain = shell.plain(program)
    return bool(plain) and shell.was_made(plain)


def _tasks(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """make, just, rake and their like: their targets say what they do."""
    shell.effect.runs.add(known.FILES_OF_RUNNERS.get(name, ""))
    if any(
        word in ("-n", "--dry-run", "--just-print", "--list", "-l", "-T", "--summary", "--help", "-q")
        for word in arguments
    ):
        return _tool(shell, arguments)
    plain = _positional(
        arguments, frozenset(("-C", "-f", "--file", "-j", "-l", "-o", "-W", "-I", "--directory", "--justfile"))
    )
    files = _values(arguments, ("-C", "-f", "--file", "--directory", "--justfile", "-I"))
    targets = [word for word in plain if "=" not in word and not word.isdigit() and LOCAL_TEXT not in word]
    if not all(shell.is_own(word) for word in files) or any(names_foreign_address(word) for word in plain):
        return FOREIGN
    if all(known.is_build_task(word) for word in targets):
        return Outcome(True)
    shell.effect.pulls |= any(known.is_fetching_task(word) for word in targets)
    return FOREIGN


def _managed(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """A package manager or a build system: which of its commands are local is in `package_managers`."""
    shell.effect.runs.add(known.FILES_OF_RUNNERS.get(name, ""))
    verdict = MANAGERS[name](arguments)
    if verdict.runs:
        return judge_program(shell, verdict.runs, has_input, listed)
    shell.effect.pulls |= verdict.pulls
    if name in ("bazel", "bazelisk", "buck2", "pants"):  # their targets begin with strokes
        return Outcome(verdict.is_local and not any(names_foreign_address(word) for word in arguments))
    return _tool(shell, arguments) if verdict.is_local else FOREIGN


def _tool_runner(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """npx and its like: a known tool that is installed."""
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
    return judge_program(shell, arguments[at:], has_input, listed)


# --- interpreters ---------------------------------------------------------------------------------------------------


def _python(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    while arguments and re.fullmatch(r"-(?:[uBEsSIOqx]+|W|X|Wignore|Xutf8|Xdev)|-[WX]\S+", arguments[0]):
        arguments = arguments[2:] if arguments[0] in ("-W", "-X") else arguments[1:]
    if not arguments or arguments[0] == "-":
        return FOREIGN if not arguments and not has_input else _fed_python(shell)
    if arguments[0] in ("--version", "-V"):
        return _PURE
    if arguments[0] == "-c" and len(arguments) > 1:
        return Outcome(inline_code.is_own_python(arguments[1], shell.is_own) and _are_own_paths(shell, arguments[2:]))
    if arguments[0] == "-m" and len(arguments) > 1:
        return _python_module(shell, arguments[1], arguments[2:], has_input, listed)
    if last_component(arguments[0]) == "manage.py":
        return _django(shell, arguments[1:])
    return _own_program(shell, arguments[0], arguments[1:])


def _fed_python(shell: Shell) -> Outcome:
    return Outcome(shell.fed_text is not None and inline_code.is_own_python(shell.fed_text, shell.is_own))


def _are_own_paths(shell: Shell, words: Sequence[str]) -> bool:
    return all(shell.is_own(word) for word in words if "/" in word or "." in word)


_PYTHON_MODULES = frozenset(
    """
    json.tool compileall py_compile venv doctest timeit tabnanny symtable ast tokenize dis build pip-noop pyclbr trace cProfile pdb
    unittest pytest zipapp calendar platform sysconfig site this
    """.split()  # noqa: SIM905 - a table
)


def _python_module(shell: Shell, module: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    if module == "json.tool":
        return _reader(shell, arguments)
    if module == "http.server":
        place = next(iter(_values(arguments, ("-d", "--directory"))), ".")
        is_own = shell.is_own(place)
        if not is_own or not shell.is_here():
            shell.effect.ports.update({*(word for word in arguments if word.isdigit()), "8000"})
        return Outcome(is_own and shell.is_here(), False)
    plain = module.replace("_", "-")
    if module in _PYTHON_MODULES or plain in known.TESTS_AND_LINTERS or module in known.TESTS_AND_LINTERS:
        return _tool(shell, arguments)
    if module in MANAGERS:
        return _managed(shell, module, arguments, has_input, listed)
    if _HELP & set(arguments) or any(part in ("test", "tests") for part in module.split(".")):
        return Outcome(True)
    return FOREIGN


_DJANGO = frozenset(
    "test check makemigrations migrate showmigrations sqlmigrate collectstatic compilemessages makemessages diffsettings startapp"
    " squashmigrations show_urls validate_templates optimizemigration help".split()  # noqa: SIM905 - a table
)


def _django(shell: Shell, arguments: list[str]) -> Outcome:
    return _tool(shell, arguments) if arguments and arguments[0] in _DJANGO else FOREIGN


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


def _rails(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    command = next((word for word in arguments if not word.startswith("-")), "")
    is_local = command in _RAILS or re.fullmatch(
        r"db:(?:migrate(?::\w+)?|rollback|create|drop|schema:\w+|version|abort\S*|test:\w+|prepare|setup|reset)",
        command,
    )
    return (
        _tool(shell, arguments) if is_local or (name == "rake" and known.is_build_task(command or "test")) else FOREIGN
    )


def _php(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    if arguments[:1] == ["-l"]:
        return _tool(shell, arguments)
    if name == "artisan" or (arguments and last_component(arguments[0]) == "artisan"):
        rest = arguments if name == "artisan" else arguments[1:]
        command = next(iter(rest), "")
        return (
            _tool(shell, rest)
            if re.fullmatch(
                r"test|route:list|migrate(?::\w+)?|make:\w+|list|config:\w+|view:\w+|about|optimize(?::clear)?|env|key:generate",
                command,
            )
            else FOREIGN
        )
    if arguments and known.SYSTEM_DIRECTORY.match(arguments[0]):
        return judge_program(shell, [last_component(arguments[0]), *arguments[1:]], has_input, listed)
    return (
        _own_program(shell, arguments[0], arguments[1:]) if arguments and not arguments[0].startswith("-") else FOREIGN
    )


def _node(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    for n, word in enumerate(arguments):
        if word in ("-e", "--eval", "-p", "--print", "-pe", "eval") and n + 1 < len(arguments):
            is_own = inline_code.is_own_javascript(arguments[n + 1], shell.is_own)
            return Outcome(is_own and _are_own_paths(shell, arguments[n + 2 :]))
        if word in ("--test", "-c", "--check"):
            return _tool(shell, [one for one in arguments if one != word])
        if not word.startswith("-"):
            return _own_program(shell, word, arguments[n + 1 :])
    return FOREIGN


def _perl(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    if arguments[:1] in (["-c"], ["-wc"], ["-cw"]):
        return _tool(shell, arguments[1:])
    codes = [
        after for before, after in zip(arguments, arguments[1:], strict=False) if re.fullmatch(r"-\w*[eE]", before)
    ]
    if any(word.startswith(("-M", "-m", "-r", "-I", "-S")) for word in arguments):
        return FOREIGN
    if not codes:
        script = next((word for word in arguments if not word.startswith("-")), "")
        return _own_program(shell, script, arguments[arguments.index(script) + 1 :]) if script else FOREIGN
    plain = [
        word
        for n, word in enumerate(arguments)
        if not word.startswith("-") and not re.fullmatch(r"-\w*[eE]", arguments[n - 1])
    ]
    is_own = all(inline_code.is_own_perl(code) for code in codes) and all(shell.is_own(word) for word in plain)
    return Outcome(is_own)


def _shell_program(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    while arguments and re.fullmatch(
        r"[-+](?!\w*[cs])\w+|--(?:norc|noprofile|login|posix)|pipefail|errexit", arguments[0]
    ):
        if arguments[0] in ("-n", "-nv"):
            return _tool(shell, arguments[1:])
        arguments = arguments[1:]
    if arguments and re.fullmatch(r"-\w*c\w*", arguments[0]) and len(arguments) > 1:
        positional = {str(n): [text] for n, text in enumerate(arguments[2:])}
        positional["@"] = positional["*"] = arguments[3:]
        return _run_text(shell, arguments[1], positional)
    if not arguments or arguments[0] in ("-s", "-"):
        return _run_text(shell, shell.fed_text, {}) if shell.fed_text is not None else FOREIGN
    return _own_program(shell, arguments[0], arguments[1:])


def _run_text(shell: Shell, text: str | None, variables: dict[str, list[str]]) -> Outcome:
    if text is None or UNKNOWN in text or LOCAL_TEXT in text:
        return FOREIGN
    before, directory = dict(shell.variables), shell.directory
    shell.variables.update(variables)
    could_run = shell.nested(text)
    shell.variables, shell.directory = before, directory
    return Outcome(could_run, False)


def _eval(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    return _run_text(shell, " ".join(arguments), {})


def _source(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    if arguments and re.search(r"(?:^|/)\.?v?env/(?:bin|Scripts)/activate$", arguments[0]):
        return _PURE
    return _own_program(shell, arguments[0], arguments[1:]) if arguments else FOREIGN


def _powershell(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    for n, word in enumerate(arguments):
        if word.lower() in ("-c", "-command", "-commandwithargs") and n + 1 < len(arguments):
            code = " ".join(arguments[n + 1 :])
            return Outcome(inline_code.is_own_powershell(code, shell.is_own, lambda said: _judges_part(shell, said)))
    return FOREIGN


def _judges_part(shell: Shell, said: str) -> bool:
    words = said.split()
    if words[:1] in (["git"], ["dotnet"]):
        return judge_program(shell, words, False, False).is_local
    return is_own_server(said)


def _cmd(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    return FOREIGN


# --- wrappers ---------------------------------------------------------------------------------------------------------


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


def _wrapper(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """A program that runs another one."""
    rest = list(arguments)
    if name == "command" and rest[:1] in (["-v"], ["-V"]):
        return _PURE
    flags = frozenset(("-i", "-s", "-n", "-E", "-e", "-c", "-p", "-k")) if name in ("sudo", "env") else frozenset()
    while rest and (rest[0].startswith("-") or re.match(r"[A-Za-z_]\w*=", rest[0])):
        word = rest.pop(0)
        if re.match(r"[A-Za-z_]\w*=", word):
            if shell.is_dangerous_assignment(word):
                return FOREIGN
        elif name == "env" and word in ("-S", "--split-string") and rest:
            return _run_text(shell, " ".join(rest), {})
        elif word in _WRAPPER_VALUES and (word not in flags or word == "-u") and rest:
            rest.pop(0)
    if name in ("timeout", "gtimeout", "taskset", "chrt") and rest:
        rest.pop(0)
    if name in ("mise", "asdf", "direnv", "dotenv") and rest[:1] in (["exec"], ["run"], ["x"]):
        rest.pop(0)
        rest = rest[1:] if rest[:1] in (["--"], ["."]) else rest
    if name == "watch" and len(rest) == 1:
        return _run_text(shell, rest[0], {})
    if not rest:
        return _PURE if name in ("env", "exec", "command", "time") else FOREIGN
    return judge_program(shell, rest, has_input, listed)


def _environment_runner(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """uv run, poetry run, bundle exec: a program in the project's own environment."""
    verb = known.ENVIRONMENT_RUNNERS[name]
    plain = [word for word in arguments if not word.startswith("-")]
    if plain[:1] != [verb]:
        return _managed(shell, name, arguments, has_input, listed) if name in MANAGERS else FOREIGN
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
        return _tool(shell, rest)
    return judge_program(shell, rest, has_input, listed)


def _xargs(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
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
    value = OWN_FILE if listed else UNKNOWN
    if not rest:
        return Outcome(listed)
    if place:
        return judge_program(shell, [word.replace(place, value) for word in rest], False, False)
    if program_name(rest[0]) in known.SHELL_NAMES and "-c" in "".join(rest[1:2]):
        rest = [*rest, *(["_"] if len(rest) == 3 else [])]
    return judge_program(shell, [*rest, value], False, False)


def _parallel(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    at = next((n for n, word in enumerate(arguments) if word in (":::", "::::")), len(arguments))
    command = [
        word
        for n, word in enumerate(arguments[:at])
        if not (word.startswith("-") and all(one.startswith("-") or one.isdigit() for one in arguments[:n]))
    ]
    values = (
        arguments[at + 1 :] if at < len(arguments) and arguments[at] == ":::" else [OWN_FILE if listed else UNKNOWN]
    )
    if not command:
        return FOREIGN
    has_place = any("{}" in word for word in command)
    for value in values[:64]:
        words = [word.replace("{}", value) for word in command] + ([] if has_place else [value])
        if not judge_program(shell, words, False, False).is_local:
            return FOREIGN
    return Outcome(len(values) <= 64)


def _measured(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """hyperfine: each plain argument is a command line."""
    plain = _positional(
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
    prepared = _values(arguments, ("-p", "--prepare", "-c", "--cleanup", "-s", "--setup"))
    return Outcome(all([_run_text(shell, text, {}).is_local for text in (*plain, *prepared)]))


def _debugger(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """gdb, lldb, valgrind, strace: what they run must be what the project built."""
    if "--args" in arguments:
        arguments = arguments[arguments.index("--args") + 1 :]
    elif "--" in arguments:
        arguments = arguments[arguments.index("--") + 1 :]
    program = next(iter(_positional(arguments, frozenset(("-ex", "-x", "-p", "-o", "-e")))), "")
    built = re.match(r"(?:\./)?(?:build|target|bin|out|cmake-build-\w+|_build|zig-out|\.build)/|\./", program)
    is_own = bool(built) and shell.is_own(
        program.replace("out/", "build/", 1) if program.startswith("out/") else program
    )
    return Outcome(is_own and not any(names_foreign_address(word) for word in arguments))


# --- addresses ---------------------------------------------------------------------------------------------------------

_CLIENT_VALUES = frozenset(
    """
    -H --header -d --data --data-raw --data-binary --data-urlencode --json -X --request -o --output -u --user -A --user-agent -e
    --referer -b --cookie -c --cookie-jar -F --form -m --max-time -w --write-out --connect-timeout --retry --retry-delay -T
    --upload-file --form-string -D --dump-header -r --range --cacert --cert --key -O-value -t -n -P --post-data --method --body-data
    --timeout --tries -z --limit-rate -C --session -a --auth -A-value --body -q-value -t-value --duration --rate --method --import-path
    -proto -import-path -plaintext-value -rate -duration -targets-value --retry-max-time --ciphers --max-redirs -U -y
    """.split()  # noqa: SIM905 - a table
)
_CLIENT_DENIED = re.compile(
    r"-x$|--proxy|--preproxy|--socks|--connect-to|--resolve|--doh|-K$|--config|--unix-socket|--abstract-unix|-i$|--input-file|--next|-k-value"
    r"|--proto-redir|--url-query|--variable|--base|-B$|--execute|--interface|--dns|--netrc|--parallel-immediate|-e$"
)


def _client(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """curl and its like: local where every address is this machine's own server, or a file of the project."""
    plain: list[str] = []
    skip = ""
    resolved = False
    for word in arguments:
        if skip:
            if skip in ("--resolve", "--connect-to"):
                if not _resolves_here(word):
                    return FOREIGN
                resolved = True
            elif word.startswith("@") and not shell.is_own(word[1:]):
                return FOREIGN
            skip = ""
        elif word in ("--resolve", "--connect-to") and name == "curl":
            skip = word
        elif word.startswith("-") and word != "-":
            if _is_denied_option(name, word):
                return FOREIGN
            if word.startswith("--url="):
                plain.append(word[6:])
            elif word in _CLIENT_VALUES and not (
                name in ("wget",) and word in ("-c", "-q", "-r", "-d", "-b", "-A", "-w-")
            ):
                skip = word
            elif re.fullmatch(r"-[a-zA-Z]*[oXHduAmwT]", word) and name in ("curl",):
                skip = word
        else:
            plain.append(word)
    if name in ("http", "https", "xh", "xhs", "curlie") and plain:
        methods = [word for word in plain[:1] if re.fullmatch(r"[A-Za-z]{3,7}", word) and len(plain) > 1]
        plain = plain[len(methods) :][:1]
    elif name in ("nc", "ncat", "netcat", "telnet"):
        plain = plain[:1]
    elif name == "grpcurl":
        plain = plain[:1]
    if not plain or (has_input and name in ("wget",) and "-i" in arguments):
        return FOREIGN
    if resolved and len(plain) == 1:
        return _PURE
    return Outcome(all(_is_own_address(shell, word, name) for word in plain), bool(plain[0].startswith("file:")))


def _resolves_here(word: str) -> bool:
    """Whether curl's `--resolve` or `--connect-to` leads to this machine."""
    host = word.rpartition(":")[2] if not word.endswith("]") else word[word.rfind("[") :].strip("[]")
    return is_loopback(host) or is_loopback(word.split(":")[-2] if word.count(":") > 2 else "")


def _is_denied_option(name: str, word: str) -> bool:
    if word in ("-i", "-e", "-k", "-B") and name == "curl":
        return False
    if name in ("nc", "ncat", "netcat") and word in ("-i", "-e", "-l", "-k"):
        return word in ("-e", "-l")
    return _CLIENT_DENIED.match(word) is not None or (
        word.startswith("-") and names_foreign_address(word) and "=" not in word
    )


def _is_own_address(shell: Shell, word: str, name: str) -> bool:
    if word.lower().startswith("file://"):
        return shell.is_own(re.sub(r"^file://(?:localhost)?", "", word, flags=re.IGNORECASE))
    if name in ("curl", "wget", "lynx", "w3m") and word == "-":
        return True
    authority = re.match(r"(?:\w+://)?[^/?#]*", word)
    if authority and re.search(f"[{UNKNOWN}{LOCAL_TEXT}{OWN_FILE}]", authority[0]):
        return False
    word = re.sub(f"[{UNKNOWN}{LOCAL_TEXT}{OWN_FILE}{OWN_REVISION}]", "0", word)
    if shell.own.has_host(host_of(word)):
        return True
    if not is_own_server(word):
        return False
    return not shell.is_foreign_port(port_of(word) or "80")


# --- version control and cloud programs that have local commands ----------------------------------------------------------


def _git(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    effect = judge_git(arguments, shell.is_own, shell.own)
    command = next((word for word in arguments if not word.startswith("-")), "")
    if (
        command in ("am", "apply")
        and has_input
        and not [word for word in arguments if not word.startswith("-")][1:]
        and not shell.effect.is_local
    ):
        effect.is_local, effect.tree = False, "pulled"
    shell.note_git(effect)
    if command in ("diff", "show", "log", "stash", "grep", "blame", "format-patch", "cherry-pick", "status", "commit"):
        shell.effect.shows_diff = True
    lists = (
        command in ("ls-files", "grep") and (command == "ls-files" or "-l" in arguments)
    ) or "--name-only" in arguments
    reads = command not in (
        "push",
        "remote",
        "config",
        "init",
        "add",
        "rev-parse",
        "version",
        "tag",
        "fetch",
        "checkout",
        "switch",
        "restore",
        "stash",
        "reset",
        "worktree",
    )
    return Outcome(effect.is_local, reads and effect.is_local, lists and effect.is_local)


_RUNS_HOOKS = frozenset(
    ("commit", "push", "merge", "rebase", "checkout", "switch", "am", "cherry-pick", "pull", "clone", "gc")
)


def _mercurial(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    command = next((word for word in arguments if not word.startswith("-")), "")
    commands = {
        "hg": "status st diff log annotate blame cat commit ci add summary heads branches branch bookmarks files id identify update up parents root resolve shelve",
        "svn": "status st diff info add revert cleanup",
        "jj": "status st log diff show new describe desc commit squash bookmark op evolog abandon rebase edit split",
    }[name].split()
    if command not in commands or any(
        names_foreign_address(word) or word in ("-R", "--repository") for word in arguments
    ):
        shell.effect.pulls |= command in ("pull", "update", "up", "git", "switch", "merge", "import", "clone")
        return FOREIGN
    return Outcome(not any("@" in word and name == "jj" for word in arguments[1:] if "@origin" in word))


def _compose(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """docker compose: what it says of the project's own services, and tests that run in them."""
    if name in ("docker", "podman"):
        if arguments[:1] != ["compose"]:
            return FOREIGN
        arguments = arguments[1:]
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if (
            word in ("-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory")
            and rest
            and not shell.is_own(rest.pop(0))
        ):
            return FOREIGN
    command, arguments = next(iter(rest), ""), rest[1:]
    if command in ("ps", "config", "down", "stop", "restart", "start", "ls", "port", "kill", "rm", "version"):
        return Outcome(True)
    if command == "up":
        is_quiet = any(word in ("-d", "--detach", "--wait") for word in arguments) and _values(
            arguments, ("--pull",)
        ) in ([], ["never"])
        return Outcome(is_quiet and "--pull=always" not in arguments)
    if command in ("exec", "run"):
        while arguments and arguments[0].startswith("-"):
            word = arguments.pop(0)
            if word in ("-e", "--env", "-u", "--user", "-w", "--workdir", "--index", "--name") and arguments:
                arguments.pop(0)
        inner = arguments[1:]
        is_test = bool(inner) and (
            program_name(inner[0])
            in (
                *known.TESTS_AND_LINTERS,
                "python",
                "bundle",
                "npm",
                "pnpm",
                "yarn",
                "go",
                "cargo",
                "php",
                "make",
                "bin/rails",
                "rails",
                "mix",
                "./manage.py",
            )
        )
        return judge_program(shell, inner, False, False) if is_test and "pip" not in inner else FOREIGN
    return FOREIGN


_CLUSTER = {
    "helm": ("template", "lint", "package", "version", "create", "schema"),
    "kustomize": ("build", "edit", "version"),
    "terraform": ("fmt", "validate", "version", "graph"),
    "tofu": ("fmt", "validate", "version", "graph"),
    "terragrunt": ("hclfmt", "hclvalidate"),
    "packer": ("fmt", "validate"),
    "alembic": (
        "history",
        "heads",
        "current",
        "branches",
        "check",
        "revision",
        "upgrade",
        "downgrade",
        "show",
        "stamp",
    ),
    "prisma": ("validate", "format", "generate", "version"),
    "drizzle-kit": ("generate", "check"),
    "knex": ("migrate:list", "migrate:make"),
    "typeorm": ("migration:show", "migration:generate"),
    "pre-commit": ("run", "validate-config", "install", "uninstall", "validate-manifest"),
    "prek": ("run", "validate-config"),
    "lefthook": ("run", "validate"),
    "flask": ("routes", "db"),
    "sqlx": ("prepare",),
    "changeset": ("status", "version", "add"),
    "husky": ("install",),
    "rustup": ("show", "which"),
    "nvm": ("current",),
    "pyenv": ("version", "versions", "which", "local"),
    "rbenv": ("version", "versions", "which", "local"),
    "mise": ("current", "ls"),
    "docker-compose": (),
    "semantic-release": (),
    "buildifier": ("",),
    "sam": ("validate", "build"),
    "cdk": ("synth", "ls"),
    "wrangler": (),
    "skaffold": ("diagnose",),
    "act": (),
}
"""Programs of which some commands only read the project's own files."""


def _few_commands(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    command = next((word for word in _positional(arguments, frozenset(("-c", "--config", "-n", "-f"))) if word), "")
    if command not in _CLUSTER[name]:
        return FOREIGN
    if name == "helm" and command == "template":
        charts = [
            word
            for word in _positional(arguments, frozenset(("-f", "--values", "--set", "-n", "--namespace")))[1:]
            if "/" in word
        ]
        if not charts or not all(
            word.startswith(("./", "../", "charts/", "deploy/", "helm/", "chart/")) for word in charts
        ):
            return FOREIGN
        if any(word in ("--repo", "--dependency-update") for word in arguments):
            return FOREIGN
    return _tool(shell, arguments)


def _kubectl(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    if arguments[:1] == ["kustomize"]:
        return _tool(shell, arguments) if not any("//" in word or "?ref" in word for word in arguments) else FOREIGN
    if "--dry-run=client" in arguments and arguments[:1] in (["apply"], ["create"]):
        return _tool(shell, arguments)
    return _PURE if arguments[:2] == ["version", "--client"] else FOREIGN


def _sqlite(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    plain = _positional(arguments, frozenset(("-cmd", "-separator", "-init", "-newline", "-nullvalue")))
    is_memory = plain[:1] == [":memory:"] and not re.search(
        r"readfile|\.import|\.read|attach|load_extension|\.shell|\.system|\.open|fsdir",
        " ".join(arguments),
        re.IGNORECASE,
    )
    if len(plain) == 2 and _SCHEMA.fullmatch(plain[1].strip()) and not has_input:
        place = shell.plain(plain[0])
        return Outcome(bool(place) and shell.project.is_inside(place), False)
    return Outcome(is_memory and not any(word in ("-cmd", "-init") for word in arguments), False)


def _open_ssl(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    if arguments[:1] and arguments[0] in (
        "rand",
        "version",
        "dgst",
        "passwd",
        "sha256",
        "md5",
        "base64",
        "genrsa",
        "enc",
        "x509",
        "req",
    ):
        return _tool(shell, arguments)
    if arguments[:1] == ["s_client"]:
        return Outcome(
            all(is_own_server(word) for word in _values(arguments, ("-connect",)) or [""])
            and "-proxy" not in arguments,
            False,
        )
    return FOREIGN


_SCHEMA = re.compile(
    r"\.(?:schema|tables|indexes|indices|help|databases|dbinfo)\b[ \w]*|\\(?:d[tisvmnfu]?\+?(?: [\w.]+)?|l|conninfo)"
)


def _archive(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """tar, zip and their like: what is packed must be the project's own, what is listed or unpacked was packed here."""
    plain = _positional(arguments, frozenset(("-f", "-C", "--exclude", "--file", "-x", "--directory")))
    flags = arguments[0] if arguments else ""
    named = _values(arguments, ("-f", "--file"))
    if name == "zip" or (name in ("tar", "bsdtar") and re.fullmatch(r"-?[a-zA-Z]*c[a-zA-Z]*", flags)):
        if name != "zip" and not flags.startswith("-"):
            plain = plain[1:]
        archive, inputs = (
            (named or plain[:1]),
            plain[len(plain) - len(plain[0 if named or flags.endswith("f") and flags.startswith("-") else 1 :]) :],
        )
        is_own = bool(inputs) and all(shell.is_own(word) for word in inputs if word not in archive)
        if is_own:
            shell.written += archive
        return Outcome(is_own, False)
    archives = named or [word for word in plain if _PACKED.search(word)]
    archives += [
        after for before, after in zip(arguments, arguments[1:], strict=False) if re.fullmatch(r"-?[a-zA-Z]*f", before)
    ]
    return Outcome(bool(archives) and all(shell.is_own(word) for word in archives))


def _synchronise(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    plain = _positional(arguments, frozenset(("-e", "--exclude", "--include", "--filter")))
    return Outcome(
        bool(plain) and not any(":" in word for word in plain) and all(shell.is_own(word) for word in plain[:-1])
    )


def _client_of_database(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    """psql: the shape of the own database alone; its rows may be anybody's."""
    hosts = _values(arguments, ("-h", "--host"))
    asked = _values(arguments, ("-c", "--command"))
    is_here = all(host in ("localhost", "127.0.0.1") for host in hosts) and not any("://" in word for word in arguments)
    return Outcome(
        is_here and bool(asked) and not has_input and all(_SCHEMA.fullmatch(one.strip()) for one in asked), False
    )


def _tee(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    shell.written += [word for word in arguments if not word.startswith("-")]
    return _PURE


def _patch(shell: Shell, name: str, arguments: list[str], has_input: bool, listed: bool) -> Outcome:
    outcome = _reader(shell, _positional(arguments, frozenset()) + _values(arguments, ("-i",)))
    shell.effect.pulls |= not outcome.is_local
    return outcome


# --- what is left behind -----------------------------------------------------------------------------------------------


def _note_written(shell: Shell, name: str, arguments: Sequence[str]) -> None:
    """Note the paths that a program writes to, as far as its arguments say so."""
    if name in known.TEXT or name in known.WITH_PATTERN:
        return
    for before, after in zip(arguments, arguments[1:], strict=False):
        if before in _OUTPUT or re.fullmatch(r"-[A-Za-z#]{0,12}[oOPCd]", before):
            shell.written.append(after)
    for word in arguments:
        option, equals, value = word.partition("=")
        if equals and (
            option in _OUTPUT or re.fullmatch(r"--?[\w-]*(?:out|output|report|file|xml|profile|dir)[\w-]*", option)
        ):
            shell.written.append(value)
        elif found := re.fullmatch(r"-[oOCP]([\w./~$][^\s]*)", word):
            shell.written.append(found[1])
    if name in ("cp", "mv", "ln", "install"):
        plain = _positional(arguments, frozenset(("-m", "-o", "-g")))
        shell.written += plain[-1:]
        if plain[-1:] and (plain[-1].endswith("/") or plain[-1] in (".", "..")):
            shell.written += [f"{plain[-1].rstrip('/')}/{last_component(word)}" for word in plain[:-1]]
    elif name in ("mktemp", "touch"):
        shell.written += [word for word in arguments if not word.startswith("-")]


def _note_brought(shell: Shell, name: str, arguments: Sequence[str]) -> None:
    """Note the names of what a program that is not local brings in."""
    brought = shell.effect.brought
    plain = [word for word in arguments if not word.startswith("-") and UNKNOWN not in word]
    if name in _FILLS_ITS_ARGUMENTS or name in ("yt-dlp", "youtube-dl", "vendor"):
        for word in plain:
            last = last_component(re.split(r"[?#]", word.rpartition(":")[2] if "://" not in word else word)[0])
            brought.update({last, _PACKED.sub("", last)})
    if name in ("curl", "http", "xh") and any(
        re.fullmatch(r"-[A-Za-z#]*O|--remote-name(?:-all)?|--download|-d", word) for word in arguments
    ):
        brought.update(last_component(re.split(r"[?#]", word)[0]) for word in plain)
    if name in ("gh", "glab") and plain[:2] == ["repo", "clone"] and len(plain) > 2:
        brought.add(last_component(plain[-1]).removesuffix(".git"))
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
        brought.update(last_component(word) for word in plain if "@" not in word)
    if name in MANAGERS or name in ("pip", "pip3", "bundle"):
        brought.update(_LOCK_FILES)
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
    """Whether an archive is unpacked where nobody says its files' names."""
    flags = "".join(word for word in arguments if word.startswith("-")) + (arguments[0] if arguments else "")
    is_shown = any(sign in flags for sign in ("p", "l", "t", "O", "Z")) and "x" not in flags.split("-")[-1]
    return not is_shown and not {"-d", "-C", "--directory"} & set(arguments)


Rule = Callable[["Shell", str, list[str], bool, bool], Outcome]

_RULES: dict[str, Rule] = {
    **dict.fromkeys(known.WRAPPERS, _wrapper),
    **dict.fromkeys(known.CLIENTS, _client),
    **dict.fromkeys(known.TASK_RUNNERS, _tasks),
    **dict.fromkeys(MANAGERS, _managed),
    **dict.fromkeys(known.PACKAGE_RUNNERS, _tool_runner),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "ripgrep", "ag", "ack", "ugrep", "ast-grep", "sg", "comby", "sd"), _searcher),
    **dict.fromkeys(("sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq", "gojq", "jaq", "yq", "xq", "tomlq", "dasel", "fx", "gron"), _script_reader),
    **dict.fromkeys(("ls", "tree", "eza", "exa", "lsd", "ll", "la"), _list_files),
    **dict.fromkeys(("cp", "mv", "ln", "install"), _copy),
    **dict.fromkeys(("cd", "pushd", "popd", "chdir"), _directory),
    **dict.fromkeys(known.SHELL_NAMES, _shell_program),
    **dict.fromkeys(("node", "deno-noop", "bun-noop"), _node),
    **dict.fromkeys(("perl", "ruby"), _perl),
    **dict.fromkeys(("php", "artisan"), _php),
    **dict.fromkeys(("python", "pypy", "py"), _python),
    **dict.fromkeys(("pwsh", "powershell"), _powershell),
    **dict.fromkeys(("rails", "rake"), _rails),
    **dict.fromkeys(("gdb", "lldb", "valgrind", "strace", "ltrace", "perf", "heaptrack", "rr"), _debugger),
    **dict.fromkeys(("hg", "svn", "jj"), _mercurial),
    **dict.fromkeys(("docker", "docker-compose", "podman", "podman-compose"), _compose),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _compiler),
    **dict.fromkeys(_CLUSTER.keys() - {"docker-compose", "mise", "pyenv", "rbenv"}, _few_commands),
    **dict.fromkeys(known.ENVIRONMENT_RUNNERS.keys() - {"mise", "asdf", "direnv"}, _environment_runner),
    "git": _git, "find": _find, "fd": _fd, "fdfind": _fd, "xargs": _xargs, "parallel": _parallel, "eval": _eval, "source": _source,
    ".": _source, "hyperfine": _measured, "kubectl": _kubectl, "sqlite3": _sqlite, "openssl": _open_ssl, "tee": _tee,
    "patch": _patch, "tar": _archive, "bsdtar": _archive, "zip": _archive, "unzip": _archive, "rsync": _synchronise,
    "psql": _client_of_database, "cmd": _cmd, "manage.py": lambda shell, name, arguments, *_: _django(shell, arguments),
}  # fmt: skip
