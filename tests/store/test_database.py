"""The seam to SQLite: who may open what, what a transaction is, and what is left untouched."""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.another_user import as_another_user, needs_root

from palazzo.errors import NotAPalace, PalaceGone, PalaceMissing, PalaceUnusable, SchemaTooNew
from palazzo.palace import Palace
from palazzo.store import filesystem, palace_opening, schema
from palazzo.store.database import Connection, Database


@pytest.fixture
def database(palace_path: Path) -> Iterator[Database]:
    opened = Database(palace_path)
    schema.migrate(opened)
    yield opened
    opened.close()


def fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def metadata(database: Database) -> dict[str, object]:
    with database.snapshot() as connection:
        return dict(connection.execute("SELECT key, value FROM meta WHERE key LIKE 'test%'"))


def put(connection: Connection, key: str) -> None:
    connection.execute("INSERT INTO meta(key, value) VALUES('test ' || ?, 1)", (key,))


def put_and_fail(connection: Connection) -> None:
    put(connection, "a")
    raise KeyError


def test_a_new_palace_is_its_owners_alone(palace_path: Path, database: Database) -> None:
    assert stat.S_IMODE(palace_path.stat().st_mode) == 0o600
    assert stat.S_IMODE(palace_path.parent.stat().st_mode) == 0o700


def test_another_thread_does_not_create_a_deleted_palace_again(palace_path: Path, database: Database) -> None:
    errors: list[Exception] = []

    def read() -> None:
        try:
            metadata(database)
        except PalaceUnusable as error:
            errors.append(error)

    palace_path.unlink()
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert [type(error) for error in errors] == [PalaceGone]
    assert not palace_path.exists()


@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_palace_that_is_known_is_not_created(palace_path: Path, mode: palace_opening.Mode) -> None:
    with pytest.raises(PalaceGone, match="existed before and is missing now"):
        Database(palace_path, mode, creates=False)
    assert not palace_path.exists()


def test_a_transaction_that_raises_leaves_nothing(database: Database) -> None:
    with pytest.raises(KeyError), database.transaction() as connection:
        put_and_fail(connection)
    assert metadata(database) == {}


def test_what_follows_a_write_fails_with_it(database: Database) -> None:
    def refuse(connection: Connection) -> None:
        raise ZeroDivisionError

    database.before_commit(refuse)
    with pytest.raises(ZeroDivisionError), database.transaction() as connection:
        put(connection, "a")
    assert metadata(database) == {}


def test_a_snapshot_does_not_move_while_others_write(database: Database, palace_path: Path) -> None:
    other = Database(palace_path)
    with database.snapshot() as connection:
        before = list(connection.execute("SELECT key FROM meta"))
        with other.transaction() as writing:
            put(writing, "b")
        assert list(connection.execute("SELECT key FROM meta")) == before
    assert metadata(database) == {"test b": 1}
    other.close()


def test_two_writers_wait_for_one_another(database: Database) -> None:
    def write(name: str) -> None:
        for n in range(40):
            with database.transaction() as connection:
                put(connection, f"{name} {n}")

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(metadata(database)) == 160


def test_only_who_writes_what_is_derived_does_not_wait_for_the_disk(database: Database, palace_path: Path) -> None:
    def waits(of: Database) -> bool:
        with of.outside_transaction() as raw:
            ((level,),) = raw.execute("PRAGMA synchronous").fetchall()
        return level == 2

    with contextlib.closing(Database(palace_path)) as background:
        background.commit_without_waiting()
        assert not waits(background)
        with background.transaction() as connection:
            connection.execute("INSERT INTO meta(key, value) VALUES('made from truth', '1')")
        assert waits(database)


def test_a_palace_that_is_read_cannot_be_written(database: Database, palace_path: Path) -> None:
    reading = Database(palace_path, "read")
    with pytest.raises(PalaceUnusable, match="reading only"), reading.transaction():
        pass
    reading.close()


def test_reading_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(PalaceMissing, match="palazzo mine"):
        Palace.open(tmp_path / "none" / "palace.db", "read")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", ["read", "write"])
def test_another_programs_database_is_refused_and_left_as_it_is(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "browser.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE history(url)")
    connection.close()
    before = fingerprint(path)
    with pytest.raises(NotAPalace, match="another program"):
        Palace.open(path, "write" if mode == "write" else "read")
    assert fingerprint(path) == before
    assert [found.name for found in tmp_path.iterdir()] == ["browser.db"]


@pytest.mark.parametrize("content", [b"not a database at all " * 100, b"x", b"\0" * 8192])
@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_file_of_another_kind_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes, mode: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(NotAPalace):
        Palace.open(path, "write" if mode == "write" else "read")
    assert path.read_bytes() == content


def test_a_later_palazzos_palace_is_refused_and_left_as_it_is(database: Database, palace_path: Path) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT INTO migration(name, applied_at) VALUES('m999_telepathy', 1)")
    database.close()
    before = fingerprint(palace_path)
    for mode in ("read", "write"):
        with pytest.raises(SchemaTooNew, match="m999_telepathy"):
            Palace.open(palace_path, "write" if mode == "write" else "read")
    assert fingerprint(palace_path) == before


def test_a_palace_copied_out_of_write_ahead_mode_is_a_palace_again(
    database: Database, palace_path: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "backup.db"
    with database.outside_transaction() as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    with Palace.open(copy) as palace, palace.database.snapshot() as opened:
        assert next(opened.execute("PRAGMA journal_mode"))[0] == "wal"


COUNT_MIGRATIONS = """
import sys
from pathlib import Path
from palazzo.store.database import Database

with Database(Path(sys.argv[1]), "read").snapshot() as connection:
    print(next(connection.execute("SELECT count(*) FROM migration"))[0])
"""


@needs_root
def test_a_palace_in_a_directory_that_cannot_be_written_can_be_read(
    database: Database, palace_path: Path, tmp_path: Path
) -> None:
    """Also if another SQLite has written to it since, which computes no checksums."""
    copy = tmp_path / "closed" / "palace.db"
    copy.parent.mkdir()
    with database.outside_transaction() as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    with contextlib.closing(sqlite3.connect(copy)) as other, other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("UPDATE migration SET applied_at = applied_at + 1")
    copy.parent.chmod(0o555)
    read = [*as_another_user("dac_read_search"), sys.executable, "-c", COUNT_MIGRATIONS, str(copy)]
    outcome = subprocess.run(read, capture_output=True, text=True, timeout=60)
    copy.parent.chmod(0o755)
    assert (outcome.stdout, outcome.stderr) == (f"{len(schema.MIGRATIONS)}\n", "")
    assert [path.name for path in copy.parent.iterdir()] == ["palace.db"]


@pytest.mark.parametrize(
    ("mounts", "kind"),
    [
        (["/dev/sda / ext4 rw", "server:/home /home nfs4 rw"], "nfs4"),
        (["/dev/sda / ext4 rw", "share /home/me/my\\040files cifs rw"], "ext4"),
        (["/dev/sda / ext4 rw", "c: /home drvfs rw", "/dev/sdb /home/me ext4 rw"], "ext4"),
        ([], ""),
    ],
)
def test_the_nearest_mount_tells_the_file_system(mounts: list[str], kind: str) -> None:
    assert filesystem._mount_from(mounts, Path("/home/me/palace.db"))[0] == kind


@pytest.mark.parametrize("point", ["my\\040files", "größe", "tab\\011and\\134slash"])
def test_a_mount_point_may_have_any_name(point: str, tmp_path: Path) -> None:
    name = point.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
    mounts = ["/dev/sda / ext4 rw", f"share /srv/{point} virtiofs rw"]
    assert filesystem._mount_from(mounts, Path("/srv") / name / "palace.db")[0] == "virtiofs"


@pytest.mark.parametrize("kind", ["virtiofs", "9p", "nfs4", "fuse.grpcfuse", "drvfs"])
def test_a_palace_on_a_share_is_refused_in_one_sentence(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a link, as when a data directory was moved to the share."""
    share, link = tmp_path / "share", tmp_path / "link"
    share.mkdir()
    link.symlink_to(share)
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nhost {share} {kind} rw 0 0\n")
    monkeypatch.setattr(filesystem, "_MOUNTS", mounts)
    for directory in (share, link):
        with pytest.raises(PalaceUnusable, match=f"is on a {kind} file system, which cannot lock a database safely"):
            Palace.open(directory / "palace.db", "write")
    assert not list(share.iterdir())


def open_and_write(path: str, name: int) -> None:
    with Palace.open(Path(path)) as palace, palace.database.transaction() as connection:
        put(connection, str(name))


def test_processes_that_create_one_palace_together_all_succeed(palace_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=open_and_write, args=(str(palace_path), n)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 8
    opened = Database(palace_path, "read")
    assert len(metadata(opened)) == 8
    opened.close()
