"""A read that resumes gives the rows that a read from the beginning gives, and reads little of the file."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from unittest.mock import patch

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.archive.leftovers import leftovers
from tests.archive.test_erasing import erase
from tests.examples import examples

from palazzo.hosts.gemini_cli import seen_ids
from palazzo.hosts.gemini_cli.seen_ids import SeenIds
from palazzo.hosts.gemini_cli.transcript import Gemini
from palazzo.hosts.pi import transcript as pi_transcript
from palazzo.hosts.pi.transcript import Pi
from palazzo.palace import Palace
from palazzo.sources.formats import Feeder, ResumePoint, Row, rows_from
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine

from .host_samples import GEMINI_HEADER, Json, pi_entry, sessions_of, written
from .samples import read
from .test_preparation import contents

ROOT = Path(__file__).parents[2]
PI_HEADER: Json = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-11-21T20:00:00Z", "cwd": "/w"}
Step = tuple[str, int, int]
"""What happens to a session, and two numbers that choose among what it has."""


def pi_rows(steps: list[Step]) -> list[bytes]:
    """The rows of a pi session that goes on, goes back, and is damaged."""
    entries: list[str] = []
    rows = [written(PI_HEADER)]
    for n, (step, one, other) in enumerate(steps):
        identity, parent = f"{n:08x}", entries[-1] if entries else None
        if step == "branch" and entries:
            parent = entries[one % len(entries)]
        elif step == "root":
            parent = None
        elif step == "orphan":
            parent = "ffffffff"
        elif step == "again" and entries:
            identity, parent = entries[one % len(entries)], [*entries, None][other % (len(entries) + 1)]
        if step == "label":
            rows.append(written({"type": "custom", "id": identity, "parentId": parent, "timestamp": "x"}))
        elif step == "damage":
            rows.append(written(pi_entry(identity, parent, {}))[:40] + b"\n")
        elif step == "unlinked":
            rows.append(written({"type": "message", "message": {"role": "user", "content": f"said {n}"}}))
        else:
            called = {"type": "toolCall", "id": f"c{one % 4}", "name": "bash", "arguments": {"command": "ls"}}
            result: Json = {"role": "toolResult", "toolCallId": f"c{one % 4}", "content": f"result {n}"}
            said: Json = {"role": "user", "content": f"said {n}"}
            asked: Json = {"role": "assistant", "content": [called]}
            message = [said, result, asked][other % 3]
            rows.append(written(pi_entry(identity, parent, message)))
        entries += [identity] if step not in ("damage", "unlinked") else []
    return rows


def gemini_rows(steps: list[Step]) -> list[bytes]:
    """The rows of a recording of Gemini CLI with updates, answers and copies."""
    messages: list[Json] = []
    rows = [written(GEMINI_HEADER)]
    for n, (step, one, other) in enumerate(steps):
        call = f"c{one % 5}" if other % 4 else ""
        answer = {"functionResponse": {"id": call, "name": "ls", "response": {"output": f"file {other % 3}"}}}
        if step == "update" and messages:
            message = messages[-1 - one % min(len(messages), 1 + other % 9)]
        else:
            words: object = ["yes", f"words {n}", [{"text": "yes"}, answer], [answer]][other % 4]
            message = {"id": f"m{n}", "timestamp": "x", "type": ("user", "gemini", "info")[one % 3], "content": words}
            messages.append(message)
        if step == "update":
            called: Json = {"id": call, "name": ("ls", "web_fetch")[one % 2], "args": {}, "result": [answer]}
            message |= {"toolCalls": [called]} if other % 2 else {"content": f"more {one % 4}"}
        if step == "copy":
            copies: list[Json] = [{**each, "id": f"x{n}-{k % 2}"} for k, each in enumerate(messages[-1 - one % 6 :])]
            rows.append(written({"$set": {"messages": [*copies, *messages[:1]]}}))
            messages += copies
        elif step == "set":
            rows.append(written({"$set": {"lastUpdated": str(n)}}))
        elif step == "damage":
            rows.append(written(message)[:-9] + b"\n")
        else:
            rows.append(written(message))
    return rows


PI_STEPS = ("on", "on", "on", "on", "label", "branch", "branch", "root", "orphan", "again", "unlinked", "damage")
GEMINI_STEPS = ("on", "on", "on", "update", "update", "update", "set", "copy", "damage")
FORMATS: dict[str, tuple[Feeder, Callable[[list[Step]], list[bytes]], tuple[str, ...]]] = {
    "pi": (Pi(), pi_rows, PI_STEPS),
    "gemini": (Gemini(), gemini_rows, GEMINI_STEPS),
}
each_format = pytest.mark.parametrize("format_name", FORMATS)


@contextmanager
def little_memory(replayed: int, bits: int, look_back: int) -> Iterator[None]:
    """Let resumed reads replay little, and take many new ids for seen."""
    with (
        patch.object(seen_ids, "REPLAYED_BYTES", replayed),
        patch.object(seen_ids, "_BITS", bits),
        patch.object(pi_transcript, "LOOK_BACK", look_back),
    ):
        yield


# The rows


@each_format
@examples(400)
@given(data=st.data())
def test_rows_are_the_same_wherever_reads_end_and_begin(format_name: str, data: st.DataObject) -> None:
    feeder, write, step_names = FORMATS[format_name]
    number = st.integers(0, 40)
    steps = data.draw(st.lists(st.tuples(st.sampled_from(step_names), number, number), min_size=2, max_size=40))
    rows = write(steps)
    replayed = data.draw(st.sampled_from([0, 150, 600, 100_000]))
    bits = data.draw(st.sampled_from([64, 4096, 512 * 1024]))
    with little_memory(replayed, bits, 10_000_000):
        whole = read(feeder, b"".join(rows))
        ends = [sum(map(len, rows[:n])) for n in range(1, len(rows) + 1)]
        seen: list[Row] = []
        end, mark = 0, b""
        for size in [*sorted(data.draw(st.sets(st.sampled_from(ends)))), ends[-1]]:
            stream, point = BytesIO(b"".join(rows)[:size]), ResumePoint(mark)
            stream.seek(end)
            most = data.draw(st.integers(1, 60))  # a kill in the middle, after a batch was archived
            for _, row in zip(range(most), rows_from(feeder, stream, end, point), strict=False):
                seen.append(row)
                end = row.position + len(row.raw)
            mark = point.mark_at(end)
        stream = BytesIO(b"".join(rows))
        stream.seek(end)
        seen += rows_from(feeder, stream, end, ResumePoint(mark))
    assert seen == whole


@pytest.mark.parametrize("mark", [b"x", bytes(16), b"\xff" * 16, b"\x01" * 16, bytes(8) + b"x" * 40])
@each_format
def test_a_mark_that_leads_nowhere_is_none(format_name: str, mark: bytes) -> None:
    feeder, write, step_names = FORMATS[format_name]
    data = b"".join(write([(step, 3, 5) for step in step_names * 3]))
    rows = read(feeder, data)
    for index, row in enumerate(rows):
        stream = BytesIO(data)
        stream.seek(row.position)
        assert [*rows_from(feeder, stream, row.position, ResumePoint(mark))] == rows[index:]


@pytest.mark.parametrize("host", ["pi", "gemini"])
def test_the_sessions_of_hosts_are_read_row_by_row(host: str) -> None:
    feeder = FORMATS[host][0]
    for path in sessions_of(host):
        data, end, mark = path.read_bytes(), 0, b""
        seen: list[Row] = []
        with little_memory(2000, 512 * 1024, 10_000_000):
            for raw in data.splitlines(keepends=True):
                stream, point = BytesIO(data[: end + len(raw)]), ResumePoint(mark)
                stream.seek(end)
                seen += rows_from(feeder, stream, end, point)
                end += len(raw)
                mark = point.mark_at(end)
        assert seen == read(feeder, data)


# How much is read


class CountingStream(BytesIO):
    """Bytes that count how many of them were read."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        taken = super().read(size)
        self.taken += len(taken)
        return taken

    def readline(self, size: int | None = -1, /) -> bytes:
        taken = super().readline(size)
        self.taken += len(taken)
        return taken


def bytes_read(feeder: Feeder, data: bytes, more: bytes) -> int:
    """Read a file, let it grow, and return how many of its bytes are read then."""
    point = ResumePoint()
    for _ in rows_from(feeder, BytesIO(data), 0, point):
        pass
    stream = CountingStream(data + more)
    stream.seek(len(data))
    rows = [*rows_from(feeder, stream, len(data), ResumePoint(point.mark_at(len(data))))]
    assert b"".join(row.raw for row in rows) == more
    return stream.taken


def test_an_entry_of_pi_that_goes_on_is_read_without_the_tree() -> None:
    rows = pi_rows([("on", 0, 0)] * 10 + [("branch", 4, 0)] + [("on", 0, 0)] * 989)
    with little_memory(0, 64, 2000):
        assert bytes_read(Pi(), b"".join(rows[:990]), b"".join(rows[990:])) < 6000
        branch = written(pi_entry("aaaaaaaa", "00000003", {"role": "user", "content": "back"}))
        assert bytes_read(Pi(), b"".join(rows), branch) > sum(map(len, rows))


def test_a_message_of_gemini_that_is_new_or_near_is_read_without_the_others() -> None:
    rows = gemini_rows([("on", n, 1 + 4 * n) for n in range(4000)])
    data = b"".join(rows)
    new = written({"id": "n", "timestamp": "x", "type": "user", "content": "new"})
    with little_memory(2000, 512 * 1024, 0):
        most = 64 * 1024 + 6000  # the line in which the read begins is sought in 64 KiB
        assert bytes_read(Gemini(), data, new) < most
        assert bytes_read(Gemini(), data, rows[-2]) < most
        assert bytes_read(Gemini(), data, rows[2]) > len(data)
        assert bytes_read(Gemini(), data, written({"$set": {"messages": []}})) < most
        assert bytes_read(Gemini(), data, b'{"$set": {"messages": [' + new.strip() + b"]}}\n") > len(data)


def test_a_copy_among_the_replayed_rows_says_no_more_than_it_did() -> None:
    """Alone it seems to say something new, so that what is added to it later would get another id."""
    old: Json = {"id": "old", "timestamp": "x", "type": "user", "content": "Which port?"}
    copy, added = old | {"id": "copy"}, old | {"id": "copy", "content": "Which port, please?"}
    data = written(GEMINI_HEADER, old, *[old | {"id": f"m{n}", "content": f"words {n}"} for n in range(9)])
    data, more = data + written({"$set": {"messages": [copy]}}), written(added)
    with little_memory(400, 512 * 1024, 0):
        point = ResumePoint()
        seen = [*rows_from(Gemini(), BytesIO(data), 0, point)]
        stream = BytesIO(data + more)
        stream.seek(len(data))
        seen += rows_from(Gemini(), stream, len(data), ResumePoint(point.mark_at(len(data))))
    assert seen == read(Gemini(), data + more)


def test_a_short_recording_needs_no_mark() -> None:
    point = ResumePoint()
    data = b"".join(gemini_rows([("on", 1, 1)] * 9))
    assert len([*rows_from(Gemini(), BytesIO(data), 0, point)]) == 10
    assert point.mark_at(len(data)) == b""


def test_what_was_never_seen_is_told_from_what_may_have_been() -> None:
    seen = SeenIds()
    seen.add_earlier(f"old {n}" for n in range(1000))
    again = SeenIds.from_mark(seen.make_mark())
    assert again is not None
    assert all(again.may_be_earlier([f"old {n}", "new"]) for n in range(1000))
    assert not any(again.may_be_earlier([f"new {n}"]) for n in range(1000))


# The palace


def take(palace_path: Path, path: Path) -> None:
    with Palace.open(palace_path) as palace:
        assert mine(palace.database, palace.clock, MineRequest((path,))).failed == ()


def forget_mark(palace_path: Path) -> None:
    with closing(apsw.Connection(str(palace_path))) as connection:
        connection.execute("UPDATE file_state SET content = x''")


def timeless(palace_path: Path) -> list[tuple[object, ...]]:
    """The contents of a palace without times: a row that states none has that of the row before, if that was read."""
    return [row[:7] + row[8:] if len(row) == 13 else row for row in contents(palace_path)]


def mark_in(palace_path: Path) -> bytes:
    with closing(apsw.Connection(str(palace_path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        [(mark,)] = connection.execute("SELECT content FROM file_state")
        return bytes(mark)


def grow(path: Path, rows: list[bytes], dice: random.Random) -> Iterator[None]:
    """Write a transcript step by step; a row may be half written between two steps."""
    data, size = b"".join(rows), len(rows[0])
    while size < len(data):
        size = min(len(data), size + dice.randrange(1, len(data) // 5))
        path.write_bytes(data[:size])
        os.utime(path, (1_795_900_000, 1_795_900_000))  # the time of rows that state none
        yield


@pytest.mark.parametrize("seed", range(3))
@each_format
def test_the_palace_is_that_of_one_read_and_of_reads_without_marks(format_name: str, seed: int, tmp_path: Path) -> None:
    dice = random.Random(f"{format_name} {seed}")
    _, write, step_names = FORMATS[format_name]
    steps = [(dice.choice(step_names), dice.randrange(40), dice.randrange(40)) for _ in range(60)]
    path = tmp_path / ("2026_s1.jsonl" if format_name == "pi" else "session-s1.jsonl")
    marked, unmarked, whole = (tmp_path / f"{name}.db" for name in ("marked", "unmarked", "whole"))
    marks = 0
    with little_memory(400, 4096, 10_000_000):
        for _ in grow(path, write(steps), dice):
            take(marked, path)
            take(unmarked, path)
            forget_mark(unmarked)
            marks += bool(mark_in(marked))
        take(whole, path)
    assert marks > 0
    assert contents(marked) == contents(unmarked)
    assert timeless(marked) == timeless(whole)


@pytest.mark.slow
@each_format
def test_a_new_process_goes_on_where_another_stopped(format_name: str, tmp_path: Path) -> None:
    dice = random.Random(format_name)
    _, write, step_names = FORMATS[format_name]
    steps = [(dice.choice(step_names), dice.randrange(40), dice.randrange(40)) for _ in range(60)]
    rows = [row.replace(b"yes", b"yes " * 4000) for row in write(steps)]  # longer than what is replayed
    path = tmp_path / ("2026_s1.jsonl" if format_name == "pi" else "session-s1.jsonl")
    grown, whole = tmp_path / "grown.db", tmp_path / "whole.db"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PALAZZO_SERVICE": "off", "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "palazzo.faces.cli", "--palace", str(grown), "mine", str(path)]
    for _ in grow(path, rows, dice):
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)
    assert mark_in(grown)
    take(whole, path)
    assert timeless(grown) == timeless(whole)


def test_a_file_that_was_touched_keeps_its_mark_and_one_that_was_rewritten_does_not(tmp_path: Path) -> None:
    palace, path = tmp_path / "palace.db", tmp_path / "2026_s1.jsonl"
    rows = pi_rows([("on", 0, 0)] * 9)
    path.write_bytes(b"".join(rows))
    take(palace, path)
    mark = mark_in(palace)
    path.write_bytes(b"".join(rows) + b'{"type": "mess')
    take(palace, path)
    assert mark_in(palace) == mark != b""
    other = [PI_HEADER | {"cwd": "/elsewhere"}, pi_entry("00000001", None, {"role": "user", "content": "other"})]
    path.write_bytes(written(*other))
    take(palace, path)
    assert mark_in(palace) not in (b"", mark)


def test_an_erase_leaves_no_mark(palace: Palace, tmp_path: Path) -> None:
    path, words = tmp_path / "session-s1.jsonl", "zebra-quartz-90417"
    named: Json = {"id": words, "timestamp": "x", "type": "user", "content": f"{words} is the word"}
    rows = [*gemini_rows([("on", 1, 1)] * 3), written(named), *gemini_rows([("on", 1, 5)] * 30)[1:]]
    mine_here = partial(mine, palace.database, palace.clock, MineRequest((path,)))
    with little_memory(400, 512 * 1024, 0):
        path.write_bytes(b"".join(rows[:-1]))
        mine_here()
        assert mark_in(palace.database.path)
        erase(palace, words)
        assert mark_in(palace.database.path) == b""
        path.write_bytes(b"".join(rows))
        mine_here()
    assert leftovers(palace, words) == []
