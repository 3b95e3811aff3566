"""Backups while others write, and restores that are killed: one moment, whole; the old palace or the new one."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.derived.state import complaints
from tests.index.hashed_words import HashedWords
from tests.reliability.programs import start
from tests.reliability.sizes import chances, scaled
from tests.sync.machines import Machine

from palazzo.derived.integrity_checks import verify
from palazzo.features.backup.backup import backup
from palazzo.features.backup.contract import BackupRequest, RestoreRequest
from palazzo.features.backup.restore import restore
from palazzo.features.erase.contract import EraseRequest
from palazzo.features.erase.erase import erase
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.store import file_backup as copying
from palazzo.store import items

ROUNDS = 400
"""20 at CI size; 1,000 with PALAZZO_RELIABILITY=2.5."""
WRITERS, BATCH, A_SECOND = 2, 50, 500
KILLS_EVERY_DAY, KILLS = 1, 400
BEYOND = 1.1
"""A restore is killed at the latest after so many times the seconds that one takes that is left alone."""
_ROW = re.compile(r"row (\d+) of (w\d)")


def rows(path: Path) -> dict[str, list[int]]:
    """The numbers of the rows that each writer has in a palace, in the order in which they were filed."""
    found: dict[str, list[int]] = {}
    with Palace.open(path, "read") as palace, palace.database.snapshot() as connection:
        texts = items.read_texts(connection, [row for (row,) in connection.execute("SELECT id FROM item")])
    for row in sorted(texts):
        number, name = _ROW.fullmatch(texts[row]).groups()  # type: ignore[union-attr]
        found.setdefault(name, []).append(int(number))
    return found


def digest(path: Path) -> str:
    """All that is archived, as one hash."""
    with Palace.open(path, "read") as palace, palace.database.snapshot() as connection:
        links = connection.execute("SELECT item_uid, digest, hash FROM link ORDER BY device, seq")
        return hashlib.blake2b(b"".join(b"".join(map(bytes, link)) for link in links)).hexdigest()


class Writers:
    """Processes that write until they are ended, and how far each has come."""

    def __init__(self, path: Path) -> None:
        self._processes = {f"w{n}": start("batch_writer", path, f"w{n}", BATCH, A_SECOND) for n in range(WRITERS)}
        self.acknowledged = dict.fromkeys(self._processes, 0)
        for process in self._processes.values():
            assert process.stdout is not None
            os.set_blocking(process.stdout.fileno(), False)

    def look(self) -> dict[str, int]:
        """How many rows each writer has been told are committed."""
        for name, process in self._processes.items():
            assert process.stdout is not None
            while line := process.stdout.readline():
                self.acknowledged[name] = int(line)
        return dict(self.acknowledged)

    def wait_for(self, rows: int) -> None:
        """Wait until each has so many."""
        until = time.monotonic() + 60
        while min(self.look().values()) < rows:
            assert time.monotonic() < until, [process.poll() for process in self._processes.values()]
            time.sleep(0.005)

    def end(self) -> None:
        """End them, wherever they are."""
        for process in self._processes.values():
            process.kill()
            process.communicate()


def backed_up_while_others_write(directory: Path, rounds: int) -> None:
    """Make backups and restore each elsewhere: rows without a gap, all that was acknowledged before, nothing torn."""
    chance = chances("backup")
    for n in range(rounds):
        own = directory / str(n)
        path, file, other = own / "palace.db", own / "backup.db", own / "restored" / "palace.db"
        Palace.open(path).close()
        variables = {"HOME": str(own), "PALAZZO_SERVICE": "off"}
        writers = Writers(path)
        try:
            writers.wait_for(BATCH * chance.randint(1, 20))
            before = writers.look()
            with Context(path, own, variables) as context:
                backup(context, BackupRequest(file))
        finally:
            writers.end()
        with Context(other, own, variables) as context:
            restore(context, RestoreRequest(file))
        held = rows(other)
        assert {name: list(range(len(numbers))) for name, numbers in held.items()} == held
        assert {name: len(numbers) % BATCH for name, numbers in held.items()} == dict.fromkeys(held, 0)
        assert all(len(held[name]) >= count for name, count in before.items())
        assert digest(other) == digest(file)
        with Palace.open(other, embedder=HashedWords) as palace:
            assert complaints(palace) == []
            assert [check for check in verify(palace.database, HashedWords) if not check.ok] == []
        shutil.rmtree(own)


@pytest.mark.slow
def test_every_backup_while_others_write_is_whole(tmp_path: Path) -> None:
    backed_up_while_others_write(tmp_path, scaled(ROUNDS))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A palace, and a backup that was made of it before most was filed."""
    directory = tmp_path_factory.mktemp("two")
    path, file = directory / "palace" / "palace.db", directory / "backup.db"
    with Palace.open(path) as palace:
        for n in range(20):
            palace.remember(f"row {n} of w0", Place("api", "auth"))
    with Context(path, directory, {"HOME": str(directory)}) as context:
        backup(context, BackupRequest(file))
    with Palace.open(path) as palace:
        for n in range(20, 60):
            palace.remember(f"row {n} of w0", Place("api", "auth"))
    path.with_name("palace.db.backups").unlink()
    return path, file


def killed_restores(two: tuple[Path, Path], directory: Path, cycles: int) -> set[str]:
    """Kill a restore so many times; return how far each had come, as the palace shows it."""
    chance, reached, longest = chances("restore"), set(), 0.0
    for cycle in range(cycles):
        path = directory / str(cycle) / "palace.db"
        shutil.copytree(two[0].parent, path.parent)
        process = start("restorer", path, two[1])
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.001, longest or 0.5))
        os.kill(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        held = rows(path)["w0"]
        assert held in (list(range(20)), list(range(60)))
        assert "restored" not in said or held == list(range(20))
        kept = list(path.parent.glob("palace.db.before-restore-*"))
        whole = [one for one in kept if not one.name.endswith((".partial", "-wal", "-shm", "-journal"))]
        assert len(held) == 60 or [rows(one)["w0"] for one in whole] == [list(range(60))]
        reached.add("new" if len(held) == 20 else "old")
        with Palace.open(path) as palace:
            palace.remember(f"row {len(held)} of w0", Place("api", "auth"))
            assert complaints(palace) == []
            assert [check for check in verify(palace.database, HashedWords) if not check.ok] == []
        again = start("restorer", path, two[1])  # what was left behind is in nobody's way
        assert again.stdout is not None
        assert again.stdout.readline() == "ready\n"
        began = time.monotonic()
        assert again.stdout.readline() == "restored\n"
        longest = max(longest, BEYOND * (time.monotonic() - began))
        again.communicate()
        assert rows(path)["w0"] == list(range(20))
        assert not list(path.parent.glob("*.restoring*")) + list(path.parent.glob("*.partial*"))
        shutil.rmtree(path.parent)
    return reached


def test_a_restore_that_was_killed_leaves_the_old_palace_or_the_new_one(two: tuple[Path, Path], tmp_path: Path) -> None:
    killed_restores(two, tmp_path, KILLS_EVERY_DAY)


@pytest.mark.slow
def test_a_restore_that_was_killed_at_any_moment_leaves_the_old_palace_or_the_new_one(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    assert killed_restores(two, tmp_path, scaled(KILLS)) == {"old", "new"}


# --- an erase at the same time ------------------------------------------------------------------------------


def test_what_is_erased_while_a_restore_is_made_ready_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Machine(tmp_path / "home")
    home.say("the first note")
    said = home.say("the walrus sleeps")
    with home.at() as context:
        made = backup(context, BackupRequest())
    put_in_place = copying.put_in_place

    def after_an_erase(*given: Any) -> bool:
        with home.at() as context:
            erase(context, EraseRequest(ids=(said,)))
        return put_in_place(*given)

    monkeypatch.setattr(copying, "put_in_place", after_an_erase)
    with home.at() as context:
        assert restore(context, RestoreRequest(Path(str(made.file)))).erased == 1
    assert [text for _, _, text in home.finds("walrus note")] == ["the first note"]
    assert b"walrus" not in (home.place / "palace.db").read_bytes()
    assert home.wrong() == []
