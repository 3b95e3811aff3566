"""Rules for programs that print, search, copy and pack files: local if each file is the project's own. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.security import inline_code
from palazzo.security import known_programs as known
from palazzo.security.git_commands import GitEffect
from palazzo.security.program_arguments import (
    ARCHIVE_SUFFIX,
    FOREIGN,
    PURE_OUTCOME,
    Outcome,
    plain_words,
    values_behind,
)
from palazzo.security.project_paths import OWN_FILE, UNKNOWN_TEXT

if TYPE_CHECKING:
    from palazzo.security.command_trust import Shell


def judge_reader(shell: Shell, arguments: Sequence[str]) -> Outcome:
    """Judge a program that prints the files in its arguments."""
    return Outcome(all(_is_own_argument(shell, word) for word in arguments))


def _is_own_argument(shell: Shell, word: str) -> bool:
    if word.startswith("-") and word != "-":
        _, equals, value = word.partition("=")
        return not equals or not re.match(r"[~/]|\.\./", value) or shell.is_own(value)
    return shell.is_own(word)


_LIST_OWN = frozenset({"-l", "--files", "--files-with-matches", "-rl", "-rln", "-lr", "-il", "-rli", "-lri"})


def search_files(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge a program that takes a pattern, then files; without files it searches its input or the directory."""
    options = [word for word in arguments if word.startswith("-")]
    plain = plain_words(arguments, _SEARCH_VALUES)
    has_pattern = any(word in ("-e", "--regexp", "-f", "--file") or word.startswith("--regexp=") for word in options)
    lists_files = "--files" in options or name in ("fd", "fdfind")
    files = plain if has_pattern or "--files" in options else plain[1:]
    patterns = values_behind(arguments, ("-f", "--file"))
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
    """Whether an option that excludes directories still includes the dependencies' directories."""
    return re.search(r"node_modules|venv|vendor|site-packages|target|\{", option) is None


_SEARCH_VALUES = frozenset(
    """
    -A -B -C -m -g -t -T -e -f -d -D --regexp --file --include --exclude --exclude-dir --glob --iglob --type
    --type-not -E --extension --max-depth --max-count --context --after-context --before-context --color --colors -M
    --max-columns -j --threads --sort --sortr -r --replace --max-filesize -x --exec -H-value -S-value --type-add
    --binary-files --ignore-dir --exclude-from
    """.split()
)


def find_files(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge find by its start directories, and by the programs that it runs."""
    starts: list[str] = []
    for word in arguments:
        if word.startswith(("-", "(", "!", ")")):
            break
        starts.append(word)
    is_own = all(shell.is_own(start) for start in starts)
    for n, word in enumerate(arguments):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            run = arguments[n + 1 :]
            end = next((at for at, run_word in enumerate(run) if run_word in (";", "+")), len(run))
            excludes = any(not is_own_only(test) for test in arguments[:n]) or all(
                start.rstrip("/") not in (".", "") for start in starts or ["."]
            )
            place = OWN_FILE if excludes and is_own else UNKNOWN_TEXT
            inner = shell.judge([run_word.replace("{}", place) for run_word in run[:end]] or ["false"], False, False)
            is_own = is_own and inner.is_local
        elif word in ("-fprint", "-fprintf", "-fls", "-files0-from"):
            is_own = False
    is_listing = not any(start.rstrip("/") in (".", "") for start in starts or ["."]) or any(
        not is_own_only(word) for word in arguments
    )
    return Outcome(is_own, lists_own_files=is_own and is_listing)


def fd_files(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge fd by its search directories, and by the programs that it runs."""
    for n, word in enumerate(arguments):
        if word in ("-x", "-X", "--exec", "--exec-batch"):
            run = [run_word.replace("{}", OWN_FILE) for run_word in arguments[n + 1 :]]
            inner = shell.judge([*run, OWN_FILE], False, False) if run else FOREIGN
            outcome = search_files(shell, name, arguments[:n], has_input, input_lists_files)
            return Outcome(outcome.is_local and inner.is_local)
    return search_files(shell, name, arguments, has_input, input_lists_files)


def list_files(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge a program that prints file names."""
    if name == "tree":
        arguments = [
            word
            for n, word in enumerate(arguments)
            if n == 0 or arguments[n - 1] not in ("-I", "-P", "-L", "--filelimit")
        ]
    outcome = Outcome(all(_is_own_argument(shell, word) or shell.is_build_output(word) for word in arguments))
    return outcome._replace(
        lists_own_files=outcome.is_local and bool(plain_words(arguments, frozenset())) and "." not in arguments
    )


def run_text_script(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge sed, awk, jq and similar programs: they take a program, then files."""
    with_value = {
        "sed": frozenset(("-e", "-f", "--expression", "--file", "-l")),
        "jq": frozenset(("-f", "--from-file", "--indent", "--tab")),
    }.get(name.lstrip("g"), frozenset(("-F", "-v", "-f", "-e", "-p", "-o", "-I", "-k")))
    arguments = _without_named_values(arguments)
    plain = plain_words(arguments, with_value)
    programs = values_behind(arguments, ("-e", "--expression"))
    files = values_behind(arguments, ("-f", "--file", "--from-file"))
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
            re.search(r"\benv\b|\$ENV|\bload\s*\(|\binput_filename|\bimport\b|\binclude\b|strenv", program)
            for program in programs
        )
    if any(word in ("-i", "-i.bak", "--in-place", "-ni", "-Ei") or word.startswith("-i") for word in arguments):
        return Outcome(is_safe and all(shell.is_own(word) for word in plain), False)
    return Outcome(is_safe and all(shell.is_own(word) for word in (*plain, *files)))


def _without_named_values(arguments: Sequence[str]) -> list[str]:
    """Remove jq's `--arg name value`, `--argjson` and `--slurpfile`, but keep the file of the last."""
    rest: list[str] = []
    skip = 0
    for word in arguments:
        if skip:
            skip -= 1
        elif word in ("--arg", "--argjson"):
            skip = 2
        elif word in ("--slurpfile", "--rawfile"):
            skip = 1
        else:
            rest.append(word)
    return rest


def copy_files(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge a program that copies, moves or links: its sources must be the project's own."""
    plain = plain_words(arguments, frozenset(("-t", "--target-directory", "-m", "-o", "-g", "-S")))
    sources = plain[:-1] if len(plain) > 1 else plain
    if name == "ln" and "-s" in "".join(word for word in arguments if word.startswith("-")) and len(plain) == 2:
        base = plain[1].rpartition("/")[0]
        target = plain[0] if plain[0].startswith(("/", "~")) or not base else f"{base}/{plain[0]}"
        return Outcome(shell.is_own(target), False)
    return Outcome(all(shell.is_own(word) for word in sources), False)


def change_directory(
    shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool
) -> Outcome:
    """Judge a change to a directory, which must be the project's own."""
    plain = plain_words(arguments, frozenset())
    if name == "popd" or plain in (["-"],):
        shell.directory = shell.project.directory or shell.project.root
        return PURE_OUTCOME
    is_own = shell.change_directory(plain[0] if plain else "~")
    return Outcome(is_own, False)


def judge_archive(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge tar, zip and similar programs: packed files and archives must be the project's own."""
    plain = plain_words(arguments, frozenset(("-f", "-C", "--exclude", "--file", "-x", "--directory")))
    flags = arguments[0] if arguments else ""
    named_archives = values_behind(arguments, ("-f", "--file"))
    if name == "zip" or (name in ("tar", "bsdtar") and re.fullmatch(r"-?[a-zA-Z]*c[a-zA-Z]*", flags)):
        if name != "zip" and not flags.startswith("-"):
            plain = plain[1:]
        archive, inputs = (
            (named_archives or plain[:1]),
            plain[
                len(plain)
                - len(plain[0 if named_archives or (flags.endswith("f") and flags.startswith("-")) else 1 :]) :
            ],
        )
        is_own = bool(inputs) and all(shell.is_own(word) for word in inputs if word not in archive)
        if is_own:
            shell.written += archive
        return Outcome(is_own, False)
    archives = named_archives or [word for word in plain if ARCHIVE_SUFFIX.search(word)]
    archives += [path for flag, path in itertools.pairwise(arguments) if re.fullmatch(r"-?[a-zA-Z]*f", flag)]
    return Outcome(bool(archives) and all(shell.is_own(word) for word in archives))


def synchronise_files(
    shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool
) -> Outcome:
    """Judge rsync between two places of this machine."""
    plain = plain_words(arguments, frozenset(("-e", "--exclude", "--include", "--filter")))
    return Outcome(
        bool(plain) and not any(":" in word for word in plain) and all(shell.is_own(word) for word in plain[:-1])
    )


def tee_files(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Note the files that tee writes; it prints its input."""
    shell.written += [word for word in arguments if not word.startswith("-")]
    return PURE_OUTCOME


def apply_patch(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge patch: the patch must be the project's own."""
    outcome = judge_reader(shell, plain_words(arguments, frozenset()) + values_behind(arguments, ("-i",)))
    shell.effect.pulls |= not outcome.is_local
    shell.effect.git.append(GitEffect(True, changes_tree=True))
    return outcome
