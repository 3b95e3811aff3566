"""What the palace holds already of a text."""

from __future__ import annotations

import pytest
from tests.archive.conversations import PLACE, file_rows, said

from palazzo.index.duplicates import near, same
from palazzo.model import Place
from palazzo.palace import Palace

LONG = "\n\n".join(
    f"Paragraph {n} tells of the {n * 37}th crane that came down to the river that day." for n in range(90)
)
TEXT = "The retries double after each failure, up to a minute, and jitter is added to every one of them."


def found(palace: Palace, text: str, wing: str | None = None, threshold: float = 0.9) -> list[tuple[str, float]]:
    with palace.database.snapshot() as connection:
        return [(one.drawer.id, one.similarity) for one in near(connection, text, wing, threshold)]


def twin(palace: Palace, text: str, wing: str | None = None) -> str | None:
    with palace.database.snapshot() as connection:
        drawer = same(connection, text, wing)
    return None if drawer is None else drawer.id


@pytest.mark.parametrize("text", [TEXT, LONG, "x", "🤖", "…", "  spaced\r\n", "\ud800", "the", "价格"])
def test_the_very_same_words_are_known_again(palace: Palace, text: str) -> None:
    palace.remember("something else", PLACE)
    assert twin(palace, text) is None
    drawers = palace.remember(text, PLACE).drawers
    assert twin(palace, text) == twin(palace, text, PLACE.wing) == drawers[0]
    assert twin(palace, text, "elsewhere") is None


@pytest.mark.parametrize("change", ["case", "end", "beginning", "space"])
def test_one_letter_makes_it_another(palace: Palace, change: str) -> None:
    palace.remember(LONG, PLACE)
    other = {"case": LONG[:-1] + LONG[-1].upper() + "!", "end": LONG + ".", "beginning": LONG[1:], "space": f"{LONG} "}
    assert twin(palace, other[change]) is None
    assert found(palace, other[change])


def test_what_is_forgotten_is_no_duplicate(palace: Palace) -> None:
    note = palace.remember(TEXT, PLACE)
    palace.forget(note.drawers)
    assert twin(palace, TEXT) is None
    assert found(palace, TEXT) == []


def test_a_text_is_near_what_holds_nine_tenths_of_it(palace: Palace) -> None:
    note = palace.remember(TEXT, PLACE)
    for n in range(30):
        palace.remember(f"The retries of service {n} are its own, and jitter is no part of them.", PLACE)
    assert found(palace, TEXT.upper()) == [(note.drawers[0], 1.0)]
    assert found(palace, " ".join(TEXT.split()[:12])) == [(note.drawers[0], 1.0)]
    assert found(palace, TEXT.replace("minute", "quarter of an hour").replace("double", "triple")) == []
    assert found(palace, TEXT, "elsewhere") == []
    assert found(palace, "Nothing like it was ever said.") == []


def test_a_share_may_be_asked_for(palace: Palace) -> None:
    note = palace.remember(TEXT, PLACE)
    changed = TEXT.replace("minute", "quarter")
    ((drawer, share),) = found(palace, changed, threshold=0.5)
    assert drawer == note.drawers[0]
    assert 0.5 < share < 0.9


def test_what_was_said_in_a_session_is_near_but_not_the_same_note(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", TEXT)])
    assert twin(palace, TEXT) is None
    assert [share for _, share in found(palace, TEXT)] == [1.0]


def test_a_long_note_is_named_once(palace: Palace) -> None:
    drawers = palace.remember(LONG, PLACE).drawers
    assert len(drawers) > 1
    ((drawer, _),) = found(palace, LONG.replace("Paragraph 3 ", "Chapter 3 "))
    assert drawer in drawers


def test_each_wing_is_asked_for_itself(palace: Palace) -> None:
    palace.remember(TEXT, PLACE)
    other = palace.remember(TEXT, Place("web", "notes"))
    assert twin(palace, TEXT, "web") == other.drawers[0]
    assert [drawer for drawer, _ in found(palace, TEXT, "web")] == [other.drawers[0]]
    assert len(found(palace, TEXT)) == 2
