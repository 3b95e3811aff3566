"""Erasing: what went is in no file, does not come back, and all that stayed is as it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.archive.conversations import EPOCH, GUIDE, PLACE, SESSION, Ticking, answered, file_rows, file_version, said
from tests.archive.leftovers import in_files, leftovers
from tests.archive.test_packing import prose
from tests.derived.state import complaints, derived, drawers
from tests.index.hashed_words import HashedWords

from palazzo.archive import erasure, erasure_request, ingest, pack_writer
from palazzo.archive.erasure_request import ErasureRequest
from palazzo.archive.ingest import NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.derived.integrity_checks import verify
from palazzo.errors import PalaceUnusable
from palazzo.index.query import Query
from palazzo.knowledge import assertions
from palazzo.knowledge.assertions import Statement, Triple
from palazzo.knowledge.fact_change import Change
from palazzo.model import Certificate, ItemId, Place, Source
from palazzo.palace import Palace
from palazzo.store import items, packs, source_rows, text_columns, tombstones
from palazzo.store.database import Database
from palazzo.store.fact_rows import Provenance
from palazzo.text.hashed_words import ANYWHERE, AS_WORDS

WORDS = "zebra-quartz-90417"


def nobody_watches(what: str, done: int, total: int) -> None:
    """Progress that nobody wants to see."""


def erase(palace: Palace, *words: str) -> Certificate:
    """Erase words wherever they stand, and finish it."""
    return erase_wanted(palace, ErasureRequest(dict.fromkeys(words, ANYWHERE)))


def erase_wanted(palace: Palace, wanted: ErasureRequest) -> Certificate:
    with palace.database.snapshot() as connection:
        found = erasure.survey(connection, wanted, nobody_watches)
    certificate = palace.erase(wanted, found)
    assert palace.finish_erasing() == [certificate]
    return certificate


def erase_places(palace: Palace, *ids: str) -> Certificate:
    """Erase all of the text of items."""
    with palace.database.snapshot() as connection:
        rows = items.known_items(connection, [bytes.fromhex(one) for one in ids])
        texts = items.read_texts(connection, rows.values())
        wanted = erasure_request.places(connection, {row: [(0, len(text))] for row, text in texts.items()})
    return erase_wanted(palace, wanted)


def is_sound(palace: Palace) -> bool:
    assert complaints(palace) == []
    assert [check for check in verify(palace.database, HashedWords) if not check.ok] == []
    return True


def text_of(palace: Palace, uid: str) -> str:
    with palace.database.snapshot() as connection:
        row = items.known_items(connection, [bytes.fromhex(uid)])[bytes.fromhex(uid)]
        return items.read_item(connection, row).text


def found(palace: Palace, words: str) -> list[str]:
    """The texts of what search finds that hold the words."""
    return [hit.drawer.text for hit in palace.search(Query(words)).hits if words in hit.drawer.text]


@pytest.mark.parametrize(
    "words",
    [
        WORDS,
        "пароль-верблюд-漢字-🙂🙃",
        'he said "open\nsesame" \\ twice',
        "tab\there, null\0there, \u2028 and e\u0301",
        "saffron umbrellas beyond Valparaiso",
        "Щ7ж",  # short for a reader; in two bytes of ASCII some hash would hold it by chance
    ],
)
def test_erased_words_are_in_no_file(palace: Palace, words: str) -> None:
    file_rows(palace, [said(n, "user", f"the {n}th {words if n % 4 == 1 else 'thing'} was told") for n in range(9)])
    file_version(palace, f"# A guide\n\nfirst version: {words}\n")
    file_version(palace, "# A guide\n\nsecond version\n")
    palace.remember(f"a note of {words}, to be kept", PLACE)
    palace.forget([drawers(palace)[-1].id], reason=f"too much of {words}")
    palace.follow_past()
    palace.embed_pending()
    assert leftovers(palace, words) != []
    certificate = erase(palace, words)
    palace.embed_pending()
    assert leftovers(palace, words) == []
    assert is_sound(palace)
    assert found(palace, words) == []
    assert len(certificate.items) == 4
    assert text_of(palace, said(1, "user", "").id) == f"the 1th {'█' * len(words)} was told"


def test_what_stays_is_as_it_was(palace: Palace) -> None:
    rows = [said(n, "user", f"row {n}: {WORDS if n == 4 else 'harmless'}") for n in range(9)]
    file_rows(palace, rows)
    erase(palace, WORDS)
    with palace.database.snapshot() as connection:
        for n, row in enumerate(rows):
            item = items.known_items(connection, [bytes.fromhex(row.id)])[bytes.fromhex(row.id)]
            assert items.read_raw(connection, item) == (None if n == 4 else row.raw)
        told = {bytes(uid): (salt, absent) for uid, salt, absent in connection.execute(
            "SELECT uid, salt, absent FROM item JOIN link ON link.item_uid = uid")}  # fmt: skip
    assert [uid.hex() for uid, (salt, _) in told.items() if not salt] == [rows[4].id]
    assert [absent for _, absent in told.values() if absent] == ["erased"]


def test_a_link_that_only_says_erased_is_a_broken_one(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "some words")])
    with palace.database.transaction() as connection:
        connection.execute("UPDATE link SET absent = 'erased'")
    (chain,) = [check for check in verify(palace.database, HashedWords) if check.name == "chain"]
    assert not chain.ok
    assert "is marked as erased, but no erasure record explains it" in chain.detail


def test_bytes_that_say_it_otherwise_than_the_text_go_too(palace: Palace) -> None:
    """A noise row, a field that no feeder reads, escapes within escapes, a file in UTF-16."""
    words = "ключ: \n«zebra»"
    deep = json.dumps({"input": json.dumps({"command": json.dumps({"say": words})})})
    file_rows(
        palace,
        [
            said(0, "user", "no trace of it here", raw=json.dumps({"text": "no trace", "tool": deep}).encode()),
            said(1, "system", "", kind="noise", standing="meta", raw=json.dumps({"queue": words}).encode() + b"\n"),
            said(2, "user", "in both " + words, raw=("in both " + words).encode("utf-16")),
        ],
    )
    certificate = erase(palace, words)
    assert leftovers(palace, words, "zebra") == []
    assert [item.spans for item in certificate.items].count(()) == 2
    assert text_of(palace, said(0, "user", "").id) == "no trace of it here"
    assert is_sound(palace)


def test_words_that_several_drawers_share_go_from_each(palace: Palace) -> None:
    words = " ".join(f"{WORDS}-{n}" for n in range(300))
    file_rows(palace, [said(0, "user", f"before {words} after")])
    assert len(drawers(palace)) > 1
    erase(palace, words)
    assert leftovers(palace, WORDS) == []
    assert is_sound(palace)


def test_rows_that_share_a_pack_or_refer_to_it_keep_their_bytes(palace: Palace) -> None:
    """Of three packs the second and third refer to the first, and the words stand in what two of them share."""
    shared = prose(1, 20_000) + WORDS.encode() + prose(2, 20_000)
    apart = prose(3, 30_000)
    kept = [said(1, "user", "", raw=apart), said(3, "user", "", raw=apart[5_000:25_000] + b"and more")]
    file_rows(palace, [said(0, "user", "", raw=shared), kept[0]])
    file_rows(palace, [said(2, "user", "", raw=b"again: " + shared)])
    file_rows(palace, [kept[1], said(4, "user", "", raw=shared[:15_000] + b"a part of it")])
    with palace.database.snapshot() as connection:
        assert next(connection.execute("SELECT count(*) FROM pack_reference"))[0] >= 2
    erase(palace, WORDS)
    assert leftovers(palace, WORDS) == []
    with palace.database.snapshot() as connection:
        known = items.known_items(connection, [bytes.fromhex(row.id) for row in kept])
        for row in kept:
            assert items.read_raw(connection, known[bytes.fromhex(row.id)]) == row.raw
    assert is_sound(palace)


def test_bytes_in_a_pack_that_no_row_names_go_too(palace: Palace) -> None:
    """A batch of rows is packed whole; of those that were known already the pack holds bytes that nobody asks for."""
    row = said(0, "user", f"the words {WORDS}")
    file_rows(palace, [row])
    file_rows(palace, [row, said(1, "user", "a new one")])
    with palace.database.snapshot() as connection:
        holding = [pack for pack in packs.pack_rows(connection) if WORDS.encode() in packs.whole(connection, pack)]
    assert len(holding) == 2
    erase(palace, WORDS)
    assert leftovers(palace, WORDS) == []
    assert is_sound(palace)


def test_copies_variants_and_redacted_rows_are_found(palace: Palace) -> None:
    other = Source(("session", "s2"), "test", "file:///s2.jsonl", "s2", "Another")
    row = said(0, "user", f"say {WORDS}")
    key = "AKIA" + "Z7Q4M2X8K9P3L5N6"
    file_rows(palace, [row])
    file_rows(palace, [row], source=other)
    file_rows(palace, [said(0, "user", f"say {WORDS}", raw=b'{"edited": "say ' + WORDS.encode() + b'"}')])
    file_rows(palace, [said(5, "user", f"aws_key = {key} and {WORDS}")])
    with palace.database.snapshot() as connection:
        assert list(connection.execute("SELECT count(*) FROM repetition")) != [(0,)]
    certificate = erase(palace, WORDS)
    assert len(certificate.items) == 3
    assert leftovers(palace, WORDS) == []
    assert is_sound(palace)


def test_names_titles_addresses_and_facts_lose_the_words(palace: Palace) -> None:
    """They stay apart from each other, and what is filed later finds them under what is left."""
    wing = f"the {WORDS} wing"
    source = Source(("project", f"{WORDS}/a b.md"), "document", f"file:///x/{WORDS}/a%20b.md", "", f"On {WORDS}")
    file_version(palace, "# Nothing\n\nto see\n", source, Place(wing, f"{WORDS}-room"))
    file_version(palace, "# Nothing\n\nto see\n", Source(("p", f"{WORDS}2.md"), "document", f"file:///{WORDS}2.md"))
    file_rows(palace, [said(0, "user", "quiet", author=WORDS, branch=f"fix/{WORDS}", meta={"cwd": f"/x/{WORDS}"})])
    palace.remember("a quiet note", Place(wing, "notes"), tags=[WORDS])
    with palace.database.transaction() as connection:
        state = source_rows.FileState(f"file:///x/{WORDS}/a%20b.md", 1, "document", 1, 1, 2, 3, 4, b"tail", b"whole")
        source_rows.write_file_state(connection, state)
        triple = Triple(f"Ms {WORDS}", "owns", "the zoo")
        assertions.add(Change(connection, WORDS, "kg add", palace.clock()), Statement(triple, (Provenance(WORDS),)))
    before = len(drawers(palace))
    erase(palace, WORDS)
    assert leftovers(palace, WORDS) == []
    assert is_sound(palace)
    assert len(drawers(palace)) == before
    file_version(palace, "# Nothing\n\nto see, now\n", source, Place(wing, f"{WORDS}-room"))
    palace.remember("another", Place(wing, "notes"), tags=[WORDS])
    with palace.database.transaction() as connection:
        assert len(source_rows.revisions(connection, 1)) == 2
        source_rows.write_file_state(connection, state)
        assert source_rows.read_file_state(connection, state.uri) is not None
        assert source_rows.read_file_states(connection).get(state.uri) is not None
    assert len({drawer.place.wing for drawer in drawers(palace)}) == 2
    assert leftovers(palace, WORDS) == []
    assert is_sound(palace)


def test_a_title_that_is_cut_off_in_the_words_loses_what_it_has_of_them(palace: Palace) -> None:
    text = "please look at " + "-".join([WORDS] * 9)
    source = Source(("session", "s3"), "test", "file:///s3.jsonl", "s3", text[:40].rstrip() + "…")
    file_rows(palace, [said(0, "user", text)], source=source)
    erase(palace, "-".join([WORDS] * 9))
    assert leftovers(palace, WORDS[:12]) == []
    file_rows(palace, [said(0, "user", text), said(1, "user", "and then")], source=source)
    assert leftovers(palace, WORDS[:12]) == []


def fed_again() -> list[Callable[[Palace], object]]:
    """The same words by other ways."""
    other = Source(("session", "copy"), "test", "file:///copy.jsonl", "copy", "A session")
    command = f"palazzo erase --match '{WORDS}' --yes"
    spoken = [said(n, "user", f"row {n}: {WORDS if n == 1 else 'harmless'}") for n in range(4)]
    grown = [*spoken, said(4, "assistant", f"as you said, {WORDS}"), answered(5, f"$ {command}\n1 item", "c")]

    def copies(palace: Palace) -> object:
        renamed = [said(n + 50, "user", row.text) for n, row in enumerate(spoken)]
        return file_rows(palace, renamed, source=other)

    def the_same(palace: Palace) -> object:
        return file_rows(palace, spoken)

    def it_grown(palace: Palace) -> object:
        return file_rows(palace, grown)

    def a_document(palace: Palace) -> object:
        return file_version(palace, f"# Elsewhere\n\nwho says {WORDS}?\n", GUIDE)

    def a_note(palace: Palace) -> object:
        return palace.remember(f"never say {WORDS}", PLACE, tags=[WORDS], author=WORDS)

    def the_erasing_session(palace: Palace) -> object:
        call = json.dumps({"command": command, "nested": json.dumps({"why": WORDS})})
        return file_rows(palace, [said(60, "assistant", call), answered(61, f"{WORDS} is gone", "c")])

    def with_redaction_off(palace: Palace) -> object:
        palace.database.redacts = False
        return file_rows(palace, [said(70, "user", f"key = {WORDS}")])

    return [the_same, it_grown, copies, a_document, a_note, the_erasing_session, with_redaction_off]


@pytest.mark.parametrize("way", fed_again(), ids=lambda way: way.__name__)
def test_erased_words_do_not_come_back(palace: Palace, way: Callable[[Palace], object]) -> None:
    file_rows(palace, [said(n, "user", f"row {n}: {WORDS if n == 1 else 'harmless'}") for n in range(4)])
    erase(palace, WORDS)
    way(palace)
    way(palace)
    palace.embed_pending()
    palace.rebuild("all")
    assert leftovers(palace, WORDS) == []
    assert is_sound(palace)


def test_a_hosts_own_row_that_quotes_the_beginning_of_erased_words_does_not_bring_it_back(palace: Palace) -> None:
    text = f"a long prompt that says {WORDS} early on and then goes on for a while about other things"
    file_rows(palace, [said(0, "user", text)])
    erase_places(palace, said(0, "user", "").id)
    raw = json.dumps({"type": "last-prompt", "lastPrompt": text[:50] + "…"}).encode()
    file_rows(palace, [said(1, "system", "", kind="noise", standing="meta", raw=raw)])
    assert leftovers(palace, WORDS) == []


def test_what_was_prepared_before_an_erase_and_filed_after_it_is_prepared_again(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", f"row {WORDS}")])
    prepared = ingest.prepare([said(1, "user", f"again {WORDS}")], Guard.of(palace.database))
    erase(palace, WORDS)
    with palace.database.transaction() as connection:
        ingest.file(connection, SESSION, PLACE, prepared, palace.clock())
    assert leftovers(palace, WORDS) == []
    assert text_of(palace, said(1, "user", "").id) == f"again {'█' * len(WORDS)}"


def test_what_came_between_the_survey_and_the_erase_is_erased_too(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", f"row {WORDS}")])
    wanted = ErasureRequest({WORDS: ANYWHERE})
    with palace.database.snapshot() as connection:
        survey = erasure.survey(connection, wanted, nobody_watches)
    file_rows(palace, [said(1, "user", f"later {WORDS}")])
    palace.erase(wanted, survey)
    palace.finish_erasing()
    assert leftovers(palace, WORDS) == []


def test_a_vector_that_is_being_made_meanwhile_is_not_kept(open_palace: Callable[[], Palace]) -> None:
    """Another process has read the words and is at its model when they are erased."""

    class Slow(HashedWords):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            if any(WORDS in text for text in texts):
                erase(palace, WORDS)
            return super().embed(texts)

    palace, other = open_palace(), open_palace()
    file_rows(palace, [said(0, "user", f"row {WORDS}")])
    other._make_embedder = Slow
    other.embed_pending()
    with palace.database.snapshot() as connection:
        texts = "SELECT hash FROM passage UNION SELECT hash FROM source_heading WHERE hash IS NOT NULL"
        wrong = f"SELECT count(*) FROM vector WHERE hash NOT IN ({texts})"
        assert list(connection.execute(wrong)) == [(0,)]
    assert is_sound(palace)


def test_erasing_an_item_takes_its_copies_but_not_what_many_say(palace: Palace) -> None:
    printed = "The file was updated successfully."
    for n in range(6):
        source = Source(("session", f"p{n}"), "test", f"file:///p{n}.jsonl", f"p{n}", "")
        own = f"a paragraph of this talk alone {WORDS}" if n < 2 else f"something else {n}"
        file_rows(palace, [said(n * 10, "user", own), answered(n * 10 + 1, printed, f"c{n}")], source=source)
    certificate = erase_places(palace, said(0, "user", "").id, said(1, "tool", "").id)
    assert certificate.left == 1
    assert leftovers(palace, WORDS) == []
    assert text_of(palace, said(1, "tool", "").id) == "█" * len(printed)
    assert text_of(palace, said(11, "tool", "").id) == printed
    assert is_sound(palace)


def test_a_section_goes_from_the_versions_before_too(palace: Palace) -> None:
    section = f"We meet at {WORDS} in the morning, and go on from there.\n"
    first = file_version(palace, f"# One\n\nthe first\n\n{section}")
    file_version(palace, f"# Two\n\nthe second, which is another\n\n{section}")
    palace.follow_past()
    (drawer,) = [one for one in drawers(palace) if WORDS in one.text]
    with palace.database.snapshot() as connection:
        span = drawer.spans[0]
        row = items.known_items(connection, [bytes.fromhex(span.item)])[bytes.fromhex(span.item)]
        wanted = erasure_request.places(connection, {row: [(span.start, span.end)]})
    erase_wanted(palace, wanted)
    assert leftovers(palace, WORDS) == []
    assert "the first" in text_of(palace, first)
    assert drawer.id not in {one.id for one in drawers(palace)}
    assert set(palace.drawer(drawer.id).text) <= {"█", "\n"}
    file_version(palace, f"# Three\n\nthe third\n\n{section}\nand more\n")
    assert "the third" in drawers(palace)[0].text
    assert leftovers(palace, WORDS) == []
    assert is_sound(palace)


def test_short_words_of_an_erased_place_stay_where_others_say_them(palace: Palace) -> None:
    """A copy of the row says them at the same moment, and loses them."""
    file_rows(palace, [said(0, "user", "yes"), said(1, "user", "yes"), said(2, "user", f"yes, {WORDS}")])
    erase_places(palace, said(0, "user", "").id)
    other = Source(("session", "copy"), "test", "file:///copy.jsonl", "copy", "A session")
    copy = [said(60, "user", "yes", created_at=said(0, "user", "").created_at), said(61, "user", "yes")]
    file_rows(palace, copy, source=other)
    assert [text_of(palace, said(n, "user", "").id) for n in (0, 1, 60, 61)] == ["███", "yes", "███", "yes"]
    assert is_sound(palace)


def test_a_short_match_that_was_a_word_is_not_found_inside_others(palace: Palace) -> None:
    assert erasure_request.matched_words({"Ann": True, "nn": False, WORDS: True}).words == {
        "Ann": AS_WORDS,
        "nn": ANYWHERE,
        WORDS: ANYWHERE,
    }
    file_rows(palace, [said(0, "user", "Ann has an Annual plan"), said(1, "user", "x")])
    erase_wanted(palace, erasure_request.matched_words({"Ann": True}))
    file_rows(palace, [said(2, "user", "Ann! Joanna")])
    assert [text_of(palace, said(n, "user", "").id) for n in (0, 2)] == ["███ has an Annual plan", "███! Joanna"]


def test_an_erase_is_in_no_change_group_and_undo_leaves_it(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", f"row {WORDS}"), said(1, "user", "a row to forget")])
    palace.forget([drawers(palace)[-1].id])
    erase_places(palace, said(0, "user", "").id)
    with palace.database.snapshot() as connection:
        assert list(connection.execute("SELECT count(*) FROM act WHERE kind = 'forget' AND grp IS NULL")) == [(1,)]
    palace.undo("user")
    assert "█" in palace.drawer(_retired(palace)).text
    assert leftovers(palace, WORDS) == []


def _retired(palace: Palace) -> str:
    return next(drawer.id for drawer in drawers(palace, live=False) if "█" in drawer.text)


def test_a_reader_of_an_older_state_is_waited_for_and_the_erase_can_be_finished_later(palace_path: Path) -> None:
    with Palace.open(palace_path, clock=Ticking()) as palace, closing(Database(palace_path, "read")) as reader:
        file_rows(palace, [said(0, "user", f"row {WORDS}")])
        wanted = ErasureRequest({WORDS: ANYWHERE})
        with reader.snapshot() as old:
            next(old.execute("SELECT count(*) FROM item"))
            with palace.database.snapshot() as connection:
                survey = erasure.survey(connection, wanted, nobody_watches)
            palace.erase(wanted, survey)
            with pytest.raises(PalaceUnusable, match="still reads an older state"):
                palace.finish_erasing(patience=0.1)
            assert items.read_texts(old, [1]) == {1: f"row {WORDS}"}
        assert in_files(palace_path.parent, WORDS) != []
        assert len(palace.finish_erasing()) == 1
        assert leftovers(palace, WORDS) == []
        assert palace.finish_erasing() == []


def test_others_search_and_write_while_words_are_erased(open_palace: Callable[[], Palace]) -> None:
    palace, other = open_palace(), open_palace()
    file_rows(palace, [said(n, "user", f"row {n} about {WORDS if n % 5 == 0 else 'bees'}") for n in range(60)])
    palace.embed_pending()
    stop = threading.Event()
    failed: list[BaseException] = []

    def go_on() -> None:
        n = 100
        while not stop.is_set():
            try:
                other.search(Query("about bees"))
                other.remember(f"note {n}", PLACE)
            except BaseException as error:  # noqa: BLE001 - whatever it is, the test must see it
                failed.append(error)
                return
            n += 1

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        erase(palace, WORDS)
    finally:
        stop.set()
        thread.join()
    assert failed == []
    assert leftovers(palace, WORDS) == []
    assert is_sound(palace)


def test_erasing_twice_changes_nothing_more(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", f"row {WORDS}")])
    erase(palace, WORDS)
    before = derived(palace)
    with palace.database.snapshot() as connection:
        survey = erasure.survey(connection, ErasureRequest({WORDS: ANYWHERE}), nobody_watches)
    assert (survey.items, survey.names, survey.packs) == ([], 0, set())
    assert derived(palace) == before


def test_a_certificate_tells_all_but_the_words(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", f"row {WORDS}")])
    certificate = erase(palace, WORDS)
    assert certificate.items[0].spans == ((4, 4 + len(WORDS)),)
    with palace.database.snapshot() as connection:
        assert [one.hex() for (one,) in connection.execute("SELECT hash FROM tombstone")] == list(
            certificate.tombstones
        )
        assert certificate.chain_head == items.last_link(connection, 1)[1].hex()
    assert "zebra" not in str(certificate)


def test_a_damaged_pack_is_told_of_and_hinders_nothing_else(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "first")])
    file_rows(palace, [said(1, "user", f"row {WORDS}")])
    with palace.database.outside_transaction() as raw:
        raw.execute("UPDATE pack SET body = x'00112233' WHERE id = 1")
    wanted = ErasureRequest({WORDS: ANYWHERE})
    with palace.database.snapshot() as connection:
        survey = erasure.survey(connection, wanted, nobody_watches)
    assert palace.erase(wanted, survey).unreadable == (1,)
    assert text_of(palace, said(1, "user", "").id) == f"row {'█' * len(WORDS)}"


def test_every_table_says_where_its_words_go(palace: Palace) -> None:
    """A table with text or bytes that is not named in `store/text_columns` would keep what is erased."""
    told = (
        {one.table for one in text_columns.TABLES} | text_columns.DELEGATED_TABLES.keys() | text_columns.WORDLESS.keys()
    )
    with palace.database.snapshot() as connection:
        tables = {str(name): str(kind) for _, name, kind, *_ in connection.execute("PRAGMA table_list")
                  if kind != "shadow" and not str(name).startswith("sqlite_")}  # fmt: skip
        holding = set()
        for table in tables:
            columns = connection.execute(f'PRAGMA table_info("{table}")')
            if any(str(kind).upper() not in ("INTEGER", "REAL") for _, _, kind, *_ in columns):
                holding.add(table)
    assert holding - told == set()
    assert told - tables.keys() == set()
    for one in text_columns.TABLES:
        assert one.table in tables


def test_every_column_of_text_in_a_table_with_words_is_gone_through(palace: Palace) -> None:
    """Columns that hold one of a few names of ours, hashes or numbers are listed; what is new must choose."""
    ours = {
        "source": {"kind"},
        "file_state": {"feeder"},
        "item": {"kind", "role", "standing", "trust"},
        "act": {"kind"},
        "arrangement": {"kind"},
        "drawer": {"kind", "role", "trust", "retired_why"},
        "token": {"scope"},
        "sync_remote": {"kind", "sealing", "secret"},
        "dead_letter": {"consumer", "error", "release"},
    }
    with palace.database.snapshot() as connection:
        for one in text_columns.TABLES:
            texts = {str(name) for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({one.table})")
                     if str(kind).upper() == "TEXT"}  # fmt: skip
            assert texts == {name for name, _ in one.columns} | ours.get(one.table, set()), one.table


def test_a_document_of_another_encoding_is_recognised_when_it_comes_again(palace: Palace) -> None:
    text = f"# Fünf\n\nwo {WORDS} steht\n"
    filing = NewItem(
        ItemId("ab" * 16), text, "document", "author", text.encode("utf-16"), created_at=EPOCH, trust="repo"
    )
    file_rows(palace, [filing], source=GUIDE)
    erase(palace, WORDS)
    receipt = file_rows(palace, [filing], source=GUIDE)[0]
    assert receipt.added == 0
    assert leftovers(palace, WORDS) == []


def test_packs_of_many_rows_are_gone_through_at_any_size(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_writer, "PACK_BYTES", 700)
    rows = [said(n, "user", f"row {n}: {WORDS if n % 7 == 2 else 'harmless ' * 9}") for n in range(40)]
    file_rows(palace, rows)
    certificate = erase(palace, WORDS)
    assert len(certificate.items) == 6
    assert leftovers(palace, WORDS) == []
    with palace.database.snapshot() as connection:
        assert tombstones.find_unproven_items(connection) == []
        known = items.known_items(connection, [bytes.fromhex(row.id) for row in rows])
        for n, row in enumerate(rows):
            assert (items.read_raw(connection, known[bytes.fromhex(row.id)]) == row.raw) is (n % 7 != 2)
