"""Postings held in memory: scores that are FTS5's own to the last bit, whatever happened to the palace meanwhile."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from palazzo.index import keyword_candidates as recall_keywords
from palazzo.index import posting_lists
from palazzo.index.lexicon import Lexicon
from palazzo.index.posting_lists import Postings
from palazzo.index.query import Query, understand
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import keyword_table, place_rows
from palazzo.store.database import Connection
from palazzo.text.word_forms import any_of, literals

WORDS = [
    "retry",
    "retries",
    "timeout",
    "cache",
    "the",
    "of",
    "http_client",
    "parse",
    "HTTPServer",
    "pool",
    "lock",
    "日本",
    "naïve",
    "v1.2.3",
    "a",
]
SENTENCES = (["retry", "timeout"], ["http_client", "the"], ["lock"], ["日", "pool"], ["w1x", "cache"], ["1.2", "naive"])


def text(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.choice((2, 9, 60, 400))))


def fill(palace: Palace, rng: random.Random, count: int) -> list[str]:
    rooms = [Place("w", "r"), Place("w", "s"), Place("v", "r")]
    return [drawer for _ in range(count) for drawer in palace.remember(text(rng), rng.choice(rooms)).drawers]


def held(
    connection: Connection, own: Postings, leading: Sequence[str], following: Sequence[str], filters: Sequence[str]
) -> tuple[dict[int, float], dict[int, float] | None]:
    scored = own.score(connection, leading, following, filters, ())
    assert scored is not None
    return posting_lists.best(scored.leading, 10), None if scored.both is None else posting_lists.best(scored.both, 10)


def assert_as_the_index_scores(palace: Palace, own: Postings) -> None:
    """Of all sentences, in and outside a scope, the same drawers with the very same scores."""
    with palace.database.snapshot() as connection:
        in_wing = [keyword_table.wing_filter(place_rows.stretches(connection, "w"))]
        for filters in ([], in_wing, [*in_wing, keyword_table.kind_filter("note")]):
            for words in SENTENCES:
                leading, following = literals(words), literals(["cache", "of"])
                both = f"({any_of(leading)}) AND ({any_of(following)})"
                expected = dict(keyword_table.matches(connection, any_of(leading), filters, 10))
                followed = dict(keyword_table.matches(connection, both, filters, 10))
                assert held(connection, own, leading, following, filters) == (expected, followed), words


def test_scores_are_those_of_the_index_and_follow_every_change(palace: Palace) -> None:
    rng, own = random.Random(4), Postings()
    drawers = fill(palace, rng, 60)
    assert_as_the_index_scores(palace, own)
    drawers += fill(palace, rng, 5)
    assert_as_the_index_scores(palace, own)
    palace.forget(drawers[50:53])
    palace.forget(drawers[3:5])
    assert_as_the_index_scores(palace, own)
    palace.move(drawers[7:9], Place("elsewhere", "r"))
    assert_as_the_index_scores(palace, own)
    palace.tag(drawers[60:62], "kept")
    palace.undo()
    palace.forget(drawers[-1:])
    fill(palace, rng, 2)
    assert_as_the_index_scores(palace, own)
    palace.rebuild("fts")
    assert_as_the_index_scores(palace, own)


def test_what_another_connection_has_seen_later_is_not_told_to_an_older_snapshot(palace: Palace) -> None:
    own = Postings()
    palace.remember("a zebra", Place("w", "r"))
    leading = literals(["zebra"])
    with palace.database.snapshot() as older:
        next(older.execute("SELECT count(*) FROM drawer"))
        with Palace.open(palace.database.path) as other:
            other.remember("one more zebra", Place("w", "r"))
            with other.database.snapshot() as newer:
                assert len(held(newer, own, leading, [], [])[0]) == 2
        assert own.score(older, leading, [], [], []) is None
        found = recall_keywords.find(older, understand(Query("zebra")), [], 10, lexicon=_with(own))
    assert len(found.row_scores) == 1


def test_words_that_were_asked_for_long_ago_give_way(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting_lists, "_MOST_HELD", 20)
    own = Postings()
    fill(palace, random.Random(5), 40)
    assert_as_the_index_scores(palace, own)
    assert own._drawers_held == sum(len(word.rows) for word in own._held.values())
    assert len(own._held) < 4


def test_strings_without_words_are_left_to_the_index(palace: Palace) -> None:
    palace.remember("a zebra", Place("w", "r"))
    with palace.database.snapshot() as connection:
        assert Postings().score(connection, ['"…"'], [], [], []) is None


def test_sizes_of_more_than_a_byte_and_two_are_read(palace: Palace) -> None:
    for count in (100, 200, 17_000):
        palace.remember("zebra " * count, Place("w", "r"))
    with palace.database.snapshot() as connection:
        leading = literals(["zebra"])
        expected = dict(keyword_table.matches(connection, any_of(leading), [], 10))
        assert held(connection, Postings(), leading, [], [])[0] == expected


def test_of_equal_scores_the_older_drawers_are_the_best(palace: Palace) -> None:
    for _ in range(12):
        palace.remember("a zebra", Place("w", "r"))
    with palace.database.snapshot() as connection:
        leading = literals(["zebra"])
        expected = dict(keyword_table.matches(connection, any_of(leading), [], 10))
        assert held(connection, Postings(), leading, [], [])[0] == expected


def _with(own: Postings) -> Lexicon:
    lexicon = Lexicon()
    lexicon.postings = own
    return lexicon
