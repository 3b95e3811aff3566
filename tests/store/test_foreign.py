"""Another program's database: read while it writes, never waited for long, never written to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from palazzo.errors import SourceUnreadable
from palazzo.store import foreign_database
from palazzo.store.foreign_database import ForeignDatabase


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database in WAL mode that its program has closed."""
    (tmp_path / "host").mkdir()
    path = tmp_path / "host" / "state with # and %20.db"
    host = opened(path)
    host.execute("PRAGMA journal_mode=WAL").fetchall()
    host.execute("CREATE TABLE said(words)")
    host.execute("INSERT INTO said VALUES ('one')")
    host.close()
    return path


@pytest.fixture
def host(path: Path) -> Iterator[apsw.Connection]:
    """The program, with its database open."""
    connection = opened(path)
    connection.execute("SELECT * FROM said").fetchall()
    yield connection
    connection.close()


def opened(path: Path) -> apsw.Connection:
    return apsw.Connection(str(path))


def words(path: Path) -> list[str]:
    with ForeignDatabase(path).snapshot() as connection:
        return [str(one) for (one,) in connection.execute("SELECT words FROM said ORDER BY rowid")]


def files(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir()}


def test_one_that_nobody_has_open_is_read_without_a_trace(path: Path) -> None:
    before = files(path)
    assert words(path) == ["one"]
    assert files(path) == before


def test_what_its_program_has_only_logged_is_read(path: Path, host: apsw.Connection) -> None:
    host.execute("INSERT INTO said VALUES ('two')")
    main = path.read_bytes()
    assert words(path) == ["one", "two"]
    assert path.read_bytes() == main


def test_a_log_that_a_crash_left_is_read_and_left(path: Path, host: apsw.Connection, tmp_path: Path) -> None:
    host.execute("INSERT INTO said VALUES ('two')")
    crashed = tmp_path / "crashed" / "state.db"
    crashed.parent.mkdir()
    crashed.write_bytes(path.read_bytes())
    crashed.with_name("state.db-wal").write_bytes(path.with_name(path.name + "-wal").read_bytes())
    before = files(crashed)
    assert words(crashed) == ["one", "two"]
    assert files(crashed) == before


def test_a_writer_in_the_middle_of_a_write_is_not_waited_for(path: Path, host: apsw.Connection) -> None:
    host.execute("BEGIN IMMEDIATE")
    host.execute("INSERT INTO said VALUES ('two')")
    assert words(path) == ["one"]
    host.execute("COMMIT")
    assert words(path) == ["one", "two"]


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_lock_is_a_sentence_and_the_next_look_gets_all(
    mode: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign_database, "LONGEST_WAIT", 0.05)
    host = opened(path)
    host.execute(f"PRAGMA journal_mode={mode}").fetchall()
    host.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
    host.execute("BEGIN EXCLUSIVE")
    host.execute("INSERT INTO said VALUES ('two')")
    with pytest.raises(
        SourceUnreadable, match=r"is locked by another program; try again when that program has finished\.$"
    ):
        words(path)
    host.execute("COMMIT")
    host.close()
    assert words(path) == ["one", "two"]


def test_a_lock_is_waited_for_no_longer_than_two_seconds() -> None:
    assert foreign_database.LONGEST_WAIT < 2


def test_a_program_that_starts_while_its_database_is_read_spoils_that_read_alone(path: Path) -> None:
    hosts: list[apsw.Connection] = []

    def read_while_it_starts() -> None:
        with ForeignDatabase(path).snapshot() as connection:
            list(connection.execute("SELECT * FROM said"))
            hosts.append(opened(path))
            hosts[0].execute("INSERT INTO said VALUES ('two')")

    with pytest.raises(SourceUnreadable, match="was opened by its program while Palazzo read it"):
        read_while_it_starts()
    assert words(path) == ["one", "two"]
    hosts[0].close()


def test_a_read_only_directory_will_do(path: Path) -> None:
    path.parent.chmod(0o500)
    try:
        assert words(path) == ["one"]
    finally:
        path.parent.chmod(0o700)


def test_nothing_can_be_written_through_it(path: Path, host: apsw.Connection) -> None:
    host.execute("INSERT INTO said VALUES ('two')")
    with pytest.raises(SourceUnreadable), ForeignDatabase(path).snapshot() as connection:
        connection.execute("DELETE FROM said")
    assert words(path) == ["one", "two"]


def test_every_read_of_a_busy_database_is_a_state_that_it_had(path: Path) -> None:
    """A writer commits pairs and checkpoints at will; no read sees half a pair, or an older state than the last."""
    done = threading.Event()

    def write() -> None:
        host = opened(path)
        for n in range(200):
            host.execute("BEGIN")
            host.execute("INSERT INTO said VALUES (?)", (f"left {n}",))
            host.execute("INSERT INTO said VALUES (?)", (f"right {n}",))
            host.execute("COMMIT")
            if n % 20 == 0:
                host.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        host.close()
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = 1
    while not done.is_set():
        try:
            found = words(path)
        except SourceUnreadable:
            continue  # the writer was just opening or closing it
        assert len(found) % 2 == 1
        assert len(found) >= seen
        seen = len(found)
    writer.join()
    assert len(words(path)) == 401


@pytest.mark.parametrize(
    "content", [b"", b"no database", b"SQLite format 3\x00", b"SQLite format 3\x00" + b"\x02" * 99]
)
def test_what_is_no_database_is_a_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(content)
    with pytest.raises(SourceUnreadable, match=r"\.$"):
        words(path)


def test_what_is_not_there_is_a_sentence_and_is_not_made(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.db", tmp_path):
        with pytest.raises(SourceUnreadable, match=r"\.$"):
            words(path)
    assert not list(tmp_path.iterdir())
