"""Crush's database of a project, and its list of projects."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import apsw
import pytest
from hypothesis import given

from palazzo.errors import SourceUnreadable
from palazzo.hosts import host_histories
from palazzo.hosts.crush.restore import has_session
from palazzo.hosts.crush.transcript import Crush
from palazzo.model import Micros
from palazzo.sources.formats import Message, Noise, Row, Session, Unreadable

from .collection_samples import few, head_of, json_values, read_all, read_or_refuse, said

START = 1_795_773_600
NOW = Micros((START + 60) * 1_000_000)
READER = Crush(lambda: NOW)
LATER = Crush(lambda: Micros(NOW + 2 * 3600 * 1_000_000))
Json = dict[str, object]
Told = tuple[str, object]


def part(kind: str, **data: object) -> Json:
    return {"type": kind, "data": data}


def text(words: str) -> Json:
    return part("text", text=words)


END = part("finish", reason="end_turn", time=START)
CALL = part("tool_call", id="c1", name="bash", input='{"command": "ls"}', finished=True)


def database(directory: Path, *messages: Told, parent: str | None = None, session: str = "s1") -> Path:
    """Write one session as Crush's migrations have it."""
    directory.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(directory / "crush.db"))
    connection.execute(
        "CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,"
        " message_count INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,"
        " parts TEXT NOT NULL default '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,"
        " finished_at INTEGER, provider TEXT, is_summary_message INTEGER DEFAULT 0 NOT NULL)"
    )
    connection.execute("INSERT INTO sessions VALUES (?, ?, 'Ports', 0, ?, ?)", (session, parent, START, START))
    for n, (role, parts) in enumerate(messages):
        connection.execute(
            "INSERT INTO messages (id, session_id, role, parts, model, created_at, updated_at, is_summary_message)"
            " VALUES (?, ?, ?, ?, 'm-1', ?, ?, ?)",
            (
                f"{session}-{n}",
                session,
                role.removesuffix("*"),
                parts if isinstance(parts, str | bytes) else json.dumps(parts),
                START + n,
                START + n,
                role.endswith("*"),
            ),
        )
    connection.close()
    return directory / "crush.db"


def only(path: Path, reader: Crush = READER) -> tuple[Session, list[Row]]:
    assert reader.recognises(path, head_of(path))
    [found] = read_all(reader, path)
    return found


def messages(directory: Path, *told: Told, reader: Crush = READER) -> list[Message]:
    return said(only(database(directory / ".crush", *told), reader)[1])


def test_a_session_is_read_with_its_calls_and_their_results(tmp_path: Path) -> None:
    path = database(
        tmp_path / "acme" / ".crush",
        ("user", [text("Which port?"), part("finish", reason="stop")]),
        ("assistant", [part("reasoning", thinking="I look."), CALL, END]),
        ("tool", [part("tool_result", tool_call_id="c1", name="bash", content="deploy.yaml", is_error=False), END]),
        ("assistant", [text("Port 8443."), END]),
        ("assistant*", [text("What was said"), END]),
    )
    found, rows = only(path)
    assert (found.identity.key, found.title, found.cwd) == (("crush", "s1"), "Ports", str(tmp_path / "acme"))
    told = said(rows)
    assert [(one.role, one.standing, one.text) for one in told] == [
        ("user", "said", "Which port?"),
        ("assistant", "said", "I look.\n\nbash\ncommand: ls"),
        ("tool", "said", "deploy.yaml"),
        ("assistant", "said", "Port 8443."),
        ("assistant", "summary", "What was said"),
    ]
    assert (told[0].created_at, told[1].author, told[3].uuid) == (START * 1_000_000, "m-1", "s1-3")
    [result] = told[2].parts
    assert (result.name, result.trust, result.failed) == ("bash", "tool", False)


def test_what_a_tool_answers_and_a_person_attaches_keeps_its_origin(tmp_path: Path) -> None:
    attached = part("binary", Path="notes.md", MIMEType="text/markdown", Data=b64encode(b"port 1").decode())
    fetched = part("tool_call", id="c2", name="fetch", input="{}")
    asked, ran, _, failed = messages(
        tmp_path,
        ("user", [text("Look"), attached, part("binary", Path="a.png", MIMEType="image/png", Data="AAAA")]),
        ("user", [part("shell_command", command="make", output="no rule", exit_code=2)]),
        ("assistant", [fetched, END]),
        ("tool", [part("tool_result", tool_call_id="c2", name="fetch", content="404", is_error=True)]),
    )
    assert [(one.kind, asked.text[one.start : one.end]) for one in asked.parts] == [
        ("text", "Look"),
        ("attachment", "notes.md\nport 1"),
        ("image", "[image/png, a.png]"),
    ]
    assert (ran.role, ran.text, ran.parts[1].failed) == ("tool", "shell\ncommand: make\n\nno rule", True)
    assert (failed.parts[0].failed, failed.parts[0].trust) == (True, "external")


def test_the_prompt_with_which_crush_goes_on_after_a_summary_is_its_own(tmp_path: Path) -> None:
    words = "The previous session was interrupted because it got too long, the initial user request was: `x`"
    [told] = messages(tmp_path, ("user", [text(words)]))
    assert told.standing == "meta"


def test_an_answer_that_is_being_written_waits_for_the_next_read(tmp_path: Path) -> None:
    told = (("user", [text("hi")]), ("assistant", [text("Let me")]), ("user", [text("more")]))
    assert [one.text for one in messages(tmp_path / "a", *told)] == ["hi"]
    assert [one.text for one in messages(tmp_path / "b", *told, reader=LATER)] == ["hi", "Let me", "more"]
    [now], [later] = (list(reader.sessions(tmp_path / "b/.crush/crush.db")) for reader in (READER, LATER))
    assert (now.settled, later.settled) == (False, True)
    assert now.stamp != later.stamp


def test_a_sub_agent_s_session_names_its_parent_and_a_title_s_is_not_read(tmp_path: Path) -> None:
    database(tmp_path, ("user", [text("Find it")]), parent="s1", session="m1$$c1")
    path = database(tmp_path, ("user", [text("Generate a title")]), parent="s1", session="title-s1")
    found, _ = only(path)
    assert (found.identity.parent_session, found.identity.led_by_agent, found.cwd) == ("s1", True, "")


def test_what_is_not_understood_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = database(
        tmp_path / ".crush",
        ("user", "{not json"),
        ("oracle", [text("x")]),
        ("user", [part("hologram", shape="round"), text("still here"), 7, {"type": "text"}]),
        ("user", b"\xff\xfe"),
        ("assistant", [END]),
    )
    broken, unknown, newer, binary, empty = (row.content for row in only(path)[1])
    assert isinstance(broken, Unreadable)
    assert unknown == Unreadable("a message with the unknown role 'oracle'")
    assert isinstance(newer, Message)
    assert "still here" in newer.text
    assert isinstance(binary, Unreadable)
    assert isinstance(empty, Noise)


def test_an_error_that_ended_an_answer_is_not_the_model_s_words(tmp_path: Path) -> None:
    end = part("finish", reason="error", message="Rate limit", details="try later")
    [told] = messages(tmp_path, ("assistant", [text("I"), end]))
    assert [(one.kind, told.text[one.start : one.end]) for one in told.parts] == [
        ("text", "I"),
        ("attachment", "Rate limit: try later"),
    ]


def test_another_database_of_that_name_is_not_crush_s(tmp_path: Path) -> None:
    path = tmp_path / "crush.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE sessions (id TEXT)")
    connection.close()
    assert not READER.recognises(path, head_of(path))
    with pytest.raises(SourceUnreadable, match="this version of Crush is not supported"):
        list(READER.sessions(path))


def test_projects_are_found_by_crush_s_own_list(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "acme"
    path = database(project / ".crush", ("user", [text("hi")]))
    database(tmp_path / "cloned" / ".crush", ("user", [text("forged")]))
    index = home / ".local" / "share" / "crush" / "projects.json"
    index.parent.mkdir(parents=True)
    listed = [
        {"path": str(project), "data_dir": str(project / ".crush")},
        {"path": "/gone", "data_dir": str(tmp_path / "gone")},
        {"data_dir": "relative"},
        {"data_dir": 7},
        7,
    ]
    index.write_text(json.dumps({"projects": listed}))
    for variables in ({}, {"XDG_DATA_HOME": str(index.parent.parent)}, {"CRUSH_GLOBAL_DATA": str(index.parent)}):
        histories = host_histories.histories({"HOME": str(home), **variables}, (), tmp_path / "cloned")
        assert [(history.host, history.path) for history in histories] == [("crush", path.resolve())]
    for damaged in ("{", "[]", '{"projects": 7}', ""):
        index.write_text(damaged)
        assert host_histories.histories({"HOME": str(home)}) == ()


def test_whether_crush_has_a_session_is_known(tmp_path: Path) -> None:
    path = database(tmp_path)
    assert (has_session(path, "s1"), has_session(path, "s2")) == (True, False)


@few
@given(value=json_values, other=json_values)
def test_no_content_makes_reading_fail(value: object, other: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    kinds = ("text", "reasoning", "tool_call", "tool_result", "shell_command", "binary", "image_url", "finish", "x")
    odd = [{"type": kind, "data": data} for kind in kinds for data in (value, {"Data": other, "MIMEType": "text/x"})]
    keys = ("text", "input", "content", "command", "exit_code", "Data", "url", "name", "id", "message", "reason")
    odd += [part(kind, **dict.fromkeys(keys, value), MIMEType="text/plain") for kind in kinds]
    path = database(tmp_path_factory.mktemp("c"), ("assistant", odd), ("user", value), ("tool", [other, value]))
    for reader in (READER, LATER):
        read_or_refuse(reader, path)
