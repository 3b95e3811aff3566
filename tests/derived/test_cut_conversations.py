"""A conversation becomes drawers: every word once, in order, the same however it arrived."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.archive.conversations import (
    answered,
    called,
    conversations,
    file_rows,
    fresh_palace,
    said,
    small_cuts,
)
from tests.derived.state import complaints, derived, drawers
from tests.examples import examples as enough

from palazzo.archive.archive_reader import join_spans
from palazzo.archive.ingest import NewItem
from palazzo.model import Drawer, Part
from palazzo.palace import Palace
from palazzo.store import items

examples = enough(60)


def words(text: str) -> str:
    """A text without its white space, which belongs to no drawer where it stands between two."""
    return "".join(text.split())


def spoken(rows: list[NewItem]) -> str:
    """What people and agents said, as the archive holds it."""
    texts = []
    for row in rows:
        if row.standing == "said" and row.role in ("user", "assistant"):
            parts = row.parts or (Part("text", 0, len(row.text)),)
            texts += [row.text[part.start : part.end] for part in parts if part.kind == "text"]
    return words("".join(texts))


def in_order_of_speech(found: list[Drawer], palace: Palace) -> list[Drawer]:
    with palace.database.snapshot() as connection:
        ordinals = {bytes(uid).hex(): ordinal for uid, ordinal in connection.execute("SELECT uid, ordinal FROM item")}
    return sorted(found, key=lambda drawer: (ordinals[drawer.spans[0].item], drawer.spans[0].start))


@examples
@given(conversations(), st.integers(1, 4))
def test_every_said_word_is_in_exactly_one_exchange_drawer_in_order(rows: list[NewItem], batch: int) -> None:
    with small_cuts(), fresh_palace() as palace:
        file_rows(palace, rows, batch)
        exchanges = in_order_of_speech([d for d in drawers(palace) if d.kind == "exchange"], palace)
        assert words("".join(drawer.text for drawer in exchanges)) == spoken(rows)


@examples
@given(conversations(), st.integers(1, 4))
def test_a_drawers_text_is_the_archives_slice(rows: list[NewItem], batch: int) -> None:
    texts = {row.id: row.text for row in rows}
    with small_cuts(), fresh_palace() as palace:
        file_rows(palace, rows, batch)
        for drawer in drawers(palace):
            assert drawer.text == join_spans([texts[span.item][span.start : span.end] for span in drawer.spans])
        assert complaints(palace) == []


@examples
@given(conversations(), st.integers(1, 4))
def test_a_conversation_that_grew_has_the_drawers_of_one_that_came_whole(rows: list[NewItem], batch: int) -> None:
    with small_cuts(), fresh_palace() as whole, fresh_palace() as grown:
        file_rows(whole, rows)
        file_rows(grown, rows, batch)
        assert without_times(derived(grown)) == without_times(derived(whole))


def without_times(state: dict[str, object]) -> dict[str, object]:
    """A derived state but for when each row was recorded, which is when its batch came."""
    found = state["drawers"]
    assert isinstance(found, dict)
    return {**state, "drawers": {uid: (*row[:9], *row[10:]) for uid, row in found.items()}}


@examples
@given(conversations(), st.integers(1, 4))
def test_filing_a_conversation_again_adds_nothing(rows: list[NewItem], batch: int) -> None:
    with small_cuts(), fresh_palace() as palace:
        file_rows(palace, rows)
        before = derived(palace)
        again = file_rows(palace, rows, batch)
        assert sum(receipt.added for receipt in again) == 0
        assert derived(palace) == before


@examples
@given(conversations(), st.integers(1, 4))
def test_a_sources_rows_come_back_to_the_byte(rows: list[NewItem], batch: int) -> None:
    with fresh_palace() as palace:
        file_rows(palace, rows, batch)
        file_rows(palace, rows, batch + 1)
        with palace.database.snapshot() as connection:
            assert b"".join(items.source_bytes(connection, 1)) == b"".join(row.raw or b"" for row in rows)


@examples
@given(conversations())
def test_rows_that_arrive_out_of_order_are_cut_as_if_they_had_not(rows: list[NewItem]) -> None:
    with small_cuts(), fresh_palace() as whole, fresh_palace() as mixed:
        file_rows(whole, rows)
        file_rows(mixed, rows[::-1], 1)
        assert by_place(mixed) == by_place(whole)


def by_place(palace: Palace) -> list[tuple[str, str, str, str, tuple[str, ...]]]:
    return [(d.id, d.text, d.locator, d.role, d.tags) for d in in_order_of_speech(drawers(palace), palace)]


def test_tool_output_is_filed_with_the_call_that_asked_for_it(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "run it"), called(1, "Bash", "ls -la", "c1"), answered(2, "total 0", "c1")])
    (tool,) = [drawer for drawer in drawers(palace) if drawer.kind == "tool"]
    assert (tool.title, tool.text) == ("Bash", "ls -la\n\ntotal 0")
    assert tool.trust == "tool"


def test_what_the_host_inserted_is_archived_and_not_found(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "reminder: be brief", standing="meta"), said(1, "user", "hello there")])
    assert [drawer.text for drawer in drawers(palace)] == ["hello there"]


def test_a_turn_without_a_word_still_counts_when_the_rest_comes_later(palace: Palace) -> None:
    """A message that is only a picture makes no drawer; the turn after it must not take its number."""
    file_rows(palace, [said(0, "user", "one"), said(1, "user", ""), said(2, "user", "three")], batch=1)
    assert [drawer.locator for drawer in drawers(palace)] == ["turn 1", "turn 3"]


def test_a_drawer_is_as_trusted_as_its_least_trusted_words(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "look"), said(1, "assistant", "from the repository", trust="repo")])
    assert [drawer.trust for drawer in drawers(palace)] == ["repo"]


def test_words_from_outside_stand_apart_from_those_that_are_believed(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "look"), said(1, "assistant", "from the web", trust="external")])
    assert [(drawer.text, drawer.trust) for drawer in drawers(palace)] == [
        ("look", "user"),
        ("from the web", "external"),
    ]


def test_threads_of_one_source_are_cut_apart(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "main"), said(1, "user", "side", thread="a"), said(2, "assistant", "answer")])
    assert sorted(drawer.text for drawer in drawers(palace)) == ["main\n\nanswer", "side"]
