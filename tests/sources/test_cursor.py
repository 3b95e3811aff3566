"""Cursor's database: what public readers agree on, written so, and what may be amiss with it."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from tests.fidelity.kept import CursorStore, Json, cursor_bubble
from tests.fidelity.told import START, Turn

from palazzo.errors import SourceUnreadable
from palazzo.hosts.cursor.transcript import Cursor
from palazzo.model import Micros
from palazzo.sources.formats import Noise, Unreadable

from .collection_samples import head_of, read_all, said

LATER = Micros((START + 86_400_000) * 1000)
SOON = Micros((START + 60_000) * 1000)
FEEDER = Cursor(lambda: LATER)
TOLD = [
    Turn("user", "Which port?", START),
    Turn("tool", "8443\n", START + 1),
    Turn("assistant", "It is 8443.", START + 2),
]


@pytest.fixture
def store(tmp_path: Path) -> CursorStore:
    return CursorStore(tmp_path)


def texts(store: CursorStore, feeder: Cursor = FEEDER) -> list[str]:
    return [one.text for _, rows in read_all(feeder, store.path) for one in said(rows)]


def tool(**fields: object) -> Json:
    return {
        "bubbleId": "b1",
        "type": 2,
        "text": "",
        "toolFormerData": {"name": "web_search", "toolCallId": "c1", **fields},
    }


def test_a_call_stands_with_its_result_and_its_trust(store: CursorStore) -> None:
    store.conversation("c1", TOLD)
    [(_, rows)] = read_all(FEEDER, store.path)
    [call, result] = said(rows)[1].parts
    assert (call.kind, call.name, result.kind, result.trust) == ("tool_call", "run_terminal_cmd", "tool_result", "tool")
    assert said(rows)[1].text == "run_terminal_cmd\ncommand: ls\n\n8443\n"
    store.put("bubbleId:c1:x", tool(result='{"references": [{"title": "A page"}]}', status="error"))
    outside = said(read_all(FEEDER, store.path)[0][1])[-1]
    assert outside.text == "web_search\n\nresult\nreferences:\n  -\n    title: A page"
    assert [(part.trust, part.failed) for part in outside.parts if part.kind == "tool_result"] == [("external", True)]


def test_thoughts_are_thoughts_and_a_bubble_without_words_is_noise(store: CursorStore) -> None:
    store.conversation("c1", TOLD[:1])
    store.put(
        "bubbleId:c1:a", {"type": 2, "text": "", "thinking": {"text": "Hm."}, "createdAt": "2026-11-21T21:00:00Z"}
    )
    store.put("bubbleId:c1:b", {"type": 2, "text": "", "createdAt": "2026-11-22T21:00:00Z"})
    [(_, rows)] = read_all(FEEDER, store.path)
    assert [part.kind for part in said(rows)[1].parts] == ["thinking"]
    assert rows[-1].content == Noise("assistant, without words")


def test_a_bubble_without_a_time_is_of_when_the_conversation_began(store: CursorStore) -> None:
    store.conversation("c1", [])
    store.put("bubbleId:c1:a", {"type": 1, "text": "hello"})
    [(session, rows)] = read_all(FEEDER, store.path)
    assert [one.created_at for one in said(rows)] == [START * 1000]
    assert session.updated_at == START * 1000


def test_a_tool_that_is_at_work_is_waited_for_and_not_for_ever(store: CursorStore) -> None:
    store.conversation("c1", TOLD[:1])
    store.put("bubbleId:c1:a", tool(status="running", rawArgs='{"query": "x"}'))
    assert texts(store, Cursor(lambda: SOON)) == ["Which port?"]
    assert len(texts(store)) == 2
    [session] = Cursor(lambda: SOON).sessions(store.path)
    assert not session.settled


def test_a_stamp_changes_with_every_word(store: CursorStore) -> None:
    store.conversation("c1", TOLD)
    [before] = FEEDER.sessions(store.path)
    [same] = FEEDER.sessions(store.path)
    store.put("bubbleId:c1:x", cursor_bubble(Turn("user", "more", START + 9), 9))
    [after] = FEEDER.sessions(store.path)
    assert before.stamp == same.stamp != after.stamp


def test_bad_rows_cost_nothing_else(store: CursorStore) -> None:
    store.conversation("c1", TOLD)
    store.put("composerData:c2", b"{")
    store.put("bubbleId:c2:a", cursor_bubble(TOLD[0], 0))
    store.put("bubbleId:c1:x", b"\xff\x00 no JSON")
    store.put("bubbleId:c1:y", {"type": 3, "text": "?"})
    store.put("composerData:c3", b"null")
    found = read_all(FEEDER, store.path)
    assert [session.identity.session_id for session, _ in found] == ["c2", "c1"]
    assert [row.content for row in found[1][1][-2:]] == [
        Unreadable("not valid JSON"),
        Unreadable("a bubble of the unknown type 3"),
    ]
    assert [one.text for one in said(found[0][1])] == ["Which port?"]


def test_conversations_without_words_and_without_a_workspace(store: CursorStore) -> None:
    store.conversation("draft", [])
    store.conversation("c1", TOLD)
    store.connection.execute("UPDATE composerHeaders SET workspaceId = '../../secret'")
    [session] = FEEDER.sessions(store.path)
    assert (session.identity.session_id, session.cwd) == ("c1", "")
    store.connection.execute("DROP TABLE composerHeaders")
    assert len(list(FEEDER.sessions(store.path))) == 1


def test_a_conversation_of_a_sub_agent_is_not_led_by_the_person(store: CursorStore) -> None:
    store.conversation("c1", TOLD)
    store.connection.execute("ALTER TABLE composerHeaders ADD COLUMN isSubagent INTEGER")
    led = []
    for value in (0, 1, None):
        store.connection.execute("UPDATE composerHeaders SET isSubagent = ?", (value,))
        led += [session.identity.led_by_agent for session in FEEDER.sessions(store.path)]
    assert led == [False, True, False]


def test_a_database_of_settings_says_where_the_conversations_are(tmp_path: Path) -> None:
    path = tmp_path / "state.vscdb"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)")
    connection.close()
    assert FEEDER.recognises(path, head_of(path))
    with pytest.raises(SourceUnreadable, match=r"contains settings.*globalStorage"):
        list(FEEDER.sessions(path))
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, data BLOB)")
    connection.close()
    with pytest.raises(SourceUnreadable, match="no column 'value'"):
        list(FEEDER.sessions(path))


def test_one_that_is_locked_is_read_the_next_time(store: CursorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palazzo.store.foreign_database.LONGEST_WAIT", 0.05)
    store.conversation("c1", TOLD)
    store.connection.close()
    host = apsw.Connection(str(store.path))
    host.execute("PRAGMA journal_mode=DELETE").fetchall()
    host.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SourceUnreadable, match="locked"):
        list(FEEDER.sessions(store.path))
    host.close()
    assert len(texts(store)) == 3
