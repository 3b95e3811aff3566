"""Kiro's sessions: lines as public readers captured them, its database as its source code writes it."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import apsw
import pytest
from tests.fidelity import kept
from tests.fidelity.kept import Json
from tests.fidelity.told import START, Turn

from palazzo.errors import SourceUnreadable
from palazzo.hosts.continue_dev.transcript import ContinueDev
from palazzo.hosts.kiro.conversation_database import KiroDatabase
from palazzo.hosts.kiro.transcript import COLLECTIONS, KiroSessions
from palazzo.sources.discovery import Rules, discover
from palazzo.sources.formats import Message, Noise, Unreadable

from .collection_samples import head_of, read_all, said

FEEDER, DATABASE = KiroSessions(), KiroDatabase("kiro")
TURNS = [Turn("user", "Which port?", START), Turn("tool", "8443\n", START + 1), Turn("assistant", "8443.", START + 2)]
# Lines of kiro-cli 2.5.1 and 2.6.0, as irrlicht's tests have them (`kirocli/parser_test.go`).
ENGINE_2 = """\
{"version":"v1","kind":"Prompt","data":{"message_id":"b68090cc","content":[{"kind":"text","data":"what is 2+2?"}],"meta":{"timestamp":1780612717}}}
{"version":"v1","kind":"AssistantMessage","data":{"message_id":"f72c258e","content":[{"kind":"text","data":""},{"kind":"toolUse","data":{"toolUseId":"tooluse_hNI","name":"write","input":{"command":"create","path":"hello.txt"}}}]}}
{"version":"v1","kind":"ToolResults","data":{"message_id":"65fe10cc","content":[{"kind":"toolResult","data":{"toolUseId":"tooluse_hNI","content":[{"kind":"text","data":"Successfully created hello.txt"}],"status":"success"}}]}}
{"version":"v1","kind":"ToolResults","data":{"content":[{"kind":"toolResult","data":{"toolUseId":"tooluse_bn9","content":[{"kind":"json","data":{"exit_status":"exit status: 1","stdout":"","stderr":"cat: /nonexistent: No such file or directory\\n"}}],"status":"success"}}]}}
{"version":"v1","kind":"ToolResults","data":{"content":[{"kind":"toolResult","data":{"toolUseId":"tooluse_eL1","content":[{"kind":"text","data":"Tool use was cancelled by the user"}],"status":"error"}}],"results":{"tooluse_eL1":{"tool":null,"result":"Cancelled"}}}}
{"version":"v1","kind":"Clear","data":{}}
"""  # noqa: E501 (captured)


def event(kind: str, **payload: object) -> Json:
    return {"id": "e1", "timestamp": "2026-09-04T11:11:05.286Z", "payload": {"type": kind, **payload}}


def lines(*rows: Json) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def messages(data: bytes, start: int = 0) -> list[Message]:
    stream = BytesIO(data)
    stream.seek(start)
    return said(FEEDER.rows(stream, start))


def database(path: Path, *turns: object) -> Path:
    kept.kiro_database([], path.parent, 0)
    value = json.dumps({"conversation_id": "c1", "history": turns})
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE conversations_v2 SET value = ?", (value,))
    connection.close()
    return path


# --- JSON Lines --------------------------------------------------------------------------------------------


def test_captured_lines_of_engine_2_are_read() -> None:
    data = ENGINE_2.encode()
    assert FEEDER.recognises(Path("b6.jsonl"), data)
    told = messages(data)
    assert [(one.role, one.text) for one in told] == [
        ("user", "what is 2+2?"),
        ("assistant", "write\ncommand: create\npath: hello.txt"),
        ("tool", "Successfully created hello.txt"),
        ("tool", "cat: /nonexistent: No such file or directory\n"),
        ("tool", "Tool use was cancelled by the user"),
    ]
    assert {one.created_at for one in told} == {1_780_612_717_000_000}
    results = [one.parts[0] for one in told[2:]]
    assert [(part.name, part.failed, part.trust) for part in results] == [
        ("write", False, "tool"),
        ("", True, "external"),
        ("", True, "external"),
    ]
    assert [row.content for row in FEEDER.rows(BytesIO(data))][-1] == Noise("Clear")


def test_a_read_from_the_middle_knows_the_call_and_the_time_of_the_prompt() -> None:
    data = ENGINE_2.encode()
    start = data.index(b'{"version":"v1","kind":"ToolResults"')
    [result, *_] = messages(data, start)
    assert (result.parts[0].name, result.created_at) == ("write", 1_780_612_717_000_000)


def test_events_of_engine_3_are_read() -> None:
    data = lines(
        event("session_start"),
        event("user", content="Which port?", documents=[{"displayName": "Rules", "content": "use tabs"}]),
        event("assistant", operationType="Reasoning", content="..."),
        event("tool_call", toolCallId="c", toolName="read", args={"path": "a"}),
        event("tool_result", toolCallId="c", content="no such file", success=False),
        event("sub_agent_start", subSessionId="s", subAgentName="reviewer", prompt="review"),
        event("sub_agent_complete", subSessionId="s", response="reviewed"),
        event("assistant", operationType="Say", content="Port 8443."),
        event("assistant", operationType="Summary", content="They asked for a port."),
        event("user", content="Check the build.", source="hook"),
    )
    assert FEEDER.recognises(Path("messages.jsonl"), data)
    told = messages(data)
    assert [(one.role, one.standing, one.text) for one in told] == [
        ("user", "said", "Which port?\n\nuse tabs"),
        ("assistant", "said", "read\npath: a"),
        ("tool", "said", "no such file"),
        ("assistant", "said", "subagent\nagent: reviewer\nprompt: review"),
        ("tool", "said", "reviewed"),
        ("assistant", "said", "Port 8443."),
        ("assistant", "summary", "They asked for a port."),
        ("user", "meta", "Check the build."),
    ]
    assert [(part.kind, part.trust) for part in told[0].parts] == [("text", None), ("attachment", "repo")]
    assert told[2].parts[0].failed


def test_codex_s_rows_are_not_taken_for_kiro_s() -> None:
    row: Json = {"timestamp": "2026-11-21T21:00:00Z", "type": "event_msg", "payload": {"type": "user", "message": "x"}}
    assert not FEEDER.recognises(Path("rollout.jsonl"), lines(row))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (
            {"session_id": "b6", "cwd": "/home/dev/a", "session_created_reason": "subagent"},
            ("b6", "", "/home/dev/a", False),
        ),
        ({"session_id": "b6", "cwd": "/home/dev/a", "parent_session_id": "p"}, ("b6", "p", "/home/dev/a", True)),
        (None, ("b6", "", "", False)),
    ],
)
def test_the_header_beside_a_session_names_its_directory(
    header: Json | None, expected: tuple[object, ...], tmp_path: Path
) -> None:
    if header is not None:
        (tmp_path / "b6.json").write_text(json.dumps(header))
    found = FEEDER.identify(tmp_path / "b6.jsonl", b"")
    assert (found.session_id, found.parent_session, found.cwd, found.led_by_agent) == expected


def test_the_header_in_a_session_s_folder_names_its_directory(tmp_path: Path) -> None:
    folder = tmp_path / "sess_1"
    folder.mkdir()
    header = {"id": "sess_1", "workspacePaths": [], "rootPaths": ["/home/dev/a"], "parentSessionId": "sess_0"}
    (folder / "session.json").write_text(json.dumps(header | {"createdReason": "tangent"}))
    found = FEEDER.identify(folder / "messages.jsonl", b"")
    assert (found.key, found.parent_session, found.cwd) == (("kiro", "sess_1"), "sess_0", "/home/dev/a")
    assert not found.led_by_agent


def test_a_header_is_passed_over_without_a_report(tmp_path: Path) -> None:
    (tmp_path / "b6.jsonl").write_text(ENGINE_2)
    (tmp_path / "b6.json").write_text('{"session_id": "b6"}')
    (tmp_path / "other.json").write_text('{"session_id": "b7"}')
    found = {one.path.name: one for one in discover([tmp_path], Rules(mode="convos"))}
    assert getattr(found["b6.json"], "expected", None) is True
    assert getattr(found["other.json"], "expected", None) is False


# --- the database ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [0, 1])
def test_conversations_of_both_tables_are_read(way: int, tmp_path: Path) -> None:
    path = kept.kiro_database(TURNS, tmp_path, way)
    assert DATABASE.recognises(path, head_of(path))
    [(session, rows)] = read_all(DATABASE, path)
    assert session.cwd == "/home/dev/acme"
    assert [(one.role, one.text, one.created_at) for one in said(rows)] == [
        ("user", "Which port?", START * 1000),
        ("tool", "8443\n", (START + 1) * 1000),
        ("assistant", "8443.", (START + 2) * 1000),
    ]
    assert not any("hook output" in one.text for one in said(rows))


def test_a_call_and_its_result_are_joined_and_an_error_is_one(tmp_path: Path) -> None:
    use = {"id": "c", "name": "fs_read", "args": {"path": "a"}, "orig_name": "fs_read", "orig_args": {}}
    result = {"tool_use_id": "c", "content": [{"Json": {"exit_status": "0", "stdout": "x", "stderr": ""}}]}
    first = {
        "user": {"content": {"Prompt": {"prompt": "Go"}}},
        "assistant": {"ToolUse": {"content": "", "tool_uses": [use]}},
    }
    cancelled = {"CancelledToolUses": {"prompt": "Stop", "tool_use_results": [result | {"status": "Error"}]}}
    answer = {"Response": {"content": "Stopped.", "thinking": {"reasoning_text": {"text": "Hm."}}}}
    path = database(tmp_path / "data.sqlite3", first, [{"content": cancelled}, answer])
    [(_, rows)] = read_all(DATABASE, path)
    told = said(rows)
    assert [(one.role, one.text) for one in told] == [
        ("user", "Go"),
        ("assistant", "fs_read\npath: a"),
        ("user", "x\n\nStop"),
        ("assistant", "Hm.\n\nStopped."),
    ]
    [part, _] = told[2].parts
    assert (part.name, part.trust, part.failed) == ("fs_read", "tool", True)


def test_what_is_not_understood_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    newer = {"user": {"content": {"Leap": {}}}, "assistant": {"Leap": {}}}
    path = database(tmp_path / "data.sqlite3", newer, "x", kept.kiro_turn(TURNS[0], 0))
    [(_, rows)] = read_all(DATABASE, path)
    reasons = [row.content.reason for row in rows if isinstance(row.content, Unreadable)]
    assert reasons == ["a message of the unknown kind 'Leap'", "an answer of the unknown kind 'Leap'", "not a turn"]
    assert [one.text for one in said(rows)] == ["Which port?"]


def test_a_row_that_is_no_json_is_a_session_that_says_so(tmp_path: Path) -> None:
    path = kept.kiro_database(TURNS, tmp_path, 0)
    connection = apsw.Connection(str(path))
    connection.execute("INSERT INTO conversations VALUES ('/home/dev/b', '{')")
    connection.close()
    found = read_all(DATABASE, path)
    assert len(found) == 2
    assert [row.content for row in found[0][1]] == [Unreadable("not a turn")]


def test_another_database_of_that_name_is_not_kiro_s(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite3"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE conversations (id TEXT)")
    connection.close()
    assert not DATABASE.recognises(path, head_of(path))
    with pytest.raises(SourceUnreadable, match="this version of Kiro is not supported"):
        list(DATABASE.sessions(path))


# --- the editor before 1.0 ---------------------------------------------------------------------------------


def test_sessions_of_the_older_editor_are_kiro_s_and_not_continue_s(tmp_path: Path) -> None:
    folder = tmp_path / "kiro.kiroagent" / "workspace-sessions" / "L2hvbWUvZGV2"
    folder.mkdir(parents=True)
    path = kept.continue_dev(TURNS, folder, 0)
    assert [type(one) for one in COLLECTIONS if one.recognises(path, b"")] == [ContinueDev]
    assert not ContinueDev().recognises(path, b"")
    [(session, rows)] = read_all(COLLECTIONS[1], path)
    assert (session.identity.key[0], session.cwd) == ("kiro", "/home/dev/acme")
    assert "Which port?" in [one.text for one in said(rows)]
    elsewhere = kept.continue_dev(TURNS, tmp_path, 0)
    assert ContinueDev().recognises(elsewhere, b"")
    assert not COLLECTIONS[1].recognises(elsewhere, b"")
