"""The chain: nothing that was archived can change or go missing unseen."""

from __future__ import annotations

import pytest
from tests.archive.conversations import PLACE, file_rows, said

from palazzo.archive import device_chain
from palazzo.archive.device_chain import Break
from palazzo.palace import Palace
from palazzo.store import items


@pytest.fixture
def archived(palace: Palace) -> Palace:
    file_rows(palace, [said(n, "user", f"sentence {n} " * (n * 30 + 1)) for n in range(8)], batch=3)
    palace.remember("a note", PLACE)
    assert audit(palace) == []
    return palace


def audit(palace: Palace) -> list[Break]:
    with palace.database.snapshot() as connection:
        return list(device_chain.audit(connection))


def tamper(palace: Palace, sql: str, *values: str | bytes | int | None) -> None:
    with palace.database.outside_transaction() as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute(sql, values)


def uid(palace: Palace, row: int) -> str:
    with palace.database.snapshot() as connection:
        return items.read_item(connection, row).id


@pytest.mark.parametrize("text", ["sentence 3 ", "", "sentence 3 " * 91 + " "])
def test_a_changed_text_is_found(archived: Palace, text: str) -> None:
    tamper(archived, "UPDATE item SET text = ?, text_codec = ? WHERE id = 4", *items.encode_text(text))
    assert [(found.item, found.reason) for found in audit(archived)] == [(uid(archived, 4), "its body was changed")]


@pytest.mark.parametrize(
    "column",
    ["kind", "role", "standing", "author", "thread", "ordinal", "created_at", "recorded_at", "trust", "branch",
     "commit_id", "parts", "meta", "decoder", "salt", "raw_size"],
)  # fmt: skip
def test_a_change_to_anything_a_row_says_is_found(archived: Palace, column: str) -> None:
    tamper(archived, f"UPDATE item SET {column} = 7 WHERE id = 4")
    assert [found.seq for found in audit(archived)] == [4]


def test_moving_an_item_to_another_source_is_found(archived: Palace) -> None:
    tamper(archived, "UPDATE item SET source = 2 WHERE id = 4")
    assert [found.seq for found in audit(archived)] == [4]


def test_changed_raw_bytes_are_found(archived: Palace) -> None:
    tamper(archived, "UPDATE pack SET body = (SELECT body FROM pack WHERE id = 2) WHERE id = 1")
    assert {found.seq for found in audit(archived)} == {1, 2, 3}


@pytest.mark.parametrize("sql", ["DELETE FROM pack WHERE id = 1", "UPDATE pack SET body = x'00' WHERE id = 1"])
def test_raw_bytes_that_cannot_be_read_are_found(archived: Palace, sql: str) -> None:
    tamper(archived, sql)
    assert {found.seq for found in audit(archived)} == {1, 2, 3}


def test_a_text_that_cannot_be_read_is_found(archived: Palace) -> None:
    tamper(archived, "UPDATE item SET text = x'ff00', text_codec = 1 WHERE id = 4")
    assert [found.seq for found in audit(archived)] == [4]


def test_a_missing_item_is_found(archived: Palace) -> None:
    gone = uid(archived, 5)
    tamper(archived, "DELETE FROM item WHERE id = 5")
    assert audit(archived) == [Break(5, gone, "the item is missing")]


@pytest.mark.parametrize("seq", [1, 4, 9], ids=["first", "middle", "last"])
def test_a_removed_link_is_found(archived: Palace, seq: int) -> None:
    tamper(archived, "DELETE FROM link WHERE seq = ?", seq)
    assert audit(archived) != []


def test_exchanged_links_are_found(archived: Palace) -> None:
    for a, b in ((3, -3), (4, 3), (-3, 4)):
        tamper(archived, "UPDATE link SET seq = ? WHERE seq = ?", b, a)
    assert [found.seq for found in audit(archived)][:1] == [3]


def test_an_item_that_came_in_beside_the_door_is_found(archived: Palace) -> None:
    tamper(archived, "INSERT INTO item SELECT 99, x'99', source, kind, role, standing, author, thread, 99, created_at,"
           " recorded_at, trust, branch, commit_id, room, parts, meta, decoder, pack, raw_start, raw_size, salt, text,"
           " text_codec FROM item WHERE id = 1")  # fmt: skip
    assert [found.item for found in audit(archived)] == ["99"]


def test_an_absent_body_is_no_break_where_the_link_says_why(archived: Palace) -> None:
    tamper(archived, "DELETE FROM item WHERE id = 5")
    tamper(archived, "UPDATE link SET absent = 'erased' WHERE seq = 5")
    assert audit(archived) == []
