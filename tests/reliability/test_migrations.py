"""R6: a palace comes up to date whole or not at all, and one of a later Palazzo is left alone."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.archive.conversations import PLACE
from tests.derived.state import complaints, drawers
from tests.reliability.programs import ROOT
from tests.reliability.sizes import FACTOR

from palazzo.errors import PalazzoError, SchemaTooNew
from palazzo.palace import Palace
from palazzo.store import schema
from palazzo.store.database import Connection
from palazzo.store.faulty_disk import NEVER, faulty_disk

pytestmark = pytest.mark.slow


def m901_add_a_table(connection: Connection) -> None:
    """A step of a later version: a table, filled from what is there."""
    connection.execute("CREATE TABLE later(id INTEGER PRIMARY KEY, uid BLOB)")
    connection.execute("INSERT INTO later SELECT id, uid FROM item")


def m902_change_a_table(connection: Connection) -> None:
    """Another step."""
    connection.execute("ALTER TABLE later ADD COLUMN size INTEGER")
    connection.execute("UPDATE later SET size = 7")


LATER = [*schema.MIGRATIONS, m901_add_a_table, m902_change_a_table]


def a_palace(path: Path) -> Path:
    with Palace.open(path) as palace:
        for n in range(20):
            palace.remember(f"note {n}", PLACE)
    return path


def test_a_fault_at_any_moment_of_a_migration_leaves_it_to_be_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", LATER)
    with faulty_disk() as disk:
        k, done = 0, False
        while not done:
            k += 1
            monkeypatch.setattr(schema, "MIGRATIONS", LATER[:-2])
            path = a_palace(tmp_path / str(k) / "palace.db")
            monkeypatch.setattr(schema, "MIGRATIONS", LATER)
            disk.fail(k, NEVER)
            try:
                Palace.open(path).close()
            except PalazzoError:
                pass
            else:
                done = disk.operations < k
            disk.heal()
            with Palace.open(path) as palace, palace.database.snapshot() as connection:
                assert list(connection.execute("SELECT count(*), sum(size) FROM later")) == [(20, 140)]
                assert schema.version(connection) == len(LATER)
            with Palace.open(path) as palace:
                assert len(drawers(palace)) == 20
                assert complaints(palace) == []
        assert k > 5


KILLED_AT = """
import os, signal, sys
from pathlib import Path
from palazzo.palace import Palace
from palazzo.store import schema
from tests.reliability.test_migrations import LATER
wanted, counted = int(sys.argv[2]), 0
from palazzo.store import database
execute = database.SqliteConnection.execute
def counting(self, sql, parameters=()):
    global counted
    counted += 1
    if counted == wanted:
        os.kill(os.getpid(), signal.SIGKILL)
    return execute(self, sql, parameters)
database.SqliteConnection.execute = counting
schema.MIGRATIONS = LATER
Palace.open(Path(sys.argv[1])).close()
"""


def test_a_kill_at_every_step_of_a_migration_leaves_it_to_be_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From no file at all to the last step: the process is killed before each statement in turn (every fifth in CI)."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    statement, killed = 0, True
    while killed:
        statement += 1 if FACTOR >= 1 else 5
        path = tmp_path / f"{statement}" / "palace.db"
        ran = subprocess.run(
            [sys.executable, "-c", KILLED_AT, str(path), str(statement)], cwd=ROOT, env=environment, capture_output=True
        )
        killed = ran.returncode == -signal.SIGKILL
        assert killed or ran.returncode == 0, ran.stderr
        with monkeypatch.context() as patch:
            patch.setattr(schema, "MIGRATIONS", LATER)
            with Palace.open(path) as palace:
                palace.remember("it works", PLACE)
                assert complaints(palace) == []
                with palace.database.snapshot() as connection:
                    assert schema.version(connection) == len(LATER)
    assert statement > 40


@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_later_palace_is_refused_and_not_a_byte_of_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", LATER)
        path = a_palace(tmp_path / "palace.db")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    for _ in range(3):
        with pytest.raises(SchemaTooNew, match="pip install --upgrade"):
            Palace.open(path, "read" if mode == "read" else "write")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
