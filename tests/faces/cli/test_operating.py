"""status, doctor, verify, repair and settings, as they are typed."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from tests.faces.cli.command import Command

from palazzo.store import unfinished_imports
from palazzo.store.database import Database
from palazzo.store.unfinished_imports import Import


def test_status_says_what_there_is(palazzo: Command, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = palazzo("status").out
    assert "4 items, 5 drawers in 1 wing" in out
    assert "docs 3" in out
    assert "PALAZZO_OFF" not in out
    monkeypatch.setenv("PALAZZO_OFF", "1")
    assert "PALAZZO_OFF is set" in palazzo("status").out


def damage(palace: Path, sql: str) -> None:
    """Change the palace behind Palazzo's back."""
    with contextlib.closing(sqlite3.connect(palace)) as database, database:
        database.execute(sql)
    database.close()


@pytest.mark.parametrize(
    ("sql", "check"),
    [
        ("UPDATE item SET text = zeroblob(length(text)) WHERE id = 1", "chain"),
        ("DELETE FROM item WHERE id = (SELECT max(id) FROM item)", "chain"),
        ("DELETE FROM link WHERE seq = 2", "chain"),
        ("UPDATE link SET hash = zeroblob(32) WHERE seq = 2", "chain"),
        ('UPDATE item SET parts = \'[["text",0,99999,"","",false,null]]\' WHERE id = 1', "items"),
        ("DELETE FROM drawer WHERE id = 1", "drawers"),
        ("UPDATE drawer SET trust = 'user' WHERE trust <> 'user'", "drawers"),
        ("UPDATE drawer_span SET end = end - 1 WHERE drawer = 2", "drawers"),
        ("UPDATE drawer SET retired_at = NULL, uid = zeroblob(16) WHERE id = 1", "drawers"),
        ("DELETE FROM keyword_docsize WHERE id = 1", "keywords"),
        ("DELETE FROM pending", "vectors"),
        ("UPDATE item SET source = 999 WHERE id = 1", "references"),
    ],
)
def test_verify_finds_what_was_damaged_and_exits_with_1(palazzo: Command, shop: Path, sql: str, check: str) -> None:
    assert palazzo("verify").code == 0
    damage(shop, sql)
    ran = palazzo("verify", "--json")
    assert ran.code == 1
    assert check in [one["name"] for one in ran.json["checks"] if not one["ok"]]


def test_of_an_interrupted_import_nobody_says_that_the_archive_is_damaged(palazzo: Command, shop: Path) -> None:
    with contextlib.closing(Database(shop)) as database, database.transaction() as connection:
        unfinished_imports.begin(connection, Import("/tmp/all.jsonl", "ab"))
        connection.execute("DELETE FROM link WHERE seq = (SELECT max(seq) FROM link)")
    ran = palazzo("verify")
    assert ran.code == 1
    assert "the import of /tmp/all.jsonl is incomplete" in " ".join(ran.out.split())
    assert "backup" not in ran.out
    assert "The import of /tmp/all.jsonl is incomplete" in " ".join(palazzo("status").out.split())


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("DELETE FROM drawer WHERE id = 1", "drawers"),
        ("DELETE FROM keyword_docsize WHERE id = 1", "fts"),
        ("DELETE FROM pending", "vectors"),
    ],
)
def test_repair_mends_what_is_derived(palazzo: Command, shop: Path, sql: str, part: str) -> None:
    damage(shop, sql)
    would = palazzo("repair", "--dry-run", "--json")
    assert {part, "file"} & set(would.json["rebuilt"])  # a page with a wrong checksum: the whole file is made anew
    assert palazzo("verify").code == 1
    assert palazzo.json("repair")["rebuilt"] == would.json["rebuilt"]
    assert palazzo("verify").code == 0
    assert palazzo.json("search", "deploy port")["hits"]


def test_repair_leaves_alone_what_is_in_order(palazzo: Command, shop: Path) -> None:
    assert palazzo.json("repair")["rebuilt"] == []
    assert palazzo.json("repair", "--rebuild", "drawers")["rebuilt"] == ["drawers"]


def test_doctor_names_the_command_that_mends(palazzo: Command, shop: Path, home: Path) -> None:
    (home / ".config" / "palazzo").mkdir(parents=True)
    (home / ".config" / "palazzo" / "config.toml").write_text("save_interval = 0\n")
    shop.chmod(0o644)
    ran = palazzo("doctor", "--json")
    assert ran.code == 1
    wrong = {one["name"]: one for one in ran.json["findings"] if not one["ok"]}
    assert set(wrong) == {"backup", "permissions", "settings"}
    assert wrong["permissions"]["mend"] == f"chmod 600 '{shop}'"
    assert "config.toml, line 1: `save_interval` must be an integer from 1 to" in wrong["settings"]["detail"]
    assert "→ chmod 600" in palazzo("doctor").out


def test_doctor_looks_at_a_file_that_is_no_palace(palazzo: Command, home: Path) -> None:
    (home / "file.db").write_text("words, not pages " * 100)
    ran = palazzo("doctor", "--palace", str(home / "file.db"), "--json")
    assert ran.code == 1
    assert not next(one for one in ran.json["findings"] if one["name"] == "palace")["ok"]


def test_settings_show_the_value_and_where_it_came_from(palazzo: Command, home: Path) -> None:
    written = palazzo.json("settings", "set", "save_mode", "ask")
    file = home / ".config" / "palazzo" / "config.toml"
    (one,) = written["settings"]
    assert (one["key"], one["value"], one["origin"]) == ("save_mode", "ask", f"{file}, line 1")
    assert palazzo("settings", "get", "save_mode").out == "ask\n"
    assert palazzo("settings", "save_mode").out == "ask\n"
    assert "redact" in palazzo("settings").out


def test_the_setting_of_the_palace_is_the_path_in_use(palazzo: Command, shop: Path, tmp_path: Path) -> None:
    (setting,) = palazzo.json("settings", "get", "palace")["settings"]
    assert (setting["value"], setting["origin"]) == (str(shop), "default")
    other = tmp_path / "other.db"
    (setting,) = palazzo.json("settings", "get", "palace", "--palace", str(other))["settings"]
    assert (setting["value"], setting["origin"]) == (str(other), "--palace")


def test_a_secret_is_not_shown(palazzo: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALAZZO_EMBEDDER_API_KEY", "sk-very-secret")
    for arguments in (["settings"], ["settings", "--json"], ["settings", "get", "embedder.api_key"]):
        assert "very-secret" not in palazzo(*arguments).out


def test_a_wrong_setting_is_told_and_the_default_used(palazzo: Command, shop: Path, home: Path) -> None:
    (home / "shop" / "palazzo.toml").write_text('wing = "shop"\nredact = false\n')
    ran = palazzo("status", "--json")
    assert ran.code == 0
    assert "palazzo.toml, line 2: `redact` may be made stricter inside a project, but not looser" in ran.error
    assert set(ran.json) >= {"palace"}
