"""Which palace is used, and what happens when it is not one, is damaged, is newer, or cannot be written."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.faces.cli.command import Command

READS = [["search", "port"], ["show", "abcd"], ["status"], ["wake-up"], ["verify"], ["forget", "abcd", "--dry-run"]]
WRITES = [["mine", "docs"], ["remember", "a note"], ["init"], ["repair", "--rebuild", "fts"]]


def names(directory: Path) -> set[str]:
    """The files below a directory."""
    return {path.name for path in directory.iterdir()} if directory.exists() else set()


@pytest.mark.parametrize("arguments", READS, ids=" ".join)
def test_reading_creates_no_palace(palazzo: Command, home: Path, arguments: list[str]) -> None:
    assert palazzo(*arguments).code == 1
    assert not (home / ".local").exists()


def test_doctor_and_settings_need_no_palace(palazzo: Command, home: Path) -> None:
    assert palazzo("doctor").code == 0
    assert palazzo("settings").code == 0
    assert not (home / ".local").exists()


def test_a_dry_run_creates_no_palace(palazzo: Command, home: Path) -> None:
    (home / "shop" / "docs" / "a.md").write_text("# A\n\nwords\n")
    assert palazzo.json("mine", "docs", "--dry-run")["new"] == 1
    assert not (home / ".local").exists()


def test_the_palace_may_be_named_before_and_behind_the_command_and_by_the_environment(
    palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, other, third = home / "one.db", home / "two.db", home / "three.db"
    palazzo.json("--palace", str(named), "remember", "filed in one")
    palazzo.json("remember", "filed in two", "--palace", str(other))
    assert palazzo.json("status", "--palace", str(named))["palace"] == str(named)
    assert palazzo.json("--palace", str(other), "status")["palace"] == str(other)
    monkeypatch.setenv("PALAZZO_PALACE", str(third))
    palazzo.json("remember", "filed in three")
    assert palazzo.json("status")["palace"] == str(third)
    assert palazzo.json("--palace", str(named), "status")["palace"] == str(named)
    monkeypatch.delenv("PALAZZO_PALACE")
    palazzo.json("settings", "set", "palace", str(other))
    assert palazzo.json("status")["palace"] == str(other)


def test_a_directory_stands_for_the_palace_in_it(palazzo: Command, home: Path) -> None:
    (home / "memory").mkdir()
    palazzo.json("remember", "a note", "--palace", str(home / "memory"))
    assert (home / "memory" / "palace.db").is_file()


@pytest.mark.parametrize("arguments", READS + WRITES, ids=" ".join)
@pytest.mark.parametrize("kind", ["text", "other database", "truncated"])
def test_what_is_no_palace_is_refused_and_left_as_it_is(
    palazzo: Command, shop: Path, home: Path, arguments: list[str], kind: str
) -> None:
    file = home / "file.db"
    if kind == "text":
        file.write_text("Dear diary, this is not a database at all. " * 50)
    elif kind == "other database":
        with contextlib.closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("CREATE TABLE cats(name)")
        connection.close()
    else:
        file.write_bytes(shop.read_bytes()[: shop.stat().st_size // 2])
    before = file.read_bytes()
    ran = palazzo(*arguments, "--palace", str(file))
    assert ran.code in ((1, 2) if kind == "truncated" else (1,))
    assert "Traceback" not in ran.error
    if kind != "truncated":
        assert file.read_bytes() == before
        assert str(file) in ran.error


@pytest.mark.parametrize("arguments", READS + WRITES, ids=" ".join)
def test_a_newer_palace_is_left_byte_identical(palazzo: Command, shop: Path, home: Path, arguments: list[str]) -> None:
    newer = home / "newer.db"
    shutil.copy(shop, newer)
    with contextlib.closing(sqlite3.connect(newer)) as database, database:
        database.execute("INSERT INTO migration(name, applied_at) VALUES('m999_from_the_future', 0)")
    database.close()
    before = hashlib.sha256(newer.read_bytes()).hexdigest()
    ran = palazzo(*arguments, "--palace", str(newer))
    assert ran.code == 1
    assert "later Palazzo (m999_from_the_future)" in ran.error
    assert hashlib.sha256(newer.read_bytes()).hexdigest() == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only to root")
def test_a_palace_that_cannot_be_written_is_still_read(palazzo: Command, shop: Path) -> None:
    shop.chmod(0o400)
    shop.parent.chmod(0o500)
    try:
        assert palazzo.json("search", "port")["hits"]
        ran = palazzo("remember", "another note")
        assert ran.code == 1
        assert "permissions" in ran.error
    finally:
        shop.parent.chmod(0o700)
        shop.chmod(0o600)


def test_a_palace_is_its_owners_alone(palazzo: Command, shop: Path) -> None:
    if os.name == "posix":
        assert shop.stat().st_mode & 0o777 == 0o600
        assert shop.parent.stat().st_mode & 0o777 == 0o700
