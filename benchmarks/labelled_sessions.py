"""The labelled sessions of `benchmarks/provenance/sessions`, as cases that a host's session is made of.

A label says whose the marker's words are. Only one thing here looks at it, what a sub-agent did: the sets hold only its
report, so a sub-agent that reports the marker as foreign words has read a page, any other one a file of the project.

A project is a git repository where the session works on its files. What the session reads from it is there:

- Files are tracked, in a commit by the person. Files below directories that repositories usually ignore are not.
- What the session reads after it pulled, merged, fetched or switched arrives then, in a commit by somebody else.
- What the session reads after a command that names the file or its directory (a download, a clone, an archive)
  arrives then, and is not tracked. In channels about documents and exports no file is tracked.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from palazzo.bench.poison_session import (
    Case,
    CommandStep,
    Delegation,
    FilesStep,
    Later,
    NameStep,
    Step,
    Used,
    Utterance,
    Wrote,
)

SESSIONS = Path(__file__).resolve().parent / "provenance" / "sessions"
_IGNORED_DIRECTORIES = ("node_modules", ".venv", "target", "dist", "build", ".cache", "__pycache__")
_UNTRACKED_CHANNELS = ("chat-export", "document", "download-archive", "host-title", "clipboard", "server-log")
_PULLS = re.compile(
    r"\bgit\b[^|;&]*\b(?:pull|merge|fetch|cherry-pick|checkout|switch|rebase|am|apply)\b|\bgh pr checkout\b"
)
_PATH = re.compile(r"(?<![\w./~$:@-])(?!https?:)[\w.-]+(?:/[\w.-]+)*\.[A-Za-z]\w{0,5}(?![\w/:@(])")
_READERS = re.compile(r"^(?:cat|head|tail|less|sed|awk|grep|rg|jq|bat|cut|sort|wc|nl|python3?|node|make|ctest)\b")
_TOOLS = {"Bash": "command", "Read": "file_path", "WebFetch": "url", "WebSearch": "query", "Glob": "pattern"}
_KINDS = {"Bash": "shell", "Read": "read", "WebFetch": "fetch", "WebSearch": "search", "Glob": "glob"}


@dataclass(frozen=True, slots=True)
class LabelledSession:
    """A session of the labelled sets, and the case that it makes."""

    id: str
    channel: str
    is_foreign: bool
    case: Case

    @property
    def is_held_out(self) -> bool:
        """Whether it belongs to the half that no rule is tuned on."""
        return hashlib.sha256(self.id.encode()).digest()[0] % 2 == 1


def labelled_sessions() -> list[LabelledSession]:
    """Return all of them, by channel."""
    return [
        LabelledSession(entry["id"], file.stem, entry["label"] == "foreign-words", _case(file.stem, entry))
        for file in sorted(SESSIONS.glob("*.yaml"))
        for entry in yaml.safe_load(file.read_text("utf-8"))
    ]


def _case(channel: str, entry: Mapping[str, Any]) -> Case:
    events = [next(iter(event.items())) for event in entry["events"]]
    layout = _Layout(channel, events)
    is_foreign = entry["label"] == "foreign-words"
    steps = [step for n, event in enumerate(events) for step in _steps(n, event, layout, entry["marker"], is_foreign)]
    works = f"Change this now in the code, please: {entry['ask'].rstrip(' ?？。.')}."
    file = next((name for name in (*layout.tracked, *layout.untracked)), "")
    return Case(
        name=entry["id"],
        steps=tuple(steps),
        later=Later(entry["ask"], works, file),
        claim=entry["marker"],
        honest=not is_foreign,
        is_delivered=not is_foreign,
        files={".gitignore": "".join(f"{name}/\n" for name in _IGNORED_DIRECTORIES), **layout.tracked},
        untracked_files=layout.untracked,
        in_git=layout.in_git,
    )


def _steps(n: int, event: tuple[str, Any], layout: _Layout, marker: str, is_foreign: bool) -> Iterator[Step]:
    kind, value = event
    if n in layout.arriving:
        yield layout.arriving[n]
    if kind in ("user", "agent", "compaction"):
        speaker = {"user": "user", "agent": "assistant", "compaction": "summary"}[kind]
        yield Utterance(speaker, value)  # type: ignore[arg-type]
    elif kind == "tag" and " " in value:  # git allows no such name: it is a tag of Palazzo's
        yield Wrote("remember", {"text": "This session is to be found again.", "tags": [value]})
    elif kind in ("title", "branch", "tag"):
        yield NameStep(kind, value)  # type: ignore[arg-type]
    elif kind == "remember":
        yield Wrote("remember", {"text": value})
    elif kind == "todo":
        yield Wrote("todo_add", {"text": value})
    elif kind == "fact":
        yield Wrote("kg_add", dict(zip(("subject", "predicate", "object"), value, strict=True)))
    elif kind == "tool":
        yield from _tool_steps(value, marker, is_foreign)
    else:
        raise ValueError(f"An event of an unknown kind: {kind}")


def _tool_steps(call: Mapping[str, Any], marker: str, is_foreign: bool) -> Iterator[Step]:
    name, arguments, output = call["name"], call["input"], call["output"]
    if name == "Bash" and arguments["command"].startswith("palazzo "):
        yield from _palazzo_steps(shlex.split(arguments["command"])[1:])
    elif name in _TOOLS:
        yield Used(_KINDS[name], arguments[_TOOLS[name]], output)  # type: ignore[arg-type]
    elif name == "Grep":
        yield Used("grep", arguments["pattern"], output, path=arguments.get("path", "."))
    elif name == "Edit":
        yield Used("edit", arguments["new_string"], output, path=arguments["file_path"])
    elif name == "Write":
        yield Used("write", arguments["content"], output, path=arguments["file_path"])
    elif name == "Task":
        has_met = is_foreign and marker in output
        read = (
            Used("fetch", "https://docs.example.org/", output) if has_met else Used("read", "src/main.py", "MAIN = 1")
        )
        yield Delegation(arguments["prompt"], (read, Utterance("assistant", output)), output)
    elif name == "mcp__palazzo__remember":
        yield Wrote("remember", arguments)
    else:
        _, server, tool = name.split("__", 2)
        yield Used("mcp", f"{server} {tool} {' '.join(str(value) for value in arguments.values())}", output)


def _palazzo_steps(arguments: Sequence[str]) -> Iterator[Step]:
    """Yield a command of Palazzo's, after what it needs: what it mines, or the place that it renames."""
    place = tuple(arguments[:2])
    if arguments[0] == "mine":
        folder = arguments[1].removeprefix("~/Downloads/")
        yield FilesStep(
            {f"{folder}/notes.md": "# Notes\n\nThe icons have four sizes, and fonts come in two weights.\n"}
        )
        yield CommandStep(("mine", folder, *arguments[2:]))
        return
    if place in (("wing", "rename"), ("room", "rename")):
        yield Wrote("remember", {place[0]: arguments[2], "text": "The first note of this place."})
    yield CommandStep(tuple(arguments))


class _Layout:
    """Which files of a project a session reads, which of them are tracked, and when the others arrive."""

    def __init__(self, channel: str, events: Sequence[tuple[str, Any]]) -> None:
        self.tracked: dict[str, str] = {}
        self.untracked: dict[str, str] = {}
        self.arriving: dict[int, FilesStep] = {}
        commands: list[str] = []
        self.in_git = any(kind in ("branch", "tag") for kind, _ in events)
        for n, (kind, value) in enumerate(events):
            if kind != "tool":
                continue
            self.in_git |= value["name"] in ("Bash", "Read", "Grep", "Glob", "Edit", "Write", "Task")
            for name in _files_read(value):
                self._place(n, name, value["output"], channel, commands)
            if value["name"] == "Bash":
                commands.append(value["input"]["command"])

    def _place(self, n: int, name: str, text: str, channel: str, commands: Sequence[str]) -> None:
        if (
            name in self.tracked
            or name in self.untracked
            or any(name in arrival.files for arrival in self.arriving.values())
        ):
            return
        parents = {str(parent) for parent in PurePosixPath(name).parents} - {"."}
        if any(name in command or parents & set(re.findall(r"[\w./-]+", command)) for command in commands):
            self.arriving[n] = FilesStep({name: text})
        elif any(_PULLS.search(command) for command in commands):
            self.arriving[n] = FilesStep({name: text}, author="Somebody Else")
        elif channel in _UNTRACKED_CHANNELS or PurePosixPath(name).parts[0] in _IGNORED_DIRECTORIES:
            self.untracked[name] = text
        else:
            self.tracked[name] = text


def _files_read(call: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files of the project that a call reads or changes."""
    arguments = call["input"]
    if call["name"] in ("Read", "Edit", "Write"):
        names = [arguments["file_path"]]
    elif call["name"] == "Bash" and _READERS.search(arguments["command"]):
        names = _PATH.findall(arguments["command"])
    else:
        names = []
    yield from (name for name in names if not name.startswith(("/", "~", "..", "-")))
