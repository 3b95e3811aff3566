"""R4: a full disk, one that cannot be written, a limit on file size. A clear sentence, and all is well after."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
from tests.archive.conversations import PLACE
from tests.derived.state import complaints, drawers
from tests.index.test_vector_file import palace_at
from tests.reliability.programs import ROOT

from palazzo.errors import PalaceUnusable
from palazzo.index import vector_index
from palazzo.index.query import Query
from palazzo.palace import Palace
from palazzo.store.vector_file_paths import unfinished_file, vector_file

pytestmark = pytest.mark.slow

Mount = Callable[[str], Path]


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Mount]:
    """Mounts a memory file system with those options, where this user may."""
    point = tmp_path / "disk"
    point.mkdir()

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(point)]
        if not sys.platform.startswith("linux") or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("this user cannot mount a file system; the faulty disk of test_faults covers it")
        return point

    yield mount
    if os.path.ismount(point):
        subprocess.run(["umount", str(point)], check=True)


def fill(palace: Palace) -> tuple[list[str], PalaceUnusable]:
    """Remember until it fails; return what was acknowledged and what was said."""
    kept: list[str] = []
    for n in range(20_000):
        text = f"note {n} " + os.urandom(700).hex()
        try:
            palace.remember(text, PLACE)
        except PalaceUnusable as error:
            return kept, error
        kept.append(text)
    raise AssertionError("the disk never filled")


def test_a_full_disk_is_said_plainly_and_loses_nothing(mounted: Mount) -> None:
    disk = mounted("size=3m")
    ballast = disk / "ballast"
    ballast.write_bytes(b"x" * 400_000)
    with Palace.open(disk / "palace.db") as palace:
        kept, error = fill(palace)
        assert "is full" in str(error)
        assert "Acknowledged data is safe" in str(error)
        assert len(kept) > 10
        assert kept[0].split()[1] == "0"
        assert len(palace.search(Query("note")).hits) == 5
        assert set(kept) == {drawer.text for drawer in drawers(palace)}
        ballast.unlink()
        palace.remember("there is room again", PLACE)
    with Palace.open(disk / "palace.db") as palace:
        assert {drawer.text for drawer in drawers(palace)} == {*kept, "there is room again"}
        assert complaints(palace) == []


def test_a_disk_without_room_for_a_palace_is_said_plainly(mounted: Mount) -> None:
    disk = mounted("size=64k")
    (disk / "ballast").write_bytes(b"x" * 60_000)
    with pytest.raises(PalaceUnusable, match=r"is full|could not be"):
        Palace.open(disk / "palace.db")
    (disk / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
    with Palace.open(disk / "palace.db") as palace:
        palace.remember("there is room", PLACE)
        assert complaints(palace) == []


def test_a_file_system_that_cannot_be_written_can_be_read(mounted: Mount) -> None:
    disk = mounted("size=8m")
    with Palace.open(disk / "palace.db") as palace:
        palace.remember("kept while it could be written", PLACE)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    with pytest.raises(PalaceUnusable, match="permissions"):
        Palace.open(disk / "palace.db")
    with pytest.raises(PalaceUnusable, match=r"cannot be created|permissions"):
        Palace.open(disk / "new" / "palace.db")
    with Palace.open(disk / "palace.db", "read") as palace:
        assert len(palace.search(Query("kept")).hits) == 1
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    with Palace.open(disk / "palace.db") as palace:
        palace.remember("and again", PLACE)
        assert complaints(palace) == []


LIMITED = """
import resource, sys
from pathlib import Path
from typing import IO
from palazzo.palace import Palace
from palazzo.errors import PalaceUnusable
from tests.archive.conversations import PLACE
resource.setrlimit(resource.RLIMIT_FSIZE, (1_200_000, 1_200_000))  # a palace with nothing in it takes half of that
with Palace.open(Path(sys.argv[1])) as palace:
    for n in range(5000):
        try:
            palace.remember(f"note {n} " + "word " * 200, PLACE)
        except PalaceUnusable as error:
            print(error)
            raise SystemExit(7)
        print(n, flush=True)
"""


def test_a_limit_on_file_size_is_said_plainly_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, cwd=ROOT, env=environment
    )
    *kept, sentence = ran.stdout.splitlines()
    assert ran.returncode == 7, (ran.stderr, signal.Signals(-ran.returncode) if ran.returncode < 0 else "")
    assert sentence.endswith(".")
    assert "Acknowledged data is safe" in sentence
    with Palace.open(path) as palace:
        assert {f"note {n}" for n in map(int, kept)} <= {" ".join(d.text.split()[:2]) for d in drawers(palace)}
        palace.remember("there is no limit now", PLACE)
        assert complaints(palace) == []


def fill_file(file: IO[bytes]) -> None:
    """Write until it fails."""
    while True:
        file.write(b"x" * 512)


def test_a_search_goes_on_where_its_file_of_vectors_does_not_fit(
    mounted: Mount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "_LEAST_SAVED", 0)
    disk = mounted("size=16m")
    with palace_at(disk / "palace.db") as palace:
        for n in range(40):
            palace.remember(f"word{n} text {n % 3}", PLACE)
        palace.embed_pending()
    ballast = disk / "ballast"
    ballast.touch()
    for _ in range(2):
        with palace_at(disk / "palace.db") as palace, ballast.open("ab", buffering=0) as file:
            with palace.database.snapshot():  # its log has what it needs before the disk is full
                pass
            with pytest.raises(OSError, match="No space left"):
                fill_file(file)
            assert palace.search(Query("word7 text")).hits
    assert not vector_file(disk / "palace.db").exists()
    assert not unfinished_file(disk / "palace.db").exists()
    ballast.unlink()
    with palace_at(disk / "palace.db") as palace:
        assert palace.search(Query("word7 text")).hits
    assert vector_file(disk / "palace.db").exists()
