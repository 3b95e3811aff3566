"""What `m013_exchange` makes of a palace that was there before: ids for what had none, and nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from palazzo.store import schema, uids
from palazzo.store.database import Database

BEFORE = "m013"


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    migrations = schema.MIGRATIONS
    with monkeypatch.context() as before:
        before.setattr(schema, "MIGRATIONS", [step for step in migrations if step.__name__ < BEFORE])
        made = Database(tmp_path / "palace.db")
        schema.migrate(made)
    return made


def id_of(n: int) -> bytes:
    return bytes([n]) * 16


def test_what_undid_a_group_still_does_and_a_second_undoing_may_stand_beside_it(old: Database) -> None:
    with old.transaction() as connection:
        connection.execute("INSERT INTO change_group VALUES(1, ?, 'user', 1, 'forget', 1, '', NULL)", (id_of(1),))
        connection.execute("INSERT INTO change_group VALUES(2, ?, 'user', 2, 'undo', 1, '', 1)", (id_of(2),))
        connection.execute("INSERT INTO group_member VALUES(1, 0, 'act', 1)")
        connection.execute("INSERT INTO act VALUES(1, ?, 'forget', 'user', 1, '{}', 1)", (id_of(3),))
    schema.migrate(old)
    with old.transaction() as connection:
        connection.execute("INSERT INTO change_group VALUES(3, ?, 'user', 3, 'undo', 1, '', 1, 0)", (id_of(4),))
    with old.snapshot() as connection:
        assert list(connection.execute("SELECT id, undoes FROM change_group ORDER BY id")) == [
            (1, None),
            (2, 1),
            (3, 1),
        ]
        assert list(connection.execute("PRAGMA foreign_key_check")) == []
    with pytest.raises(Exception, match="FOREIGN KEY"), old.transaction() as connection:
        connection.execute("INSERT INTO group_member VALUES(9, 0, 'act', 1)")
    old.close()


def test_places_and_names_are_known_by_how_they_were_created(old: Database) -> None:
    with old.transaction() as connection:
        connection.execute("INSERT INTO wing VALUES(1, 'api', 'shop', NULL)")
        connection.execute("INSERT INTO room VALUES(1, 1, 'plans', 1, 'ideas', NULL)")
        connection.execute("INSERT INTO entity VALUES(1, ?, 'Ada', 'ada', 1)", (id_of(1),))
    schema.migrate(old)
    with old.snapshot() as connection:
        assert next(connection.execute("SELECT uid FROM wing")) == (uids.of_wing("api", 0),)
        assert next(connection.execute("SELECT uid FROM room")) == (uids.of_room(uids.of_wing("api", 0), "plans", 0),)
        assert next(connection.execute("SELECT uid FROM entity")) == (uids.of_entity("Ada"),)
    old.close()


def test_versions_that_say_the_same_at_one_moment_are_told_apart(old: Database) -> None:
    with old.transaction() as connection:
        connection.execute("INSERT INTO entity VALUES(1, ?, 'Ada', 'ada', 1)", (id_of(1),))
        connection.execute("INSERT INTO predicate(id, name, folded) VALUES(1, 'likes', 'likes')")
        connection.execute("INSERT INTO fact VALUES(1, ?, 1, 1, 1, NULL)", (id_of(2),))
        for n, retired in ((1, 5), (2, None)):
            connection.execute("INSERT INTO fact_version VALUES(?, 1, NULL, NULL, 1, NULL, 5, ?)", (n, retired))
            connection.execute(
                "INSERT INTO fact_source(version, n, stated_by, item_uid, start, end) VALUES(?, 0, 'user', NULL, 0, 0)",
                (n,),
            )
    schema.migrate(old)
    with old.snapshot() as connection:
        found = [bytes(uid) for (uid,) in connection.execute("SELECT uid FROM fact_version ORDER BY id")]
    assert len(set(found)) == 2
    assert all(len(uid) == uids.ID_BYTES for uid in found)
    old.close()
