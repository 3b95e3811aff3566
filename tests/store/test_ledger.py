"""What agents were given is kept to the byte, counted by its use, and goes where its words are erased."""

from __future__ import annotations

from tests.archive.conversations import PLACE
from tests.archive.leftovers import leftovers
from tests.archive.test_erasing import erase

from palazzo.model import Micros
from palazzo.palace import Palace
from palazzo.store import hook_sessions, ledger
from palazzo.store.ledger import Part

AT = Micros(1_780_000_000_000_000)


def begin(palace: Palace, session: str = "s-1", new_epoch: bool = False) -> hook_sessions.HookSession:
    with palace.database.transaction() as connection:
        return hook_sessions.heard(connection, "claude-code", session, AT, new_epoch)


def give(palace: Palace, session: hook_sessions.HookSession, text: str, *parts: Part, tokens: int = 10) -> int:
    with palace.database.transaction() as connection:
        return ledger.record(
            connection, session.row, session.epoch, "prompt", "asked for the past", text, parts, tokens, 900, AT
        )


def test_an_injection_is_kept_to_the_byte(palace: Palace) -> None:
    session = begin(palace)
    text = "<palazzo-memory>\n\ud800 words\r\n</palazzo-memory>"
    give(palace, session, text, Part("drawer", "ab" * 16), Part("other", "cd" * 16))
    with palace.database.snapshot() as connection:
        (kept,) = ledger.injections(connection, session.row)
    assert (kept.text, kept.tokens, kept.took, kept.at) == (text, 10, 900, AT)
    assert kept.parts == (Part("drawer", "ab" * 16), Part("other", "cd" * 16))


def test_what_was_told_belongs_to_its_epoch(palace: Palace) -> None:
    session = begin(palace)
    give(palace, session, "words", Part("drawer", "ab" * 16))
    later = begin(palace, new_epoch=True)
    with palace.database.snapshot() as connection:
        assert ledger.told(connection, session.row, session.epoch) == {"ab" * 16}
        assert ledger.told(connection, later.row, later.epoch) == frozenset()
    assert (later.row, later.epoch) == (session.row, session.epoch + 1)


def test_use_is_counted_once_for_each_thing(palace: Palace) -> None:
    session = begin(palace)
    give(palace, session, "a", Part("drawer", "ab" * 16), Part("drawer", "cd" * 16))
    with palace.database.transaction() as connection:
        assert ledger.note_use(connection, session.row, "ab" * 16, "fetched", AT)
        assert ledger.note_use(connection, session.row, "ab" * 16, "cited", AT)
        assert ledger.note_use(connection, session.row, "ab" * 16, "fetched", AT)
        assert not ledger.note_use(connection, session.row, "ef" * 16, "fetched", AT)
        totals = ledger.totals(connection)
    assert (totals.injections, totals.given, totals.used, totals.tokens) == (1, 2, 1, 10)


def test_erased_words_are_in_no_injection(palace: Palace) -> None:
    words = "zebra-quartz-90417"
    (drawer,) = palace.remember(f"a note of {words}", PLACE).drawers
    (other,) = palace.remember("a note of something else", PLACE).drawers
    session = begin(palace)
    give(palace, session, f"{drawer}: a note of {words[:9]}…", Part("drawer", drawer))
    give(palace, session, f"{other}: a note of something else", Part("drawer", other))
    erase(palace, words)
    with palace.database.snapshot() as connection:
        first, second = ledger.injections(connection, session.row)
    assert (first.text, first.hash, first.parts) == (None, "", (Part("drawer", drawer),))
    assert second.text == f"{other}: a note of something else"
    assert leftovers(palace, words, words[:9]) == []


def test_a_session_is_found_by_the_beginning_of_its_id(palace: Palace) -> None:
    for name in ("s-1", "s-2", "t_%"):
        begin(palace, name)
    with palace.database.snapshot() as connection:
        assert {one.session for one in hook_sessions.by_prefix(connection, "s-")} == {"s-1", "s-2"}
        assert [one.session for one in hook_sessions.by_prefix(connection, "t_%")] == ["t_%"]
        assert hook_sessions.by_prefix(connection, "%") == []
        assert hook_sessions.find(connection, "codex", "s-1") is None


def test_what_was_asked_once_is_not_forgotten_within_an_epoch(palace: Palace) -> None:
    session = begin(palace)
    with palace.database.transaction() as connection:
        hook_sessions.saved(connection, session.row, 15)
        hook_sessions.saved(connection, session.row, 3)
        hook_sessions.hold_back(connection, session.row)
        hook_sessions.notice(connection, session.row)
    again, later = begin(palace), begin(palace, new_epoch=True)
    assert (again.saved_at, again.held_back, again.noticed) == (15, True, True)
    assert (later.saved_at, later.held_back, later.noticed) == (15, False, True)
