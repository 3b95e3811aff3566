"""Zed's database of threads, as its source code writes it (`crates/agent/src/db.rs`, version 0.3.0)."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
import zstandard
from tests.fidelity.kept import Json, ZedStore, zed_message
from tests.fidelity.told import START, Turn

from palazzo.errors import SourceUnreadable
from palazzo.hosts.zed import transcript
from palazzo.hosts.zed.transcript import Zed
from palazzo.sources.formats import Message, Noise, Unreadable

from .collection_samples import head_of, read_all, said

FEEDER = Zed()
QUESTION = Turn("user", "Which port?", START)


@pytest.fixture
def store(tmp_path: Path) -> ZedStore:
    return ZedStore(tmp_path)


def messages(store: ZedStore) -> list[Message]:
    [(_, rows)] = read_all(FEEDER, store.path)
    return said(rows)


def agent(*content: Json, **results: Json) -> Json:
    return {"Agent": {"content": [*content], "tool_results": results}}


def use(name: str, arguments: object) -> Json:
    return {"ToolUse": {"id": "c", "name": name, "input": arguments, "is_input_complete": True}}


def test_a_thread_is_read_while_zed_has_it_open(store: ZedStore) -> None:
    store.connection.execute("PRAGMA journal_mode=WAL").fetchall()
    snapshot = {"worktree_snapshots": [{"worktree_path": "/home/dev/acme", "git_state": {"current_branch": "main"}}]}
    answer = agent({"Thinking": {"text": "I look.", "signature": "x"}}, {"RedactedThinking": "x"}, {"Text": "8443."})
    store.thread("t1", [zed_message(QUESTION, 0), answer], initial_project_snapshot=snapshot)
    assert FEEDER.recognises(store.path, head_of(store.path))
    [(session, rows)] = read_all(FEEDER, store.path)
    assert (session.identity.key, session.title, session.cwd) == (("zed", "t1"), "Порт 港", "/home/dev/acme")
    assert session.updated_at == START * 1000
    assert rows[0].content == Noise("thread")
    assert [(one.role, one.text, one.branch) for one in said(rows)] == [
        ("user", "Which port?", "main"),
        ("assistant", "I look.\n\n8443.", "main"),
    ]


def test_a_call_stands_with_its_result(store: ZedStore) -> None:
    result: Json = {"tool_name": "read_file", "is_error": True, "content": {"Text": "no such file"}}
    arguments = {"type": "json", "value": {"path": "a.py"}}
    store.thread("t1", [agent(use("read_file", arguments), c=result), agent(use("fetch", {"url": "x"}), c=result)])
    local, outside = messages(store)
    assert local.text == "read_file\npath: a.py\n\nno such file"
    [call, output] = local.parts
    assert (call.kind, output.kind, output.failed, output.trust) == ("tool_call", "tool_result", True, "tool")
    assert outside.parts[1].trust == "external"


def test_what_is_mentioned_is_not_the_person_s_words(store: ZedStore) -> None:
    content = [
        {"Text": "Look at "},
        {"Mention": {"uri": {"File": {"abs_path": "/home/dev/a.py"}}, "content": "port = 1"}},
        {"Mention": {"uri": {"Fetch": {"url": "https://example.org"}}, "content": "a page"}},
        {"Image": {"source": "AAAA", "size": None}},
    ]
    store.thread("t1", [{"User": {"id": "m1", "content": content}}])
    [asked] = messages(store)
    assert asked.text == "Look at \n\n/home/dev/a.py\nport = 1\n\nhttps://example.org\na page\n\n[image]"
    assert [(part.kind, part.trust) for part in asked.parts] == [
        ("text", None),
        ("attachment", "repo"),
        ("attachment", "external"),
        ("image", None),
    ]


def test_threads_of_older_versions_are_read(store: ZedStore) -> None:
    older = [
        {"id": 1, "role": "user", "segments": [{"type": "text", "text": "Use it"}], "context": "<files>a</files>"},
        {"id": 2, "role": "assistant", "text": "I do.", "tool_uses": [{"id": "abc", "name": "grep", "input": {}}]},
        {
            "id": 3,
            "role": "user",
            "segments": [{"type": "text", "text": "Here is the tool result"}],
            "tool_results": [{"tool_use_id": "abc", "is_error": False, "content": "abcdef", "output": None}],
        },
        {"id": 4, "role": "user", "segments": [{"type": "text", "text": "Continue"}], "is_hidden": True},
        {"id": 5, "role": "oracle", "text": "x"},
    ]
    record: Json = {"version": "0.1.0", "summary": "Grep", "messages": older}
    record["initial_project_snapshot"] = {"worktree_snapshots": [{"worktree_path": "/home/dev/old"}]}
    store.put("t1", json.dumps(record).encode(), "json", folder_paths="", folder_paths_order="")
    [(session, rows)] = read_all(FEEDER, store.path)
    assert session.cwd == "/home/dev/old"
    assert [(one.role, one.standing, one.text) for one in said(rows)] == [
        ("user", "said", "Use it\n\n<files>a</files>"),
        ("assistant", "said", "I do.\n\ngrep"),
        ("tool", "said", "abcdef"),
        ("user", "meta", "Continue"),
    ]
    assert rows[-1].content == Unreadable("a message with the unknown role 'oracle'")


def test_a_database_of_an_older_version_has_fewer_columns(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE threads (id TEXT, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)")
    cells = ("t1", "Ports", "2026-11-21T21:00:00Z", json.dumps({"messages": [zed_message(QUESTION, 0)]}).encode())
    connection.execute("INSERT INTO threads VALUES (?, ?, ?, 'json', ?)", cells)
    connection.close()
    [(session, rows)] = read_all(FEEDER, path)
    assert (session.cwd, [one.text for one in said(rows)]) == ("", ["Which port?"])


def test_folders_are_in_the_order_in_which_they_were_opened_and_a_sub_agent_has_a_parent(store: ZedStore) -> None:
    data = b'{"messages": []}'
    store.put("t1", data, "json", parent_id="t0", folder_paths="/home/dev/a\n/home/dev/b", folder_paths_order="1,0")
    [session] = FEEDER.sessions(store.path)
    assert session.cwd == "/home/dev/b"
    assert (session.identity.parent_session, session.identity.led_by_agent) == ("t0", True)


def test_a_stamp_changes_with_the_thread(store: ZedStore) -> None:
    store.thread("t1", [zed_message(QUESTION, 0)])
    [before], [same] = FEEDER.sessions(store.path), FEEDER.sessions(store.path)
    store.thread("t1", [zed_message(QUESTION, 0), zed_message(Turn("assistant", "It is 8443.", START), 1)])
    [after] = FEEDER.sessions(store.path)
    assert before.stamp == same.stamp != after.stamp


@pytest.mark.parametrize(
    ("data", "data_type", "reason"),
    [
        (b"{", "json", "a thread that is not JSON"),
        (b"[]", "json", "a thread that is not an object"),
        (b"x", "lz4", "a thread in the unknown form 'lz4'"),
        (b"[" * 200_000, "json", "nested too deeply"),
    ],
)
def test_a_damaged_thread_says_so_and_costs_no_other(data: bytes, data_type: str, reason: str, store: ZedStore) -> None:
    store.put("t1", data, data_type)
    store.thread("t2", [zed_message(QUESTION, 0)])
    [(_, damaged), (_, good)] = read_all(FEEDER, store.path)
    [row] = damaged
    assert isinstance(row.content, Unreadable)
    assert row.content.reason.startswith(reason)
    assert [one.text for one in said(good)] == ["Which port?"]


def test_packed_bytes_that_are_damaged_or_too_many_are_refused(
    store: ZedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "LARGEST", 1_000_000)
    packed = zstandard.compress(json.dumps({"messages": []}).encode())
    store.put("cut", packed[:-3], "json")
    store.put("bomb", b'"' + b" " * 1_000_000 + b'"')
    store.put("noise", b"no frame", "json")
    store.connection.execute("UPDATE threads SET data_type = 'zstd'")
    found = {session.identity.session_id: rows for session, rows in read_all(FEEDER, store.path)}
    assert [type(rows[0].content) for rows in found.values()] == [Unreadable] * 3
    assert "over 1,000,000 bytes" in str(found["bomb"][0].content)


def test_another_database_of_that_name_is_not_zed_s(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE threads (id TEXT)")
    connection.close()
    assert not FEEDER.recognises(path, head_of(path))
    with pytest.raises(SourceUnreadable, match="this version of Zed is not supported"):
        list(FEEDER.sessions(path))
