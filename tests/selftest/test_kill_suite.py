"""What the suite of kills must know: a commit that was cut off may come to light later."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from palazzo.features.selftest.kill_suite import wait_for_background
from palazzo.features.service.background_process import lock_file
from palazzo.locks import is_held

VICTIM = """
import os, signal, sys, apsw

class File(apsw.VFSFile):
    def __init__(self, name, flags):
        self.name = name.filename() if isinstance(name, apsw.URIFilename) else name
        super().__init__("", name, flags)

    def xSync(self, flags):
        super().xSync(flags)
        if self.name.endswith("-wal"):
            os.kill(os.getpid(), signal.SIGKILL)

class Killing(apsw.VFS):
    def __init__(self):
        super().__init__("killing", "")

    def xOpen(self, name, flags):
        return File(name, flags)

vfs = Killing()
connection = apsw.Connection(sys.argv[1], vfs="killing")
connection.execute("PRAGMA synchronous=FULL").fetchall()
connection.execute("INSERT INTO note VALUES ('cut off')").fetchall()
"""
READER = """
import sys, apsw

connection = apsw.Connection(sys.argv[1], flags=apsw.SQLITE_OPEN_READONLY)
connection.execute("SELECT * FROM note").fetchall()
print(flush=True)
sys.stdin.read()
"""
HOLDER = (
    "import sys, time; from palazzo.locks import try_lock; try_lock(sys.argv[1]); print(flush=True); time.sleep(0.7)"
)


def notes(file: Path) -> list[str]:
    connection = apsw.Connection(str(file))
    found = [str(text) for (text,) in connection.execute("SELECT text FROM note ORDER BY rowid")]
    connection.close()
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="a process is killed there in another way")
def test_a_commit_that_is_killed_before_the_index_comes_to_light_when_the_file_is_opened_alone(tmp_path: Path) -> None:
    """This is SQLite's way, and why the suite waits before it says that a step was not done."""
    file = tmp_path / "notes.db"
    other = apsw.Connection(str(file))
    other.execute("PRAGMA journal_mode=WAL").fetchall()
    other.execute("CREATE TABLE note(text)").fetchall()
    victim = subprocess.run([sys.executable, "-c", VICTIM, str(file)], check=False)
    assert victim.returncode == -signal.SIGKILL
    assert notes(file) == []
    reading = [sys.executable, "-c", READER, str(file)]
    with subprocess.Popen(reading, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        reader.stdout.readline()
        other.close()  # the reader keeps it from emptying the log
        reader.communicate()
    assert notes(file) == ["cut off"]


def test_the_suite_waits_until_a_background_process_has_ended(tmp_path: Path) -> None:
    palace = tmp_path / "palace.db"
    holding = [sys.executable, "-c", HOLDER, str(lock_file(palace))]
    with subprocess.Popen(holding, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert is_held(lock_file(palace))
        wait_for_background(palace)
        assert not is_held(lock_file(palace))
    wait_for_background(palace)  # nothing is held, and it does not wait
