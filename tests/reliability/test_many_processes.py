"""R3: many processes write, read, rebuild and mine one palace at once, and none is refused or lost."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.derived.state import complaints
from tests.index.hashed_words import HashedWords
from tests.reliability.programs import start
from tests.reliability.sizes import scaled
from tests.reliability.test_kill import a_project, items_of

from palazzo.archive import identity
from palazzo.derived.integrity_checks import verify
from palazzo.index.query import Query
from palazzo.palace import Palace

pytestmark = pytest.mark.slow

WRITERS, WRITES, READERS = 16, 500, 4
TIMEOUT = 600


def finished(process: subprocess.Popen[str]) -> list[str]:
    """Wait for a program that must succeed; return what it said."""
    said, errors = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, errors) == (0, "")
    return said.splitlines()


def test_every_write_of_16_processes_is_there_while_others_read_and_rebuild(tmp_path: Path) -> None:
    path, count = tmp_path / "palace.db", scaled(WRITES)
    writers = [start("writer", path, f"w{n}", count) for n in range(WRITERS)]
    Palace.open(path).close()
    readers = [start("reader", path, 3, "writer", "words kept", "row 7") for _ in range(READERS)]
    rebuilding = start("rebuilder", path, scaled(40))
    said = [set(finished(writer)) - {"ready"} for writer in writers]
    for reader in readers:
        assert int(finished(reader)[-1].split()[1]) > 0
    assert len(finished(rebuilding)) == scaled(40)
    expected = {identity.message_id("test", f"w{n}", str(row)) for n in range(WRITERS) for row in range(count)}
    assert set().union(*said) == expected
    with Palace.open(path) as palace:
        assert items_of(palace) == expected
        assert complaints(palace) == []
        assert [check for check in verify(palace.database, HashedWords) if not check.ok] == []


def test_three_processes_may_mine_while_another_searches(tmp_path: Path) -> None:
    """The search sees every row that was committed before it began."""
    path = tmp_path / "palace" / "palace.db"
    projects = [a_project(tmp_path / f"project{n}") for n in range(3)]
    for n, project in enumerate(projects):
        for transcript in project.glob("*.jsonl"):  # sessions of three machines: ids must not be the same
            transcript.write_text(transcript.read_text().replace('"s1', f'"p{n}s1').replace('"s2', f'"p{n}s2'))
    with Palace.open(path) as palace:
        miners = [start("miner", path, project) for project in projects]
        searches = 0
        while any(miner.poll() is None for miner in miners):
            with palace.database.snapshot() as connection:
                (committed,) = next(
                    connection.execute("SELECT count(*) FROM item WHERE kind = 'message' AND role = 'user'")
                )
            found = palace.search(Query("message words keep", limit=10_000, budget=10**9))
            searches += 1
            assert found.total >= min(committed, 1)
            with palace.database.snapshot() as connection:
                (indexed,) = next(connection.execute("SELECT count(*) FROM keyword('message')"))
                (live,) = next(
                    connection.execute("SELECT count(*) FROM drawer WHERE retired_at IS NULL AND kind = 'exchange'")
                )
            assert indexed == live
        for miner in miners:
            assert finished(miner)[-1] == "done 1260 0"
        assert searches > 3
        assert complaints(palace) == []
        assert len(items_of(palace)) == 3 * 1260


def test_mining_one_project_from_three_processes_files_it_once(tmp_path: Path) -> None:
    project = a_project(tmp_path / "project")
    path = tmp_path / "palace" / "palace.db"
    miners = [start("miner", path, project) for _ in range(3)]
    added = [int(finished(miner)[-1].split()[1]) for miner in miners]
    assert sum(added) == 1260
    with Palace.open(path) as palace:
        assert len(items_of(palace)) == 1260
        assert complaints(palace) == []
        rows = [json.loads(line) for line in (project / "s1.jsonl").read_text().splitlines()]
        with palace.database.snapshot() as connection:
            assert next(connection.execute("SELECT count(*) FROM item WHERE kind = 'message'"))[0] == 2 * len(rows)
