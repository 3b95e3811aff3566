"""What every feeder owes: `palazzo.sources.formats` says it, these tests hold it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples as enough

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import Feeder, Message, Noise, Row, Unreadable
from palazzo.sources.formats.document_rows import Documents
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS

from .host_samples import host_files
from .samples import files as claude_files
from .samples import read

examples = enough(100)
files = claude_files | host_files

FEEDERS: list[Feeder] = [*TRANSCRIPTS, Documents("git:abc", Path("/home/dev/acme"))]
each_feeder = pytest.mark.parametrize("feeder", FEEDERS, ids=lambda feeder: feeder.kind)
each_growing = pytest.mark.parametrize(
    "feeder", [feeder for feeder in FEEDERS if feeder.appends], ids=lambda feeder: feeder.kind
)


def rows_or_none(feeder: Feeder, data: bytes, start: int = 0) -> list[Row] | None:
    try:
        return read(feeder, data, start)
    except SourceUnreadable:
        return None


@each_feeder
@examples
@given(data=files | st.binary(max_size=200))
def test_the_rows_hold_every_byte_up_to_a_half_written_last_line(feeder: Feeder, data: bytes) -> None:
    rows = rows_or_none(feeder, data)
    if rows is None:
        return
    joined = b"".join(row.raw for row in rows)
    assert data.startswith(joined)
    assert b"\n" not in data[len(joined) :]
    if not feeder.appends:
        assert joined == data


@each_feeder
@examples
@given(data=files)
def test_rows_say_where_they_began(feeder: Feeder, data: bytes) -> None:
    position = 0
    for row in rows_or_none(feeder, data) or []:
        assert row.position == position
        assert row.raw or not data
        position += len(row.raw)


@each_feeder
@examples
@given(data=files)
def test_parts_are_in_order_within_the_text_and_never_empty(feeder: Feeder, data: bytes) -> None:
    for row in rows_or_none(feeder, data) or []:
        if isinstance(row.content, Message):
            bounds = [0, *(bound for part in row.content.parts for bound in (part.start, part.end))]
            assert bounds == sorted(bounds)
            assert all(part.start < part.end for part in row.content.parts)
            assert bounds[-1] == len(row.content.text)
        else:
            assert isinstance(row.content, Noise | Unreadable)
            assert row.content.reason


@each_feeder
@examples
@given(data=files)
def test_every_text_survives_storing(feeder: Feeder, data: bytes) -> None:
    for row in rows_or_none(feeder, data) or []:
        if isinstance(row.content, Message):
            stored = row.content.text.encode("utf-8", "surrogatepass")
            assert stored.decode("utf-8", "surrogatepass") == row.content.text


@each_growing
@examples
@given(data=files)
def test_reading_may_resume_at_any_row(feeder: Feeder, data: bytes) -> None:
    rows = read(feeder, data)
    for index, row in enumerate(rows):
        assert read(feeder, data, row.position) == rows[index:]


@each_growing
@examples
@given(data=files, cuts=st.lists(st.integers(0, 2000), max_size=4))
def test_a_file_read_while_it_grows_loses_nothing(feeder: Feeder, data: bytes, cuts: list[int]) -> None:
    seen: list[Row] = []
    for size in [*sorted(cuts), len(data)]:
        start = seen[-1].position + len(seen[-1].raw) if seen else 0
        seen += read(feeder, data[:size], start) if size >= start else []
    whole = read(feeder, data)
    assert b"".join(row.raw for row in seen) == b"".join(row.raw for row in whole)
    said = [row.content for row in whole if isinstance(row.content, Message)]
    assert [row.content for row in seen if isinstance(row.content, Message)] == said


@each_feeder
@examples
@given(head=st.binary(max_size=300))
def test_no_head_makes_recognising_fail(feeder: Feeder, head: bytes) -> None:
    path = Path("/home/dev/acme/notes")
    assert feeder.recognises(path, head) in (True, False)
    assert feeder.identify(path, head).key


@each_feeder
def test_an_identity_holds_no_absolute_path(feeder: Feeder) -> None:
    identity = feeder.identify(Path("/home/dev/acme/docs/plan.md"), b"# Plan\n")
    assert identity.key[0] == feeder.kind
    assert not any(part.startswith("/") or "/home/" in part for part in identity.key)


@each_feeder
def test_a_stream_that_cannot_seek_will_do(feeder: Feeder) -> None:
    class Pipe(BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, offset: int, whence: int = 0) -> int:
            raise OSError("a pipe")

        def tell(self) -> int:
            raise OSError("a pipe")

    data = b'{"type": "mode", "sessionId": "s"}\n'
    assert [row.raw for row in feeder.rows(Pipe(data), 0)] == [data]
