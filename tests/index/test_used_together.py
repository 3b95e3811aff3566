"""What was used together lifts each other a little: never over a floor, and never by what is gone."""

from __future__ import annotations

import pytest
from tests.archive.conversations import PLACE
from tests.store.test_ledger import begin, tell, use

from palazzo.index.query import Query
from palazzo.index.search_pipeline import Answer
from palazzo.palace import Palace

OWLS = "Owls hunt near the old barn at night, they say."
BATS = "Bats hunt near the old barn at night, they say."
RULE = "The gateway retries with a budget of ten percent."
QUESTION = "who hunts near the old barn"
Notes = dict[str, str]


@pytest.fixture
def notes(palace: Palace) -> Notes:
    """Three notes, by their words their ids."""
    return {text: palace.remember(text, PLACE).drawers[0] for text in (OWLS, BATS, RULE)}


def used_together(palace: Palace, *uids: str) -> None:
    session = begin(palace)
    tell(palace, session, *uids)
    use(palace, session, *uids)


def row(palace: Palace, uid: str) -> int:
    with palace.database.snapshot() as connection:
        ((found,),) = connection.execute("SELECT id FROM drawer WHERE uid = ?", (bytes.fromhex(uid),))
        return int(found)


def ask(palace: Palace, *used: str, without: str = "") -> Answer:
    rows = frozenset(row(palace, uid) for uid in used)
    return palace.search(Query(QUESTION, used=rows, disabled_stages=frozenset(filter(None, [without]))))


def order(answer: Answer) -> list[str]:
    return [hit.drawer.text for hit in answer.hits if hit.drawer.text != RULE]


@pytest.mark.parametrize("kept", [OWLS, BATS])
def test_what_was_used_with_what_the_session_has_used_goes_first(palace: Palace, notes: Notes, kept: str) -> None:
    plain = ask(palace)
    used_together(palace, notes[RULE], notes[kept])
    lifted = ask(palace, notes[RULE])
    assert order(lifted)[0] == kept
    assert {hit.drawer.id: hit.score for hit in lifted.hits} == {hit.drawer.id: hit.score for hit in plain.hits}
    assert any(reason.name == "together" for reason in lifted.hits[0].reasons)
    assert order(ask(palace, notes[RULE], without="together")) == order(plain)


@pytest.mark.parametrize("kept", [OWLS, BATS])
def test_what_is_forgotten_lifts_nothing(palace: Palace, notes: Notes, kept: str) -> None:
    used_together(palace, notes[RULE], notes[kept])
    gone = row(palace, notes[RULE])
    palace.forget([notes[RULE]])
    plain = palace.search(Query(QUESTION))
    assert order(palace.search(Query(QUESTION, used=frozenset({gone})))) == order(plain)


def test_without_any_use_every_answer_is_what_it_was(palace: Palace, notes: Notes) -> None:
    assert ask(palace, *notes.values()).hits == ask(palace).hits
