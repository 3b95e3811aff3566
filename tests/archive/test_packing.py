"""Packing: what repeats is kept once, and all of it comes back to the byte."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.archive.conversations import PLACE, SESSION, Ticking, file_rows, fresh_palace, said
from tests.archive.test_chain import audit, tamper
from tests.derived.state import complaints

from palazzo.archive import ingest, pack_writer
from palazzo.archive.ingest_guard import Guard
from palazzo.model import Micros
from palazzo.palace import Palace
from palazzo.store import items, packs
from palazzo.store.packs import ITSELF, PackReader, Segment

LETTERS = string.ascii_letters + string.digits + '\n"\\(),.:_'


def prose(seed: int, size: int) -> bytes:
    """Bytes like those of a transcript: words, seldom twice in the same order."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(2000)]
    return " ".join(rng.choices(words, k=size // 3)).encode()[:size]


def filed(palace: Palace, raws: Sequence[bytes], first: int = 0) -> list[int]:
    """File a row for each, all in one transaction; return the row ids."""
    rows = [said(n, "user", "", raw=raw) for n, raw in enumerate(raws, first)]
    return list(file_rows(palace, rows)[0].rows) if rows else []


def raw_of(palace: Palace, row: int) -> bytes | None:
    with palace.database.snapshot() as connection:
        return items.read_raw(connection, row)


def numbers(palace: Palace, sql: str) -> list[int]:
    with palace.database.snapshot() as connection:
        return [value for (value,) in connection.execute(sql)]


def kept(palace: Palace) -> int:
    return sum(numbers(palace, "SELECT length(body) + coalesce(length(layout), 0) FROM pack"))


@contextmanager
def small_packs(size: int) -> Iterator[None]:
    """Packs and repeats so small that a few kilobytes have many of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack_writer, "PACK_BYTES", size)
        patch.setattr(pack_writer, "_SAMPLING_RATE", 1)
        patch.setattr(pack_writer, "SHORTEST_COPY", 80)
        patch.setattr(pack_writer, "LEAST_SAVED", 1)
        yield


BLOCKS = [prose(seed, 3000) for seed in range(4)]

_block = st.integers(0, len(BLOCKS) - 1).map(BLOCKS.__getitem__)
_part = st.binary(max_size=50) | st.builds(
    lambda block, start, size: block[start : start + size], _block, st.integers(0, 2900), st.integers(0, 3000)
)
_raws = st.lists(st.lists(_part, max_size=5).map(b"".join), max_size=6)


@settings(max_examples=40, deadline=None)
@given(st.lists(_raws, max_size=5), st.sampled_from([500, 4000, 50_000]), st.randoms(use_true_random=False))
def test_whatever_repeats_is_read_back_to_the_byte(filings: list[list[bytes]], size: int, order: random.Random) -> None:
    with small_packs(size), fresh_palace() as palace:
        rows: dict[int, bytes] = {}
        for raws in filings:
            with Palace.open(palace.database.path, clock=Ticking()) as again:
                rows |= dict(zip(filed(again, raws, len(rows)), raws, strict=True))
        asked = list(rows)
        order.shuffle(asked)
        with palace.database.snapshot() as connection:
            reader = PackReader(connection)
            for row in asked:
                ((pack, start, length),) = connection.execute(
                    "SELECT pack, raw_start, raw_size FROM item WHERE id = ?", (row,)
                )
                assert reader.read(pack, start, length) == items.read_raw(connection, row) == rows[row]
        assert audit(palace) == []


def test_a_text_that_comes_again_elsewhere_is_kept_once(palace: Palace) -> None:
    text = prose(1, 40_000)
    rows = filed(palace, [b'{"read": "' + text + b'"}\n'])
    once = kept(palace)
    rows += filed(palace, [b'{"cat": 7, "output": "' + text[:20_000] + b" an edit " + text[20_000:] + b'"}\n'], 1)
    assert kept(palace) - once < 400
    assert numbers(palace, "SELECT base FROM pack_reference") == [1]
    assert raw_of(palace, rows[1]) == b'{"cat": 7, "output": "' + text[:20_000] + b" an edit " + text[20_000:] + b'"}\n'
    assert complaints(palace) == []


def test_an_edited_text_costs_its_edits(palace: Palace) -> None:
    """Twelve lines put in, changed or taken away: closer together than landmarks are."""
    text = prose(2, 40_000)
    filed(palace, [text])
    once, edited = kept(palace), bytearray(text)
    for n, at in enumerate(range(38_000, 2_000, -3_000)):
        edited[at : at + (n % 3) * 40] = b"an edit, number %d" % n if n % 2 else b""
    (row,) = filed(palace, [bytes(edited)], 1)
    assert kept(palace) - once < 1_500
    assert raw_of(palace, row) == bytes(edited)


def test_repeats_within_one_filing_are_found_too(palace: Palace) -> None:
    text = prose(2, 200_000)
    filed(palace, [text, prose(3, 100_000), b"once more: " + text])
    assert kept(palace) < len(packs.compress(text + prose(3, 100_000))) * 1.05
    assert numbers(palace, "SELECT pack FROM pack_reference") != []


def test_a_reference_names_own_bytes_and_never_a_reference(palace: Palace) -> None:
    one, two = prose(4, 60_000), prose(5, 60_000)
    filed(palace, [one])
    filed(palace, [one + two], 1)
    filed(palace, [two + one], 2)
    with palace.database.snapshot() as connection:
        assert packs.referring_packs(connection, 1) == [2, 3]
        assert packs.referring_packs(connection, 2) == [3]
        own = [len(PackReader(connection).own(pack)) for pack in (1, 2, 3)]
    assert own[0] == 60_000
    assert own[1] < 60_100
    assert own[2] < 100


def test_what_does_not_repeat_is_stored_as_it_was_without_references(palace: Palace) -> None:
    text = prose(6, 50_000)
    filed(palace, [text])
    filed(palace, [prose(7, 50_000)], 1)
    assert numbers(palace, "SELECT count(*) FROM pack WHERE layout IS NOT NULL") == [0]
    assert numbers(palace, "SELECT length(body) FROM pack WHERE id = 1") == [len(packs.compress(text))]


def test_landmarks_depend_on_what_stands_there_alone() -> None:
    text = prose(8, 120_000)
    found = dict(pack_writer.landmarks(text))
    moved = dict(pack_writer.landmarks(b"x" * 977 + text))
    assert len(found) > 3
    assert {key: start + 977 for key, start in found.items()}.items() <= moved.items()


def test_equal_landmarks_alone_make_no_repeat(palace: Palace) -> None:
    """As when somebody finds two texts whose hashes are the same: the bytes are what counts."""
    one, two = prose(9, 30_000), prose(10, 30_000)
    filed(palace, [one])
    with palace.database.transaction() as connection:
        connection.execute("DELETE FROM landmark")
        packs.insert_landmarks(connection, 1, [packs.Landmark(mark.key, 99) for mark in pack_writer.landmarks(two)])
    rows = filed(palace, [two], 1)
    assert raw_of(palace, rows[0]) == two
    assert numbers(palace, "SELECT count(*) FROM pack_reference") == [0]


def test_a_pack_refers_to_a_bounded_number_of_others(palace: Palace) -> None:
    texts = [prose(seed, 20_000) for seed in range(40, 52)]
    for n, text in enumerate(texts):
        filed(palace, [text], n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack_writer, "MOST_BASES", 3)
        (row,) = filed(palace, [b"".join(texts)], 20)
    assert len(numbers(palace, "SELECT base FROM pack_reference")) == 3
    assert raw_of(palace, row) == b"".join(texts)


@pytest.fixture
def repeating(palace: Palace) -> Palace:
    """Pack 1 has a text, pack 2 repeats it and adds another, pack 3 repeats both."""
    one, two = prose(11, 30_000), prose(12, 30_000)
    filed(palace, [one])
    filed(palace, [b"again " + one, two], 1)
    filed(palace, [two + b" and " + one], 3)
    assert numbers(palace, "SELECT base * 10 + pack FROM pack_reference") == [12, 13, 23]
    return palace


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM pack WHERE id = 1",
        "UPDATE pack SET body = x'00' WHERE id = 1",
        "UPDATE pack SET layout = x'00' WHERE id = 3",
        "UPDATE pack SET layout = NULL WHERE id = 3",
        "UPDATE pack SET layout = substr(layout, 17) WHERE id = 3",
    ],
)
def test_a_reference_that_leads_nowhere_is_found(repeating: Palace, sql: str) -> None:
    tamper(repeating, sql)
    assert 4 in {found.seq for found in audit(repeating)}


def test_a_base_whose_bytes_changed_is_found_in_all_that_repeat_it(repeating: Palace) -> None:
    tamper(repeating, "UPDATE pack SET body = ? WHERE id = 1", packs.compress(prose(13, 30_000)))
    assert {found.seq for found in audit(repeating)} == {1, 2, 4}


def test_a_pack_that_others_refer_to_cannot_be_deleted_by_mistake(repeating: Palace) -> None:
    with pytest.raises(Exception, match="FOREIGN KEY"), repeating.database.transaction() as connection:
        connection.execute("DELETE FROM pack WHERE id = 1")


def test_nothing_new_is_entrusted_to_a_damaged_pack(repeating: Palace) -> None:
    tamper(repeating, "UPDATE pack SET body = x'00' WHERE id = 1")
    text = prose(11, 30_000) + b" filed again"
    (row,) = filed(repeating, [text], 9)
    assert raw_of(repeating, row) == text


@pytest.mark.parametrize("pack", [1, 2])
def test_a_pack_that_is_released_can_be_rewritten_without_harm_to_others(repeating: Palace, pack: int) -> None:
    with repeating.database.transaction() as connection:
        packs.release(connection, pack)
        assert packs.referring_packs(connection, pack) == []
    assert audit(repeating) == []
    assert numbers(repeating, f"SELECT count(*) FROM landmark WHERE pack = {pack}") == [0]
    tamper(repeating, "UPDATE pack SET body = x'00' WHERE id = ?", pack)
    assert {found.seq for found in audit(repeating)} == ({1} if pack == 1 else {2, 3})


def test_a_reader_keeps_no_more_than_its_bound(repeating: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "HELD_BYTES", 1000)
    with repeating.database.snapshot() as connection:
        reader = PackReader(connection)
        for pack in (3, 1, 2, 3):
            assert reader.read(pack, 0, 10) == reader.read(pack, 0, 100)[:10]
        assert len(reader._held) == 1


def test_a_row_that_touches_no_other_pack_reads_none(repeating: Palace) -> None:
    tamper(repeating, "UPDATE pack SET body = x'00' WHERE id = 1")
    with repeating.database.snapshot() as connection:
        reader = PackReader(connection)
        size = len(prose(11, 30_000)) + len(b"again ")
        assert reader.read(2, size, 30_000) == prose(12, 30_000)


def test_layouts_survive_being_stored(palace: Palace) -> None:
    with palace.database.transaction() as connection:
        packs.insert_pack(connection, b"1" * 16, 6, packs.compress(b"abcdef"))
        layout = [Segment(1, 4, 2), Segment(ITSELF, 0, 3), Segment(1, 0, 1)]
        packs.insert_pack(connection, b"2" * 16, 6, packs.compress(b"xyz"), layout)
        packs.insert_pack(connection, b"3" * 16, 2, packs.compress(b""), [Segment(2, 1, 2)])
    with palace.database.snapshot() as connection:
        reader = PackReader(connection)
        assert [reader.read(2, start, 3) for start in range(7)] == [b"efx", b"fxy", b"xyz", b"yza", b"za", b"a", b""]
        assert reader.read(3, 0, 2) == b"yz"
        with pytest.raises(LookupError):
            reader.read(4, 0, 0)


def test_two_palaces_at_once_keep_the_same_text_once(tmp_path: Path) -> None:
    """Both prepare before either files: the second sees in its transaction what the first one brought."""
    path, text = tmp_path / "palace.db", prose(14, 50_000)
    with Palace.open(path, clock=Ticking()) as one, Palace.open(path, clock=Ticking()) as other:
        prepared = [
            ingest.prepare([said(n, "user", "", raw=text + b"%d" % n)], Guard.of(palace.database))
            for n, palace in enumerate((one, other))
        ]
        for palace, ready in zip((one, other), prepared, strict=True):
            with palace.database.transaction() as connection:
                ingest.file(connection, SESSION, PLACE, ready, Micros(1))
        assert numbers(one, "SELECT pack FROM pack_reference") == [2]
        assert [raw_of(other, row) for row in (1, 2)] == [text + b"0", text + b"1"]
