"""Consumers that lag: what is stopped goes on where it was, also in another process, and nothing is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from palazzo.derive import lagging
from palazzo.derive.naming import Naming
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import changes, mentions
from palazzo.store.database import Connection, Database
from palazzo.store.mentions import MentionRow


class Small(Naming):
    """Mentions, a few drawers at once; keeps which were read."""

    at_once = 3

    def __init__(self, meanwhile: Callable[[], object] = bool) -> None:
        self.read: list[int] = []
        self.meanwhile = meanwhile

    def make(self, connection: Connection, things: Sequence[int]) -> list[MentionRow]:
        self.read += things
        self.meanwhile()
        return super().make(connection, things)


@pytest.fixture
def filled(palace: Palace) -> Palace:
    for n in range(10):
        palace.remember(f"Number {n}: Priya owns `retry_budget_{n}`.", Place("api", "notes"))
    return palace


def named(palace: Palace) -> int:
    with palace.database.snapshot() as connection:
        return len(mentions.mentioning(connection, "priya"))


def behind(palace: Palace) -> int:
    with palace.database.snapshot() as connection:
        return lagging.behind(connection, Small())


def stopped_after(palace: Palace, size: int) -> Small:
    small = Small()
    lagging.follow(palace.database, small, stop=lambda: len(small.read) >= size)
    return small


def test_what_was_stopped_goes_on_where_it_was(filled: Palace) -> None:
    first = stopped_after(filled, 6)
    assert (len(first.read), named(filled)) == (6, 6)
    assert behind(filled) > 0
    second = Small()
    lagging.follow(filled.database, second)
    assert (len(second.read), set(first.read) & set(second.read), named(filled)) == (4, set(), 10)
    assert behind(filled) == 0
    third = Small()
    lagging.follow(filled.database, third)
    assert third.read == []


def test_what_is_filed_and_forgotten_while_it_is_stopped_is_taken_in(filled: Palace) -> None:
    stopped_after(filled, 6)
    filled.remember("Number 10: Priya.", Place("api", "notes"))
    later = filled.remember("Number 11: ask Priya first.", Place("api", "notes")).drawers
    with filled.database.snapshot() as connection:
        (oldest,) = next(connection.execute("SELECT uid FROM drawer ORDER BY id LIMIT 1"))
    filled.forget([bytes(oldest).hex(), *later])
    lagging.follow(filled.database, Small())
    assert (named(filled), behind(filled)) == (10, 0)


def test_making_everything_anew_begins_at_the_beginning_also_in_the_midst_of_the_first_time(filled: Palace) -> None:
    stopped_after(filled, 6)
    with filled.database.transaction() as connection:
        connection.execute("UPDATE mention SET name = 'other'")
    lagging.make_anew(filled.database, Small())
    assert (named(filled), behind(filled)) == (10, 0)
    stopped_after(filled, 6)
    with filled.database.transaction() as connection:
        connection.execute("UPDATE mention SET name = 'other'")
        changes.append(connection, "reset", [0])
    lagging.follow(filled.database, Small())
    assert (named(filled), behind(filled)) == (10, 0)


def test_two_that_run_side_by_side_share_the_work(filled: Palace) -> None:
    other = Small()

    def once() -> None:
        if not other.read:
            with_own = Database(filled.database.path)
            lagging.follow(with_own, other, stop=lambda: len(other.read) >= 9)
            with_own.close()

    one = Small(once)
    lagging.follow(filled.database, one)
    assert (len(other.read), len(one.read)) == (9, 4)  # the first three were read by both
    assert (named(filled), behind(filled)) == (10, 0)
