"""What goes wrong with every format alike: clocks, encodings, order, names. Bad input never costs other input."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.fidelity import exports, kept
from tests.fidelity.test_hosts import WRITERS, Writer, read
from tests.fidelity.told import START, Heard, Turn, heard, spoken
from tests.sources.collection_samples import head_of
from tests.sources.opencode_samples import Writer as OpencodeWriter
from tests.sources.test_crush import database as crush_database
from tests.sources.test_goose import database as goose_database

from palazzo.errors import SourceUnreadable
from palazzo.hosts import host_registry
from palazzo.hosts.codex.codex_rollouts import Codex
from palazzo.sources.formats import Collection, Feeder, Noise, Unreadable
from palazzo.sources.formats.chatgpt import ChatGPT
from palazzo.sources.formats.claude_ai import ClaudeAI
from palazzo.sources.formats.plain_text import PlainText
from palazzo.sources.formats.transcript_formats import (
    COLLECTIONS,
    NAMED_FILE_COLLECTIONS,
    STATED_COLLECTIONS,
    TRANSCRIPTS,
)

TOLD = [
    Turn("user", "Which port?", START),
    Turn("tool", "8443\n", START + 1000),
    Turn("assistant", "It is 8443.", START + 2000),
    Turn("user", "Thanks", START + 3000),
]
BACKWARDS = [Turn(one.role, one.text, START - n * 3_600_000) for n, one in enumerate(TOLD)]
growing = {name: pair for name, pair in WRITERS.items() if name != "gemini-text"}
each_growing = pytest.mark.parametrize(("feeder", "write"), growing.values(), ids=growing)
each_collection = pytest.mark.parametrize(
    "collection", [*COLLECTIONS, *NAMED_FILE_COLLECTIONS, *STATED_COLLECTIONS], ids=lambda one: type(one).__name__
)


def texts(found: list[Heard]) -> list[str]:
    return [one.text for one in found]


@each_growing
def test_a_clock_that_goes_backwards_changes_no_order(feeder: Feeder, write: Writer) -> None:
    assert heard(read(feeder, write(BACKWARDS, 0))) == spoken(BACKWARDS)


@pytest.mark.parametrize("way", range(6))
def test_a_clock_that_goes_backwards_changes_no_order_of_an_exported_tree(way: int, tmp_path: Path) -> None:
    for name, collection, make in (("a", ClaudeAI(), exports.claude_ai), ("b", ChatGPT(), exports.chatgpt)):
        (tmp_path / name).mkdir()
        path = make(BACKWARDS, tmp_path / name, way)
        rows = [row for session in collection.sessions(path) for row in session.rows()]
        assert heard(rows, branch="") == spoken(BACKWARDS)


@each_growing
def test_a_file_that_changes_its_encoding_loses_only_those_lines(feeder: Feeder, write: Writer) -> None:
    data = write(TOLD, 0)
    odd = '{"type": "user"}\r\n'.encode("utf-16") + b"\n" + "{}\n".encode("utf-32-be")
    rows = read(feeder, data + odd + b"\n")
    assert heard(rows) == spoken(TOLD)
    assert b"".join(row.raw for row in rows) == data + odd + b"\n"
    assert any(isinstance(row.content, Unreadable) for row in rows)


@each_growing
def test_a_whole_file_in_utf16_is_not_taken_and_does_no_harm(feeder: Feeder, write: Writer) -> None:
    data = write(TOLD, 0).decode().encode("utf-16")
    assert not feeder.recognises(Path("session.jsonl"), data[:65536])
    assert not heard(read(feeder, data))


def test_an_export_in_utf16_is_read(tmp_path: Path) -> None:
    path = exports.claude_ai(TOLD, tmp_path, 0)
    path.write_bytes(path.read_bytes().decode().encode("utf-16"))
    assert ClaudeAI().recognises(path, path.read_bytes()[:65536])
    assert not ChatGPT().recognises(path, path.read_bytes()[:65536])
    assert heard([row for session in ClaudeAI().sessions(path) for row in session.rows()]) == spoken(TOLD)


def test_text_in_utf16_is_left_to_documents(tmp_path: Path) -> None:
    path = kept.plain_text(TOLD, tmp_path, 0)
    path.write_bytes(path.read_bytes().decode().encode("utf-16"))
    assert not PlainText().recognises(path, path.read_bytes())


@each_growing
def test_a_result_that_stands_before_its_call_keeps_its_words(feeder: Feeder, write: Writer) -> None:
    lines = write(TOLD, 0).splitlines(keepends=True)
    rows = read(feeder, b"".join([lines[0], *reversed(lines[1:])]))
    assert sorted(set(texts(heard(rows)))) == sorted(texts(spoken(TOLD)))


@each_growing
def test_what_a_newer_version_writes_is_named_and_costs_nothing_else(feeder: Feeder, write: Writer) -> None:
    lines = write(TOLD, 0).splitlines(keepends=True)
    row = json.dumps({"type": "leap_of_2031", "version": 99, "payload": {"type": "leap_of_2031", "words": "x"}})
    known = [line.replace(b"{", b'{"added_in_2031": {"deep": [1]}, ', 1) for line in lines[2:]]
    rows = read(feeder, b"".join([*lines[:2], row.encode() + b"\n", *known]))
    assert heard(rows) == spoken(TOLD)
    (newer,) = (row.content for row in rows if b"leap_of_2031" in row.raw)
    assert isinstance(newer, Noise | Unreadable)
    assert "leap_of_2031" in repr(newer)


def newer_opencode(directory: Path, name: str) -> Path:
    writer = OpencodeWriter(directory / name)
    writer.connection.execute("ALTER TABLE message ADD COLUMN added_in_2031 TEXT DEFAULT 'x'")
    writer.session("ses_1")
    for n, one in enumerate(TOLD):
        parts = [{"type": "leap_of_2031", "words": "x"}] * (n == 1) + [kept.opencode_part(one, n)]
        writer.message("ses_1", "user" if one.role == "user" else "assistant", one.at, parts)
    writer.close()
    return writer.path


def newer_continue(directory: Path) -> Path:
    path = kept.continue_dev(TOLD, directory, 1)
    record = json.loads(path.read_bytes())
    record["history"].insert(1, {"message": {"role": "leap_of_2031", "content": "x"}, "contextItems": []})
    path.write_text(json.dumps({"added_in_2031": [1], **record}))
    return path


def newer_amp(directory: Path) -> Path:
    path = kept.amp_thread(TOLD, directory, 1)
    thread = json.loads(path.read_bytes())
    thread["messages"].insert(1, {"role": "leap_of_2031", "content": "x"})
    thread["messages"][0]["added_in_2031"] = {"deep": [1]}
    path.write_text(json.dumps({"added_in_2031": [1], **thread}))
    return path


def newer_cline(directory: Path) -> Path:
    path = kept.cline_session(TOLD, directory, 1)
    record = json.loads(path.read_bytes())
    record["messages"].insert(1, {"role": "leap_of_2031", "content": "x"})
    record["messages"][0]["content"][0]["added_in_2031"] = {"deep": [1]}
    path.write_text(json.dumps({"added_in_2031": [1], **record}))
    return path


def newer_roo_code(directory: Path) -> Path:
    path = kept.task_files(TOLD, directory, 0)
    messages = [{"role": "leap_of_2031", "content": "x"}, *json.loads(path.read_bytes())]
    path.write_text(
        json.dumps([{**message, "ts": message.get("ts", START), "added_in_2031": [1]} for message in messages])
    )
    (path.parent / "history_item.json").write_text('{"id": "x", "added_in_2031": 1}')
    return path


def newer_cursor(directory: Path) -> Path:
    store = kept.CursorStore(directory)
    store.conversation("c1", TOLD, added_in_2031={"deep": [1]})
    store.put("bubbleId:c1:z", {"type": "leap_of_2031", "text": "x"})
    store.connection.close()
    return store.path


def newer_vscode(directory: Path) -> Path:
    path = kept.vscode(TOLD, directory, 1)
    log = path.read_bytes().replace(b'"version": 3', b'"version": 9, "added_in_2031": [1]')
    path.write_bytes(log + b'{"kind": "leap_of_2031", "k": ["requests"], "v": []}\n')
    return path


def newer_zed(directory: Path) -> Path:
    store = kept.ZedStore(directory)
    messages = [kept.zed_message(one, n) for n, one in enumerate(TOLD)]
    store.thread("t1", [messages[0], {"leap_of_2031": {"content": []}}, *messages[1:]], added_in_2031=[1])
    store.connection.close()
    return store.path


def newer_goose(directory: Path) -> Path:
    parts: list[tuple[str, object, None]] = [
        ("assistant" if one.role == "assistant" else "user", [_goose_part(one)], None) for one in TOLD
    ]
    newer = ("leap_of_2031", [{"type": "text", "text": "x"}], None)
    return goose_database(directory / "sessions.db", parts[0], newer, *parts[1:])


def newer_crush(directory: Path) -> Path:
    told = [(one.role, [_crush_part(one), {"type": "finish", "data": {"reason": "stop"}}]) for one in TOLD]
    newer = ("leap_of_2031", [{"type": "text", "data": {"text": "x"}}])
    return crush_database(directory / ".crush", told[0], newer, *told[1:])


def _crush_part(turn: Turn) -> dict[str, object]:
    if turn.role != "tool":
        return {"type": "text", "data": {"text": turn.text, "added_in_2031": [1]}}
    return {"type": "tool_result", "data": {"tool_call_id": "c1", "name": "bash", "content": turn.text}}


def _goose_part(turn: Turn) -> dict[str, object]:
    if turn.role != "tool":
        return {"type": "text", "text": turn.text}
    result = {"content": [{"type": "text", "text": turn.text}]}
    return {"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": result}}


NEWER: dict[str, Callable[[Path], Path]] = {
    "opencode": partial(newer_opencode, name="opencode.db"),
    "kilo": partial(newer_opencode, name="kilo.db"),
    "continue": newer_continue,
    "amp": newer_amp,
    "cline": newer_cline,
    "roo-code": newer_roo_code,
    "cursor": newer_cursor,
    "goose": newer_goose,
    "vscode": newer_vscode,
    "zed": newer_zed,
    "crush": newer_crush,
}
"""A conversation of each host that keeps many of them together, with a row and a field of a version to come."""


@pytest.mark.parametrize("kind", NEWER)
def test_what_a_newer_version_keeps_is_named_and_costs_nothing_else(kind: str, tmp_path: Path) -> None:
    path = NEWER[kind](tmp_path)
    collection = next(
        one for one in host_registry.collections() if one.kind == kind and one.recognises(path, head_of(path))
    )
    rows = [row for session in collection.sessions(path) for row in session.rows()]
    assert [one.text.strip() for one in heard(rows)] == [one.text.strip() for one in TOLD]
    (newer,) = (row.content for row in rows if b"leap_of_2031" in row.raw)
    assert isinstance(newer, Unreadable)
    assert "leap_of_2031" in newer.reason


def test_the_newer_version_of_every_host_is_tried() -> None:
    kinds = {kind for host in host_registry.hosts() for kind in host.kinds}
    assert kinds == {feeder.kind for feeder, _ in growing.values()} | {*NEWER} | {
        "aider"
    }  # which marks lines, not kinds


@each_growing
def test_a_session_without_a_word_is_read(feeder: Feeder, write: Writer) -> None:
    assert heard(read(feeder, write([], 0))) == []
    assert read(feeder, b"") == []


def test_two_files_with_one_session_id_are_two_histories(tmp_path: Path) -> None:
    """Rows that both have are the same; where they part, each keeps its own."""
    name = Path("rollout-2026-11-21T21-00-00-01a20000-0000-7000-8000-000000000000.jsonl")
    codex, write = WRITERS["codex"]
    assert isinstance(codex, Codex)
    one, other = write(TOLD, 1), write([*TOLD[:2], Turn("assistant", "No idea.", START + 2000)], 1)
    assert codex.identify(name, one) == codex.identify(name, other)
    assert texts(heard(read(codex, one)))[:2] == texts(heard(read(codex, other)))[:2]
    assert texts(heard(read(codex, other)))[-1] == "No idea."


def test_two_conversations_with_one_id_in_an_export_are_both_there(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    talks = [
        {"uuid": "c1", "name": name, "chat_messages": [{"uuid": name, "sender": "human", "text": name}]}
        for name in ("first", "second")
    ]
    path.write_text(json.dumps(talks))
    found = [(session.identity.session_id, texts(heard(session.rows()))) for session in ClaudeAI().sessions(path)]
    assert found == [("c1", ["first"]), ("c1", ["second"])]


@each_collection
@pytest.mark.parametrize("name", ["x.jsonl", "conversations.json", "state.vscdb", "opencode.db", "e.zip"])
def test_a_directory_with_the_name_of_a_file_is_none(collection: Collection, name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    assert not collection.recognises(tmp_path / name, b"")
    with pytest.raises(SourceUnreadable, match=r"\.$"):
        list(collection.sessions(tmp_path / name))


@pytest.mark.parametrize("feeder", TRANSCRIPTS, ids=lambda one: one.kind)
def test_a_number_beyond_all_bounds_is_no_time(feeder: Feeder) -> None:
    for when in (b"1e999", b"-1e999", b"NaN", b"9" * 400, b"9" * 5000, b'"99999-01-01T00:00:00Z"', b"[]"):
        write = growing[next(name for name in growing if growing[name][0].kind == feeder.kind)][1]
        data = write(TOLD[:1], 0)
        stamp = data.rpartition(b'"timestamp":')[2].split(b",")[0].split(b"}")[0]
        for row in read(feeder, data.replace(stamp, when)):
            assert row.raw


@pytest.mark.parametrize(
    "data",
    [
        b"{" + b"\n" * 65_000,
        b'{"sessionId":"g","projectHash":"h"}\n{"id":"m","type":"user","content":"<session_context>'
        + b"**Workspace Directories:**"
        + rb"\n" * 400_000
        + b'"}\n',
        b'{"timestamp":"x","type":"response_item","payload":{"type":"message","role":"user","content":'
        + b'[{"type":"input_text","text":"<user_shell_command>'
        + rb"<command>\n" * 200_000
        + b'"}]}}\n',
        b'{"a":' * 200_000,
        b"[" * 3_000_000,
    ],
    ids=["newlines", "directories", "commands", "objects", "brackets"],
)
@pytest.mark.parametrize("feeder", TRANSCRIPTS, ids=lambda one: one.kind)
def test_what_repeats_without_end_is_read_in_one_pass(feeder: Feeder, data: bytes) -> None:
    """A pattern that looks back at every repetition would not come to an end."""
    feeder.recognises(Path("session.jsonl"), data[:65536])
    feeder.identify(Path("session.jsonl"), data[:65536])
    assert len(read(feeder, data)) <= data.count(b"\n")
