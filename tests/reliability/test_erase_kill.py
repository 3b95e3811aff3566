"""An erase that is killed at any moment has done nothing or all of it, and is completed by the next."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.archive.conversations import Ticking, file_rows, file_version, said
from tests.archive.leftovers import leftovers
from tests.derived.state import complaints
from tests.index.hashed_words import HashedWords
from tests.reliability.programs import start
from tests.reliability.sizes import chances, scaled

from palazzo.archive import erasure
from palazzo.archive.erasure_request import ErasureRequest
from palazzo.derived.integrity_checks import verify
from palazzo.palace import Palace
from palazzo.text.hashed_words import ANYWHERE

WORDS = "zebra-quartz-90417"
EVERY_DAY = 2
CYCLES = 1_000
"""At CI size 50."""
TIMES_ALONE = 2
"""After how many times what an erase takes here, when it is left alone, the process is killed at the latest."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A palace with the words in messages, a document's versions and a note; closed."""
    path = tmp_path_factory.mktemp("whole") / "palace" / "palace.db"
    with Palace.open(path, embedder=HashedWords, clock=Ticking()) as palace:
        file_rows(palace, [said(n, "user", f"row {n}: {WORDS if n % 5 == 1 else 'bees'} " * 9) for n in range(150)])
        file_version(palace, f"# One\n\nthe first {WORDS}\n")
        file_version(palace, "# Two\n\nthe second\n")
        palace.embed_pending()
    return path


def erasing_in(whole: Path, path: Path) -> subprocess.Popen[str]:
    """Begin an erase in a copy of the palace."""
    shutil.copytree(whole.parent, path.parent)
    process = start("eraser", path, WORDS)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def alone(whole: Path, directory: Path) -> float:
    """Return the seconds that an erase takes here when nobody kills it."""
    path = directory / "alone" / "palace.db"
    process = erasing_in(whole, path)
    began = time.monotonic()
    said_so, _ = process.communicate()
    assert said_so.endswith("finished\n")
    shutil.rmtree(path.parent)
    return time.monotonic() - began


def killed_and_completed(whole: Path, directory: Path, cycles: int) -> set[str]:
    """Kill an erase so many times, each in a palace of its own; return how far it had come."""
    chance, reached = chances("erase"), set()
    longest = TIMES_ALONE * alone(whole, directory)
    for cycle in range(cycles):
        path = directory / str(cycle) / "palace.db"
        process = erasing_in(whole, path)
        time.sleep(chance.uniform(0.001, longest))
        os.kill(process.pid, signal.SIGKILL)
        said_so, _ = process.communicate()
        reached.add(said_so.split("\n")[-2] if said_so else "nothing")
        with Palace.open(path, clock=Ticking(1_800_000_000_000_000)) as palace:
            assert complaints(palace) == []
            wanted = ErasureRequest({WORDS: ANYWHERE})
            with palace.database.snapshot() as connection:
                found = erasure.survey(connection, wanted, lambda what, done, total: None)
            assert len(found.items) in ((0,) if "erased" in said_so else (0, 31))
            if found.items:
                palace.erase(wanted, found)
            palace.finish_erasing()
            assert leftovers(palace, WORDS) == []
            assert [check for check in verify(palace.database, HashedWords) if not check.ok] == []
        shutil.rmtree(path.parent)
    return reached


def test_an_erase_that_was_killed_is_completed(whole: Path, tmp_path: Path) -> None:
    killed_and_completed(whole, tmp_path, EVERY_DAY)


@pytest.mark.slow
def test_an_erase_that_was_killed_at_any_moment_is_completed(whole: Path, tmp_path: Path) -> None:
    assert killed_and_completed(whole, tmp_path, scaled(CYCLES)) == {"nothing", "erased", "finished"}
