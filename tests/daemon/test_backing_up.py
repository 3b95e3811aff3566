"""Automatic backups that fail: doctor says why, until one succeeds."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.daemon.hook_machine import Machine, eventually
from tests.daemon.test_hook_faults import fill, mount

from palazzo.daemon.backup_schedule import BackingUp
from palazzo.daemon.palace_pool import Pool
from palazzo.features.backup import automatic_backup
from palazzo.features.upkeep.contract import DoctorRequest
from palazzo.features.upkeep.doctor import doctor


@pytest.fixture
def small_disk(tmp_path: Path, machine: Machine) -> Iterator[Path]:
    """A memory file system with the machine's palace on it."""
    point = tmp_path / "disk"
    point.mkdir()
    mount(point, "size=8m")
    machine.variables["PALAZZO_PALACE"] = str(point / "palace.db")
    try:
        yield point
    finally:
        subprocess.run(["umount", "-l", str(point)], check=True)


def fill_disk(disk: Path) -> Callable[[], object]:
    """Leave room for a log of SQLite's, without which nobody can open a palace, and not for a copy."""
    ballast = fill(disk)
    os.truncate(ballast, ballast.stat().st_size - 200_000)
    return ballast.unlink


def put_file_in_the_way(disk: Path) -> Callable[[], object]:
    obstacle = disk / "backups"
    obstacle.write_text("a file where the directory would be")
    return obstacle.unlink


def backup_findings(machine: Machine) -> list[str]:
    """What doctor says of backups that is not in order."""
    with machine.alone() as context:
        findings = doctor(context, DoctorRequest(canaries=False)).findings
    return [finding.detail for finding in findings if finding.name == "backup" and not finding.ok]


def look_once(machine: Machine, until: Callable[[], object]) -> None:
    """Let the service's thread look whether a backup is due, once."""
    pool = Pool()
    backing_up = BackingUp(machine.palace, machine.variables, pool, lambda: float("-inf"))
    backing_up.begin()
    try:
        eventually(until)
    finally:
        backing_up.end()
        pool.close()


@pytest.mark.parametrize(
    ("obstruct", "reason"), [(fill_disk, "no room"), (put_file_in_the_way, "backups")], ids=["full disk", "a file"]
)
def test_doctor_says_why_the_last_automatic_backup_failed_until_one_succeeds(
    small_disk: Path, machine: Machine, obstruct: Callable[[Path], Callable[[], object]], reason: str
) -> None:
    machine.note("We decided on a retry budget of ten percent.")
    remove_obstacle = obstruct(small_disk)

    def is_told() -> bool:
        return any("automatic one failed" in line and reason in line for line in backup_findings(machine))

    look_once(machine, is_told)
    remove_obstacle()
    look_once(machine, lambda: list(automatic_backup.directory_of(machine.palace).glob("*.db")))
    assert backup_findings(machine) == []
