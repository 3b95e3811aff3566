"""The one object that faces hold: what it opens, files and closes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.archive.conversations import PLACE
from tests.derived.state import complaints, drawers
from tests.index.hashed_words import HashedWords

from palazzo.errors import EmbedderUnavailable, NotFound, PalaceUnusable, UsageError
from palazzo.index.query import Query
from palazzo.palace import Palace


def test_a_note_is_on_disk_when_remember_returns(palace: Palace, palace_path: Path) -> None:
    remembered = palace.remember("exact  words\r\n\twith \0 and \ud800", PLACE, author="me", tags=["a", "b"])
    with Palace.open(palace_path, "read") as other:
        (drawer,) = (other.drawer(one) for one in remembered.drawers)
    assert drawer.text == "exact  words\r\n\twith \0 and \ud800"
    assert (drawer.place, drawer.author, drawer.tags, drawer.kind) == (PLACE, "me", ("a", "b"), "note")


def test_a_long_note_is_cut_and_every_word_kept(palace: Palace) -> None:
    text = "\n\n".join(f"paragraph {n} " + "word " * 60 for n in range(40))
    remembered = palace.remember(text, PLACE)
    assert len(remembered.drawers) > 3
    assert "".join("".join(palace.drawer(one).text for one in remembered.drawers).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["", " \n\t", "x" * 1_000_001])
def test_a_note_that_cannot_be_filed_is_told_so_and_leaves_nothing(palace: Palace, text: str) -> None:
    with pytest.raises(UsageError):
        palace.remember(text, PLACE)
    assert drawers(palace) == []
    assert complaints(palace) == []


@pytest.mark.parametrize("prefix", ["", "abc", "xyzw", "g" * 32, "0" * 33, "'; --", "----", "\ud800\ud800\ud800\ud800"])
def test_what_is_no_id_is_told_so(palace: Palace, prefix: str) -> None:
    with pytest.raises(NotFound, match="not an id"):
        palace.drawer(prefix)


def test_an_id_that_nobody_has_is_not_found(palace: Palace) -> None:
    with pytest.raises(NotFound, match="palazzo search"):
        palace.drawer("0123456789abcdef")


def test_an_id_may_be_written_in_capitals_and_with_dashes(palace: Palace) -> None:
    (uid,) = palace.remember("hello", PLACE).drawers
    assert palace.drawer(f"{uid[:8].upper()}-{uid[8:16]}").id == uid


def test_the_embedder_is_loaded_when_it_is_first_needed_and_closed_with_the_palace(palace_path: Path) -> None:
    made: list[HashedWords] = []

    def make() -> HashedWords:
        made.append(HashedWords())
        return made[-1]

    with Palace.open(palace_path, embedder=make) as palace:
        palace.remember("hello", PLACE)
        palace.search(Query("hello"))
        assert made == []
        palace.embed_pending()
        palace.search(Query("hello"))
        assert len(made) == 1
    assert made[0].closed


def test_an_embedder_that_cannot_be_had_leaves_keywords(palace: Palace, palace_path: Path) -> None:
    palace.remember("hello zebra", PLACE)
    palace.embed_pending()

    def refuse() -> HashedWords:
        raise EmbedderUnavailable("The model is gone.")

    with Palace.open(palace_path, "read", embedder=refuse) as other:
        answer = other.search(Query("zebra"))
    assert (answer.index, answer.note, len(answer.hits)) == ("keyword-only", "The model is gone.", 1)


def test_a_palace_opened_for_reading_refuses_to_be_written(palace: Palace, palace_path: Path) -> None:
    with Palace.open(palace_path, "read") as other, pytest.raises(PalaceUnusable, match="reading only"):
        other.remember("hello", PLACE)


def test_threads_may_share_a_palace(palace: Palace) -> None:
    def write(name: str) -> None:
        for n in range(20):
            palace.remember(f"{name} {n}", PLACE)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawers(palace)) == 80
    assert complaints(palace) == []


def test_several_open_palaces_share_one_file(palace: Palace, open_palace: Callable[[], Palace]) -> None:
    others = [open_palace() for _ in range(3)]
    for n, other in enumerate([palace, *others]):
        other.remember(f"note {n}", PLACE)
    assert {drawer.text for drawer in drawers(palace)} == {f"note {n}" for n in range(4)}
