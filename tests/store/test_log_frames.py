"""Damage of the write-ahead log, which SQLite takes for its end, is found; a sound log is never called damaged."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from tests.archive.conversations import PLACE

from palazzo.derived.integrity_checks import verify
from palazzo.palace import Palace, without_embedder
from palazzo.store import log_frames, palace_overview
from palazzo.store.database import Database

EARLIER, LATER, FLIPS, PAGE = 3, 5, 15, 4096


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A palace whose last notes are in its log alone, as a killed process leaves it."""
    work, copy = tmp_path_factory.mktemp("work") / "palace.db", tmp_path_factory.mktemp("copy") / "palace.db"
    with Palace.open(work) as palace:
        for n in range(EARLIER):
            palace.remember(f"an earlier note {n}", PLACE)
    with Palace.open(work) as reader, reader.database.snapshot() as connection:
        list(connection.execute("SELECT count(*) FROM item"))
        with Palace.open(work) as writer:
            for n in range(LATER):
                writer.remember(f"a later note {n}", PLACE)
        assert log_frames.count_unreadable(work, PAGE) == 0
        for suffix in ("", "-wal"):
            shutil.copy(f"{work}{suffix}", f"{copy}{suffix}")
    return copy


def look(palace: Path) -> tuple[int, int]:
    """Return how many notes SQLite reads, and how many transactions it cannot."""
    database = Database(palace, "read")
    with database.snapshot() as connection:
        found = palace_overview.count_items(connection), log_frames.count_unreadable(palace, PAGE)
    database.close()
    return found


def copy_of(logged: Path, directory: Path) -> Path:
    directory.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(f"{logged}{suffix}", directory / f"palace.db{suffix}")
    return directory / "palace.db"


def test_a_sound_log_has_nothing_unreadable(logged: Path, tmp_path: Path) -> None:
    assert look(copy_of(logged, tmp_path / "sound")) == (EARLIER + LATER, 0)


def test_a_log_that_was_cut_by_a_crash_has_nothing_unreadable(logged: Path, tmp_path: Path) -> None:
    palace = copy_of(logged, tmp_path / "cut")
    log = palace.with_name("palace.db-wal")
    log.write_bytes(log.read_bytes()[:-5000])
    notes, unreadable = look(palace)
    assert (notes, unreadable) == (EARLIER + LATER - 1, 0)


def test_a_flipped_bit_that_drops_a_transaction_is_found(logged: Path, tmp_path: Path) -> None:
    chance = random.Random(3)
    raw = Path(f"{logged}-wal").read_bytes()
    places = [*range(0, 32, 3), *(chance.randrange(len(raw)) for _ in range(FLIPS))]
    for n, place in enumerate(places):
        palace = copy_of(logged, tmp_path / str(n))
        flipped = bytearray(raw)
        flipped[place] ^= 1 << chance.randrange(8)
        palace.with_name("palace.db-wal").write_bytes(flipped)
        notes, unreadable = look(palace)
        assert unreadable > 0 or notes == EARLIER + LATER, f"byte {place}"
        shutil.rmtree(palace.parent)


def test_verify_names_the_damage(logged: Path, tmp_path: Path) -> None:
    palace = copy_of(logged, tmp_path / "damaged")
    log = palace.with_name("palace.db-wal")
    raw = bytearray(log.read_bytes())
    raw[len(raw) // 2] ^= 4
    log.write_bytes(raw)
    with Palace.open(palace, "read") as opened:
        (check,) = (check for check in verify(opened.database, without_embedder) if check.name == "log")
    assert not check.ok
    assert "cannot be read" in check.detail


def test_a_log_that_is_folded_while_it_is_read_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    with Palace.open(path) as palace:
        for n in range(30):
            palace.remember(f"note {n}", PLACE)
            with palace.database.snapshot() as connection:
                list(connection.execute("SELECT count(*) FROM item"))
                assert log_frames.count_unreadable(path, PAGE) == 0
            if n % 7 == 0:
                with palace.database.outside_transaction() as raw:
                    raw.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
