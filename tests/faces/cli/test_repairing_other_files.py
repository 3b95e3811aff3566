"""repair, and a salvage, of a file that is no palace: one true sentence, and nothing is left beside the file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.faces.cli.command import Command

COMMANDS = [["repair"], ["repair", "--dry-run"], ["verify"], ["status"], ["export", "--salvage", "salvaged.jsonl"]]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_command_recommends_the_repair_of_what_is_no_palace(
    palazzo: Command, home: Path, arguments: list[str]
) -> None:
    file = home / "shop" / "users.db"
    file.write_text("root:x:0:0:root:/root:/bin/bash\n" * 100)
    ran = palazzo(*arguments, "--palace", str(file))
    assert (ran.code, ran.out) == (1, "")
    assert ran.error == (
        f"palazzo: The file {file} is not a palace, or its first page is destroyed, so nothing can be read from it. "
        "'palazzo backup --list' lists the backups; --palace names another palace.\n"
    )
    assert [path.name for path in file.parent.glob("users.db*")] == ["users.db"]
    assert not (home / "shop" / "salvaged.jsonl").exists()


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_another_programs_database_is_left_alone(palazzo: Command, home: Path, arguments: list[str]) -> None:
    file = home / "shop" / "bookmarks.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE bookmark (url TEXT)")
        connection.executemany("INSERT INTO bookmark VALUES (?)", [("https://example.org" * 20,)] * 99)
    connection.close()
    before = file.read_bytes()
    ran = palazzo(*arguments, "--palace", str(file))
    assert (ran.code, ran.out) == (1, "")
    assert "is a SQLite file of another program" in ran.error
    assert ran.error.count("\n") == 1
    assert file.read_bytes() == before
    assert not file.with_name("bookmarks.db.backup.lock").exists()
