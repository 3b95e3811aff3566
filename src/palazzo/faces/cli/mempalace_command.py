"""`mempalace …`, as scripts and clients of MemPalace call it: translates the command line and runs Palazzo with it.

The files that `palazzo install mempalace-compat` writes start this module by its path. It imports little, and only from
the standard library, because hosts wait for `hook` and `mcp`. `mempalace_layout` prints the output that clients parse
(`search`, `status`, `wake-up`). MemPalace identifies a palace by its directory; Palazzo uses the file `palace.db` in
that directory.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import NoReturn

VERSION = "3.11.0"
"""The version of MemPalace whose programs, options, tools and output are provided here."""

# an option of MemPalace -> (Palazzo's option, or "" if there is none; the name of the value that follows, if any)
_WING = {"--wing": ("--wing", "WING")}
_BACKEND = {"--backend": ("", "NAME")}
_ROUTING = {"--daemon": ("", ""), "--direct": ("", ""), "--background": ("", "")}
_OPTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "init": {
        "--yes": ("--yes", ""),
        "--auto-mine": ("", ""),
        "--lang": ("", "CODES"),
        "--llm": ("", ""),
        "--no-llm": ("", ""),
        "--llm-provider": ("", "NAME"),
        "--llm-model": ("", "NAME"),
        "--llm-endpoint": ("", "URL"),
        "--llm-api-key": ("", "KEY"),
        "--accept-external-llm": ("", ""),
        **_BACKEND,
        **_ROUTING,
    },
    "mine": {
        **_WING,
        "--mode": ("--mode", "projects|convos|extract"),
        "--dry-run": ("--dry-run", ""),
        "--no-gitignore": ("--no-gitignore", ""),
        "--include-ignored": ("--include-ignored", "PATHS"),
        "--agent": ("", "NAME"),
        "--limit": ("", "N"),
        "--extract": ("", "exchange|general"),
        "--max-chunks-per-file": ("", "N"),
        "--include-subagents": ("", ""),
        "--redetect-origin": ("", ""),
        **_BACKEND,
        **_ROUTING,
    },
    "sweep": {**_WING, "--dry-run": ("--dry-run", ""), **_ROUTING},
    "search": {
        **_WING,
        "--room": ("--room", "ROOM"),
        "--results": ("--limit", "N"),
        "--since": ("--since", "DATE"),
        "--before": ("--until", "DATE"),
        "--include-media": ("", ""),
        "--query-task": ("", "search|code"),
        **_BACKEND,
    },
    "wake-up": _WING,
    "status": {},
    "repair": {"--yes": ("", ""), "--dry-run": ("--dry-run", "")},
    "hook": {"--hook": ("--hook", "HOOK"), "--harness": ("--harness", "HOST")},
    "instructions": {},
    "mcp": {"--transport": ("", "stdio"), **_BACKEND},
    "sync": {
        **_WING,
        "--root": ("--root", "DIR"),
        "--dry-run": ("--dry-run", ""),
        "--apply": ("--apply", ""),
        **_ROUTING,
    },
    "rules": {
        "--host": ("--host", "NAME"),
        "--harness": ("--harness", "NAME"),
        "--project": ("--project", "NAME"),
        "--mcp": ("--mcp", "full|light"),
    },
    "audit": {"--json": ("--json", ""), "--quiet": ("", "")},
    "split": {"--output-dir": ("", "DIR"), "--dry-run": ("", ""), "--min-sessions": ("", "N")},
}
_USAGE = {
    "init": ("DIR", "Create the palace, and detect the project."),
    "mine": ("PATH", "Index files or conversations."),
    "sweep": ("PATH", "Index conversations."),
    "search": ("QUERY", "Search the palace, and print the exact text that was recorded."),
    "wake-up": ("", "Show the text that an agent gets when a session starts."),
    "status": ("", "Count the drawers in each wing and room."),
    "repair": ("", "Check the palace, and rebuild what is damaged."),
    "hook": ("run", "Answer a hook of an agent: JSON on standard input and output."),
    "instructions": ("NAME", "Print instructions for an agent on using the memory."),
    "mcp": ("", "Serve the tools of MemPalace on standard input and output."),
    "sync": ("[DIR]", "List documents that are gone; --apply hides them from search."),
    "audit": ("", "Look for problems in what the palace contains."),
    "rules": ("", "Print rules for agents that share this memory."),
    "split": ("DIR", "Do nothing: mine reads files that hold several sessions."),
}
_EXCHANGE = {
    "logstream": "Append, list, await and acknowledge events between agents.",
    "task": "Request a task from another agent.",
    "artifact": "Store and print exact texts for other agents.",
}
"""Verbs with actions of their own: `mempalace_exchange` runs them."""
_EXCHANGE_WRITES = ("append", "ack", "create", "put")
_COMMON = "[--palace DIR] [--read-only]"
_MODES = {"projects": "auto", "convos": "convos", "extract": "docs"}
_EVENTS = {"precompact": "pre-compact", "sessionstart": "session-start", "sessionend": "session-end"}
_PALACE_VARIABLES = ("MEMPALACE_PALACE_PATH", "MEMPALACE_PALACE", "MEMPAL_PALACE_PATH")
_PALACE_FILE = "palace.db"
_READ_ONLY_VARIABLE = "MEMPALACE_MCP_READ_ONLY"
_WRITES = ("init", "mine", "sweep", "repair", "hook")
_LAYOUT_VERBS = ("search", "status", "wake-up")
"""Verbs whose output clients parse: `mempalace_layout` runs them."""
_BARE = ("hook", "mcp")
"""Verbs for which hosts wait: they start without site-packages, and skip checks that take time."""
_COLUMNS = 80
_HELP = f"""\
usage: mempalace [--version] {_COMMON} VERB …

{{verbs}}

'mempalace VERB --help' lists the options of a verb. This is Palazzo under the
name of MemPalace, with the interface of MemPalace {VERSION}; 'palazzo --help'
lists all its commands.\
"""


class CommandLineError(Exception):
    """A command line that MemPalace also rejects."""


class WriteForbidden(Exception):
    """A verb that writes was used with --read-only."""


def main(arguments: list[str]) -> int:
    """Carry out one command line of MemPalace."""
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        summaries = {**{verb: summary for verb, (_, summary) in _USAGE.items()}, **_EXCHANGE}
        print(_HELP.format(verbs="\n".join(f"  {verb:14}{summary}" for verb, summary in summaries.items())))
        return 0
    if arguments == ["tools"]:
        _become(["-m", "palazzo.faces.mcp.profiles.mempalace"])
    try:
        exchange = exchange_words(arguments)
        if exchange:
            _become(["-m", "palazzo.faces.cli.mempalace_exchange", *exchange])
        if {"--help", "-h"} & set(arguments[: arguments.index("--")] if "--" in arguments else arguments):
            print(_help_of(arguments))
            return 0
        words = translate(arguments)
    except CommandLineError as error:
        _remark(str(error))
        return 2
    except WriteForbidden as error:
        _remark(str(error))
        return 1
    if words[:1] == ["rules"]:
        _become(["-m", "palazzo.faces.cli.mempalace_rules", *words[1:]])
    if words:
        os.environ.setdefault("PALAZZO_PROFILE", "mempalace")  # hooks then name the tools as MemPalace does
        _become(["-m", "palazzo.faces.cli.mempalace_layout", *words] if words[0] in _LAYOUT_VERBS else words)
    return 0


def exchange_words(arguments: list[str]) -> list[str]:
    """Return the arguments for `mempalace_exchange`; none if the verb is another. Raises WriteForbidden."""
    common: dict[str, str] = {}
    words = [*arguments]
    while words and words[0].startswith("--"):
        option, is_joined, value = words.pop(0).partition("=")
        common[option] = value if is_joined or option != "--palace" or not words else words.pop(0)
    if not words or words[0] not in _EXCHANGE or not common.keys() <= {"--palace", "--read-only"}:
        return []
    if "--read-only" in common and words[1:2] and words[1] in _EXCHANGE_WRITES:
        raise WriteForbidden(f"'{words[0]} {words[1]}' writes, which --read-only forbids. Leave out --read-only.")
    return [words[0], *_palace_option(common, remarks=True), *words[1:]]


def translate(arguments: list[str]) -> list[str]:
    """Return the arguments for Palazzo, or none if nothing is left to do. Raises Misused and WriteForbidden."""
    verb, operands, options, common = _parse(arguments)
    if "--version" in common:
        print(f"MemPalace {VERSION}")
        return []
    palace = _palace_option(common, remarks=verb not in _BARE)
    if "--read-only" in common and _writes(verb, options):
        if verb != "hook":
            raise WriteForbidden(f"'{verb}' writes, which --read-only forbids. Leave out --read-only.")
        _remark("the hook records nothing, because --read-only forbids it.")
        print("{}")
        return []
    if verb == "hook":
        return [*_translate_hook(operands, dict(options)), *palace]
    if verb == "mcp":
        read_only = ["--read-only"] if _serves_read_only(common) else []
        return ["mcp", "--profile", "mempalace", *palace, *read_only]
    if verb == "split":
        _remark("there is nothing to split: mine reads files that hold several sessions.")
        return []
    if verb == "rules":
        return ["rules", *_agent_name(dict(options))]
    if verb == "instructions":
        return ["instructions", *operands, "--profile", "mempalace"]
    if verb == "search":
        _check_search(operands, options)
    if verb == "sync":
        operands, options = _translate_sync(operands, options)
        verb = "sync-sources"
    if verb in ("mine", "sweep"):
        operands, options = _translate_mine(verb, operands, options)
        verb = "mine"
    words = [word for name, value in options for word in _option_words(name, value)]
    return [verb, *palace, *words, *(["--", *operands] if operands else [])]


def _writes(verb: str, options: list[tuple[str, str]]) -> bool:
    if verb == "sync":
        return ("--apply", "") in options
    return verb in _WRITES and ("--dry-run", "") not in options


def _translate_hook(operands: list[str], options: Mapping[str, str]) -> list[str]:
    event = options.get("--hook", "")
    if operands[:1] != ["run"] or not event or "--harness" not in options:
        raise CommandLineError("say which hook: mempalace hook run --hook HOOK --harness HARNESS.")
    return ["hook", options["--harness"], _EVENTS.get(event, event)]


def _agent_name(options: Mapping[str, str]) -> list[str]:
    """Return the three parts of an agent's name."""
    names = ("--host", "--harness", "--project")
    missing = next((name for name in names if name not in options), None)
    if missing is not None:
        raise CommandLineError(f"rules needs {missing} NAME.")
    if options.get("--mcp", "full") != "full":
        raise CommandLineError("--mcp light is not here: this server has the full tools only.")
    return [options[name] for name in names]


def _check_search(operands: list[str], options: list[tuple[str, str]]) -> None:
    if not "".join(operands).strip():
        raise CommandLineError("say what to search for: mempalace search QUERY.")
    if not all(value.isdecimal() for name, value in options if name == "--limit"):
        raise CommandLineError("--results needs a number: 1 or more.")


def _translate_sync(operands: list[str], options: list[tuple[str, str]]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the path and options of Palazzo's `sync-sources`, which only lists unless --apply is given."""
    roots = [*operands, *(value for name, value in options if name == "--root")]
    options = [(name, value) for name, value in options if name not in ("--root", "--dry-run")]
    if len(roots) > 1:
        raise CommandLineError("sync takes one directory; run it once for each.")
    if ("--apply", "") in options and not roots and "--wing" not in dict(options):
        raise CommandLineError("--apply needs a directory or --wing.")
    return roots, options


def _translate_mine(
    verb: str, operands: list[str], options: list[tuple[str, str]]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the paths and options of Palazzo's `mine` for `mine` and `sweep`."""
    if not operands:
        raise CommandLineError(f"say what to read: mempalace {verb} PATH.")
    ignored_paths = [
        path for name, value in options if name == "--include-ignored" for path in _ignored_paths(operands, value)
    ]
    options = [(name, value) for name, value in options if name != "--include-ignored"]
    if verb == "sweep":
        options = [("--mode", "convos"), *options]
    if ("--dry-run", "") not in options:
        options.append(("--wait", ""))  # MemPalace has its vectors when `mine` ends, and clients search at once
    return [*operands, *ignored_paths], options


def _option_words(name: str, value: str) -> Iterator[str]:
    yield name
    if name == "--mode":
        value = _MODES.get(value, value)
    if value:
        yield value


def _parse(arguments: list[str]) -> tuple[str, list[str], list[tuple[str, str]], dict[str, str]]:
    """Return the verb, its operands, Palazzo's options with their values, and the options that any verb may have."""
    verb = ""
    operands: list[str] = []
    options: list[tuple[str, str]] = []
    common: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        option, is_joined, value = word.partition("=")
        if option == "--palace":
            value = value if is_joined else next(words, "")
            if not value:
                raise CommandLineError("--palace needs a value.")
            common[option] = value
        elif word == "--read-only" or (word == "--version" and not verb):
            common[word] = ""
            if word == "--version":
                return "", operands, options, common
        elif not verb:
            verb = _check_verb(word)
        elif not word.startswith("--") or word == "--":
            operands += [word] if word != "--" else words
        elif option in _OPTIONS[verb]:
            translation, metavar = _OPTIONS[verb][option]
            if metavar and not is_joined:
                value = next(words, "")
            if metavar and not value:
                raise CommandLineError(f"{option} needs a value.")
            if translation:
                options.append((translation, value))
            else:
                _remark(f"{option} has no effect here, and is ignored.")
        elif verb == "mcp":  # a client that starts a server shows no error: an unknown option must not stop it
            _remark(f"{option} has no effect here, and is ignored.")
        else:
            raise CommandLineError(f"{verb} has no option {option}; there are: {', '.join(_OPTIONS[verb]) or 'none'}.")
    if not verb:
        raise CommandLineError(f"say what to do: {', '.join(_OPTIONS)}.")
    return verb, operands, options, common


def _check_verb(word: str) -> str:
    if word not in _OPTIONS:
        raise CommandLineError(f"there is no '{word}'; there are: {', '.join((*_OPTIONS, *_EXCHANGE))}.")
    return word


def _help_of(arguments: list[str]) -> str:
    """Return the help of the verb, with the options that have an effect and those that have none."""
    verb = next((word for word in arguments if word in _OPTIONS), "") or _check_verb(arguments[0])
    operand, summary = _USAGE[verb]
    usages = {option: f"{option} {metavar}".rstrip() for option, (_, metavar) in _OPTIONS[verb].items()}
    effective = [f"[{usages[option]}]" for option, (translation, _) in _OPTIONS[verb].items() if translation]
    ignored_options = [usages[option] for option, (translation, _) in _OPTIONS[verb].items() if not translation]
    lines = [*_wrap(["usage: mempalace", _COMMON, verb, *effective, operand], "       "), "", summary]
    if ignored_options:
        *commas, last = ignored_options
        lines += ["", *_wrap(["Accepted, and without effect here:", *(f"{usage}," for usage in commas), f"{last}."])]
    return "\n".join(lines)


def _wrap(pieces: list[str], indent: str = "  ") -> Iterator[str]:
    """Yield lines of at most 80 columns; no piece is broken."""
    line = ""
    for piece in filter(None, pieces):
        if line.strip() and len(line) + 1 + len(piece) > _COLUMNS:
            yield line
            line = indent + piece
        else:
            line = f"{line} {piece}" if line else piece
    yield line


# --- which palace ------------------------------------------------------------------------------------------


def _palace_option(common: Mapping[str, str], remarks: bool) -> list[str]:
    """Return Palazzo's option for the palace that the command line or the environment names.

    There is none for Palazzo's default palace, and MemPalace's default directories stand for that one.
    """
    name = common.get("--palace") or next(filter(None, map(os.environ.get, _PALACE_VARIABLES)), "")
    if not name:
        return []
    path = os.path.abspath(os.path.expanduser(name))
    if os.path.realpath(path) in _default_directories():
        return []
    if os.path.isfile(path):
        return ["--palace", path]
    file = os.path.join(path, _PALACE_FILE)
    if remarks and not os.path.exists(file) and _holds_mempalace(path):
        _remark(f"{path} holds a palace of MemPalace; 'palazzo import --palace {file} {path}' imports it.")
    return ["--palace", file]


def _default_directories() -> list[str]:
    home = os.path.expanduser("~")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    roots = (os.path.join(home, ".mempalace"), os.path.join(config, "mempalace"))
    return [os.path.realpath(os.path.join(root, "palace")) for root in roots]


def _holds_mempalace(directory: str) -> bool:
    return any(os.path.exists(os.path.join(directory, name)) for name in ("chroma.sqlite3", "sqlite_exact.sqlite3"))


def _serves_read_only(common: Mapping[str, str]) -> bool:
    flag = os.environ.get(_READ_ONLY_VARIABLE, "").strip().lower()
    return "--read-only" in common or flag in ("1", "true", "yes", "on")


def _ignored_paths(operands: list[str], value: str) -> Iterator[str]:
    """Yield the ignored paths to read as well: Palazzo reads every path that the command line names."""
    for part in filter(None, map(str.strip, value.split(","))):
        path = os.path.join(operands[0], part)
        if os.path.exists(path):
            yield path
        else:
            _remark(f"--include-ignored skips {path}, which does not exist.")


def _remark(sentence: str) -> None:
    printable = "".join(letter if letter.isprintable() else " " for letter in sentence)
    print(f"mempalace: {printable}", file=sys.stderr)


def _become(words: list[str]) -> NoReturn:
    """Replace this process with Palazzo, or with the module that `-m` names."""
    # This file runs by its path: nothing of the package can be imported yet.
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    if words[0] == "-m":
        sys.path.append(root)
        from palazzo.client import launcher

        launcher.be_found(root)
        command = [sys.executable, "-P", *words]
    else:
        flags = ["-I", "-S", "-E"] if words[0] in _BARE else ["-P"]
        command = [sys.executable, *flags, os.path.join(root, "palazzo", "__main__.py"), *words]
    if sys.platform != "win32":
        os.execv(command[0], command)  # noqa: S606 - this Python, and this package
    import subprocess

    sys.exit(subprocess.call(command))  # noqa: S603 - the same


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
