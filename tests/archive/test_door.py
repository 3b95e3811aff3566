"""Ingest: what comes in is kept to the byte, once, and what differs is kept beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.archive.conversations import PLACE, SESSION, conversations, file_rows, fresh_palace, said
from tests.derived.state import complaints, drawers, live_ids

from palazzo.archive import pack_writer
from palazzo.archive.ingest import NewItem
from palazzo.model import Source
from palazzo.palace import Palace
from palazzo.store import items, source_rows

RESUMED = Source(("session", "s2"), "test", "file:///s2.jsonl", "s2", "Resumed")


def bytes_of(palace: Palace, source: Source) -> bytes:
    with palace.database.snapshot() as connection:
        row = source_rows.find_source(connection, source)
        assert row is not None
        return b"".join(items.source_bytes(connection, row))


def test_rows_come_back_to_the_byte_with_nul_surrogates_and_crlf(palace: Palace) -> None:
    raws = [
        b'{"a": "\\ud800"}\r\n',
        b"\0\0\0\n",
        b"\xff\xfe broken \xed\xa0\x80\n",
        b"\xef\xbb\xbf{}\r\n",
        b"",
        b"last",
    ]
    rows = [said(n, "user", raw.decode("utf-8", "surrogateescape"), raw=raw) for n, raw in enumerate(raws)]
    file_rows(palace, rows, 2)
    assert bytes_of(palace, SESSION) == b"".join(raws)
    with palace.database.snapshot() as connection:
        assert [items.read_item(connection, n + 1).text for n in range(len(rows))] == [row.text for row in rows]
        assert [items.read_raw(connection, n + 1) for n in range(len(rows))] == raws


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=60_000), max_size=30), st.integers(1, 30))
def test_any_bytes_come_back_from_any_packs(raws: list[bytes], batch: int) -> None:
    with pytest.MonkeyPatch.context() as patch, fresh_palace() as palace:
        patch.setattr(pack_writer, "PACK_BYTES", 100_000)
        file_rows(palace, [said(n, "user", "", raw=raw) for n, raw in enumerate(raws)], batch)
        if raws:
            assert bytes_of(palace, SESSION) == b"".join(raws)


def test_the_same_id_with_other_bytes_is_kept_as_a_variant(palace: Palace) -> None:
    first = said(0, "user", "as it was")
    other = replace(first, text="as it became", raw=b"other bytes\n", ordinal=10)
    file_rows(palace, [first])
    (receipt,) = file_rows(palace, [other])
    assert (receipt.added, receipt.variants) == (1, 1)
    assert bytes_of(palace, SESSION) == (first.raw or b"") + b"other bytes\n"
    assert [drawer.text for drawer in drawers(palace)] == ["as it was"]
    with palace.database.snapshot() as connection:
        variant = items.read_item(connection, receipt.rows[0])
    assert (variant.kind, variant.text, variant.meta["variant_of"]) == ("noise", "as it became", first.id)
    assert [again.added for again in file_rows(palace, [first, other])] == [0]


def test_a_variant_within_one_batch_is_kept_too(palace: Palace) -> None:
    first = said(0, "user", "one")
    other = replace(first, raw=b"two\n", ordinal=10)
    (receipt,) = file_rows(palace, [first, other, first, other])
    assert receipt.new == (True, True, False, False)
    assert receipt.rows[0] == receipt.rows[2]
    assert receipt.rows[1] == receipt.rows[3]
    assert complaints(palace) == []


def test_a_resumed_session_repeats_rows_and_adds_none(palace: Palace) -> None:
    rows = [said(n, "user", f"row {n}") for n in range(6)]
    file_rows(palace, rows[:4])
    before = live_ids(palace)
    (receipt,) = file_rows(palace, rows, source=RESUMED)
    assert receipt.added == 2
    assert bytes_of(palace, RESUMED) == b"".join(row.raw or b"" for row in rows)
    assert live_ids(palace) > before


@settings(max_examples=30, deadline=None)
@given(conversations(), st.lists(st.integers(0, 13), max_size=20), st.integers(1, 5))
def test_rows_repeated_in_any_order_are_stored_once(rows: list[NewItem], picks: list[int], batch: int) -> None:
    with fresh_palace() as palace:
        repeated = [rows[pick % len(rows)] for pick in picks]
        file_rows(palace, [*repeated, *rows, *repeated], batch)
        with palace.database.snapshot() as connection:
            assert next(connection.execute("SELECT count(*) FROM item"))[0] == len(rows)
        assert complaints(palace) == []


@pytest.mark.parametrize(
    "row",
    [
        replace(said(0, "user", "hello \ud800"), author="odd \udfff name"),
        replace(said(0, "user", "hello \ud800"), thread="odd \udfff name"),
        replace(said(0, "user", "hello \ud800"), branch="odd \udfff name", commit="\udfff"),
    ],
    ids=["author", "thread", "branch"],
)
def test_what_describes_a_row_may_hold_a_lone_surrogate(palace: Palace, row: NewItem) -> None:
    file_rows(palace, [row])
    assert [drawer.text for drawer in drawers(palace)] == ["hello \ud800"]
    assert complaints(palace) == []


def test_a_source_whose_title_holds_a_lone_surrogate_can_be_filed(palace: Palace) -> None:
    odd = Source(("odd \ud800",), "test", "file:///odd", "odd \ud800", "A title \ud800", "")
    file_rows(palace, [said(0, "user", "hello")], source=odd)
    file_rows(palace, [said(1, "user", "again")], source=odd)
    assert {drawer.source.title for drawer in drawers(palace)} == {"A title \ufffd"}
    assert {drawer.source.key for drawer in drawers(palace)} == {("odd \ud800",)}


def test_where_a_source_lies_is_brought_up_to_date(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "hello")])
    file_rows(palace, [said(0, "user", "hello")], source=replace(SESSION, uri="file:///moved.jsonl", title=""))
    (drawer,) = drawers(palace)
    assert (drawer.source.uri, drawer.source.title) == ("file:///moved.jsonl", SESSION.title)


def test_a_row_is_filed_where_the_caller_says(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "hello")])
    assert [drawer.place for drawer in drawers(palace)] == [PLACE]
