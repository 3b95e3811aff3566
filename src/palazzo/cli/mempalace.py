"""`mempalace …`, as scripts and clients of MemPalace call it: each verb is said in Palazzo's words, which then runs.

The files that `palazzo install mempalace-compat` writes start this one by its path, on the bare standard library:
`hook` and `mcp` are waited for. What it is told of another palace is not obeyed: MemPalace's are no files of Palazzo's.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import NoReturn

# an option of MemPalace -> (ours, or "" for one that has no meaning here; whether a value follows)
_WING = {"--wing": ("--wing", True)}
_OPTIONS: Mapping[str, Mapping[str, tuple[str, bool]]] = {
    "init": {"--yes": ("--yes", False), "--auto-mine": ("", False), "--lang": ("", True)},
    "mine": {
        **_WING,
        "--mode": ("--mode", True),
        "--dry-run": ("--dry-run", False),
        "--no-gitignore": ("--no-gitignore", False),
        "--include-ignored": ("--include", True),
        "--agent": ("", True),
        "--limit": ("", True),
        "--extract": ("", True),
    },
    "sweep": {**_WING, "--dry-run": ("--dry-run", False)},
    "search": {**_WING, "--room": ("--room", True), "--results": ("--limit", True)},
    "wake-up": _WING,
    "status": {},
    "repair": {"--yes": ("", False), "--dry-run": ("--dry-run", False)},
    "hook": {"--hook": ("--hook", True), "--harness": ("--harness", True)},
    "instructions": {},
    "mcp": {},
    "split": {},
}
_MODES = {"projects": "auto", "convos": "convos"}
_EVENTS = {"precompact": "pre-compact", "sessionstart": "session-start", "sessionend": "session-end"}
_HELP = f"""\
mempalace: {", ".join(_OPTIONS)}
This is Palazzo under MemPalace's name. 'palazzo --help' lists all that it can do.\
"""
_BARE = ("hook", "mcp")


class Misused(Exception):
    """A command line that MemPalace would not understand either; the message is the sentence that says why."""


def main(arguments: list[str]) -> int:
    """Carry out one command line of MemPalace."""
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        print(_HELP)
        return 0
    try:
        words = translated(arguments)
    except Misused as error:
        print(f"mempalace: {error}", file=sys.stderr)
        return 2
    if words:
        os.environ.setdefault("PALAZZO_PROFILE", "mempalace")  # what hooks ask for is asked for by these names
        _become(words)
    return 0


def translated(arguments: list[str]) -> list[str]:
    """Return what Palazzo is to be called with; nothing where there is nothing to do. Raises Misused."""
    verb, named, given = _read(arguments)
    if verb == "hook":
        told = dict(given)
        event = told.get("--hook", "")
        if named[:1] != ["run"] or not event or "--harness" not in told:
            raise Misused("say which hook: mempalace hook run --hook HOOK --harness HARNESS.")
        return ["hook", told["--harness"], _EVENTS.get(event, event)]
    if verb == "mcp":
        return ["mcp", "--profile", "mempalace"]
    if verb == "split":
        _remark("there is nothing to split: files that hold several sessions are read as they are.")
        return []
    if verb == "instructions":
        return ["instructions", *named, "--profile", "mempalace"]
    if verb == "sweep":
        verb, given = "mine", [("--mode", "convos"), *given]
    options = [word for name, value in given for word in _option(name, value)]
    return [verb, *options, *(["--", *named] if named else [])]


def _option(name: str, value: str) -> Iterator[str]:
    yield name
    if name == "--mode":
        value = _MODES.get(value, value)
    if value:
        yield value


def _read(arguments: list[str]) -> tuple[str, list[str], list[tuple[str, str]]]:
    """Return the verb, what is named by its place, and our options with their values."""
    verb = ""
    named: list[str] = []
    given: list[tuple[str, str]] = []
    rest = iter(arguments)
    for word in rest:
        option, is_joined, value = word.partition("=")
        if option == "--palace":
            value = value if is_joined else next(rest, "")
            _remark(f"{value} is a palace of MemPalace's; Palazzo's own is used.")
        elif not verb:
            verb = _known(word)
        elif not word.startswith("--") or word == "--":
            named += [word] if word != "--" else rest
        elif option in _OPTIONS[verb]:
            ours, has_value = _OPTIONS[verb][option]
            if has_value and not is_joined:
                value = next(rest, "")
            if has_value and not value:
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
    return verb, named, given


def _known(word: str) -> str:
    if word not in _OPTIONS:
        raise Misused(f"there is no '{word}'; there are: {', '.join(_OPTIONS)}.")
    return word


def _remark(sentence: str) -> None:
    print(f"mempalace: {sentence}", file=sys.stderr)


def _become(words: list[str]) -> NoReturn:
    """Go on as Palazzo."""
    start = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "__main__.py")
    flags = ["-I", "-S", "-E"] if words[0] in _BARE else ["-P"]
    command = [sys.executable, *flags, start, *words]
    if sys.platform != "win32":
        os.execv(command[0], command)  # noqa: S606 - this Python, and this package
    import subprocess

    sys.exit(subprocess.call(command))  # noqa: S603 - the same


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
