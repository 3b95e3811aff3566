"""Locks between processes: one holds it, looking is harmless, and death lets go."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from palazzo.locks import is_held, try_lock


def test_one_holds_it_until_it_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "a lock"
    assert not is_held(path)
    lock = try_lock(path)
    assert lock is not None
    assert is_held(path)
    assert try_lock(path) is None
    lock.release()
    lock.release()
    assert not is_held(path)
    with try_lock(path) or pytest.fail("it is free"):
        assert is_held(path)
    assert not is_held(path)


def test_a_process_that_dies_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    program = (
        "import pathlib, sys; from palazzo.locks import try_lock; held = try_lock(pathlib.Path(sys.argv[1]));"
        " print(1, flush=True); input()"
    )
    source = str(Path(__file__).resolve().parents[1] / "src")
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": source},
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert is_held(path)
        holder.kill()
        holder.wait()
        assert not is_held(path)


def test_a_lock_that_cannot_be_made_is_held_by_nobody(tmp_path: Path) -> None:
    assert not is_held(tmp_path / "missing" / "lock")
    with pytest.raises(OSError, match="missing"):
        try_lock(tmp_path / "missing" / "lock")


@pytest.mark.skipif(sys.platform == "win32", reason="there a lock is its process's own")
def test_a_lock_that_is_handed_on_is_held_until_both_have_let_go(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    program = (
        "import sys; from palazzo.locks import adopt_lock; held = adopt_lock(sys.argv[1], int(sys.argv[2]));"
        " input(); held.release(); print(1, flush=True); input()"
    )
    source = str(Path(__file__).resolve().parents[1] / "src")
    lock = try_lock(path)
    assert lock is not None
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path), *map(str, lock.to_inherit)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": source},
        pass_fds=lock.to_inherit,
        text=True,
    ) as process:
        lock.release()
        assert is_held(path)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "1\n"
        assert not is_held(path)
        process.stdin.close()
