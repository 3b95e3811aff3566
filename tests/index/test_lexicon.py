"""The lexicon: counts that are held as long as they are right to a hundredth, and no longer."""

from __future__ import annotations

from palazzo.index.lexicon import Lexicon
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import change_log, keyword_table, place_rows

PLACE = Place("w", "r")


def frequency(palace: Palace, lexicon: Lexicon, word: str) -> int:
    with palace.database.snapshot() as connection:
        return lexicon.frequencies(connection, [word])[word]


def index_without_a_change(palace: Palace, rows: range) -> None:
    """Put drawers into the keyword index behind the change log's back, to see when words are counted."""
    with palace.database.transaction() as connection:
        keyword_table.index(connection, ((row, "zebra", "", "") for row in rows))


def change(palace: Palace, count: int) -> None:
    with palace.database.transaction() as connection:
        change_log.append(connection, "drawer~", range(count))


def test_a_word_s_count_follows_what_is_filed_and_forgotten(palace: Palace) -> None:
    lexicon = Lexicon()
    assert frequency(palace, lexicon, "zebra") == 0
    first = palace.remember("a zebra", PLACE)
    palace.remember("one more zebra", PLACE)
    assert frequency(palace, lexicon, "zebra") == 2
    palace.forget(first.drawers)
    assert frequency(palace, lexicon, "zebra") == 1


def test_drawers_are_counted_by_scope(palace: Palace) -> None:
    lexicon = Lexicon()
    palace.remember("here", PLACE)
    palace.remember("there", Place("elsewhere", "r"))
    with palace.database.snapshot() as connection:
        assert lexicon.drawers(connection) == 2
        assert lexicon.drawers(connection, [keyword_table.wing_filter(place_rows.stretches(connection, "w"))]) == 1


def test_a_common_word_is_counted_anew_once_it_may_be_off_by_more_than_a_hundredth(palace: Palace) -> None:
    lexicon = Lexicon()
    index_without_a_change(palace, range(1, 501))
    assert frequency(palace, lexicon, "zebra") == 500
    index_without_a_change(palace, range(501, 601))
    change(palace, 5)
    assert frequency(palace, lexicon, "zebra") == 500
    change(palace, 1)
    assert frequency(palace, lexicon, "zebra") == 600


def test_nothing_counted_before_a_rebuild_is_held(palace: Palace) -> None:
    lexicon = Lexicon()
    for n in range(150):
        palace.remember(f"zebra {n}", PLACE)
    assert frequency(palace, lexicon, "zebra") == 150
    with palace.database.transaction() as connection:
        keyword_table.clear(connection)
    assert frequency(palace, lexicon, "zebra") == 150
    palace.rebuild("fts")
    with palace.database.transaction() as connection:
        keyword_table.clear(connection)
        change_log.append(connection, "reset", [0])
    assert frequency(palace, lexicon, "zebra") == 0
