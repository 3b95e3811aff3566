"""What agents were given is kept to the byte, counted by its use, and goes where its words are erased."""

from __future__ import annotations

import random

import pytest
from tests.archive.conversations import PLACE
from tests.archive.leftovers import leftovers
from tests.archive.test_erasing import erase

from palazzo.model import Micros
from palazzo.palace import Palace
from palazzo.store import hook_sessions, ledger, use_totals
from palazzo.store.ledger import Part
from palazzo.store.use_totals import HALF_LIFE, NEVER, UsageCounts

AT = Micros(1_780_000_000_000_000)


def begin(palace: Palace, session: str = "s-1", new_epoch: bool = False) -> hook_sessions.HookSession:
    with palace.database.transaction() as connection:
        return hook_sessions.record_hook(connection, "claude-code", session, AT, new_epoch)


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
        assert ledger.read_epoch_uids(connection, session.row, session.epoch) == {"ab" * 16}
        assert ledger.read_epoch_uids(connection, later.row, later.epoch) == frozenset()
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
        assert hook_sessions.record_save(connection, session.row, 15)
        assert not hook_sessions.record_save(connection, session.row, 15)
        assert not hook_sessions.record_save(connection, session.row, 3)
        hook_sessions.notice(connection, session.row)
    again, later = begin(palace), begin(palace, new_epoch=True)
    assert (again.saved_at, again.noticed) == (15, True)
    assert (later.saved_at, later.noticed) == (15, True)


# --- what is counted ---------------------------------------------------------------------------------------

A, B, C = ("ab" * 16, "cd" * 16, "ef" * 16)


def tell(palace: Palace, session: hook_sessions.HookSession, *uids: str, reason: str = "", at: int = AT) -> None:
    with palace.database.transaction() as connection:
        parts = [Part("drawer", uid) for uid in uids]
        ledger.record(connection, session.row, session.epoch, "prompt", reason, "words", parts, 10, 900, Micros(at))


def use(palace: Palace, session: hook_sessions.HookSession, *uids: str, at: int = AT) -> None:
    with palace.database.transaction() as connection:
        for uid in uids:
            ledger.note_use(connection, session.row, uid, "cited", Micros(at))


def counted(palace: Palace, uid: str) -> UsageCounts:
    with palace.database.snapshot() as connection:
        return use_totals.tallies(connection, [uid]).get(uid, NEVER)


def together(palace: Palace) -> dict[tuple[str, str], tuple[int, int]]:
    with palace.database.snapshot() as connection:
        return dict(use_totals.everything(connection)[1])


def test_a_session_counts_once_however_often_it_is_told(palace: Palace) -> None:
    first = begin(palace)
    tell(palace, first, A)
    tell(palace, begin(palace, new_epoch=True), A, B)
    assert (counted(palace, A), counted(palace, B)) == (UsageCounts(1, 0, 1), UsageCounts(1, 0, 1))
    tell(palace, begin(palace, "s-2"), A)
    assert counted(palace, A) == UsageCounts(2, 0, 2)


def test_what_was_asked_for_was_not_told_unasked(palace: Palace) -> None:
    tell(palace, begin(palace), A, reason=f"{ledger.ASKED_FOR} the past")
    assert counted(palace, A) == NEVER
    tell(palace, begin(palace), A)
    assert counted(palace, A) == UsageCounts(1, 0, 1)


def test_a_use_makes_it_as_new(palace: Palace) -> None:
    sessions = [begin(palace, f"s-{n}") for n in range(4)]
    for session in sessions[:3]:
        tell(palace, session, A)
    use(palace, sessions[2], A)
    assert counted(palace, A) == UsageCounts(3, 1, 0)
    tell(palace, sessions[3], A)
    assert counted(palace, A) == UsageCounts(4, 1, 1)


def test_what_one_session_used_was_used_together(palace: Palace) -> None:
    first, second = begin(palace), begin(palace, "s-2")
    tell(palace, first, A, B, C)
    use(palace, first, A, at=AT + 1)
    use(palace, first, A, B, at=AT + 2)
    tell(palace, second, A, B)
    use(palace, second, B, A, at=AT + 3)
    assert together(palace) == {(A, B): (2, AT + 3), (B, A): (2, AT + 3)}


def test_facts_and_tasks_are_no_drawers_and_have_no_partners(palace: Palace) -> None:
    session = begin(palace)
    give(palace, session, "words", Part("drawer", A), Part("other", B))
    use(palace, session, A, B)
    assert together(palace) == {}


@pytest.mark.parametrize("seed", range(5))
def test_what_is_counted_can_be_made_anew_from_the_ledger(palace: Palace, seed: int) -> None:
    chance = random.Random(seed)
    uids = [f"{n:032x}" for n in range(6)]
    for at in range(AT, AT + 60):
        session = begin(palace, f"s-{chance.randrange(5)}")
        if chance.random() < 0.5:
            some = chance.sample(uids, 2)
            tell(palace, session, *some, reason=chance.choice(["", ledger.ASKED_FOR]), at=at)
        else:
            use(palace, session, chance.choice(uids), at=at)
    with palace.database.transaction() as connection:
        before = use_totals.everything(connection)
        ledger.count_anew(connection)
        assert use_totals.everything(connection) == before
    assert before[0]
    assert before[1]


def pair(palace: Palace) -> tuple[list[str], list[int]]:
    """Two drawers that one session used together, by id and by row."""
    uids = [palace.remember(f"a note of {words}", PLACE).drawers[0] for words in ("zebra-quartz-90417", "gulls")]
    session = begin(palace)
    tell(palace, session, *uids)
    use(palace, session, *uids)
    with palace.database.snapshot() as connection:
        known = {bytes(uid).hex(): int(row) for uid, row in connection.execute("SELECT uid, id FROM drawer")}
    return uids, [known[uid] for uid in uids]


def test_partners_are_live_and_count_less_with_every_use_of_others(palace: Palace) -> None:
    uids, (one, other) = pair(palace)
    first, both = {bytes.fromhex(uids[0]): one}, {bytes.fromhex(uids[0]): one, bytes.fromhex(uids[1]): other}
    with palace.database.snapshot() as connection:
        assert use_totals.partners(connection, both) == {one: {other: 0.5}, other: {one: 0.5}}
        assert use_totals.partners(connection, first) == {}
        assert use_totals.partners(connection, first, [other]) == {one: {other: 0.5}}
        assert use_totals.rows_used(connection, "s-1") == {one, other}
        assert use_totals.rows_used(connection, "s-2") == frozenset()
    later = begin(palace, "s-2")
    tell(palace, later, A, B)
    use(palace, later, A, B, at=AT + HALF_LIFE)
    with palace.database.snapshot() as connection:
        assert use_totals.partners(connection, both)[one] == {other: 0.25}
    palace.forget([uids[1]])
    with palace.database.snapshot() as connection:
        assert use_totals.partners(connection, first, [other]) == {}


def test_an_erase_takes_what_is_counted_of_what_went(palace: Palace) -> None:
    uids, _ = pair(palace)
    erase(palace, "zebra-quartz-90417")
    assert together(palace) == {}
    assert (counted(palace, uids[0]), counted(palace, uids[1])) == (NEVER, UsageCounts(1, 1, 0))


@pytest.mark.parametrize(("count", "half", "most"), [(1, 1, 1), (2, 1, 2), (20, 10, 19), (21, 11, 20)])
def test_times_are_those_within_which_a_share_was_made(palace: Palace, count: int, half: int, most: int) -> None:
    session = begin(palace)
    with palace.database.transaction() as connection:
        for took in range(count, 0, -1):
            ledger.record(connection, session.row, 0, "prompt", "", "words", [], 10, took, AT)
        totals = ledger.totals(connection)
    assert (totals.took_p50, totals.took_p95) == (half, most)
