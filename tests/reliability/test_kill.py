"""R1: a process is killed at any moment. What it acknowledged is there, and everything agrees."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from tests.derived.state import complaints, live_ids
from tests.derived.test_lagging import FailingMentions
from tests.index.hashed_words import HashedWords
from tests.reliability.programs import start
from tests.reliability.sizes import chances, scaled

from palazzo.derived import async_consumer
from palazzo.derived.integrity_checks import verify
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine
from palazzo.store import change_log, dead_letters

pytestmark = pytest.mark.slow

CYCLES = 2_000
"""At CI size 100. 10,000 by hand per release: PALAZZO_RELIABILITY=5."""
CYCLES_OF_ONE_PALACE = 20


def items_of(palace: Palace) -> set[str]:
    with palace.database.snapshot() as connection:
        return {bytes(uid).hex() for (uid,) in connection.execute("SELECT uid FROM item")}


def test_no_acknowledged_row_is_lost_to_a_kill(tmp_path: Path) -> None:
    chance, acknowledged, kept = chances("kill"), set[str](), 0
    for cycle in range(scaled(CYCLES)):
        path = tmp_path / f"{cycle // CYCLES_OF_ONE_PALACE}" / "palace.db"
        if cycle % CYCLES_OF_ONE_PALACE == 0:
            acknowledged = set()
        process = start("writer", path, cycle, 100_000)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.001, 0.2))
        os.kill(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        acknowledged |= {line for line in said.split("\n")[:-1] if line}
        with Palace.open(path) as palace:
            assert acknowledged <= items_of(palace)
            assert complaints(palace) == []
        kept += len(acknowledged)
    assert kept > 0


def a_project(directory: Path) -> Path:
    """Documents and two long transcripts."""
    for n in range(60):
        text = f"# Document {n}\n\n" + "\n\n".join(f"Paragraph {m} of {n} " + "word " * 40 for m in range(6))
        (directory / f"docs/{n // 10}").mkdir(parents=True, exist_ok=True)
        (directory / f"docs/{n // 10}/document{n}.md").write_text(text)
    for name in ("s1", "s2"):
        rows = []
        for n in range(600):
            kind = "user" if n % 3 == 0 else "assistant"
            rows.append(
                {
                    "parentUuid": None,
                    "isSidechain": False,
                    "type": kind,
                    "message": {"role": kind, "content": f"message {n} of {name}: " + "words to keep " * (n % 20)},
                    "uuid": f"{name}-{n}",
                    "sessionId": name,
                    "cwd": str(directory),
                    "timestamp": f"2026-11-21T{n // 60:02}:{n % 60:02}:00.000Z",
                }
            )
        (directory / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return directory


def test_mining_that_was_killed_lost_nothing_and_is_completed_by_the_next(tmp_path: Path) -> None:
    project = a_project(tmp_path / "project")
    with Palace.open(tmp_path / "whole" / "palace.db") as whole:
        began = time.monotonic()
        report = mine(whole.database, whole.clock, MineRequest((project,)))
        took = time.monotonic() - began
        assert (report.failed, report.skipped) == ((), ())
        assert report.items == 1260
        expected, drawers = items_of(whole), live_ids(whole)
    chance, path = chances("mine"), tmp_path / "killed" / "palace.db"
    interrupted = 0
    for cycle in range(scaled(200, least=20)):
        if cycle % 5 == 0:
            path = tmp_path / f"killed{cycle}" / "palace.db"
        process = start("miner", path, project)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        before = len(items_of_file(path))
        time.sleep(chance.uniform(0.001, took * 0.6))
        os.kill(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        counts = [int(line.split()[1]) for line in said.split("\n")[:-1] if line.startswith("items")]
        with Palace.open(path) as palace:
            there = items_of(palace)
            assert there <= expected
            assert len(there) >= before + max(counts, default=0)
            assert [check for check in verify(palace.database, HashedWords) if not check.ok] == []
            interrupted += len(there) < len(expected)
            if cycle % 5 == 4:
                mine(palace.database, palace.clock, MineRequest((project,)))
                assert items_of(palace) == expected
                assert live_ids(palace) == drawers
                assert complaints(palace) == []
    assert interrupted > 5


def items_of_file(path: Path) -> set[str]:
    if not path.exists():
        return set()
    with Palace.open(path) as palace:
        return items_of(palace)


def test_a_kill_while_texts_are_set_aside_loses_and_repeats_nothing(tmp_path: Path) -> None:
    chance, path = chances("set aside"), tmp_path / "palace.db"
    with Palace.open(path) as palace:
        for n in range(120):
            palace.remember(f"Number {n}: {'poison' if n % 5 == 0 else 'a cure'}, by Priya.", Place("api", "notes"))
    interrupted_count = 0
    for cycle in range(scaled(200)):
        if cycle % 5 == 0:  # begin anew
            with Palace.open(path) as palace, palace.database.transaction() as connection:
                change_log.append(connection, "reset", [0])
        process = start("follow_failing_mentions", path)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.001, 0.15))
        interrupted_count += process.poll() is None
        process.kill()
        process.communicate()
    with Palace.open(path) as palace:
        async_consumer.follow(palace.database, FailingMentions("poison"))
        with palace.database.snapshot() as connection:
            assert async_consumer.count_pending(connection, FailingMentions()) == 0
            assert len(dead_letters.things(connection, FailingMentions.name)) == 24
            rows = list(connection.execute("SELECT drawer FROM mention WHERE name = 'priya'"))
            assert (len(rows), len(set(rows))) == (96, 96)
    assert interrupted_count > 0
