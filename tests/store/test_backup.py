"""A copy of one moment, and a copy in the palace's place: the old state or the new one, for everybody."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from palazzo.daemon.palace_pool import Pool
from palazzo.derived.integrity_checks import verify_truth
from palazzo.errors import NotAPalace, PalaceUnusable
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.store import file_backup, page_checksums

PLACE = Place("api", "auth")


def quiet(done: int, total: int) -> None:
    """Nobody looks."""


def notes(path: Path) -> list[str]:
    """The texts of a palace, in the order in which they were filed."""
    with Palace.open(path, "read") as palace, palace.database.snapshot() as connection:
        return [texts[row] for texts in [_texts(connection)] for row in sorted(texts)]


def _texts(connection: object) -> dict[int, str]:
    from palazzo.store import items

    rows = [row for (row,) in connection.execute("SELECT id FROM item")]  # type: ignore[attr-defined]
    return items.read_texts(connection, rows)  # type: ignore[arg-type]


def made(path: Path, *said: str) -> Path:
    """A palace with these notes, closed."""
    with Palace.open(path) as palace:
        for words in said:
            palace.remember(words, PLACE)
    return path


def is_sound(path: Path) -> bool:
    return all(check.ok for check in verify_truth(path))


def staged(source: Path, palace: Path) -> Path:
    """A copy beside the palace, to be put in its place."""
    copy = palace.with_name("staged.db")
    file_backup.copy_closed(source, copy, quiet)
    return copy


def test_a_copy_is_one_file_of_one_moment_while_another_writes(palace: Palace, tmp_path: Path) -> None:
    palace.remember("row 0", PLACE)
    stopped = threading.Event()

    def write() -> None:
        n = 1
        while not stopped.is_set():
            palace.remember(f"row {n}", PLACE)
            n += 1

    writing = threading.Thread(target=write)
    writing.start()
    copies = [tmp_path / f"{n}.db" for n in range(4)]
    for copy in copies:
        file_backup.copy(palace.database.path, copy, quiet)
    stopped.set()
    writing.join()
    for copy in copies:
        assert is_sound(copy)
        assert notes(copy) == [f"row {n}" for n in range(len(notes(copy)))]
        assert not copy.with_name(f"{copy.name}-wal").exists()
        assert copy.read_bytes()[18:20] == b"\1\1"  # a rollback journal: readable where nothing can be made beside it
        assert os.name != "posix" or stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_copy_that_is_interrupted_leaves_nothing(palace: Palace, tmp_path: Path) -> None:
    palace.remember("a note", PLACE)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        file_backup.copy(palace.database.path, tmp_path / "copy.db", interrupt)
    assert not list(tmp_path.glob("copy.db*"))


def test_where_there_is_no_room_a_sentence_says_how_much_is_needed(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("palazzo.store.file_backup.shutil.disk_usage", lambda path: _Usage())
    with pytest.raises(PalaceUnusable, match="MB free, but the copy needs"):
        file_backup.copy(palace.database.path, tmp_path / "copy.db", quiet)
    assert not list(tmp_path.glob("copy.db*"))


class _Usage:
    free = 1000


def test_what_is_put_in_place_is_there_for_everybody_and_what_was_there_is_kept(
    palace: Palace, open_palace: Callable[[], Palace], tmp_path: Path
) -> None:
    palace.remember("before", PLACE)
    path, kept = palace.database.path, tmp_path / "kept.db"
    copy = staged(path, path)
    palace.remember("after", PLACE)
    other = open_palace()
    with other.database.snapshot() as reading:
        before = list(reading.execute("SELECT uid FROM item"))
        assert file_backup.put_in_place(copy, path, kept, quiet)
        assert list(reading.execute("SELECT uid FROM item")) == before  # who reads goes on reading one state
    assert notes(path) == ["before"]
    assert notes(kept) == ["before", "after"]
    assert is_sound(path)
    assert is_sound(kept)


def test_who_knew_the_old_state_is_refused_and_writes_nothing(palace: Palace, tmp_path: Path) -> None:
    palace.remember("before", PLACE)
    path = palace.database.path
    copy = staged(path, path)
    palace.remember("after", PLACE)
    file_backup.put_in_place(copy, path, tmp_path / "kept.db", quiet)
    assert palace.database.is_replaced
    with pytest.raises(PalaceUnusable, match="A backup was restored over the palace"):
        palace.remember("lost", PLACE)
    with pytest.raises(PalaceUnusable, match="run this again"), palace.database.snapshot():
        pass
    made(path, "new")
    assert notes(path) == ["before", "new"]


def test_a_pool_opens_what_was_restored_anew(palace_path: Path, tmp_path: Path) -> None:
    made(palace_path, "before")
    pool = Pool()

    def opened() -> Palace:
        variables = {"HOME": str(tmp_path)}
        with pool.lease() as lease, Context(palace_path, tmp_path, variables, palace_opener=lease) as one:
            return one.writing()

    first = opened()
    copy = staged(palace_path, palace_path)
    first.remember("after", PLACE)
    file_backup.put_in_place(copy, palace_path, tmp_path / "kept.db", quiet)
    assert opened() is not first
    opened().remember("new", PLACE)
    pool.close()
    assert notes(palace_path) == ["before", "new"]


def test_a_long_watch_takes_up_what_was_restored(palace_path: Path, tmp_path: Path) -> None:
    made(palace_path, "before")
    with Context(palace_path, tmp_path, {"HOME": str(tmp_path)}) as context:
        old = context.writing()
        context.renew()
        assert context.writing() is old
        file_backup.put_in_place(staged(palace_path, palace_path), palace_path, tmp_path / "kept.db", quiet)
        context.renew()
        context.writing().remember("new", PLACE)


def test_while_somebody_writes_what_is_kept_has_all_that_was_acknowledged(palace: Palace, tmp_path: Path) -> None:
    palace.remember("before", PLACE)
    path = palace.database.path
    copy, kept = staged(path, path), tmp_path / "kept.db"
    acknowledged: list[str] = []

    def write() -> None:
        with contextlib.suppress(PalaceUnusable):
            for n in range(100_000):
                palace.remember(f"row {n}", PLACE)
                acknowledged.append(f"row {n}")

    writing = threading.Thread(target=write)
    writing.start()
    while not acknowledged:
        pass
    file_backup.put_in_place(copy, path, kept, quiet)
    writing.join()
    assert notes(kept) == ["before", *acknowledged]
    assert notes(path) == ["before"]


def test_a_copy_that_is_put_in_place_by_halves_is_not_there(palace: Palace, tmp_path: Path) -> None:
    palace.remember("before", PLACE)
    path = palace.database.path
    copy = staged(path, path)
    palace.remember("after", PLACE)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    backup_pages = file_backup._PAGES
    try:
        file_backup._PAGES = 2
        with pytest.raises(KeyboardInterrupt):
            file_backup.put_in_place(copy, path, tmp_path / "kept.db", interrupt)
    finally:
        file_backup._PAGES = backup_pages
    palace.remember("and after that", PLACE)
    assert notes(path) == ["before", "after", "and after that"]
    assert is_sound(path)


@pytest.mark.parametrize("damage", ["no header", "nothing", "a crumb"])
def test_a_palace_that_no_sqlite_opens_is_kept_and_replaced(damage: str, palace_path: Path, tmp_path: Path) -> None:
    source = made(tmp_path / "source.db", "from the backup")
    made(palace_path, "old")
    broken = {"no header": b"x" * 4096 + palace_path.read_bytes()[4096:], "nothing": b"", "a crumb": b"x" * 99}[damage]
    palace_path.write_bytes(broken)
    copy, kept = staged(source, palace_path), tmp_path / "kept.db"
    file_backup.put_in_place(copy, palace_path, kept, quiet)
    assert notes(palace_path) == ["from the backup"]
    assert damage == "nothing" or kept.read_bytes() == broken


def test_a_palace_with_damaged_pages_is_kept_and_replaced(palace_path: Path, tmp_path: Path) -> None:
    source = made(tmp_path / "source.db", "from the backup")
    made(palace_path, *(f"note {n}" for n in range(50)))
    raw = bytearray(palace_path.read_bytes())
    for page in range(4, len(raw) // 4096, 3):
        raw[page * 4096 : page * 4096 + 64] = os.urandom(64)
    palace_path.write_bytes(raw)
    file_backup.put_in_place(staged(source, palace_path), palace_path, tmp_path / "kept.db", quiet)
    assert notes(palace_path) == ["from the backup"]
    assert is_sound(palace_path)


def test_where_there_was_no_palace_a_log_that_was_left_is_not_read_into_it(palace_path: Path, tmp_path: Path) -> None:
    source = made(tmp_path / "source.db", "from the backup")
    with Palace.open(palace_path) as palace:
        palace.remember("old", PLACE)
        left = palace_path.with_name("palace.db-wal").read_bytes()
    palace_path.unlink()
    palace_path.with_name("palace.db-wal").write_bytes(left)
    assert not file_backup.put_in_place(staged(source, palace_path), palace_path, tmp_path / "kept.db", quiet)
    assert notes(palace_path) == ["from the backup"]
    assert not (tmp_path / "kept.db").exists()


def test_another_programs_file_is_not_replaced(tmp_path: Path) -> None:
    source = made(tmp_path / "source.db", "from the backup")
    other = tmp_path / "cookies.db"
    with contextlib.closing(apsw.Connection(str(other))) as connection:
        connection.execute("CREATE TABLE cookie(value TEXT)")
    before = other.read_bytes()
    with pytest.raises(NotAPalace, match="another program"):
        file_backup.put_in_place(staged(source, other), other, tmp_path / "kept.db", quiet)
    assert other.read_bytes() == before


@pytest.fixture(params=[16, 0], ids=["in memory", "page by page"])
def cache_mb(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How much is copied before it is written: all of a small palace, or nothing, as of a large one."""
    monkeypatch.setattr(file_backup, "_CACHE_MB", request.param)
    return int(request.param)


def test_what_is_in_the_log_alone_is_copied_with_checksums(palace: Palace, tmp_path: Path, cache_mb: int) -> None:
    for n in range(20):
        palace.remember(f"note {n}: " + "what the herons said of it. " * n, PLACE)
    assert palace.database.path.with_name("palace.db-wal").stat().st_size
    file_backup.copy(palace.database.path, tmp_path / "copy.db", quiet)
    assert is_sound(tmp_path / "copy.db")
    file_backup.copy_closed(tmp_path / "copy.db", tmp_path / "another.db", quiet)
    assert is_sound(tmp_path / "another.db")


@pytest.mark.parametrize("which", ["the copy", "the palace"])
def test_a_palace_without_checksums_and_one_with_them_replace_each_other(
    which: str, palace_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_mb: int
) -> None:
    paths = {"the copy": tmp_path / "source.db", "the palace": palace_path}
    with monkeypatch.context() as without:
        without.setattr(page_checksums, "reserve", lambda connection: None)
        made(paths[which], "without")
    made(*(path for name, path in paths.items() if name != which), "with")  # type: ignore[arg-type]
    file_backup.put_in_place(staged(paths["the copy"], palace_path), palace_path, tmp_path / "kept.db", quiet)
    assert notes(palace_path) == (["without"] if which == "the copy" else ["with"])
    made(palace_path, "more")
    assert is_sound(palace_path)
    assert is_sound(tmp_path / "kept.db")


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"hello" * 99, None])
def test_what_is_no_palace_is_refused_with_a_sentence(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "given.db"
    if content is None:
        with contextlib.closing(apsw.Connection(str(file))) as connection:
            connection.execute("CREATE TABLE cookie(value TEXT)")
    else:
        file.write_bytes(content)
    with pytest.raises(NotAPalace, match="is not a backup of a palace"):
        file_backup.refuse_foreign(file)
