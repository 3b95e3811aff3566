"""R2 for backups: whichever write fails, there is the old palace or the new one, and the older backup or a new one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.archive.conversations import PLACE
from tests.derived.state import complaints
from tests.reliability.sizes import chances, scaled

from palazzo.derived.integrity_checks import verify_truth
from palazzo.errors import PalazzoError
from palazzo.features.backup.backup import backup
from palazzo.features.backup.contract import BackupRequest, RestoreRequest
from palazzo.features.backup.restore import restore
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.store import palace_overview
from palazzo.store.faulty_disk import NEVER, Failure, FaultyDisk, broken, faulty_disk, full

pytestmark = pytest.mark.slow

MOMENTS = 1_000
"""At which a fault is put, at CI size a twentieth: most writes are pages of a copy, one like the other."""
FEW, MANY = 3, 9
"""Notes in the backup, and in the palace."""


@pytest.fixture(scope="module")
def before() -> Iterator[Path]:
    """A directory with a palace and a backup of when it had fewer notes."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as directory:
        where = Path(directory) / "before"
        with Palace.open(where / "palace.db") as palace:
            for n in range(FEW):
                palace.remember(f"note {n}", PLACE)
        with context(where) as opened:
            backup(opened, BackupRequest(where / "backup.db"))
        with Palace.open(where / "palace.db") as palace:
            for n in range(FEW, MANY):
                palace.remember(f"note {n}", PLACE)
        yield where


def context(where: Path) -> Context:
    return Context(where / "palace.db", where, {"HOME": str(where / "home"), "PALAZZO_SERVICE": "off"})


def restoring(where: Path) -> None:
    with context(where) as opened:
        restore(opened, RestoreRequest(where / "backup.db"))


def backing_up(where: Path) -> None:
    with context(where) as opened:
        backup(opened, BackupRequest(where / "backup.db"))


def held(file: Path) -> int:
    with Palace.open(file, "read") as palace, palace.database.snapshot() as connection:
        return palace_overview.count_items(connection)


def attempts(
    disk: FaultyDisk, before: Path, action: Callable[[Path], None], count: int, failure: Failure
) -> Iterator[tuple[Path, bool]]:
    """Try it with the fault at each moment; yield where, and whether the caller was told that it is done."""
    disk.heal()
    action(fresh(before))
    total = disk.operations
    assert total > 20
    each = max(1, total // scaled(MOMENTS))
    for k in range(1 + chances(f"{action.__name__} {count} {failure.__name__}").randrange(each), total + 1, each):
        where = fresh(before)
        disk.fail(k, count, failure)
        try:
            action(where)
            done = True
        except PalazzoError:
            done = False
        disk.heal()
        yield where, done


def fresh(before: Path) -> Path:
    where = before.parent / "tried"
    shutil.rmtree(where, ignore_errors=True)
    shutil.copytree(before, where)
    return where


FAULTS = pytest.mark.parametrize(
    ("count", "failure"), [(1, broken), (NEVER, broken), (NEVER, full)], ids=["once", "dead", "full"]
)


@FAULTS
def test_a_restore_that_met_a_fault_is_done_or_not_done(before: Path, count: int, failure: Failure) -> None:
    with faulty_disk() as disk:
        for where, done in attempts(disk, before, restoring, count, failure):
            found = held(where / "palace.db")
            assert found in ((FEW,) if done else (FEW, MANY))
            with Palace.open(where / "palace.db") as palace:
                assert complaints(palace) == []
            assert all(check.ok for check in verify_truth(where / "palace.db"))
            kept = [path for path in where.glob("*before-restore*") if "partial" not in path.name]
            assert found == MANY or [held(path) for path in kept] == [MANY]
            restoring(where)
            assert held(where / "palace.db") == FEW
            assert not [*where.glob("*restoring*"), *where.glob("*partial*")]


@FAULTS
def test_a_backup_that_met_a_fault_is_whole_or_the_older_one(before: Path, count: int, failure: Failure) -> None:
    with faulty_disk() as disk:
        for where, done in attempts(disk, before, backing_up, count, failure):
            assert held(where / "backup.db") in ((MANY,) if done else (FEW, MANY))
            assert all(check.ok for check in verify_truth(where / "backup.db"))
            assert held(where / "palace.db") == MANY
