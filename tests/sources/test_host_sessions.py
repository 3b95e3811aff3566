"""What the sessions of all hosts have in common: read back whole, once, in order, and told from all else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given

from palazzo.sources.formats import Feeder, Message, Noise, Row, Unreadable
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS

from .host_samples import (
    WRITERS,
    Turn,
    host_files,
    messages,
    not_sessions,
    rows_of,
    sessions_of,
    through_json,
    turns,
)
from .samples import read

BY_KIND = {feeder.kind: feeder for feeder in TRANSCRIPTS}
SESSIONS = [(BY_KIND[kind], path) for kind in WRITERS for path in sessions_of(kind)]
each_session = pytest.mark.parametrize(("feeder", "path"), SESSIONS, ids=lambda value: getattr(value, "stem", "")[-12:])
each_format = pytest.mark.parametrize(
    ("feeder", "write"), [(BY_KIND[kind], write) for kind, writers in WRITERS.items() for write in writers]
)


@each_session
def test_every_byte_of_a_real_session_is_in_a_row(feeder: Feeder, path: Path) -> None:
    assert b"".join(row.raw for row in rows_of(feeder, path)) == path.read_bytes()


@each_session
def test_no_row_of_a_real_session_is_unexplained(feeder: Feeder, path: Path) -> None:
    for row in rows_of(feeder, path):
        assert isinstance(row.content, Message | Noise), row
        if isinstance(row.content, Noise):
            assert row.content.reason
        else:
            assert row.content.text
            assert row.content.created_at
            assert row.content.role == "tool" or not row.content.text.startswith(("{", "[{"))


@each_session
def test_a_real_session_reads_the_same_from_any_row(feeder: Feeder, path: Path) -> None:
    data = path.read_bytes()
    rows = read(feeder, data)
    for index, row in enumerate(rows):
        if index % 7 == 0 or index > len(rows) - 5:
            assert read(feeder, data, row.position) == rows[index:]


@each_session
def test_each_format_is_known_by_its_own_feeder_alone(feeder: Feeder, path: Path) -> None:
    head = path.read_bytes()[:65536]
    assert [one.kind for one in TRANSCRIPTS if one.recognises(Path("renamed.txt"), head)] == [feeder.kind]


@pytest.mark.parametrize("path", not_sessions(), ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_what_hosts_write_beside_their_sessions_is_no_session(path: Path) -> None:
    head = path.read_bytes()[:65536]
    assert [one.kind for one in TRANSCRIPTS if one.recognises(path, head)] == []


@each_format
@given(said=turns)
def test_a_conversation_is_read_back_as_it_was_written(
    feeder: Feeder, write: Callable[[list[Turn]], bytes], said: list[Turn]
) -> None:
    data = write(said)
    rows = read(feeder, data)
    assert b"".join(row.raw for row in rows) == data
    assert list(_spoken(rows)) == [(turn.role, through_json(turn.text)) for turn in said]
    assert not any(isinstance(row.content, Unreadable) for row in rows)
    for one in messages(rows):
        for part in one.parts:
            assert part.name in ("shell", "bash", "run_shell_command") or part.kind == "text"
            assert not part.failed
    if write.__name__ != "<lambda>":  # bare rollouts state no times
        whens = [one.created_at for one in messages(rows) if one.parts and one.parts[-1].kind != "tool_call"]
        assert [when // 1_000_000 % 3600 if when else when for when in whens] == [turn.second for turn in said]


@each_format
def test_a_format_is_recognised(feeder: Feeder, write: Callable[[list[Turn]], bytes]) -> None:
    data = write([Turn("user", "hello", 1), Turn("assistant", "hi", 2)])
    assert [one.kind for one in TRANSCRIPTS if one.recognises(Path("a"), data)] == [feeder.kind]


@each_format
def test_a_line_of_ten_megabytes_is_one_message(feeder: Feeder, write: Callable[[list[Turn]], bytes]) -> None:
    body = "0123456789" * 1_000_000
    assert list(_spoken(read(feeder, write([Turn("assistant", body, 1)])))) == [("assistant", body)]


@pytest.mark.parametrize("depth", [300, 900, 100_000])
def test_endless_nesting_costs_one_row(depth: int) -> None:
    nest = '{"path": ' + "[" * depth + "]" * depth + "}"
    rows = {
        "codex": '{"timestamp": "x", "type": "response_item", "payload": {"type": "function_call", "name": "read",'
        ' "call_id": "c", "arguments": ' + json.dumps(nest) + "}}",
        "pi": '{"type": "message", "id": "a", "parentId": null, "message": {"role": "assistant", "content":'
        ' [{"type": "toolCall", "id": "c", "name": "read", "arguments": ' + nest + "}]}}",
        "gemini": '{"$set": {"messages": [{"id": "a", "type": "gemini", "content": "", "toolCalls":'
        ' [{"id": "c", "name": "read_file", "args": ' + nest + "}]}]}}",
        "copilot": '{"type": "assistant.message", "id": "e", "parentId": null, "data": {"toolRequests":'
        ' [{"toolCallId": "c", "name": "read", "arguments": ' + nest + "}]}}",
    }
    for kind, row in rows.items():
        data = row.encode() + b"\n" + WRITERS[kind][0]([Turn("user", "still here", 1)])
        found = read(BY_KIND[kind], data)
        assert b"".join(one.raw for one in found) == data
        assert list(_spoken(found))[-1:] == [("user", "still here")]


@pytest.mark.slow
@pytest.mark.parametrize("feeder", [BY_KIND[kind] for kind in WRITERS], ids=lambda feeder: feeder.kind)
@given(data=host_files)
def test_no_row_is_shown_as_its_json(feeder: Feeder, data: bytes) -> None:
    for row in read(feeder, data):
        if isinstance(row.content, Message):
            assert row.raw.strip() != row.content.text.encode("utf-8", "surrogatepass").strip()


def _spoken(rows: list[Row]) -> Iterator[tuple[str, str]]:
    """Who said what: prose by its speaker, and what tools printed."""
    for one in messages(rows):
        for part in one.parts:
            text = one.text[part.start : part.end]
            if part.kind == "text":
                yield one.role, text
            elif part.kind == "tool_result":
                yield "tool", text
