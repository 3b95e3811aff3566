"""Palaces that stay open for many callers, and the lanes in which calls are carried out."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from palazzo.daemon.palace_pool import MOST_KEPT, Pool
from palazzo.daemon.worker_pools import LONG, Lanes
from palazzo.errors import PalaceMissing
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.operations.registry import operation
from palazzo.palace import Palace


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.close()


def opened(pool: Pool, path: Path, mode: str = "read", **variables: str) -> Palace:
    """The palace that a caller with these variables gets."""
    with (
        pool.lease() as lease,
        Context(path, path.parent, {"HOME": str(path.parent), **variables}, palace_opener=lease) as one,
    ):
        return one.writing() if mode == "write" else one.reading()


def test_all_callers_share_one_palace_that_whoever_writes_finds_open(pool: Pool, palace_path: Path) -> None:
    Palace.open(palace_path).close()
    first = opened(pool, palace_path)
    assert opened(pool, palace_path, "write") is first
    first.remember("It was left open.", Place("a", "b"))
    assert opened(pool, palace_path) is first


def test_other_settings_get_another_and_few_are_kept(pool: Pool, palace_path: Path) -> None:
    Palace.open(palace_path).close()
    first = opened(pool, palace_path)
    careless = opened(pool, palace_path, PALAZZO_REDACT="off")
    assert careless is not first
    assert not careless.database.redacts
    for n in range(MOST_KEPT):
        opened(pool, palace_path, PALAZZO_EMBEDDER_KIND="openai", PALAZZO_EMBEDDER_MODEL=f"model-{n}")
    assert opened(pool, palace_path) is not first


def test_a_reader_makes_no_palace(pool: Pool, palace_path: Path) -> None:
    with pytest.raises(PalaceMissing):
        opened(pool, palace_path)
    assert not palace_path.exists()
    opened(pool, palace_path, "write")
    assert palace_path.exists()


def test_a_replaced_file_is_opened_anew_and_its_last_user_keeps_the_old_one(pool: Pool, palace_path: Path) -> None:
    with Palace.open(palace_path) as palace:
        palace.remember("the old words", Place("a", "b"))
    with Palace.open(palace_path.with_name("new.db")) as palace:
        palace.remember("the new words", Place("a", "b"))
    variables = {"HOME": str(palace_path.parent)}
    with pool.lease() as lease, Context(palace_path, palace_path.parent, variables, palace_opener=lease) as user:
        old = user.reading()
        palace_path.unlink()
        palace_path.with_name("new.db").rename(palace_path)
        new = opened(pool, palace_path)
        assert new is not old
        with old.database.snapshot() as connection:
            assert connection.execute("SELECT count(*) FROM item")
    search = operation("search")
    with pool.lease() as lease, Context(palace_path, palace_path.parent, variables, palace_opener=lease) as user:
        assert [hit.text for hit in search.run(user, search.request("words")).hits] == ["the new words"]


def test_what_takes_long_does_not_hold_up_what_does_not() -> None:
    lanes, go_on = Lanes(), threading.Event()
    mining = [lanes.submit(operation("mine"), go_on.wait) for _ in range(2 * LONG)]
    assert lanes.submit(operation("search"), lambda: "found").result(30) == "found"
    assert not any(one.done() for one in mining)
    go_on.set()
    assert all(one.result(30) for one in mining)
    lanes.close()
    with pytest.raises(RuntimeError):
        lanes.submit(operation("search"), lambda: "found")
