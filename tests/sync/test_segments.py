"""Segments: what is written is read again, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from palazzo.errors import RemoteRewritten, SegmentUnreadable
from palazzo.model import Micros
from palazzo.sync import record_lines, segment_sequence, segments
from palazzo.sync.segments import Head, Segment, SegmentContent, SegmentName, Series, digest

PALACE, DEVICE, OTHER = "c" * 32, "a" * 32, "b" * 32
NOON = Micros(1_700_000_000_000_000)


def clock() -> Micros:
    return NOON


def written(
    lines: Sequence[bytes], after: Head | None = None, anew: bool = False, device: str = DEVICE
) -> list[Segment]:
    return list(segments.write(lines, Series.continue_from(PALACE, device, after, is_new_epoch=anew), clock))


def head_of(some: Sequence[Segment]) -> Head:
    return Head.of(some[-1], "laptop")


def followed(some: Sequence[Segment], head: Head, seen: SegmentName | None = None) -> list[SegmentContent]:
    there = {one.name: one.content for one in some}
    return list(segment_sequence.follow(there.__getitem__, list(there), head, seen, PALACE))


def told(opened: Sequence[SegmentContent]) -> list[bytes]:
    return [line for one in opened for line in one.lines]


def packed(header: bytes, *lines: bytes) -> Segment:
    """A segment that Palazzo did not write, with the right name for its bytes."""
    content = zstandard.ZstdCompressor().compress(b"\n".join([header, *lines]) + b"\n")
    made = written([b"x"])[0]
    return replace(made, content=content, name=SegmentName(1, 1, digest(content)))


def header(**changed: object) -> bytes:
    usual = {"palazzo": "segment", "palace": PALACE, "device": DEVICE, "epoch": 1, "n": 1, "previous": "", "clock": 5}
    return json.dumps({**usual, "version": 1, **changed}).encode()


@given(st.lists(st.binary(max_size=60).filter(lambda line: b"\n" not in line), max_size=30), st.integers(1, 90))
def test_lines_come_back_in_order_however_they_are_divided(lines: list[bytes], full: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "FULL", full)
        some = written(lines)
    assert told(followed(some, head_of(some))) == lines
    assert [one.header.n for one in some] == list(range(1, len(some) + 1))


def test_a_segment_is_full_at_2_mib_but_a_longer_line_is_not_divided() -> None:
    short, long = b"s" * 1_000_000, b"l" * 5_000_000
    some = written([short, short, short, long, short])
    assert [len(one.lines) for one in followed(some, head_of(some))] == [2, 1, 1, 1]


def test_who_has_read_some_reads_on_from_there() -> None:
    first = written([b"1"])
    more = written([b"2"], head_of(first))
    last = written([b"3"], head_of(more))
    some = [*first, *more, *last]
    assert told(followed(some, head_of(last), first[-1].name)) == [b"2", b"3"]
    assert told(followed(some, head_of(last), last[-1].name)) == []


def test_a_new_epoch_is_read_from_its_beginning_whatever_was_read_before() -> None:
    before = written([b"1"])
    after = written([b"1 without the secret"], head_of(before), anew=True)
    (opened,) = followed([*before, *after], head_of(after), before[-1].name)
    assert (opened.header.epoch, opened.header.n, opened.lines) == (2, 1, (b"1 without the secret",))


def test_an_epoch_of_nothing_is_a_segment_without_lines() -> None:
    some = written([], head_of(written([b"1"])), anew=True)
    assert [one.lines for one in followed(some, head_of(some))] == [()]
    assert written([], head_of(some)) == []


def test_a_line_that_no_reader_would_take_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "LONGEST_LINE", 1000)
    assert segments.fits(b"x" * 1000)
    for line in (b"two\nlines", b"x" * 1001):
        assert not segments.fits(line)
        with pytest.raises(ValueError, match="line of a segment"):
            written([line])


def test_a_segment_takes_every_line_that_a_record_may_be() -> None:
    assert segments.LONGEST_LINE == record_lines.LARGEST_LINE


@pytest.mark.slow
def test_the_longest_line_is_read_again() -> None:
    some = written([b"x" * segments.LONGEST_LINE])
    assert len(told(followed(some, head_of(some)))[0]) == segments.LONGEST_LINE


# --- what is not what it was ----------------------------------------------------------------------------


def test_a_head_that_went_back_says_that_the_remote_was_rewritten() -> None:
    first = written([b"1"])
    more = written([b"2"], head_of(first))
    anew = written([b"3"], head_of(more), anew=True)
    for seen, head in ((more[-1], head_of(first)), (anew[-1], head_of(more))):
        with pytest.raises(RemoteRewritten, match="went back"):
            followed([*first, *more, *anew], head, seen.name)


def test_another_segment_of_the_same_number_says_that_the_remote_was_rewritten() -> None:
    first, other = written([b"1"]), written([b"one"])
    with pytest.raises(RemoteRewritten, match="has a different history"):
        followed(other, head_of(other), first[-1].name)
    more = written([b"2"], head_of(other))
    with pytest.raises(RemoteRewritten, match="has a different history"):
        followed([*other, *more], head_of(more), first[-1].name)


def test_nothing_is_yielded_before_it_is_known_to_stand_behind_what_was_seen() -> None:
    first, other = written([b"1"]), written([b"one"])
    more = written([b"2"], head_of(other))
    there = {one.name: one.content for one in [*first, *more]}
    following = segment_sequence.follow(there.__getitem__, list(there), head_of(more), first[-1].name, PALACE)
    with pytest.raises(RemoteRewritten):
        next(following)


def test_what_a_killed_push_left_behind_the_head_is_not_read() -> None:
    first = written([b"1"])
    left, more = written([b"never acknowledged"], head_of(first)), written([b"2"], head_of(first))
    assert told(followed([*first, *left], head_of(first))) == [b"1"]
    assert told(followed([*first, *left, *more], head_of(more))) == [b"1", b"2"]


def test_of_two_that_claim_one_number_the_one_that_the_next_names_is_read() -> None:
    first = written([b"1"])
    mine, theirs = written([b"mine"], head_of(first)), written([b"theirs"], head_of(first))
    last = written([b"3"], head_of(mine))
    for order in ([*mine, *theirs], [*theirs, *mine]):
        assert told(followed([*first, *order, *last], head_of(last))) == [b"1", b"mine", b"3"]


def test_a_segment_that_has_not_arrived_ends_the_reading_behind_the_one_before_it() -> None:
    first = written([b"1"])
    more = written([b"2"], head_of(first))
    last = written([b"3"], head_of(more))
    there = {one.name: one.content for one in [*first, *last]}
    following = segment_sequence.follow(there.__getitem__, list(there), head_of(last), None, PALACE)
    assert next(following).lines == (b"1",)
    with pytest.raises(SegmentUnreadable, match=r"Segment 1-2 .* has not arrived yet"):
        next(following)


def test_half_a_segment_and_a_changed_byte_are_refused() -> None:
    (one,) = written([b"words " * 1000])
    for content in (one.content[: len(one.content) // 2], one.content[:-1] + b"\0", b""):
        with pytest.raises(SegmentUnreadable, match="damaged or incomplete"):
            segments.read(content, one.name, DEVICE, PALACE)


def test_a_segment_of_another_place_or_palace_is_refused() -> None:
    (one,) = written([b"1"])
    with pytest.raises(SegmentUnreadable, match="put in its place"):
        segments.read(one.content, one.name, OTHER, PALACE)
    with pytest.raises(SegmentUnreadable, match="put in its place"):
        segments.read(one.content, SegmentName(1, 2, one.name.hash), DEVICE, PALACE)
    with pytest.raises(SegmentUnreadable, match="belongs to another palace"):
        segments.read(one.content, one.name, DEVICE, "d" * 32)


def test_what_unpacks_to_more_than_any_segment_is_refused_unread() -> None:
    bomb = packed(header(), b"\0" * 50_000_000)
    assert len(bomb.content) < 10_000
    with pytest.raises(SegmentUnreadable, match="larger than any"):
        segments.read(bomb.content, bomb.name, DEVICE, PALACE, largest=5_000_000)


def test_a_frame_that_lies_about_its_size_or_its_window_is_refused() -> None:
    huge_window = b"\x28\xb5\x2f\xfd\x00\xf8" + b"\x01\x00\x00"
    lies = b"\x28\xb5\x2f\xfd\xe0" + (2**62).to_bytes(8, "little") + b"\x01\x00\x00"
    for content in (huge_window, lies, b"no zstd at all", b"\x28\xb5\x2f\xfd"):
        with pytest.raises(SegmentUnreadable):
            segments.read(content, SegmentName(1, 1, digest(content)), DEVICE, PALACE)


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"{}", b"[]", b"nonsense", b"\xff\xfe", b"[" * 30_000, header(palazzo="head"), header(extra=1)),
        *(header(epoch=0), header(epoch=True), header(n="1"), header(n=10**20), header(device="../../x")),
        *(header(previous="zz"), header(previous=None), header(clock=1.5), header(clock=10**30), header(palace=1)),
        *(header(palace="p" * 1000), header(version="1"), header(version=0), header(version=True)),
    ],
)
def test_a_header_that_is_none_is_refused_in_one_sentence(line: bytes) -> None:
    one = packed(line, b"1")
    with pytest.raises(SegmentUnreadable) as refused:
        segments.read(one.content, one.name, DEVICE, PALACE)
    assert "\n" not in str(refused.value)


def test_a_segment_of_a_newer_palazzo_says_so() -> None:
    one = packed(header(version=2, novelty="x"))
    with pytest.raises(SegmentUnreadable, match="newer Palazzo; update this one"):
        segments.read(one.content, one.name, DEVICE, PALACE)


# --- names and heads ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "1-1-" + "a" * 40,
        "1-1-" + "a" * 39 + ".seg",
        "1-1-" + "A" * 40 + ".seg",
        "1-1-" + "a" * 40 + ".SEG",
        "0-1-" + "a" * 40 + ".seg",
        "01-1-" + "a" * 40 + ".seg",
        "1-1-" + "a" * 40 + ".sync-conflict-20261122-180000-ABCDEFG.seg",
        "1-1-" + "a" * 40 + " (conflicted copy).seg",
        ".syncthing.1-1-" + "a" * 40 + ".seg.tmp",
        "~syncthing~1-1-" + "a" * 40 + ".seg.tmp",
        "1-1-" + "a" * 40 + ".seg\n",
        "١-1-" + "a" * 40 + ".seg",
        "../1-1-" + "a" * 40 + ".seg",
        "99999999999-1-" + "a" * 40 + ".seg",
    ],
)
def test_a_file_of_another_name_is_no_segment(name: str) -> None:
    assert SegmentName.parse(name) is None


def test_names_and_heads_are_read_as_they_were_written() -> None:
    (one,) = written([b"1"])
    head = Head.of(one, "Anna's laptop ☂")
    assert SegmentName.parse(str(one.name)) == one.name
    assert segments.load_head(segments.dump_head(head), DEVICE) == head


def test_what_a_device_is_called_cannot_steer_a_terminal() -> None:
    (one,) = written([b"1"])
    head = Head.of(one, "Anna\x1b[2J\ud800\n")
    assert head.called == "Anna[2J"
    steering = segments.dump_head(head).replace(b"Anna", b"\\u001b")
    with pytest.raises(SegmentUnreadable):
        segments.load_head(steering, DEVICE)


def test_a_head_that_is_none_is_refused_in_one_sentence() -> None:
    head = segments.dump_head(head_of(written([b"1"])))
    assert segments.load_head(head, DEVICE)
    newer = head.replace(b'"version":1', b'"version":2')
    for content in (b"", head[:40], b"[]", head.replace(b'"n":1', b'"n":-1'), b" " * 100_000, newer, b'"' * 900):
        with pytest.raises(SegmentUnreadable) as refused:
            segments.load_head(content, DEVICE)
        assert "\n" not in str(refused.value)
    with pytest.raises(SegmentUnreadable, match="belongs to another device"):
        segments.load_head(head, OTHER)
