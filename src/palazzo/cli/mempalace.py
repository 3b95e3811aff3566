"""`mempalace …`, as scripts and clients of MemPalace call it: each verb is said in Palazzo's words, which then runs.

The files that `palazzo install mempalace-compat` writes start this one by its path, on the bare standard library:
`hook` and `mcp` are waited for. What a program prints that clients read (`search`, `status`, `wake-up`) is written by
`mempalace_layout`. A palace that is named by its directory, as MemPalace's are, is the file `palace.db` in it.
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

# an option of MemPalace -> (ours, or "" for one that has no meaning here; the name of the value that follows, if any)
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
    "split": {"--output-dir": ("", "DIR"), "--dry-run": ("", ""), "--min-sessions": ("", "N")},
}
_USAGE = {
    "init": ("DIR", "Make the palace, and find out about the project."),
    "mine": ("PATH", "Read files or conversations into the palace."),
    "sweep": ("PATH", "Read conversations into the palace."),
    "search": ("QUERY", "Find exact words."),
    "wake-up": ("", "Show what an agent is told when a session starts."),
    "status": ("", "Show what is in the palace."),
    "repair": ("", "Make anew what the checks find wrong."),
    "hook": ("run", "Answer a hook of an agent: JSON on standard input and output."),
    "instructions": ("NAME", "Print a text that tells an agent how to use the memory."),
    "mcp": ("", "Serve the tools of MemPalace on standard input and output."),
    "split": ("DIR", "Do nothing: files of several sessions are read as they are."),
}
_COMMON = "[--palace DIR] [--read-only]"
_MODES = {"projects": "auto", "convos": "convos", "extract": "docs"}
_EVENTS = {"precompact": "pre-compact", "sessionstart": "session-start", "sessionend": "session-end"}
_PALACE_VARIABLES = ("MEMPALACE_PALACE_PATH", "MEMPALACE_PALACE", "MEMPAL_PALACE_PATH")
_PALACE_FILE = "palace.db"
_READ_ONLY_VARIABLE = "MEMPALACE_MCP_READ_ONLY"
_WRITES = ("init", "mine", "sweep", "repair", "hook")
_SHOWN = ("search", "status", "wake-up")
"""Verbs whose output clients read."""
_BARE = ("hook", "mcp")
_COLUMNS = 80
_HELP = f"""\
usage: mempalace [--version] {_COMMON} VERB …

{{verbs}}

'mempalace VERB --help' lists the options of a verb. This is Palazzo under the
name of MemPalace, with the interface of MemPalace {VERSION}; 'palazzo --help'
lists all that it can do.\
"""


class Misused(Exception):
    """A command line that MemPalace would not understand either; the message is the sentence that says why."""


class Refused(Exception):
    """What would write, where nothing may be written; the message says so."""


def main(arguments: list[str]) -> int:
    """Carry out one command line of MemPalace."""
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        print(_HELP.format(verbs="\n".join(f"  {verb:14}{what}" for verb, (_, what) in _USAGE.items())))
        return 0
    if arguments == ["tools"]:
        _become(["-m", "palazzo.mcp.profiles.mempalace"])
    try:
        if {"--help", "-h"} & set(arguments[: arguments.index("--")] if "--" in arguments else arguments):
            print(_help_of(arguments))
            return 0
        words = translated(arguments)
    except Misused as error:
        print(f"mempalace: {error}", file=sys.stderr)
        return 2
    except Refused as error:
        print(f"mempalace: {error}", file=sys.stderr)
        return 1
    if words:
        os.environ.setdefault("PALAZZO_PROFILE", "mempalace")  # what hooks ask for is asked for by these names
        _become(["-m", "palazzo.cli.mempalace_layout", *words] if words[0] in _SHOWN else words)
    return 0


def translated(arguments: list[str]) -> list[str]:
    """Return what Palazzo is to be called with; nothing where there is nothing to do. Raises Misused and Refused."""
    verb, named, given, common = _read(arguments)
    if "--version" in common:
        print(f"MemPalace {VERSION}")
        return []
    palace = _palace(common, remarks=verb not in _BARE)
    if "--read-only" in common and verb in _WRITES and ("--dry-run", "") not in given:
        if verb != "hook":
            raise Refused(f"'{verb}' writes, which --read-only forbids. Leave out --read-only.")
        _remark("a hook keeps what was said, which --read-only forbids; nothing is kept.")
        print("{}")
        return []
    if verb == "hook":
        told = dict(given)
        event = told.get("--hook", "")
        if named[:1] != ["run"] or not event or "--harness" not in told:
            raise Misused("say which hook: mempalace hook run --hook HOOK --harness HARNESS.")
        return ["hook", told["--harness"], _EVENTS.get(event, event), *palace]
    if verb == "mcp":
        return ["mcp", "--profile", "mempalace", *palace, *(["--read-only"] if _serves_read_only(common) else [])]
    if verb == "split":
        _remark("there is nothing to split: files that hold several sessions are read as they are.")
        return []
    if verb == "search" and not "".join(named).strip():
        raise Misused("say what to search for: mempalace search QUERY.")
    if verb in ("mine", "sweep") and not named:
        raise Misused(f"say what to read: mempalace {verb} PATH.")
    if verb == "search" and not all(value.isdecimal() for name, value in given if name == "--limit"):
        raise Misused("--results needs a number: 1 or more.")
    if verb == "instructions":
        return ["instructions", *named, "--profile", "mempalace"]
    if verb == "sweep":
        verb, given = "mine", [("--mode", "convos"), *given]
    if verb == "mine":
        named += [path for name, value in given if name == "--include-ignored" for path in _ignored(named, value)]
        given = [(name, value) for name, value in given if name != "--include-ignored"]
        if ("--dry-run", "") not in given:
            given.append(("--wait", ""))  # MemPalace has its vectors when `mine` ends, and clients search at once
    options = [word for name, value in given for word in _option(name, value)]
    return [verb, *palace, *options, *(["--", *named] if named else [])]


def _option(name: str, value: str) -> Iterator[str]:
    yield name
    if name == "--mode":
        value = _MODES.get(value, value)
    if value:
        yield value


def _read(arguments: list[str]) -> tuple[str, list[str], list[tuple[str, str]], dict[str, str]]:
    """Return the verb, what is named by its place, our options with their values, and what any verb may be given."""
    verb = ""
    named: list[str] = []
    given: list[tuple[str, str]] = []
    common: dict[str, str] = {}
    rest = iter(arguments)
    for word in rest:
        option, is_joined, value = word.partition("=")
        if option == "--palace":
            value = value if is_joined else next(rest, "")
            if not value:
                raise Misused("--palace needs a value.")
            common[option] = value
        elif word == "--read-only" or (word == "--version" and not verb):
            common[word] = ""
            if word == "--version":
                return "", named, given, common
        elif not verb:
            verb = _known(word)
        elif not word.startswith("--") or word == "--":
            named += [word] if word != "--" else rest
        elif option in _OPTIONS[verb]:
            ours, metavar = _OPTIONS[verb][option]
            if metavar and not is_joined:
                value = next(rest, "")
            if metavar and not value:
                raise Misused(f"{option} needs a value.")
            if ours:
                given.append((ours, value))
            else:
                _remark(f"{option} has no meaning here, and is left out.")
        elif verb == "mcp":  # whoever starts a server cannot be told that it is not there
            _remark(f"{option} has no meaning here, and is left out.")
        else:
            raise Misused(f"{verb} has no option {option}; there are: {', '.join(_OPTIONS[verb]) or 'none'}.")
    if not verb:
        raise Misused(f"say what to do: {', '.join(_OPTIONS)}.")
    return verb, named, given, common


def _known(word: str) -> str:
    if word not in _OPTIONS:
        raise Misused(f"there is no '{word}'; there are: {', '.join(_OPTIONS)}.")
    return word


def _help_of(arguments: list[str]) -> str:
    """What `--help` prints of the verb that is named, with the options that do something and those that do not."""
    verb = next((word for word in arguments if word in _OPTIONS), "") or _known(arguments[0])
    place, what = _USAGE[verb]
    written = {option: f"{option} {metavar}".rstrip() for option, (_, metavar) in _OPTIONS[verb].items()}
    used = [f"[{written[option]}]" for option, (ours, _) in _OPTIONS[verb].items() if ours]
    unused = [written[option] for option, (ours, _) in _OPTIONS[verb].items() if not ours]
    lines = [*_filled(["usage: mempalace", _COMMON, verb, *used, place], "       "), "", what]
    if unused:
        lines += [
            "",
            *_filled(["Accepted, and without effect here:", *(f"{one}," for one in unused[:-1]), f"{unused[-1]}."]),
        ]
    return "\n".join(lines)


def _filled(pieces: list[str], indent: str = "  ") -> Iterator[str]:
    """Lines of at most 80 columns; no piece is broken."""
    line = ""
    for piece in filter(None, pieces):
        if line.strip() and len(line) + 1 + len(piece) > _COLUMNS:
            yield line
            line = indent + piece
        else:
            line = f"{line} {piece}" if line else piece
    yield line


# --- which palace ------------------------------------------------------------------------------------------


def _palace(common: Mapping[str, str], remarks: bool) -> list[str]:
    """Return our option for the palace that the command line names, or else the environment; none for the usual one.

    MemPalace's own default directories are its usual palace, as ours is without the option.
    """
    said = common.get("--palace") or next(filter(None, map(os.environ.get, _PALACE_VARIABLES)), "")
    if not said:
        return []
    path = os.path.abspath(os.path.expanduser(said))
    if os.path.realpath(path) in _default_directories():
        return []
    if os.path.isfile(path):
        return ["--palace", path]
    file = os.path.join(path, _PALACE_FILE)
    if remarks and not os.path.exists(file) and _holds_mempalace(path):
        _remark(f"{path} holds a palace of MemPalace's; 'palazzo import --palace {file} {path}' takes it over.")
    return ["--palace", file]


def _default_directories() -> list[str]:
    home = os.path.expanduser("~")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    roots = (os.path.join(home, ".mempalace"), os.path.join(config, "mempalace"))
    return [os.path.realpath(os.path.join(root, "palace")) for root in roots]


def _holds_mempalace(directory: str) -> bool:
    return any(os.path.exists(os.path.join(directory, name)) for name in ("chroma.sqlite3", "sqlite_exact.sqlite3"))


def _serves_read_only(common: Mapping[str, str]) -> bool:
    said = os.environ.get(_READ_ONLY_VARIABLE, "").strip().lower()
    return "--read-only" in common or said in ("1", "true", "yes", "on")


def _ignored(named: list[str], value: str) -> Iterator[str]:
    """The paths that are to be read although they are ignored: what is named outright always is."""
    for one in filter(None, (part.strip() for part in value.split(","))):
        path = os.path.join(named[0] if named else "", one)
        if os.path.exists(path):
            yield path
        else:
            _remark(f"{path} does not exist, so that --include-ignored does not read it.")


def _remark(sentence: str) -> None:
    print(f"mempalace: {sentence}", file=sys.stderr)


def _become(words: list[str]) -> NoReturn:
    """Go on as Palazzo, or as the module of it that `-m` names."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if words[0] == "-m":
        sys.path.append(root)
        from palazzo import start

        start.be_found(root)
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
