"""Opening a palace while another process makes it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from palazzo.errors import PalaceMissing
from palazzo.model import Micros
from palazzo.store import fact_rows, hook_sessions, schema, use_totals
from palazzo.store.database import Database


def test_a_palace_that_is_just_being_made_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    made = Database(path)

    def make() -> None:
        time.sleep(0.2)
        schema.migrate(made)

    maker = threading.Thread(target=make)
    maker.start()
    reader = Database(path, "read")
    try:
        schema.check(reader)
    finally:
        maker.join()
        reader.close()
        made.close()


def test_a_file_in_which_nothing_is_made_is_no_palace_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "_CREATION_TIMEOUT", 0.05)
    path = tmp_path / "palace.db"
    made, reader = Database(path), Database(path, "read")
    try:
        with pytest.raises(PalaceMissing, match="is empty"):
            schema.check(reader)
    finally:
        reader.close()
        made.close()


def test_facts_that_were_stated_before_they_had_a_trust_are_their_speakers_and_of_no_branch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrations = schema.MIGRATIONS
    with monkeypatch.context() as before:
        before.setattr(schema, "MIGRATIONS", [step for step in migrations if step.__name__ < "m010"])
        made = Database(tmp_path / "palace.db")
        schema.migrate(made)
        with made.transaction() as connection:
            for n, speaker in enumerate(("user", "codex"), 1):
                connection.execute("INSERT INTO entity VALUES(?, ?, ?, ?, 1)", (n, bytes([n]) * 16, str(n), str(n)))
                connection.execute("INSERT INTO predicate(id, name, folded) VALUES(?, ?, ?)", (n, f"p{n}", f"p{n}"))
                connection.execute("INSERT INTO fact VALUES(?, ?, ?, ?, ?, NULL)", (n, bytes([n]) * 16, n, n, n))
                connection.execute("INSERT INTO fact_version VALUES(?, ?, NULL, NULL, 1, NULL, 1, NULL)", (n, n))
                connection.execute("INSERT INTO fact_source VALUES(?, 0, ?, NULL, NULL, NULL)", (n, speaker))
    schema.migrate(made)
    with made.snapshot() as connection:
        sources = fact_rows.sources_of(connection, [1, 2])
    assert {row: fact_rows.trust_of(told) for row, told in sources.items()} == {1: "user", 2: "agent"}
    assert {(one.branch, one.commit) for told in sources.values() for one in told} == {("", "")}
    made.close()


def test_what_was_told_before_there_were_sums_of_it_is_in_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrations = schema.MIGRATIONS
    uid, now = b"\1" * 16, Micros(1)
    with monkeypatch.context() as before:
        before.setattr(schema, "MIGRATIONS", [step for step in migrations if step.__name__ < "m007"])
        made = Database(tmp_path / "palace.db")
        schema.migrate(made)
        with made.transaction() as connection:
            session = hook_sessions.record_hook(connection, "pi", "s-1", now).row
            # As it was written then: `record` counts.
            connection.execute(
                "INSERT INTO injection VALUES(1, ?, 0, 'prompt', 'it calls for it', 1, 9, 9, x'', x'')", (session,)
            )
            connection.execute("INSERT INTO injection_part VALUES(1, 0, 'drawer', ?)", (uid,))
            connection.execute("INSERT INTO injection_use VALUES(1, 0, 'cited', 2)")
    schema.migrate(made)
    with made.snapshot() as connection:
        assert use_totals.tallies(connection, [uid.hex()]) == {uid.hex(): use_totals.UsageCounts(1, 1, 0)}
    made.close()
