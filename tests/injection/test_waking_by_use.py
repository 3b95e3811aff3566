"""What sessions made of what they were told decides, a little, what the next one is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.store.test_ledger import begin, give, tell, use

from palazzo.injection.wake_up_sources import WakeUpContext, gather
from palazzo.injection.wake_up_text import Section, WakeUpEntry, importance
from palazzo.model import Micros, Place
from palazzo.palace import Palace
from palazzo.store.ledger import Part

NOW = Micros(1_780_000_000_000_000)
NOTE = WakeUpEntry("note", "ab" * 16, NOW, "user", "words", "user")


def gathered(palace: Palace, before: Micros | None = None) -> WakeUpEntry:
    with palace.database.snapshot() as connection:
        asked = WakeUpContext("w", None, Micros(2**62), before, frozenset(["user", "agent"]), str)
        (one,) = (known for known in gather(connection, asked) if known.section == "note")
        return one


@pytest.mark.parametrize(("section", "wears"), [("note", True), ("decision", True), ("due", False), ("todo", False)])
def test_what_is_to_be_done_never_wears(section: Section, wears: bool) -> None:
    new = replace(NOTE, section=section)
    assert (importance(replace(new, unused=20), NOW) < importance(new, NOW)) is wears


def test_one_use_counts_more_than_many_times_of_being_told() -> None:
    assert importance(replace(NOTE, uses=1, unused=5), NOW) > importance(NOTE, NOW)


def test_a_note_is_known_by_its_own_id_and_by_its_drawers(palace: Palace) -> None:
    note = palace.remember("The gateway retries.", Place("w", "notes"))
    before = gathered(palace)
    assert (before.uses, before.unused) == (0, 0)
    for n in range(3):
        give(palace, begin(palace, f"s-{n}"), "words", Part("other", before.id))
    assert gathered(palace).unused == 3
    session = begin(palace, "s-9")
    tell(palace, session, note.drawers[0])
    use(palace, session, note.drawers[0])
    assert (gathered(palace).uses, gathered(palace).unused) == (1, 0)


def test_another_day_is_told_without_what_was_used_since(palace: Palace) -> None:
    palace.remember("The gateway retries.", Place("w", "notes"))
    give(palace, begin(palace), "words", Part("other", gathered(palace).id))
    assert gathered(palace, before=Micros(2**61)).unused == 0
