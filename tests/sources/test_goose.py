"""Goose's database of sessions."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

from palazzo.errors import SourceUnreadable
from palazzo.hosts.goose.transcript import Goose
from palazzo.sources.formats import Message, Row, Unreadable

from .collection_samples import head_of

FEEDER = Goose()
Json = dict[str, object]
CALL: Json = {
    "type": "toolRequest",
    "id": "c1",
    "toolCall": {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "ls"}}},
}


def database(
    path: Path, *messages: tuple[str, object, Json | None], columns: str = "name TEXT, session_type TEXT"
) -> Path:
    """Write one session as Goose's schema has it."""
    connection = apsw.Connection(str(path))
    connection.execute(
        f"CREATE TABLE sessions (id TEXT PRIMARY KEY, {columns}, working_dir TEXT, created_at TEXT, updated_at TEXT)"
    )
    connection.execute(
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT,"
        " created_timestamp INTEGER, metadata_json TEXT)"
    )
    connection.execute(
        "INSERT INTO sessions VALUES ('20261127_1', 'Ports', 'user', '/home/dev/acme', '2026-11-27 10:00:00',"
        " '2026-11-27 10:05:00')"
    )
    for role, content, metadata in messages:
        text = content if isinstance(content, str) else json.dumps(content)
        connection.execute(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json)"
            " VALUES ('20261127_1', ?, ?, 1795773600, ?)",
            (role, text, metadata and json.dumps(metadata)),
        )
    connection.close()
    return path


def rows_of(path: Path) -> list[Row]:
    [session] = FEEDER.sessions(path)
    return list(session.rows())


def test_a_session_is_read_with_its_calls_and_their_results(tmp_path: Path) -> None:
    result = {"content": [{"type": "text", "text": "deploy.yaml"}], "isError": False}
    path = database(
        tmp_path / "sessions.db",
        ("user", [{"type": "text", "text": "Which port?"}], None),
        ("assistant", [{"type": "thinking", "thinking": "I look.", "signature": "x"}, CALL], None),
        ("user", [{"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": result}}], None),
        ("assistant", [{"type": "text", "text": "Port 8443."}], {"userVisible": True}),
        ("user", [{"type": "text", "text": "The summary"}], {"userVisible": False, "agentVisible": True}),
    )
    assert FEEDER.recognises(path, head_of(path))
    [session] = FEEDER.sessions(path)
    assert (session.identity.key, session.title, session.cwd) == (("goose", "20261127_1"), "Ports", "/home/dev/acme")
    messages = [row.content for row in session.rows()]
    assert all(isinstance(message, Message) for message in messages)
    told = [(one.role, one.standing, one.text) for one in messages if isinstance(one, Message)]
    assert told == [
        ("user", "said", "Which port?"),
        ("assistant", "said", "I look.\n\ndeveloper__shell\ncommand: ls"),
        ("tool", "said", "deploy.yaml"),
        ("assistant", "said", "Port 8443."),
        ("user", "meta", "The summary"),
    ]
    result_message = messages[2]
    assert isinstance(result_message, Message)
    [part] = result_message.parts
    assert (part.name, part.trust, part.failed) == ("developer__shell", "tool", False)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"status": "error", "error": "no such file"}, "no such file"),
        ({"status": "success", "value": {"content": [{"type": "text", "text": "exit 1"}], "isError": True}}, "exit 1"),
    ],
)
def test_a_call_that_failed_is_known_as_one(tmp_path: Path, result: Json, text: str) -> None:
    answer = [{"type": "toolResponse", "id": "c1", "toolResult": result}]
    rows = rows_of(database(tmp_path / "sessions.db", ("assistant", [CALL], None), ("user", answer, None)))
    message = rows[1].content
    assert isinstance(message, Message)
    assert (message.text, [part.failed for part in message.parts]) == (text, [True])


def test_what_is_not_understood_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = database(
        tmp_path / "sessions.db",
        ("user", "{not json", None),
        ("oracle", [{"type": "text", "text": "x"}], None),
        ("user", [{"type": "hologram", "shape": "round"}, {"type": "text", "text": "still here"}], None),
    )
    broken, unknown, newer = (row.content for row in rows_of(path))
    assert isinstance(broken, Unreadable)
    assert isinstance(unknown, Unreadable)
    assert isinstance(newer, Message)
    assert "still here" in newer.text


def test_another_database_of_that_name_is_not_goose_s(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE sessions (id TEXT)")
    connection.close()
    assert not FEEDER.recognises(path, head_of(path))
    with pytest.raises(SourceUnreadable, match="this version of Goose is not supported"):
        list(FEEDER.sessions(path))
