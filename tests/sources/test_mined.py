"""Formats that were read last, through `mine` into a palace: what a person gets of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import pytest
import zstandard
from tests.fidelity import kept
from tests.fidelity.kept import CursorStore
from tests.fidelity.told import START, Turn

from palazzo.palace import Palace
from palazzo.sources.mining_report import MineReport, MineRequest
from palazzo.sources.mining_run import mine

from .host_samples import sessions_of
from .samples import EIGHTEEN_TURNS


def mined(palace: Palace, *paths: Path) -> MineReport:
    return mine(palace.database, palace.clock, MineRequest(paths))


def count(palace: Palace, kind: str) -> int:
    with palace.database.snapshot() as connection:
        ((found,),) = connection.execute("SELECT count(*) FROM item WHERE kind = ?", (kind,))
    return int(found)


def test_a_rollout_that_is_compressed_later_adds_nothing(palace: Palace, tmp_path: Path) -> None:
    plain = next(one for one in sessions_of("codex") if one.parent.name == "0.80.0")
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    (sessions / plain.name).write_bytes(plain.read_bytes())
    assert not mined(palace, sessions).failed
    before = (count(palace, "message"), count(palace, "noise"))
    assert before[0] > 20
    (sessions / plain.name).unlink()
    (sessions / f"{plain.name}.zst").write_bytes(zstandard.compress(plain.read_bytes()))
    assert not mined(palace, sessions).failed
    assert (count(palace, "message"), count(palace, "noise")) == before


def test_a_rollout_that_is_only_there_compressed_is_read(palace: Palace, tmp_path: Path) -> None:
    plain = next(one for one in sessions_of("codex") if one.parent.name == "0.169.0")
    (tmp_path / f"{plain.name}.zst").write_bytes(zstandard.compress(plain.read_bytes()))
    assert not mined(palace, tmp_path).failed
    assert count(palace, "message") > 20
    again = mined(palace, tmp_path)
    assert (again.unchanged, again.directories) == (1, ())  # a collection may depend on files elsewhere


def test_cursor_is_read_and_a_database_of_settings_is_a_sentence(palace: Palace, tmp_path: Path) -> None:
    store = CursorStore(tmp_path)
    store.conversation("c1", [Turn("user", "Which port?", START), Turn("assistant", "8443", START + 1)])
    settings = apsw.Connection(str(tmp_path / "User" / "workspaceStorage" / "w1" / "state.vscdb"))
    settings.execute("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)")
    settings.close()
    report = mined(palace, tmp_path)
    assert count(palace, "message") == 2
    [failed] = report.failed
    assert "contains settings" in failed.error


@pytest.mark.parametrize("way", [0, 1], ids=["object", "log"])
def test_a_chat_of_vs_code_that_went_on_adds_only_what_is_new(way: int, palace: Palace, tmp_path: Path) -> None:
    turns = [Turn("user", "Which port?", START), Turn("assistant", "8443", START + 1)]
    path = kept.vscode(turns, tmp_path, way)
    assert not mined(palace, tmp_path).failed
    assert count(palace, "message") == 2
    shutil.rmtree(tmp_path / "User")
    kept.vscode([*turns, Turn("user", "Thanks", START + 2)], tmp_path, way)
    report = mined(palace, path)
    assert (report.failed, count(palace, "message")) == ((), 3)


@pytest.mark.parametrize("other", ["0b1b2b3b-0000-4000-8000-000000000001"])
def test_a_resumed_copy_of_a_session_adds_no_message(other: str, palace: Palace, tmp_path: Path) -> None:
    original = EIGHTEEN_TURNS.read_bytes()
    (tmp_path / EIGHTEEN_TURNS.name).write_bytes(original)
    assert not mined(palace, tmp_path).failed
    before = count(palace, "message")
    resumed = original.replace(EIGHTEEN_TURNS.stem.encode(), other.encode())
    (tmp_path / f"{other}.jsonl").write_bytes(resumed)
    assert not mined(palace, tmp_path).failed
    assert count(palace, "message") == before
