"""Consumers that lag: what is stopped goes on where it was, also in another process, and nothing is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from palazzo.derived import async_consumer
from palazzo.derived.mention_consumer import MentionConsumer
from palazzo.errors import ConsumerStopped, PalaceUnusable
from palazzo.index.failure_isolation import write_log_by
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import change_log, dead_letters, keyword_columns, mention_rows
from palazzo.store.database import Connection, Database
from palazzo.store.mention_rows import MentionRow


class Small(MentionConsumer):
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
def filled_palace(palace: Palace) -> Palace:
    file_notes(palace, "retry")
    return palace


def file_notes(palace: Palace, word: str) -> None:
    """File ten notes that mention Priya."""
    for n in range(10):
        palace.remember(f"Number {n}: Priya owns `{word}_budget_{n}`.", Place("api", "notes"))


def named(palace: Palace) -> int:
    with palace.database.snapshot() as connection:
        return len(mention_rows.find_mentions(connection, "priya"))


def behind(palace: Palace) -> int:
    with palace.database.snapshot() as connection:
        return async_consumer.count_pending(connection, Small())


def stopped_after(palace: Palace, size: int) -> Small:
    small = Small()
    async_consumer.follow(palace.database, small, stop=lambda: len(small.read) >= size)
    return small


def test_what_was_stopped_goes_on_where_it_was(filled_palace: Palace) -> None:
    first = stopped_after(filled_palace, 6)
    assert (len(first.read), named(filled_palace)) == (6, 6)
    assert behind(filled_palace) > 0
    second = Small()
    async_consumer.follow(filled_palace.database, second)
    assert (len(second.read), set(first.read) & set(second.read), named(filled_palace)) == (4, set(), 10)
    assert behind(filled_palace) == 0
    third = Small()
    async_consumer.follow(filled_palace.database, third)
    assert third.read == []
    file_notes(filled_palace, "time")
    assert stopped_after(filled_palace, 1).read != (read := stopped_after(filled_palace, 1).read)
    async_consumer.follow(filled_palace.database, fourth := Small())
    assert (len(fourth.read), set(read) & set(fourth.read), named(filled_palace)) == (4, set(), 20)


def test_what_is_filed_and_forgotten_while_it_is_stopped_is_taken_in(filled_palace: Palace) -> None:
    stopped_after(filled_palace, 6)
    filled_palace.remember("Number 10: Priya.", Place("api", "notes"))
    later = filled_palace.remember("Number 11: ask Priya first.", Place("api", "notes")).drawers
    with filled_palace.database.snapshot() as connection:
        (oldest,) = next(connection.execute("SELECT uid FROM drawer ORDER BY id LIMIT 1"))
    filled_palace.forget([bytes(oldest).hex(), *later])
    async_consumer.follow(filled_palace.database, Small())
    assert (named(filled_palace), behind(filled_palace)) == (10, 0)


def test_making_everything_anew_begins_at_the_beginning_also_in_the_midst_of_the_first_time(
    filled_palace: Palace,
) -> None:
    stopped_after(filled_palace, 6)
    with filled_palace.database.transaction() as connection:
        connection.execute("UPDATE mention SET name = 'other'")
    async_consumer.make_anew(filled_palace.database, Small())
    assert (named(filled_palace), behind(filled_palace)) == (10, 0)
    stopped_after(filled_palace, 6)
    with filled_palace.database.transaction() as connection:
        connection.execute("UPDATE mention SET name = 'other'")
        change_log.append(connection, "reset", [0])
    async_consumer.follow(filled_palace.database, Small())
    assert (named(filled_palace), behind(filled_palace)) == (10, 0)


def test_two_that_run_side_by_side_share_the_work(filled_palace: Palace) -> None:
    other = Small()

    def once() -> None:
        if not other.read:
            with_own = Database(filled_palace.database.path)
            async_consumer.follow(with_own, other, stop=lambda: len(other.read) >= 9)
            with_own.close()

    one = Small(once)
    async_consumer.follow(filled_palace.database, one)
    assert (len(other.read), len(one.read)) == (9, 4)  # the first three were read by both
    assert (named(filled_palace), behind(filled_palace)) == (10, 0)


# --- what cannot be processed ------------------------------------------------------------------------------


class FailingMentions(MentionConsumer):
    """Mentions; fails on each drawer that holds the word, wherever it stands in a batch."""

    at_once = 4

    def __init__(self, word: str = "", error: type[Exception] = ValueError) -> None:
        self.word, self.error = word, error

    def make(self, connection: Connection, things: Sequence[int]) -> list[MentionRow]:
        for thing in things:
            if self.word and self.word in keyword_columns.body_of(connection, thing):
                raise self.error(f"'{self.word}' is too much")
        return super().make(connection, things)


def set_aside(palace: Palace) -> list[tuple[str, str]]:
    with palace.database.snapshot() as connection:
        return [(letter.label, letter.error) for letter in dead_letters.all_letters(connection)]


def drawer_of(palace: Palace, number: int) -> str:
    with palace.database.snapshot() as connection:
        rows = connection.execute("SELECT uid FROM drawer ORDER BY id LIMIT 1 OFFSET ?", (number,))
        return bytes(next(rows)[0]).hex()


def test_a_text_that_cannot_be_processed_is_set_aside_and_the_rest_goes_on(filled_palace: Palace) -> None:
    async_consumer.follow(filled_palace.database, FailingMentions("budget_5"))
    assert (named(filled_palace), behind(filled_palace)) == (9, 0)
    assert set_aside(filled_palace) == [(f"drawer {drawer_of(filled_palace, 5)}", "ValueError")]
    filled_palace.remember("Number 10: Priya.", Place("api", "notes"))
    async_consumer.follow(filled_palace.database, FailingMentions("budget_5"))
    assert (named(filled_palace), len(set_aside(filled_palace))) == (10, 1)


def test_its_traceback_is_in_the_log_without_a_word_of_the_text(filled_palace: Palace) -> None:
    log: list[str] = []
    write_log_by(log.append)
    async_consumer.follow(filled_palace.database, FailingMentions("budget_5"))
    (log_entry,) = log
    assert f"mention: drawer {drawer_of(filled_palace, 5)} is set aside (ValueError)" in log_entry
    assert "raise self.error" in log_entry
    assert "budget_5" not in log_entry


def test_what_was_set_aside_is_processed_when_it_is_tried_again(filled_palace: Palace) -> None:
    async_consumer.follow(filled_palace.database, FailingMentions("budget_5"))
    async_consumer.retry(filled_palace.database, FailingMentions("budget_5"))
    assert (named(filled_palace), len(set_aside(filled_palace))) == (9, 1)
    async_consumer.retry(filled_palace.database, FailingMentions())
    assert (named(filled_palace), set_aside(filled_palace)) == (10, [])


def test_another_release_and_other_rules_try_it_again(filled_palace: Palace) -> None:
    async_consumer.follow(filled_palace.database, FailingMentions("budget_5"))
    async_consumer.follow(filled_palace.database, FailingMentions())
    assert (named(filled_palace), len(set_aside(filled_palace))) == (9, 1)
    with filled_palace.database.transaction() as connection:
        connection.execute("UPDATE dead_letter SET release = '0.0.1'")
    async_consumer.follow(filled_palace.database, FailingMentions())
    assert (named(filled_palace), set_aside(filled_palace)) == (10, [])
    async_consumer.make_anew(filled_palace.database, FailingMentions("budget_7"))
    assert (named(filled_palace), len(set_aside(filled_palace))) == (9, 1)
    later = FailingMentions()
    later.version += 1
    async_consumer.follow(filled_palace.database, later)
    assert (named(filled_palace), set_aside(filled_palace)) == (10, [])


def test_what_is_forgotten_is_set_aside_no_longer(filled_palace: Palace) -> None:
    async_consumer.follow(filled_palace.database, FailingMentions("budget_5"))
    filled_palace.forget([drawer_of(filled_palace, 5)])
    async_consumer.follow(filled_palace.database, FailingMentions("budget_6"))
    assert (named(filled_palace), set_aside(filled_palace)) == (9, [])


def test_a_session_that_fails_once_it_has_grown_keeps_nothing_of_what_it_was(filled_palace: Palace) -> None:
    async_consumer.follow(filled_palace.database, FailingMentions())
    with filled_palace.database.transaction() as connection:
        change_log.append(connection, "drawer~", [3])
    async_consumer.follow(filled_palace.database, FailingMentions("budget_2"))
    assert (named(filled_palace), len(set_aside(filled_palace))) == (9, 1)


@pytest.mark.parametrize("error", [ImportError, MemoryError, OSError, PalaceUnusable])
def test_no_text_is_set_aside_for_what_is_wrong_around_it(filled_palace: Palace, error: type[Exception]) -> None:
    with pytest.raises(error):
        async_consumer.follow(filled_palace.database, FailingMentions("budget_5", error))
    assert set_aside(filled_palace) == []
    async_consumer.follow(filled_palace.database, FailingMentions())
    assert (named(filled_palace), behind(filled_palace)) == (10, 0)


class BrokenMentions(MentionConsumer):
    """Mentions as a program makes them of which half was replaced."""

    def make(self, connection: Connection, things: Sequence[int]) -> list[MentionRow]:
        return self.mentions_in(connection)  # type: ignore[attr-defined, no-any-return]


def test_a_consumer_that_fails_on_every_text_stops_and_sets_nothing_aside(filled_palace: Palace) -> None:
    with pytest.raises(ConsumerStopped, match=r"'mention' fails on every text \(AttributeError\)"):
        async_consumer.follow(filled_palace.database, BrokenMentions())
    assert (set_aside(filled_palace), behind(filled_palace) > 0) == ([], True)
    async_consumer.follow(filled_palace.database, FailingMentions())
    assert (named(filled_palace), behind(filled_palace)) == (10, 0)


def test_no_number_of_texts_that_cannot_be_processed_stops_a_consumer(palace: Palace) -> None:
    for n in range(50):
        palace.remember(f"Number {n}: a poison, by Priya.", Place("api", "notes"))
    palace.remember("Priya owns the cure.", Place("api", "notes"))
    async_consumer.follow(palace.database, FailingMentions("poison"))
    assert (named(palace), len(set_aside(palace)), behind(palace)) == (1, 50, 0)
