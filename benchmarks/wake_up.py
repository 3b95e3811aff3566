"""Time waking up in a large palace, at each depth, and of a session that was told before.

    python benchmarks/make_palace.py 100000
    python benchmarks/wake_up.py 100000 [--notes 2000] [--todos 200] [--facts 2000] [--times 40] [--json]

Works on a copy of the palace that `make_palace.py` made, with notes, decisions, to-dos, facts, diary entries and the
digests of all its sessions besides, in its largest wing. Warm: one process, the palace open, as the background service
has it. `first` is the first call of the process, imports included.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.make_palace import palace_path
from benchmarks.measuring import CACHE, Row, median, milliseconds, report

from palazzo.archive import diary_entries, notes, task_notes
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.notes import Note
from palazzo.features.wakeup.contract import WakeUpRequest
from palazzo.features.wakeup.wake_up import wake_up
from palazzo.knowledge import assertions
from palazzo.knowledge.assertions import Statement, Triple
from palazzo.knowledge.fact_change import Change
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.security.note_taint import AGENT
from palazzo.store.fact_rows import Provenance

DEPTHS: tuple[Literal["shallow", "medium", "deep"], ...] = ("shallow", "medium", "deep")
_AT_ONCE = 200


def main(arguments: Sequence[str] | None = None) -> int:
    """Time a copy of the palace named."""
    parser = argparse.ArgumentParser(description="Time waking up in a large palace.")
    parser.add_argument("drawers", type=int)
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--todos", type=int, default=200)
    parser.add_argument("--facts", type=int, default=2000)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=given.directory) as directory:
        path = Path(directory) / "palace.db"
        shutil.copy(palace_path(given.directory, given.drawers), path)
        with Palace.open(path) as palace:
            wing = _largest_wing(palace)
            _furnish(palace, wing, given.notes, given.todos, given.facts)
            palace.follow_digests()
        rows = _timed(path, Path(directory), wing, given.times)
    report(f"Waking up, {given.drawers:,} drawers", rows, given.json)
    return 0


def _timed(path: Path, directory: Path, wing: str, times: int) -> list[Row]:
    rows: list[Row] = []
    variables = {"HOME": str(directory), "XDG_CONFIG_HOME": str(directory), "PALAZZO_SERVICE": "off"}
    with Context(path, directory, variables) as context:
        for session in (None, "one"):
            for depth in DEPTHS:
                request = WakeUpRequest(wing=wing, depth=depth, agent="Codex", session=session)
                waking = partial(wake_up, context, request)
                first = milliseconds(waking)
                later = [milliseconds(waking) for _ in range(times)]
                result = wake_up(context, request)
                rows.append(
                    {
                        "": depth if session is None else f"{depth}, told before",
                        "first ms": first,
                        "p50 ms": median(later),
                        "max ms": max(later),
                        "tokens": result.tokens,
                        "lines": len(result.lines),
                    }
                )
    return rows


def _largest_wing(palace: Palace) -> str:
    with palace.database.snapshot() as connection:
        rows = connection.execute(
            "SELECT wing.name FROM drawer JOIN room ON room.id = drawer.room JOIN wing ON wing.id = room.wing"
            " GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
        )
        return str(next(rows)[0])


def _furnish(palace: Palace, wing: str, note_count: int, todos: int, facts: int) -> None:
    """File what people and agents state, a few hundred in a transaction."""
    guard = Guard.of(palace.database)
    now = palace.clock()
    for start in range(0, note_count, _AT_ONCE):
        filed = [_note(n, wing) for n in range(start, min(note_count, start + _AT_ONCE))]
        prepared = [notes.prepare(note, now, guard) for note in filed]
        with palace.database.transaction() as connection:
            for one in prepared:
                notes.file(connection, one, now)
    tasks_to_file = [
        notes.prepare(Note(f"To-do {n}: look at page {n}", Place(wing, "todos"), shelf="todo"), now, guard)
        for n in range(todos)
    ]
    entries = [
        diary_entries.prepare(
            Note(f"Day {n}: worked on page {n}.", Place(wing, "x"), "Codex", AGENT), "work", wing, now, guard
        )
        for n in range(100)
    ]
    with palace.database.transaction() as connection:
        for one in tasks_to_file:
            task_notes.file(connection, one, "todo", None, now)
        for one in entries:
            notes.file(connection, one, now)
    with palace.database.transaction() as connection:
        change = Change(connection, "user", "kg add", now)
        for n in range(facts):
            triple = Triple(f"service {n}", "listens on", str(8000 + n), None)
            assertions.add(change, Statement(triple, (Provenance("user"),)))


def _note(n: int, wing: str) -> Note:
    label = "decision" if n % 5 == 0 else ""
    return Note(f"Note {n}: page {n} is kept for {n % 90} days because someone asked for it.", Place(wing, "notes"),
                label=label)  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
