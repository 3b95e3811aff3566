"""A search as of a day finds what was there then, by today's stages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.archive.conversations import DAY, EPOCH, PLACE, Ticking, file_rows, file_version, fresh_palace, said
from tests.derived.year import MONTHS, Year
from tests.index.hashed_words import HashedWords

from palazzo.index import retired_drawers
from palazzo.index.query import Query
from palazzo.model import Micros, Place
from palazzo.palace import Palace
from palazzo.store import change_log


def on(day: int) -> Micros:
    """The end of a day of the test's time, which begins on day 0."""
    return Micros(EPOCH + (day + 1) * DAY - 1)


def turn_to(palace: Palace, day: int) -> None:
    assert isinstance(palace.machine_clock, Ticking)
    palace.machine_clock.now = EPOCH + day * DAY


def found(palace: Palace, text: str, day: int | None = None, **scope: object) -> list[str]:
    as_of = None if day is None else on(day)
    return [hit.text for hit in palace.search(Query(text, as_of=as_of, limit=50, **scope)).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize("vectors", [False, True])
def test_words_are_found_on_the_days_on_which_they_could_be(vectors: bool) -> None:
    embedder = HashedWords() if vectors else None
    with fresh_palace(embedder) as palace:
        year = Year(palace, 7)
        year.live(80)
        if vectors:
            palace.embed_pending()
        for at in MONTHS[::4]:
            for words in year.words[::6]:
                name = words.text.split()[0]
                hits = palace.search(Query(name, as_of=Micros(at), limit=50)).hits
                assert any(name in hit.text for hit in hits) == words.seen(at)


def test_what_is_forgotten_is_found_as_of_before_and_after_it_is_brought_back_but_not_between() -> None:
    with fresh_palace() as palace:
        note = palace.remember("the heron stands on the pier", PLACE)
        turn_to(palace, 10)
        palace.forget(note.drawers)
        turn_to(palace, 20)
        palace.undo()
        assert [bool(found(palace, "heron", day)) for day in (5, 15, 25)] == [True, False, True]


def test_what_is_forgotten_today_is_found_as_of_yesterday_by_its_meaning_too(palace: Palace) -> None:
    note = palace.remember("the heron stands on the pier", PLACE)
    palace.embed_pending()
    turn_to(palace, 10)
    palace.forget(note.drawers)
    (hit,) = palace.search(Query("the pier of the heron", as_of=on(5))).hits
    assert any(reason.startswith("vector") for reason in hit.why)
    assert found(palace, "heron") == []


def test_every_wing_and_room_is_that_of_the_day() -> None:
    with fresh_palace() as palace:
        note = palace.remember("the heron stands on the pier", Place("api", "auth"))
        turn_to(palace, 10)
        palace.move(note.drawers, Place("web", "birds"))
        assert found(palace, "heron", 5, wing="api")
        assert found(palace, "heron", 15, wing="web")
        assert not found(palace, "heron", 5, wing="web")
        assert not found(palace, "heron", 15, wing="api")
        assert found(palace, "heron", 5, wing="api", room="auth")


def test_the_name_of_the_room_of_the_day_finds_what_was_in_it() -> None:
    with fresh_palace() as palace:
        note = palace.remember("the heron stands on the pier", Place("api", "wetlands"))
        turn_to(palace, 10)
        palace.move(note.drawers, Place("api", "meadows"))
        assert [bool(found(palace, room, 5)) for room in ("wetlands", "meadows")] == [True, False]
        assert [bool(found(palace, room, 15)) for room in ("wetlands", "meadows")] == [False, True]


def test_tags_are_those_of_the_day() -> None:
    with fresh_palace() as palace:
        note = palace.remember("the heron stands on the pier", PLACE)
        turn_to(palace, 10)
        palace.tag(note.drawers, "bird")
        turn_to(palace, 20)
        palace.untag(note.drawers, "bird")
        tagged = [bool(found(palace, "heron", day, tags=frozenset({"bird"}))) for day in (5, 15, 25)]
        assert tagged == [False, True, False]
        assert not found(palace, "heron", tags=frozenset({"bird"}))


def test_a_document_is_found_in_the_version_of_the_day() -> None:
    with fresh_palace() as palace:
        file_version(palace, "# Retries\n\nBack off twice.\n")
        turn_to(palace, 10)
        file_version(palace, "# Retries\n\nBack off three times.\n")
        assert found(palace, "back off", 5) == ["# Retries\n\nBack off twice."]
        assert found(palace, "back off", 15) == ["# Retries\n\nBack off three times."]
        assert found(palace, "twice", 5)
        assert not found(palace, "twice", 15)
        assert not found(palace, "three", 5)


def test_a_drawer_that_grew_shows_and_finds_only_what_had_been_said() -> None:
    with fresh_palace() as palace:
        first = said(1, "user", "where does the heron stand?", created_at=Micros(EPOCH + 1))
        later = said(2, "assistant", "on the old pier", created_at=Micros(EPOCH + 10 * DAY))
        file_rows(palace, [first, later])
        (hit,) = palace.search(Query("heron", as_of=on(5))).hits
        assert (hit.text, hit.truncated, hit.later) == ("where does the heron stand?", True, len("on the old pier"))
        assert not found(palace, "pier", 5)
        (whole,) = palace.search(Query("heron", as_of=on(15))).hits
        assert (whole.text, whole.truncated) == ("where does the heron stand?\n\non the old pier", False)


def test_what_has_no_time_was_always_there(palace: Palace) -> None:
    file_rows(palace, [said(1, "user", "the heron has no time", created_at=Micros(0))])
    assert found(palace, "heron", -400)


def test_nothing_is_kept_of_the_past_before_somebody_asks(palace: Palace) -> None:
    note = palace.remember("the heron stands on the pier", PLACE)
    palace.forget(note.drawers)
    palace.search(Query("heron"))
    with palace.database.snapshot() as connection:
        assert change_log.cursor(connection, retired_drawers.NAME) == (0, 0)
        assert list(connection.execute("SELECT * FROM past")) == []


def test_a_reader_sees_what_another_has_just_forgotten(palace: Palace, open_palace: Callable[[], Palace]) -> None:
    note = palace.remember("the heron stands on the pier", PLACE)
    with Palace.open(palace.database.path, "read") as reader:
        assert found(reader, "heron", 5)
        turn_to(palace, 10)
        palace.forget(note.drawers)
        assert found(reader, "heron", 5)
        assert not found(reader, "heron", 15)


def test_a_palace_that_cannot_be_written_is_seen_as_far_as_it_was_followed(palace_path: Path) -> None:
    with Palace.open(palace_path, clock=Ticking()) as palace:
        note = palace.remember("the heron stands on the pier", PLACE)
        palace.remember("the otter swims", PLACE)
        turn_to(palace, 10)
        palace.forget(note.drawers)
        assert found(palace, "heron", 5)
    palace_path.chmod(0o400)
    palace_path.parent.chmod(0o500)
    try:
        with Palace.open(palace_path, "read") as reader:
            assert found(reader, "heron", 5)
            assert found(reader, "otter", 15)
    finally:
        palace_path.parent.chmod(0o700)
        palace_path.chmod(0o600)


def test_words_that_most_of_the_past_has_still_find_it() -> None:
    """A small index of the past would take a word that all of it has for one that tells nothing."""
    with fresh_palace() as palace:
        notes = [palace.remember(f"the heron was seen on pier {n} by {'x' * n}", PLACE) for n in range(90)]
        turn_to(palace, 10)
        for note in notes:
            palace.forget(note.drawers)
        palace.remember("an otter swims", PLACE)
        assert palace.search(Query("heron", as_of=on(5))).total == 90
        assert found(palace, "heron", 15) == []
