"""Texts that the cutter, the keyword index or the embedder cannot process: archived, found, named, and retried.

No text is known that the real rules fail on (`test_hostile_texts`), so they are wrapped to fail on a certain word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.archive.conversations import answered, called, file_rows, file_version, said
from tests.index.hashed_words import HashedWords

from palazzo.derived import cutter, taint_consumer
from palazzo.derived.integrity_checks import Check, verify
from palazzo.index import cut_material, cut_rules, indexed_text
from palazzo.index.cut_rules import CutItem, Draft
from palazzo.index.fallback_cut import Rules, cut_safely, plain_message
from palazzo.index.query import Query
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.sessions.session_taint import Row, TaintTracker
from palazzo.store import dead_letters, vector_rows
from palazzo.store.taint_rows import Mark
from palazzo.text.word_forms import index_form

POISON = "poisonous"


def refuse(items: Sequence[CutItem]) -> None:
    """Fail as a rule does that has met words it was not made for."""
    if any(POISON in item.text for item in items):
        raise ValueError(f"{POISON}: empty separator")


def cut_segment(items: Sequence[CutItem]) -> list[Draft]:
    refuse(items)
    return cut_rules.cut_segment(items)


@pytest.fixture
def broken_rules(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Rules that cannot cut a text with a certain word."""
    sections, notes = cutter.section_rules, cutter.note_rules

    def of(rules: Rules) -> Rules:
        def cut_version(items: Sequence[CutItem]) -> list[Draft]:
            refuse(items)
            return rules.cut(items)

        return rules._replace(cut=cut_version)

    monkeypatch.setattr(cutter, "SEGMENT", cutter.SEGMENT._replace(cut=cut_segment))
    monkeypatch.setattr(cutter, "section_rules", lambda source: of(sections(source)))
    monkeypatch.setattr(cutter, "note_rules", lambda source: of(notes(source)))
    return monkeypatch


def find_texts(palace: Palace, words: str) -> list[str]:
    return [hit.drawer.text for hit in palace.search(Query(words)).hits]


def set_aside(palace: Palace) -> list[tuple[str, str]]:
    with palace.database.snapshot() as connection:
        return [(letter.consumer, letter.label.partition(" ")[0]) for letter in dead_letters.all_letters(connection)]


def wrong(palace: Palace) -> list[Check]:
    return [check for check in verify(palace.database, palace.embedder) if not check.ok]


def test_a_message_that_cannot_be_cut_is_found_and_the_rest_of_its_segment_is_cut(
    palace: Palace, broken_rules: pytest.MonkeyPatch
) -> None:
    rows = [said(0, "user", "Where does the gateway listen?"), called(1, "Bash", "ss -tlnp", "c1")]
    rows += [answered(2, f"a {POISON} mushroom grows here", "c1"), said(3, "assistant", "It listens on port 8443.")]
    file_rows(palace, rows)
    assert find_texts(palace, "mushroom") == [f"a {POISON} mushroom grows here"]
    assert find_texts(palace, "gateway")[0].endswith("It listens on port 8443.")
    assert set_aside(palace) == [("cut", "item")]
    assert [check.name for check in wrong(palace)] == ["set aside"]
    broken_rules.undo()
    palace.retry_set_aside()
    assert find_texts(palace, "mushroom") == [f"ss -tlnp\n\na {POISON} mushroom grows here"]
    assert (set_aside(palace), wrong(palace)) == ([], [])


def test_items_that_fail_only_together_are_all_cut_plainly(palace: Palace) -> None:
    def cut_one(items: Sequence[CutItem]) -> list[Draft]:
        if len(items) > 1:
            raise KeyError(items)
        return cut_rules.cut_segment(items)

    file_rows(palace, [said(0, "user", "A question of mushrooms."), said(1, "assistant", "An answer about ferns.")])
    with palace.database.snapshot() as connection:
        rows = [int(row) for (row,) in connection.execute("SELECT id FROM item ORDER BY id")]
        items, _ = cut_material.load(connection, rows)
    result = cut_safely(items, Rules(cut_one, plain_message), lambda draft: draft)
    texts = [[span.text for span in draft.spans] for draft in result.drafts if draft.is_plain]
    assert texts == [["A question of mushrooms."], ["An answer about ferns."]]
    assert (len(result.drafts), {row: type(error) for row, error in result.failed.items()}) == (
        2,
        dict.fromkeys(rows, KeyError),
    )


def test_a_document_and_a_note_are_kept_whole_and_what_is_forgotten_of_them_stays_so(
    palace: Palace, broken_rules: pytest.MonkeyPatch
) -> None:
    file_version(palace, f"# Guide\n\nA {POISON} mushroom.\n")
    note = palace.remember(f"Also {POISON}: a toadstool.", Place("api", "notes"))
    assert find_texts(palace, "mushroom") == [f"# Guide\n\nA {POISON} mushroom.\n"]
    assert find_texts(palace, "toadstool") == [f"Also {POISON}: a toadstool."]
    assert set_aside(palace) == [("cut", "item")] * 2
    palace.forget(list(note.drawers))
    assert find_texts(palace, "toadstool") == []
    assert [check.name for check in wrong(palace)] == ["set aside"]
    file_version(palace, "# Guide\n\nAn edible mushroom.\n")
    assert find_texts(palace, "mushroom") == ["# Guide\n\nAn edible mushroom."]
    assert len(set_aside(palace)) == 1


class ChoosyTainting(TaintTracker):
    """The rules of taint, which cannot judge a row with a certain word."""

    def take(self, row: Row) -> Iterator[Mark]:
        refuse([row.item])
        return super().take(row)


def test_what_cannot_be_judged_counts_as_from_outside_unless_a_person_said_it(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taint_consumer, "TaintTracker", ChoosyTainting)
    rows = [said(0, "user", f"A {POISON} question."), said(1, "assistant", "A plain answer.")]
    rows += [said(2, "user", "And now?"), said(3, "assistant", f"A {POISON} mushroom.")]
    file_rows(palace, rows)
    trust = {hit.drawer.text: hit.drawer.trust for hit in palace.search(Query("question answer mushroom")).hits}
    assert trust.pop(f"A {POISON} mushroom.") == "external"
    assert set(trust.values()) == {"agent"}
    assert set_aside(palace) == [("taint", "item")] * 2
    assert [check.name for check in wrong(palace)] == ["set aside"]


def choosy_index_form(text: str) -> str:
    if POISON in text:
        raise RecursionError
    return index_form(text)


def test_words_that_have_no_index_form_are_indexed_as_they_stand(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexed_text, "index_form", choosy_index_form)
    palace.remember(f"A {POISON} mushroom.", Place("api", "notes"))
    palace.remember("A fern.", Place("api", "notes"))
    assert find_texts(palace, "mushroom") == [f"A {POISON} mushroom."]
    assert set_aside(palace) == [("keyword", "drawer")]
    assert [check.name for check in wrong(palace)] == ["set aside"]
    monkeypatch.undo()
    palace.retry_set_aside()
    assert (find_texts(palace, "mushroom"), set_aside(palace)) == ([f"A {POISON} mushroom."], [])


class Choosy(HashedWords):
    """An embedder that does not take a certain word; `takes_no_text`, none at all."""

    takes_no_text = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.takes_no_text or any(POISON in text for text in texts):
            raise ValueError("no such token")
        return super().embed(texts)


def pending(palace: Palace) -> int:
    with palace.database.snapshot() as connection:
        return vector_rows.count_pending(connection)


@pytest.mark.parametrize("embedder", [Choosy()])
def test_a_text_that_has_no_vector_keeps_none_other_waiting(palace: Palace, embedder: Choosy) -> None:
    for n in range(20):
        palace.remember(f"Number {n}: {POISON if n == 7 else 'a fern'}.", Place("api", "notes"))
    palace.embed_pending()
    assert (pending(palace), set_aside(palace)) == (0, [("embed", "drawer")])
    assert find_texts(palace, POISON)[0] == f"Number 7: {POISON}."
    assert [check.name for check in wrong(palace)] == ["set aside"]
    palace.retry_set_aside()
    assert pending(palace) == 1
    palace.forget([hit.drawer.id for hit in palace.search(Query(POISON)).hits if POISON in hit.drawer.text])
    assert (pending(palace), set_aside(palace), wrong(palace)) == (0, [], [])


@pytest.mark.parametrize("embedder", [Choosy()])
def test_no_text_is_set_aside_for_an_embedder_that_takes_none(palace: Palace, embedder: Choosy) -> None:
    palace.remember("A fern.", Place("api", "notes"))
    embedder.takes_no_text = True
    with pytest.raises(ValueError, match="no such token"):
        palace.embed_pending()
    assert (pending(palace), set_aside(palace)) == (1, [])


@pytest.mark.parametrize("embedder", [Choosy()])
def test_a_drawer_that_two_consumers_have_set_aside_is_retried_by_both(
    palace: Palace, embedder: Choosy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexed_text, "index_form", choosy_index_form)
    palace.remember(f"A {POISON} mushroom.", Place("api", "notes"))
    palace.embed_pending()
    assert set_aside(palace) == [("embed", "drawer"), ("keyword", "drawer")]
    monkeypatch.undo()
    palace.retry_set_aside()
    assert (pending(palace), set_aside(palace)) == (1, [])
