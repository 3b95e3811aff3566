"""`palazzo selftest`: its table, its exit code, and one clear sentence where it cannot run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faces.cli.command import SOURCES, Command

from palazzo.features.selftest import bit_suite, kill_suite, scratch, writer_suite
from palazzo.features.selftest.suite_result import SuiteCounts
from palazzo.store import filesystem


def scratch_directories(directory: Path) -> list[Path]:
    return list(directory.glob("palazzo-selftest-*"))


def test_a_short_run_loses_nothing_leaves_nothing_and_opens_no_palace_of_the_users(
    palazzo: Command, tmp_path: Path, home: Path
) -> None:
    found = palazzo.json("selftest", "--bits", "4", "--seed", "1", "--directory", str(tmp_path))
    (row,) = found["rows"]
    assert (row["suite"], row["runs"], row["lost"], row["doubled"]) == ("bits", 4, 0, 0)
    assert row["detected"] + sum(count for name, count in row["details"].items() if "harmless" in name) == 4
    assert (found["seed"], found["interrupted"], found["kept"]) == (1, False, None)
    assert found["file_system"] == filesystem.type_of(tmp_path) or found["file_system"] == "unknown"
    assert set(found["versions"]) == {"palazzo", "python", "apsw", "system"}
    assert not scratch_directories(tmp_path)
    assert not list(home.rglob("palace.db"))


def test_a_loss_is_an_exit_code_and_keeps_the_palaces(
    palazzo: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: object) -> object:
        counts = SuiteCounts("kill -9", runs=1, acknowledged=2, present=1)
        counts.fail("marker0000007 is not stored")
        yield counts

    monkeypatch.setattr(kill_suite, "run_kills", lose)
    ran = palazzo("selftest", "--kill9", "1", "--directory", str(tmp_path))
    assert ran.code == 1
    assert "marker0000007 is not stored" in ran.out
    (kept,) = scratch_directories(tmp_path)
    assert str(kept) in ran.out.replace("\n", "")
    assert (kept / "journal.jsonl").exists()


def test_a_person_sees_a_table_to_paste(palazzo: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = SuiteCounts("writers", runs=16, acknowledged=800, present=800, seconds=12.3)
    monkeypatch.setattr(writer_suite, "run_writers", lambda *_: iter([counts]))
    monkeypatch.setenv("COLUMNS", "80")
    ran = palazzo("selftest", "--writers", "16", "--seed", "5", "--directory", str(tmp_path))
    assert ran.code == 0
    assert ran.out.splitlines()[0].split() == [
        *("suite", "runs", "acknowledged", "present", "lost", "doubled", "detected", "repaired", "seconds"),
    ]
    assert ran.out.splitlines()[1].split() == ["writers", "16", "800", "800", "0", "0", "0", "0", "12"]
    assert "Nothing acknowledged was lost or stored twice." in ran.out


def test_an_interrupted_run_says_what_it_saw_and_leaves_nothing(
    palazzo: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> object:
        yield SuiteCounts("bits", runs=3, acknowledged=3, present=3, detected=3)
        raise KeyboardInterrupt

    monkeypatch.setattr(bit_suite, "run_bits", interrupt)
    ran = palazzo("selftest", "--bits", "9", "--directory", str(tmp_path))
    assert ran.code == 130
    assert "The run was interrupted" in ran.out
    assert ran.out.splitlines()[1].split()[:4] == ["bits", "3", "3", "3"]
    assert not scratch_directories(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--kill9", "0"), "--kill9 is 0; it must be at least 1."),
        (("--bits", "-3"), "--bits is -3; it must be at least 1."),
        (("--directory", "nowhere"), "is not a directory"),
        (("--faults", "--operation", "fly"), "--operation fly is none of remember, diary, kg,"),
        (("--operation", "kg"), "--operation names operations for --faults. Add --faults."),
    ],
)
def test_what_cannot_be_run_is_said(palazzo: Command, arguments: tuple[str, ...], sentence: str) -> None:
    ran = palazzo("selftest", *arguments)
    assert ran.code == 2
    assert sentence in ran.error


def test_a_directory_without_room_is_said(palazzo: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "ROOM_MB", 1 << 40)
    ran = palazzo("selftest", "--bits", "1", "--directory", str(tmp_path))
    assert ran.code == 1
    assert "MB free, and the selftest needs" in ran.error


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A directory that nobody can write: for root a file system that is mounted so."""
    directory = tmp_path / "read-only"
    directory.mkdir()
    if os.geteuid() != 0:
        directory.chmod(0o500)
        yield directory
        directory.chmod(0o700)
        return
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(directory)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this root cannot mount a file system")
    yield directory
    subprocess.run(["umount", "-l", str(directory)], check=True)


@pytest.mark.skipif(os.name != "posix", reason="modes and mounts of POSIX")
def test_a_directory_that_cannot_be_written_is_said(palazzo: Command, read_only: Path) -> None:
    ran = palazzo("selftest", "--bits", "1", "--directory", str(read_only))
    assert ran.code == 1
    assert f"The selftest cannot create its directory in {read_only}" in ran.error
    assert "Name another with --directory." in ran.error


def test_a_file_system_on_which_no_palace_is_safe_is_refused(
    palazzo: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"share {tmp_path} virtiofs rw,relatime 0 0\n")
    monkeypatch.setattr(filesystem, "_MOUNTS", mounts)
    ran = palazzo("selftest", "--bits", "1", "--directory", str(tmp_path))
    assert ran.code == 1
    assert "is on a virtiofs file system, which cannot lock a database safely" in ran.error


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible_children")
def test_a_real_interruption_ends_all_processes_and_removes_the_directory(tmp_path: Path) -> None:
    variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": SOURCES}
    command = [sys.executable, "-m", "palazzo", "selftest", "--kill9", "1000", "--json", "--directory", str(tmp_path)]
    process = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not any("acknowledge" in path.read_text() for path in tmp_path.glob("palazzo-selftest-*/journal.jsonl")):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    # Python ends by the signal, whatever its exit code, if the signal came while `dataclasses` was making a class
    assert process.returncode in (130, -signal.SIGINT)
    assert json.loads(out)["interrupted"]
    assert not scratch_directories(tmp_path)
