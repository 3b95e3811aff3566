"""Work in this process leaves SQLite's locks on an open palace as they are; else another process deletes its log."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.archive.conversations import PLACE

from palazzo.errors import PalazzoError
from palazzo.operations import idempotency, registry
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.store import palace_overview, raw_database, salvage
from palazzo.store.raw_database import RawDatabase

SOURCES = Path(__file__).parents[2] / "src"
OTHER_PROCESS = """
import sys
from pathlib import Path
from palazzo.model import Place
from palazzo.palace import Palace
with Palace.open(Path(sys.argv[1])) as palace:
    palace.remember("A note of the other process.", Place("acme", "notes"))
"""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/locks")


def locks_held(directory: Path) -> set[tuple[str, str, str]]:
    """Return (file, kind, first byte) of this process's locks on the files of a directory."""
    names = {path.stat().st_ino: path.name for path in directory.iterdir() if path.is_file()}
    locks = (line.split() for line in Path("/proc/locks").read_text().splitlines())
    own = (lock for lock in locks if lock[1] == "POSIX" and int(lock[4]) == os.getpid())
    rows = ((int(lock[5].rpartition(":")[2]), lock[3], lock[6]) for lock in own)
    return {(names[inode], kind, first) for inode, kind, first in rows if inode in names}


@pytest.fixture
def palace_in_use(tmp_path: Path) -> Iterator[Path]:
    """A palace that this process has open, with a reader at work."""
    path = tmp_path / "palace.db"
    (tmp_path / "page.md").write_text("# Deploy\n\nThe port is 8443.\n", encoding="utf-8")
    with Palace.open(path) as palace:
        palace.remember("We decided on a retry budget of ten percent.", PLACE)
        with palace.database.snapshot() as connection:
            list(connection.execute("SELECT count(*) FROM item"))
            yield path


REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("verify", {}),
    ("doctor", {}),
    ("status", {}),
    ("audit", {}),
    ("mine", {"paths": ("directory",)}),
    ("mine", {"paths": ("palace",)}),
    ("sync_sources", {}),
    ("backup", {"target": "copy"}),
    ("backup", {"target": "palace"}),
    ("restore", {"file": "palace"}),
    ("import", {"path": "palace"}),
    ("repair", {}),
    ("export", {"out": "export"}),
    ("remember", {"text": "See palace.db:1.", "anchors": ("palace.db",)}),
]


@pytest.mark.parametrize(("name", "fields"), REQUESTS, ids=str)
def test_an_operation_leaves_the_locks(palace_in_use: Path, name: str, fields: dict[str, Any]) -> None:
    directory = palace_in_use.parent
    paths = {
        "directory": directory,
        "palace": palace_in_use,
        "copy": directory / "copy.db",
        "export": directory / "export.jsonl",
    }

    def resolve(value: Any) -> Any:
        return tuple(map(resolve, value)) if isinstance(value, tuple) else paths.get(value, value)

    before = locks_held(directory)
    variables = {"HOME": str(directory), "PATH": os.environ["PATH"], "PALAZZO_SERVICE": "off"}
    with Context(palace_in_use, directory, variables, trust="user") as context:
        operation = registry.operation(name)
        request = operation.request(**{key: resolve(value) for key, value in fields.items()})
        with contextlib.suppress(PalazzoError):  # a refusal must leave the locks, too
            idempotency.call(context, operation, request, None)
    assert ("palace.db", "READ") in {lock[:2] for lock in before}
    assert before <= locks_held(directory)


def test_a_check_for_damage_leaves_the_locks(palace_in_use: Path) -> None:
    """As after an error in a service, which has the palace open."""
    before = locks_held(palace_in_use.parent)
    assert salvage.is_sound(palace_in_use)
    assert before <= locks_held(palace_in_use.parent)


def test_what_is_written_after_a_check_is_found_although_another_process_came_and_went(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    with Palace.open(path) as palace:
        palace.remember("Before the check.", PLACE)
        with Context(path, tmp_path, {"HOME": str(tmp_path)}, trust="user") as context:
            operation = registry.operation("verify")
            operation.run(context, operation.request())
        variables = {**os.environ, "PYTHONPATH": str(SOURCES)}
        subprocess.run([sys.executable, "-c", OTHER_PROCESS, str(path)], env=variables, check=True)
        palace.remember("After the check.", PLACE)
        assert path.with_name("palace.db-wal").exists()
    with Palace.open(path, "read") as palace, palace.database.snapshot() as connection:
        assert palace_overview.count_items(connection) == 3


def test_the_bytes_are_those_of_the_file(palace_in_use: Path) -> None:
    before = locks_held(palace_in_use.parent)
    with RawDatabase(palace_in_use) as raw:
        assert raw.read(0, 16) == b"SQLite format 3\0"
        assert raw.read(1 << 30, 16) == b""
    assert locks_held(palace_in_use.parent) == before
    with pytest.raises(FileNotFoundError):
        RawDatabase(palace_in_use.with_name("none.db"))


def test_only_files_that_are_open_here_are_refused(palace_in_use: Path) -> None:
    for suffix in ("", "-shm"):
        with pytest.raises(OSError, match="it is the open palace"):
            raw_database.refuse_open(f"{palace_in_use}{suffix}")
    raw_database.refuse_open(palace_in_use.with_name("page.md"))
    raw_database.refuse_open(palace_in_use.with_name("none"))


def test_a_palace_that_is_closed_is_a_file_like_others(tmp_path: Path) -> None:
    with Palace.open(tmp_path / "palace.db") as palace:
        palace.remember("A note.", PLACE)
    raw_database.refuse_open(tmp_path / "palace.db")
