"""Steps of a selftest: one operation each, with the state in which it must leave the palace."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from typing import Any

from palazzo.features.selftest.expected_state import ExpectedState
from palazzo.operations import registry
from palazzo.operations.context import Context
from palazzo.operations.operation import describe_fields

_WORDS = (
    *("retry", "queue", "ledger", "token", "cache", "index", "branch", "gateway"),
    *("budget", "storm", "heron", "pond", "tide", "crane", "delta", "quartz"),
)
_BATCHES, _BATCH_SIZE = 4, 4
"""Exports that are prepared for imports, and the notes that each adds to the one before."""
_WING = "selftest"
_DONOR_START = 1_000_000
"""The first marker of imported notes: those of a palace's own steps stay below."""


@dataclass(frozen=True)
class Step:
    """One operation with its request, and the state after it. A step `in_parts` may be cut off between its parts."""

    name: str
    operation: str
    request: Mapping[str, Any]
    after: ExpectedState
    in_parts: bool = False
    writes_file: Path | None = None
    undone: Callable[[ExpectedState], ExpectedState] | None = None
    """How `undo` changes the state directly after this step; None if it is not tried."""


@dataclass
class Workbench:
    """One palace with what its steps need: documents, a transcript, exports, backups, and another device.

    Steps change `state` only when they are acknowledged (`acknowledge`).
    """

    directory: Path
    palace: Path
    variables: Mapping[str, str]
    chance: random.Random
    state: ExpectedState = field(default_factory=ExpectedState)
    _count: int = 0
    _imported: int = 0
    _restored: int = 0
    exports: Sequence[Export] = ()
    first_marker: InitVar[int] = 0
    _tagged: set[str] = field(default_factory=set)
    _backups: list[tuple[Path, ExpectedState]] = field(default_factory=list)
    _undo: Callable[[ExpectedState], ExpectedState] | None = None
    _has_remote: bool = False

    def __post_init__(self, first_marker: int) -> None:
        self._count = first_marker

    def choose(self, *, has_operation: bool = False) -> Step:
        """Return a step that is possible now; on request only one that is a call of an operation."""
        names = [name for name in self._makers() if self._is_possible(name) and not (has_operation and name == "hook")]
        return self.step(self.chance.choice(names))

    def step(self, name: str) -> Step:
        """Return the step of that name."""
        return self._makers()[name]()

    def acknowledge(self, step: Step) -> None:
        """Record that a step was done."""
        self.state, self._undo = step.after, step.undone
        if step.name == "backup" and step.writes_file is not None:
            self._backups.append((step.writes_file, self.state))
        if step.name == "import":
            self._imported += 1
        if step.name == "restore":
            self._has_remote = False  # a restored palace is a new device, which another device must trust first
            self._restored += 1

    def connect(self) -> None:
        """Connect the palace and the other device through a folder."""
        remote = self.directory / "remote"
        remote.mkdir()
        key = self.directory / "remote.key"
        run_operation(self.palace, self.variables, "sync_init", address=str(remote), save_key=key)
        self._other.parent.mkdir()
        run_operation(self._other, self.variables, "sync_init", address=str(remote), key=key)
        self._has_remote = True

    # --- the steps -----------------------------------------------------------------------------------------

    def _makers(self) -> dict[str, Callable[[], Step]]:
        return {
            "remember": self._remember,
            "diary": self._diary,
            "kg": self._fact,
            "forget": self._forget,
            "erase": self._erase,
            "undo": self._undo_last,
            "mine": self._mine,
            "hook": self._hook,
            "import": self._import,
            "sync": self._sync,
            "rebuild": self._rebuild,
            "export": self._export,
            "backup": self._backup,
            "restore": self._restore,
        }

    def _is_possible(self, name: str) -> bool:
        match name:
            case "forget":
                return bool(self._forgettable())
            case "erase":
                return len(self._notes()) > 2
            case "undo":
                return self._undo is not None
            case "import":
                return self._imported < len(self.exports)
            case "sync":
                return self._has_remote
            case "restore":
                return bool(self._backups)
        return True

    def _notes(self) -> list[str]:
        return sorted(name for name, text in self.state.texts.items() if text and name in self.state.live)

    def _remember(self) -> Step:
        marker, text = self._new_text()
        self._tagged.add(marker)
        request = {"text": text, "wing": _WING, "tags": (marker,)}
        return Step(
            "remember",
            "remember",
            request,
            self.state.with_texts({marker: text}),
            undone=lambda state: state.without_live([marker]),
        )

    def _diary(self) -> Step:
        marker, text = self._new_text()
        return Step("diary", "diary_write", {"agent": "ada", "text": text}, self.state.with_texts({marker: None}))

    def _fact(self) -> Step:
        marker = self._new_marker()
        request = {"subject": marker, "predicate": "listens on", "object": f"port {self._count}", "wing": _WING}
        return Step(
            "kg", "kg_add", request, self.state.with_fact(marker), undone=lambda state: state.without_fact(marker)
        )

    def _forget(self) -> Step:
        marker = self.chance.choice(self._forgettable())
        after = self.state.without_live([marker])
        return Step(
            "forget",
            "forget",
            {"tags": (marker,)},
            after,
            undone=lambda state: state.with_texts({marker: state.texts[marker]}),
        )

    def _forgettable(self) -> list[str]:
        return [marker for marker in self._notes() if marker in self._tagged]

    def _erase(self) -> Step:
        marker = self.chance.choice(self._notes())
        request = {"match": rf"\b{marker}\b", "even_most": True}
        return Step("erase", "erase", request, self.state.without_text(marker), in_parts=True)

    def _undo_last(self) -> Step:
        assert self._undo is not None  # noqa: S101 - `_is_possible` has seen it
        return Step("undo", "undo", {}, self._undo(self.state))

    def _mine(self) -> Step:
        # A new directory after a restore: `mine` would rightly bring back documents that the restore took away.
        documents = self.directory / f"documents-{self._restored}"
        documents.mkdir(exist_ok=True)
        texts: dict[str, str | None] = {}
        for _ in range(self.chance.randrange(1, 6)):
            marker, text = self._new_text()
            texts[marker] = None
            (documents / f"{marker}.md").write_text(f"# About {self._count}\n\n{text}\n", encoding="utf-8")
        return Step("mine", "mine", {"paths": (documents,)}, self.state.with_texts(texts), in_parts=True)

    def _hook(self) -> Step:
        texts: dict[str, str | None] = {}
        with self.transcript.open("a", encoding="utf-8") as file:
            for n in range(self.chance.randrange(2, 8)):
                marker, text = self._new_text()
                texts[marker] = None
                file.write(json.dumps(self._row("assistant" if n % 2 else "user", marker, text)) + "\n")
        return Step("hook", "", {}, self.state.with_texts(texts), in_parts=True)

    def mine_session(self) -> Step:
        """Return the step that reads the session's transcript, as every later `feed` does."""
        return Step("mine", "mine", {"paths": (self.transcript,), "mode": "convos"}, self.state, in_parts=True)

    def stop_session(self) -> Step:
        """Return the hook of the end of a turn that added nothing."""
        return Step("hook", "", {}, self.state, in_parts=True)

    def _row(self, role: str, marker: str, text: str) -> dict[str, Any]:
        minute = self._count % (28 * 1440)
        return {
            "parentUuid": None,
            "isSidechain": False,
            "type": role,
            "message": {"role": role, "content": text},
            "uuid": f"row-{marker}",
            "sessionId": self.transcript.stem,
            "cwd": str(self.directory),
            "timestamp": f"2026-01-{1 + minute // 1440:02}T{minute // 60 % 24:02}:{minute % 60:02}:00.000Z",
        }

    @property
    def transcript(self) -> Path:
        """The transcript of a session of Claude Code; a new one after a restore.

        A palace of before a session would read it from its beginning, as soon as a hook runs out of time and leaves
        the transcript to `mine`: the messages would be back that the restore took away.
        """
        name = f"{self.directory.name}-{self._restored}.jsonl"
        path = Path(self.variables["HOME"]) / ".claude" / "projects" / "-selftest" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _import(self) -> Step:
        export = self.exports[self._imported]
        after = self.state.with_texts(
            {name: text for name, text in export.texts.items() if name not in self.state.erased}
        )
        return Step("import", "import", {"path": export.path, "trust": "user"}, after, in_parts=True)

    def _sync(self) -> Step:
        marker, text = self._new_text()
        run_operation(self._other, self.variables, "remember", text=text, wing=_WING)
        run_operation(self._other, self.variables, "sync_now")
        return Step("sync", "sync_now", {}, self.state.with_texts({marker: text}), in_parts=True)

    @property
    def _other(self) -> Path:
        return self.directory / "other" / "palace.db"

    def _rebuild(self) -> Step:
        return Step("rebuild", "repair", {"rebuild": "all"}, self.state)

    def _export(self) -> Step:
        path = self.directory / f"export-{self._next()}.jsonl"
        return Step("export", "export", {"out": path}, self.state, writes_file=path)

    def _backup(self) -> Step:
        path = self.directory / f"backup-{self._next()}.db"
        return Step("backup", "backup", {"target": path}, self.state, writes_file=path)

    def _restore(self) -> Step:
        path, state = self.chance.choice(self._backups[-3:])
        return Step("restore", "restore", {"file": path}, self.state.restored(state))

    # --- texts ---------------------------------------------------------------------------------------------

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _new_marker(self) -> str:
        return name_marker(self._next())

    def _new_text(self) -> tuple[str, str]:
        marker = self._new_marker()
        return marker, write_text(marker, self.chance)


@dataclass(frozen=True)
class Export:
    """An export of another palace, and the texts of its notes by marker."""

    path: Path
    texts: Mapping[str, str]


def make_exports(directory: Path, variables: Mapping[str, str], chance: random.Random) -> tuple[Export, ...]:
    """Write exports of a growing palace: in this process, since none of these steps is interrupted."""
    donor, texts, exports = directory / "palace.db", dict[str, str](), []
    for n in range(_BATCHES):
        for m in range(_BATCH_SIZE):
            marker = name_marker(_DONOR_START + n * _BATCH_SIZE + m)
            texts[marker] = write_text(marker, chance)
            run_operation(donor, variables, "remember", text=texts[marker], wing=_WING)
        path = directory / f"import-{n}.jsonl"
        run_operation(donor, variables, "export", out=path)
        exports.append(Export(path, dict(texts)))
    return tuple(exports)


def name_marker(number: int) -> str:
    """Return a marker; none is a part of another, since an erase removes words also inside longer ones."""
    return f"marker{number:07}"


def write_text(marker: str, chance: random.Random) -> str:
    """Return a note of some length that contains a marker."""
    return f"The note {marker} says: {' '.join(chance.choices(_WORDS, k=chance.choice((6, 12, 40, 400))))}."


def run_operation(palace: Path, variables: Mapping[str, str], name: str, /, **fields: Any) -> Any:
    """Run an operation on a palace in this process; raise what it raises."""
    operation = registry.operation(name)
    with Context(palace, palace.parent, variables) as context:
        return operation.run(context, operation.request(**fields))


def command_line(name: str, fields: Mapping[str, Any]) -> list[str]:
    """Return the arguments of `palazzo` for an operation and its request, as a person types them."""

    operation = registry.operation(name)
    options, positionals = list(registry.split_command_name(name)), []
    for request_field in describe_fields(operation.request):
        if request_field.name not in fields:
            continue
        value = fields[request_field.name]
        values = value if isinstance(value, tuple) else (value,)
        if request_field.about.positional:
            positionals += [str(item) for item in values]
        elif request_field.is_flag:
            options += [request_field.option] if value != request_field.default else []
        else:
            for item in values:
                options += [request_field.option, str(item)]
    if operation.destructive:
        options.append("--yes")
    return [*options, "--json", "--", *positionals] if positionals else [*options, "--json"]
