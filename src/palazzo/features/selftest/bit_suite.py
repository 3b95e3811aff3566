"""Bits: a bit is flipped in a palace, its log, a backup, an export or a remote, and what reads it must say so.

The pages of the palace's file are taken kind by kind (each table's and index's leaf, interior and overflow pages, the
schema, the free list), so that every kind is met. A flip that nothing detects must change nothing that is read.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from palazzo.features.selftest.journal import Journal
from palazzo.features.selftest.scratch import Scratch
from palazzo.features.selftest.steps import name_marker, run_operation, write_text
from palazzo.features.selftest.suite_result import Progress, SuiteCounts
from palazzo.palace import Palace
from palazzo.store import page_kinds

_KINDS = ("database", "log", "database", "backup", "database", "export", "database", "remote")
"""The files in turn: half of the flips are in the palace's own file, which has the most kinds of page."""
_NOTES, _FACTS, _DOCUMENTS = 60, 40, 12
_LATER_NOTES = 8
"""Notes in the log that is damaged."""


def run_bits(scratch: Scratch, journal: Journal, count: int, seed: int, report: Progress) -> Iterator[SuiteCounts]:
    """Yield the figures after each flip."""
    counts, began = SuiteCounts("bits"), time.monotonic()
    chance = random.Random(f"{seed} bits")  # noqa: S311 - no secret depends on it
    report("preparing palaces", 0, count, "")
    with _Specimens(scratch, chance) as specimens:
        for n, kind in zip(range(count), itertools.cycle(_KINDS), strict=False):
            report("flipping bits", n, count, f"{counts.lost} served or lost")
            flip, answer = specimens.flip(kind)
            journal.write("flip", kind=kind, flip=flip, **answer)
            _count(counts, kind, flip, answer)
            counts.runs, counts.seconds = n + 1, time.monotonic() - began
            yield counts


def _count(counts: SuiteCounts, kind: str, flip: str, answer: dict[str, Any]) -> None:
    verdict = answer["verdict"]
    counts.acknowledged += 1
    counts.count(f"{kind} {verdict}")
    if answer["altered"]:
        counts.count("altered text readable before verify")
    if verdict == "detected":
        counts.detected += 1
        counts.present += 1
    elif verdict == "harmless":
        counts.present += 1
    else:
        counts.fail(f"{kind}, {flip}: {verdict}: {answer['sentence']}")
    if answer["repaired"]:
        counts.repaired += 1
    elif answer["repaired"] is False:
        counts.count("not repaired")


class _Specimens:
    """The sound files, and the process that judges damaged copies of them."""

    def __init__(self, scratch: Scratch, chance: random.Random) -> None:
        self._scratch, self._chance = scratch, chance
        self._directory = scratch.new_directory("bits")
        self._sound = self._directory / "sound" / "palace.db"
        self._sound.parent.mkdir()
        make_specimen(self._sound, scratch.variables, chance)
        self._logged = self._directory / "logged" / "palace.db"
        self._copy_with_log()
        self._backup = self._directory / "backup.db"
        run_operation(self._sound, scratch.variables, "backup", target=self._backup)
        self._export = self._directory / "export.jsonl"
        run_operation(self._sound, scratch.variables, "export", out=self._export)
        self._remote = self._directory / "remote"
        self._joined = self._directory / "joined" / "palace.db"
        self._make_remote()
        page_kinds.fold_log(self._sound)
        kinds = page_kinds.pages_by_kind(self._sound)
        self._pages = itertools.cycle([(kind, kinds[kind]) for kind in sorted(kinds)])
        self._judges: dict[Path, subprocess.Popen[str]] = {}

    def __enter__(self) -> _Specimens:
        return self

    def __exit__(self, *_: object) -> None:
        for judge in self._judges.values():
            judge.kill()
            judge.communicate()

    def flip(self, kind: str) -> tuple[str, dict[str, Any]]:
        """Flip a bit of a file of that kind; return where, and the judgement."""
        directory = self._directory / "damaged"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        makers: dict[str, Callable[[Path], tuple[str, Path]]] = {
            "database": self._flip_database,
            "log": self._flip_log,
            "backup": lambda target: self._flip_copy(self._backup, target / "backup.db"),
            "export": lambda target: self._flip_copy(self._export, target / "export.jsonl"),
            "remote": self._flip_remote,
        }
        flip, path = makers[kind](directory)
        sound = self._logged if kind == "log" else self._sound
        return flip, self._ask(sound, {"kind": kind, "path": str(path), "repair": kind == "database"})

    # --- flips ---------------------------------------------------------------------------------------------

    def _flip_database(self, directory: Path) -> tuple[str, Path]:
        path = Path(shutil.copy(self._sound, directory / "palace.db"))
        kind, pages = next(self._pages)
        page = self._chance.choice(pages)
        place = (page - 1) * page_kinds.PAGE + self._chance.randrange(page_kinds.PAGE)
        return f"page {page} ({kind}), {self._flip_at(path, place)}", path

    def _flip_log(self, directory: Path) -> tuple[str, Path]:
        path = Path(shutil.copy(self._logged, directory / "palace.db"))
        log = Path(shutil.copy(f"{self._logged}-wal", directory / "palace.db-wal"))
        return self._flip_at(log, self._chance.randrange(log.stat().st_size)), path

    def _flip_copy(self, sound: Path, target: Path) -> tuple[str, Path]:
        shutil.copy(sound, target)
        return self._flip_at(target, self._chance.randrange(target.stat().st_size)), target

    def _flip_remote(self, directory: Path) -> tuple[str, Path]:
        """The palace knows the remote by its path, so the file there is damaged, and put back when the next one is."""
        shutil.rmtree(self._remote)
        shutil.copytree(self._directory / "remote-sound", self._remote)
        shutil.copytree(self._joined.parent, directory, dirs_exist_ok=True)
        file = self._chance.choice(sorted(path for path in self._remote.rglob("*") if path.is_file()))
        flip = self._flip_at(file, self._chance.randrange(file.stat().st_size))
        return f"{file.suffix or file.name} {flip}", directory / "palace.db"

    def _flip_at(self, path: Path, place: int) -> str:
        bit = self._chance.randrange(8)
        with path.open("r+b") as file:
            file.seek(place)
            (byte,) = file.read(1)
            file.seek(place)
            file.write(bytes([byte ^ 1 << bit]))
        return f"bit {bit} of byte {place:,}"

    # --- sound files ---------------------------------------------------------------------------------------

    def _copy_with_log(self) -> None:
        """Copy the palace while it is open, so that its last notes are in the log alone."""
        self._logged.parent.mkdir()
        work = self._directory / "open" / "palace.db"
        work.parent.mkdir()
        shutil.copy(self._sound, work)
        with Palace.open(work) as holder, holder.database.snapshot():
            for n in range(_LATER_NOTES):
                text = write_text(name_marker(10_000 + n), self._chance)
                run_operation(work, self._scratch.variables, "remember", text=text, wing="selftest")
            for suffix in ("", "-wal"):
                shutil.copy(f"{work}{suffix}", f"{self._logged}{suffix}")

    def _make_remote(self) -> None:
        variables, key = self._scratch.variables, self._directory / "remote.key"
        self._remote.mkdir()
        run_operation(self._sound, variables, "sync_init", address=str(self._remote), save_key=key)
        run_operation(self._sound, variables, "sync_push")
        self._joined.parent.mkdir()
        run_operation(self._joined, variables, "sync_init", address=str(self._remote), key=key)
        page_kinds.fold_log(self._joined)
        shutil.copytree(self._remote, self._directory / "remote-sound")

    # --- the judge -----------------------------------------------------------------------------------------

    def _ask(self, sound: Path, request: dict[str, Any]) -> dict[str, Any]:
        judge = self._judges.get(sound)
        if judge is None:
            copy = self._directory / f"truth-{len(self._judges)}"
            shutil.copytree(sound.parent, copy)
            judge = self._judges[sound] = subprocess.Popen(  # noqa: S603 - this Python, and this package
                [sys.executable, "-P", "-m", "palazzo.features.selftest.damage_judge", str(copy / sound.name)],
                env=self._scratch.variables,
                cwd=self._directory,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert judge.stdin is not None  # noqa: S101 - for the type checker: both are pipes
        assert judge.stdout is not None  # noqa: S101
        judge.stdin.write(json.dumps(request) + "\n")
        judge.stdin.flush()
        line = judge.stdout.readline()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        del self._judges[sound]
        return {"verdict": "crashed", "sentence": f"exit code {judge.wait()}", "altered": 0, "repaired": None}


def make_specimen(palace: Path, variables: dict[str, str], chance: random.Random) -> None:
    """Make a palace with rows in most tables: notes, documents, facts, to-dos, a diary, acts and derived data."""

    def run(name: str, /, **fields: Any) -> Any:
        return run_operation(palace, variables, name, **fields)

    documents = palace.parent / "documents"
    documents.mkdir()
    for n in range(_DOCUMENTS):
        text = "\n\n".join(write_text(name_marker(1000 + 10 * n + m), chance) for m in range(6))
        (documents / f"document{n}.md").write_text(f"# Document {n}\n\n{text}\n", encoding="utf-8")
    run("mine", paths=(documents,))
    for n in range(_NOTES):
        run(
            "remember", text=write_text(name_marker(n), chance), wing="selftest", room=f"room{n % 3}", tags=(f"tag{n}",)
        )
    for n in range(_FACTS):
        run("kg_add", subject=f"service-{n}", predicate="listens on", object=f"port-{8000 + n}", wing="selftest")
    for n in range(6):
        run("todo_add", text=f"Check the ledger of day {n}.", wing="selftest")
        run("diary_write", agent="ada", text=f"Day {n}: the queue was read twice.")
    run("forget", tags=("tag3", "tag4"))
    run("undo")
    run("forget", tags=("tag5",))
    run("kg_alias", name="the gateway", entity="service-1")
    run("tunnel_add", source="selftest/room0", target="selftest/room1", label="shares tokens")
    with Palace.open(palace) as engine:
        engine.follow_claims()
        engine.follow_digests()
        engine.follow_failures()
        engine.follow_mentions()
        engine.follow_anchors()
