"""What was forgotten of a document does not come back because its file changed."""

from __future__ import annotations

from tests.archive.conversations import file_version, fresh_palace
from tests.derived.state import complaints, derived, drawers

from palazzo.index.forget_propagation import forgotten_paragraphs, standing_in
from palazzo.model import Source
from palazzo.palace import Palace

GUIDE = Source(("p", "guide.md"), "document", "file:///guide.md")
FIRST = "# Guide\n\nThe heron stands on the pier.\n\n## Ports\n\nThe api listens on 8080.\n"
GROWN = FIRST + "\n## Lamps\n\nThe lamp is red.\n"


def shown(palace: Palace) -> str:
    return "\n".join(drawer.text for drawer in drawers(palace))


def test_a_forgotten_document_shows_only_what_is_new_in_it() -> None:
    with fresh_palace() as palace:
        file_version(palace, FIRST, GUIDE)
        palace.forget([drawer.id for drawer in drawers(palace)])
        file_version(palace, GROWN, GUIDE)
        assert "lamp is red" in shown(palace)
        assert "heron" not in shown(palace)
        assert "8080" not in shown(palace)
        file_version(palace, GROWN + "\nAnd the door is blue.\n", GUIDE)
        assert "heron" not in shown(palace)
        assert complaints(palace) == []
        before = derived(palace)
        palace.rebuild("all")
        assert derived(palace) == before


def test_undo_brings_it_back_in_the_version_that_is_current() -> None:
    with fresh_palace() as palace:
        file_version(palace, FIRST, GUIDE)
        group = palace.begin_group("user", "forget")
        palace.forget([drawer.id for drawer in drawers(palace)], group=group)
        for more in ("", "\nOne.\n", "\nTwo.\n", "\nThree.\n"):
            file_version(palace, GROWN + more, GUIDE)
        assert palace.undo().verb == "forget"
        assert "heron" in shown(palace)
        assert "8080" in shown(palace)
        assert complaints(palace) == []


def test_a_changed_paragraph_is_another_one() -> None:
    with fresh_palace() as palace:
        file_version(palace, FIRST, GUIDE)
        palace.forget([drawer.id for drawer in drawers(palace)])
        file_version(palace, FIRST.replace("8080", "9090"), GUIDE)
        assert "9090" in shown(palace)
        assert "heron" not in shown(palace)


def test_words_that_also_stand_unforgotten_are_not_taken_from_later_versions() -> None:
    text = "Yes.\n\nA long answer.\n\nYes.\n"
    gone = forgotten_paragraphs([(text, [(0, 20)])])
    assert gone == {"A long answer."}
    assert [text[start:end] for start, end in standing_in(text, gone)] == ["A long answer."]
    assert forgotten_paragraphs([(text, [(0, 4), (4, 12), (12, 20), (20, len(text))])]) == {"Yes.", "A long answer."}
    assert forgotten_paragraphs([(text, [(0, 4), (10, 26)])]) == {"Yes."}


def test_a_line_of_nothing_but_spaces_is_read_once() -> None:
    blank = " " * 300_000
    with fresh_palace() as palace:
        file_version(palace, f"{FIRST}\n{blank}\n", GUIDE)
        palace.forget([drawer.id for drawer in drawers(palace)])
        file_version(palace, f"{FIRST}\n{blank}\n\nThe lamp is red.\n", GUIDE)
        assert "lamp is red" in shown(palace)
        assert "heron" not in shown(palace)
