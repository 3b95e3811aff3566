"""What a person did stays done: acts address spans, so they outlive rebuilds and better cutters."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.archive.conversations import (
    PLACE,
    answered,
    called,
    conversations,
    documents,
    file_rows,
    file_version,
    fresh_palace,
    other_cuts,
    said,
    small_cuts,
)
from tests.derived.state import complaints, derived, drawers, drop_derived, live_ids
from tests.examples import examples as enough

from palazzo.archive import acts, archive_reader, identity
from palazzo.archive.ingest import NewItem
from palazzo.errors import AmbiguousId, NotFound
from palazzo.index.query import Query
from palazzo.model import Drawer, ItemId, Place
from palazzo.palace import Palace
from palazzo.store import change_groups

examples = enough(50)
ELSEWHERE = Place("web", "login")
Character = tuple[ItemId, int]


def characters(found: list[Drawer]) -> set[Character]:
    """Every (item, code point) that some drawer holds."""
    return {(span.item, at) for drawer in found for span in drawer.spans for at in range(span.start, span.end)}


def solid(found: set[Character], texts: Mapping[ItemId, str]) -> set[Character]:
    """Those that are not white space, which may stand inside a drawer or between two."""
    return {(item, at) for item, at in found if not texts[item][at].isspace()}


def some_of(palace: Palace, data: st.DataObject) -> list[Drawer]:
    found = drawers(palace)
    return data.draw(st.lists(st.sampled_from(found), max_size=3, unique_by=lambda d: d.id)) if found else []


def test_an_item_that_is_forgotten_whole_leaves_no_drawer_that_never_was(palace: Palace) -> None:
    talk = [said(n, "assistant" if n % 2 else "user", f"row {n}") for n in range(6)]
    rows = file_rows(palace, talk)[0].rows
    with palace.database.transaction() as connection:
        acts.act_on_items(connection, "forget", rows[:2], "mining", palace.clock(), {})
    gone = {drawer.text for drawer in drawers(palace)}
    assert not any("row 0" in text or "row 1" in text for text in gone)
    with palace.database.snapshot() as connection:
        (nameless,) = next(connection.execute("SELECT count(*) FROM drawer WHERE uid = ?", (bytes(16),)))
    assert nameless == 0
    before = live_ids(palace)
    drop_derived(palace)
    palace.rebuild("all")
    assert (live_ids(palace), complaints(palace)) == (before, [])


@examples
@given(conversations(), st.data())
def test_forgetting_a_drawer_leaves_its_neighbours_as_they_are(rows: list[NewItem], data: st.DataObject) -> None:
    with small_cuts(), fresh_palace() as palace:
        file_rows(palace, [row for row in rows if row.role in ("user", "assistant") and not row.parts])
        before = live_ids(palace)
        chosen = {drawer.id for drawer in some_of(palace, data)}
        for one in chosen:
            palace.forget([one])
        assert live_ids(palace) == before - chosen
        assert complaints(palace) == []


@examples
@given(conversations(), st.data())
def test_forgetting_takes_those_words_and_no_others(rows: list[NewItem], data: st.DataObject) -> None:
    texts = {row.id: row.text for row in rows}
    with small_cuts(), fresh_palace() as palace:
        file_rows(palace, rows)
        before, chosen = characters(drawers(palace)), some_of(palace, data)
        palace.forget([drawer.id for drawer in chosen])
        left = solid(before - characters(chosen), texts)
        assert solid(characters(drawers(palace)), texts) == left
        with other_cuts():
            palace.rebuild("all")
            assert solid(characters(drawers(palace)), texts) == left
            drop_derived(palace)
            palace.rebuild("all")
            assert solid(characters(drawers(palace)), texts) == left
            assert complaints(palace) == []


@examples
@given(documents, st.data())
def test_forgotten_parts_of_a_document_stay_forgotten_under_another_cutter(text: str, data: st.DataObject) -> None:
    with small_cuts(), fresh_palace() as palace:
        texts = {ItemId(file_version(palace, text)): text}
        before, chosen = characters(drawers(palace)), some_of(palace, data)
        palace.forget([drawer.id for drawer in chosen])
        with other_cuts():
            palace.rebuild("all")
            found = solid(characters(drawers(palace)), texts)
            assert not found & characters(chosen)
            assert found == solid(before - characters(chosen), texts)


@examples
@given(conversations(), st.data())
def test_acts_survive_the_loss_of_all_that_is_derived(rows: list[NewItem], data: st.DataObject) -> None:
    with small_cuts(), fresh_palace() as palace:
        file_rows(palace, rows)
        for drawer in some_of(palace, data):
            palace.move([drawer.id], ELSEWHERE)
        for drawer in some_of(palace, data):
            palace.tag([drawer.id], "chosen")
        forgotten = some_of(palace, data)
        palace.forget([drawer.id for drawer in forgotten])
        before = derived(palace)
        drop_derived(palace)
        palace.rebuild("all")
        assert derived(palace) == before
        retired = {drawer.id: drawer.text for drawer in drawers(palace, live=False)}
        assert {drawer.id: drawer.text for drawer in forgotten}.items() <= retired.items()
        assert complaints(palace) == []


def test_a_forgotten_drawer_of_many_messages_reads_as_it_did_after_a_rebuild(palace: Palace) -> None:
    file_rows(palace, [said(n, "user" if n == 0 else "assistant", f"word number {n}") for n in range(12)])
    (drawer,) = drawers(palace)
    palace.forget([drawer.id])
    drop_derived(palace)
    palace.rebuild("all")
    again = palace.drawer(drawer.id)
    assert (again.text, again.spans) == (drawer.text, drawer.spans)
    assert again.retired_at is not None


def test_forgotten_words_are_not_found_again_under_a_cutter_with_other_boundaries(palace: Palace) -> None:
    with small_cuts():
        file_rows(palace, [said(0, "user", "the zebra password is hunter2 " * 4 + "and the giraffe is tall")])
        secret = [drawer.id for drawer in drawers(palace) if "zebra" in drawer.text]
        palace.forget(secret)
    palace.rebuild("all")
    assert palace.search(Query("zebra hunter2")).hits == []
    assert "giraffe" in palace.search(Query("giraffe")).hits[0].text


def test_forgetting_a_tools_output_keeps_the_call(palace: Palace) -> None:
    with small_cuts():
        lines = "\n".join(f"output line {n}" for n in range(15))
        file_rows(palace, [said(0, "user", "go"), called(1, "Bash", "make all", "c"), answered(2, lines, "c")])
        tools = [drawer for drawer in drawers(palace) if drawer.kind == "tool"]
        assert len(tools) > 2
        palace.forget([tools[1].id])
        assert live_ids(palace) >= {tool.id for n, tool in enumerate(tools) if n != 1}


def test_a_moved_drawer_is_found_where_it_went_and_keeps_its_id(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "retry with backoff")])
    (drawer,) = drawers(palace)
    assert palace.move([drawer.id[:6]], ELSEWHERE) == [drawer.id]
    assert [hit.drawer.id for hit in palace.search(Query("backoff", wing="web")).hits] == [drawer.id]
    assert palace.search(Query("backoff", wing="api")).hits == []
    assert palace.drawer(drawer.id).place == ELSEWHERE


def test_the_last_of_two_moves_counts(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "retry with backoff")])
    (drawer,) = drawers(palace)
    palace.move([drawer.id], ELSEWHERE)
    palace.move([drawer.id], PLACE)
    palace.rebuild("all")
    assert palace.drawer(drawer.id).place == PLACE


def test_a_moved_drawer_of_a_growing_conversation_stays_moved(palace: Palace) -> None:
    with small_cuts():
        rows = [said(n, "assistant", f"sentence number {n} of the talk") for n in range(8)]
        file_rows(palace, rows[:4])
        moved = drawers(palace)[0]
        palace.move([moved.id], ELSEWHERE)
        file_rows(palace, rows)
        assert palace.drawer(moved.id).place == ELSEWHERE
        assert {drawer.place for drawer in drawers(palace) if drawer.id != moved.id} == {PLACE}


@pytest.mark.parametrize("text", ["short", "long and dull " * 60_000], ids=["short", "compressible"])
def test_a_tag_of_a_note_is_on_every_drawer_of_it(palace: Palace, text: str) -> None:
    palace.remember(text, PLACE, tags=["keep"])
    assert {drawer.tags for drawer in drawers(palace)} == {("keep",)}


def test_forgetting_names_none_or_all(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "one"), said(1, "user", "two")])
    first = drawers(palace)[0]
    with pytest.raises(NotFound):
        palace.forget([first.id, "ffffffff"])
    assert len(live_ids(palace)) == 2


def test_an_ambiguous_prefix_names_its_candidates(palace: Palace) -> None:
    file_rows(palace, [said(n, "user", f"text {n}") for n in range(1200)])
    ids = sorted(live_ids(palace))
    prefix = next(a[:4] for a, b in itertools.pairwise(ids) if a[:4] == b[:4])
    with pytest.raises(AmbiguousId) as caught:
        palace.forget([prefix])
    assert set(caught.value.candidates) == {one for one in ids if one.startswith(prefix)}


def approve(palace: Palace, chosen: list[Drawer]) -> int:
    """What a person's approval of these drawers files; returns the change group."""
    with palace.database.transaction() as connection:
        now = palace.clock()
        group = change_groups.begin(connection, bytes.fromhex(identity.new_id(now)), "user", "approve", now, "")
        rows = [archive_reader.resolve_drawer(connection, drawer.id) for drawer in chosen]
        acts.act_on_drawers(connection, "approve", rows, "user", now, {}, group)
        change_groups.count(connection, group, len(rows))
    return group


def test_words_from_outside_are_a_tools_once_a_person_approved_them_until_that_is_undone(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "look"), said(1, "assistant", "from the web", trust="external")])
    approve(palace, drawers(palace))
    assert [drawer.trust for drawer in drawers(palace)] == ["user", "tool"]
    palace.rebuild("drawers")
    assert [drawer.trust for drawer in drawers(palace)] == ["user", "tool"]
    palace.undo()
    assert [drawer.trust for drawer in drawers(palace)] == ["user", "external"]


def test_what_an_approved_message_says_beyond_that_is_not_approved(palace: Palace) -> None:
    """A longer piece of it is cut later; nobody has seen those words."""
    with small_cuts():
        file_rows(palace, [said(0, "assistant", "one two three. " * 8, trust="external")])
        approve(palace, drawers(palace)[:1])
    palace.rebuild("drawers")
    assert [drawer.trust for drawer in drawers(palace)] == ["external"]


def test_a_note_of_an_agent_that_had_met_outside_words_is_the_agents_once_approved(palace: Palace) -> None:
    note = said(0, "author", "deploys go to blue", kind="note", trust="external", meta={"tainted_by": ["a" * 32]})
    file_rows(palace, [note])
    assert [drawer.trust for drawer in drawers(palace)] == ["external"]
    approve(palace, drawers(palace))
    assert [drawer.trust for drawer in drawers(palace)] == ["agent"]
