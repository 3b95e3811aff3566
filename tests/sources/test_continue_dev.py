"""Continue's sessions: items nested under `message`, tools, attachments, and what may go wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.hosts.continue_dev.transcript import ContinueDev
from palazzo.sources.formats import Message, Noise, Unreadable

from .collection_samples import few, head_of, is_canonical, json_values, read_all, read_or_refuse, said, words

FEEDER = ContinueDev()
CAPTURED = Path(__file__).parents[1] / "fixtures" / "continue" / "1.5.47"


def item(role: str, content: object, **fields: object) -> dict[str, object]:
    message: dict[str, object] = {"role": role, "content": content}
    for key in ("toolCalls", "toolCallId"):
        if key in fields:
            message[key] = fields.pop(key)
    return {"message": message, "contextItems": [], **fields}


def write(directory: Path, *items: object, **fields: object) -> Path:
    record = {"sessionId": "s1", "title": "Ports", "workspaceDirectory": "file:///home/dev/my%20acme", **fields}
    (directory / "s1.json").write_text(json.dumps({**record, "history": list(items)}))
    index = [{"sessionId": "s1", "title": "Ports", "dateCreated": "1795293302613", "workspaceDirectory": "x"}]
    (directory / "sessions.json").write_text(json.dumps(index))
    return directory


def messages(directory: Path, *items: object) -> list[Message]:
    [(_, rows)] = read_all(FEEDER, write(directory, *items))
    return said(rows)


def call(own: str, name: str, arguments: str) -> dict[str, object]:
    return {"id": own, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_the_session_and_its_turns(tmp_path: Path) -> None:
    [(session, rows)] = read_all(FEEDER, write(tmp_path, item("user", "Which port?"), item("assistant", "8443.")))
    assert (session.title, session.cwd, session.identity.session_id) == ("Ports", "/home/dev/my acme", "s1")
    assert [(one.role, one.text, one.created_at) for one in said(rows)] == [
        ("user", "Which port?", 1_795_293_302_613_000),
        ("assistant", "8443.", 1_795_293_302_613_000),
    ]
    assert rows[0].content == Noise("session")
    assert all(is_canonical(row.raw) for row in rows)


def test_what_the_program_wrote_is_read_and_a_server_s_answer_is_its_text() -> None:
    sessions = {session.identity.session_id[:8]: said(rows) for session, rows in read_all(FEEDER, CAPTURED)}
    assert [(message.role, message.text.partition(":")[0]) for message in sessions["60b5fe6a"]] == [
        ("user", "Which port does the payment gateway listen on?"),
        ("assistant", "Decided"),
        ("user", "Which proxy is it?"),
        ("assistant", "It is nginx."),
    ]
    looked, kept, _ = (message for message in sessions["b2d3bd1a"] if message.role == "assistant")
    assert [(part.kind, part.name) for part in looked.parts if part.name] == [
        ("tool_call", "search"),
        ("tool_result", "search"),
    ]
    assert kept.text.splitlines()[-1].startswith("Filed as ")


def test_parts_thoughts_and_pictures(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "See"}, {"type": "imageUrl", "imageUrl": {"url": "data:image/png;base64,AAAA"}}]
    asked, thought, answered = messages(
        tmp_path, item("user", parts), item("thinking", "hm"), item("assistant", "A", reasoning={"text": "why"})
    )
    assert (asked.text, [part.kind for part in asked.parts]) == ("See\n\n[image]", ["text", "image"])
    assert (thought.role, thought.parts[0].kind) == ("assistant", "thinking")
    assert (answered.text, answered.parts[0].kind) == ("why\n\nA", "thinking")


def test_a_tools_output_is_read_once_and_knows_its_tool(tmp_path: Path) -> None:
    state = {"toolCallId": "t1", "status": "done", "output": [{"name": "o", "content": "8443"}]}
    asked = item(
        "assistant",
        "",
        toolCalls=[call("t1", "run_terminal_command", '{"command": "cat port"}')],
        toolCallStates=[state],
    )
    called, result = messages(tmp_path, asked, item("tool", "8443", toolCallId="t1"))
    assert called.text == "run_terminal_command\ncommand: cat port"
    assert (result.role, result.text, result.parts[0].name) == ("tool", "8443", "run_terminal_command")
    [alone] = messages(tmp_path, asked)
    assert [part.kind for part in alone.parts] == ["tool_call", "tool_result"]
    failed = {**state, "status": "errored"}
    [one] = messages(tmp_path, {**asked, "toolCallStates": [failed]})
    assert one.parts[1].failed


def test_a_tool_at_work_waits_for_the_next_read(tmp_path: Path) -> None:
    state = {"toolCallId": "t1", "status": "calling"}
    busy = item("assistant", "Let me see.", toolCallStates=[state])
    assert [one.text for one in messages(tmp_path, item("user", "hi"), busy)] == ["hi"]
    assert [one.text for one in messages(tmp_path, busy, item("user", "hi"))] == ["Let me see.", "hi"]


def test_what_was_attached_keeps_its_words_and_their_trust(tmp_path: Path) -> None:
    context = [
        {"name": "a.py", "content": "x = 1", "id": {"providerTitle": "file"}},
        {"name": "page", "content": "words", "id": {"providerTitle": "url"}},
    ]
    [found] = messages(tmp_path, item("user", "Look", contextItems=context))
    assert found.text == "Look\n\na.py\nx = 1\n\npage\nwords"
    assert [part.trust for part in found.parts] == [None, "tool", "external"]


def test_a_session_that_went_on_adds_only_what_is_new(tmp_path: Path) -> None:
    [(before, first)] = read_all(FEEDER, write(tmp_path, item("user", "one")))
    [(after, second)] = read_all(FEEDER, write(tmp_path, item("user", "one"), item("assistant", "two")))
    assert second[: len(first)] == first
    assert before.stamp != after.stamp


def test_a_file_and_a_directory_are_recognised_and_others_are_not(tmp_path: Path) -> None:
    write(tmp_path, item("user", "hi"))
    assert FEEDER.recognises(tmp_path, b"")
    assert FEEDER.recognises(tmp_path / "s1.json", head_of(tmp_path / "s1.json"))
    assert not FEEDER.recognises(tmp_path / "sessions.json", head_of(tmp_path / "sessions.json"))
    assert not FEEDER.recognises(tmp_path / "x.json", b'{"history": []}')
    assert not FEEDER.recognises(tmp_path.parent, b"")
    [(session, _)] = read_all(FEEDER, tmp_path / "s1.json")
    assert session.title == "Ports"


def test_what_is_odd_or_damaged_is_accounted_for(tmp_path: Path) -> None:
    write(tmp_path, 7, {"role": "user"}, item("ghost", "x"), item("assistant", ""))
    (tmp_path / "bad.json").write_text('{"sessionId": "b", "history": [')
    (_, bad), (_, rows) = read_all(FEEDER, tmp_path)
    assert isinstance(bad[0].content, Unreadable)
    assert [row.content for row in rows[1:]] == [
        Unreadable("not an item"),
        Unreadable("an item without a message"),
        Unreadable("a message with the unknown role 'ghost'"),
        Noise("assistant, without words"),
    ]


@few
@given(told=st.lists(st.tuples(st.sampled_from(["user", "assistant"]), words), max_size=6))
def test_what_is_written_is_read_back(told: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    found = messages(tmp_path_factory.mktemp("c"), *(item(role, text) for role, text in told))
    assert [(one.role, one.text) for one in found] == [(role, text) for role, text in told if text]


@few
@given(value=json_values, other=json_values)
def test_no_content_makes_reading_fail(value: object, other: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    odd = item("assistant", value, toolCalls=[other, call("t", "x", "{")], toolCallStates=[other], contextItems=[value])
    directory = write(tmp_path_factory.mktemp("c"), odd, value, item("tool", other, toolCallId=value), title=value)
    read_or_refuse(FEEDER, directory)


def test_items_that_are_messages_themselves_know_the_tools_of_their_calls(tmp_path: Path) -> None:
    message_with_call = {
        "role": "assistant",
        "content": "",
        "toolCalls": [call("t1", "run_terminal_command", '{"command": "cat port"}')],
        "toolCallStates": [{"toolCallId": "t1", "status": "done", "output": [{"name": "o", "content": "8443"}]}],
    }
    parsed_message, result = messages(
        tmp_path, message_with_call, {"role": "tool", "content": "8443", "toolCallId": "t1"}
    )
    assert [part.kind for part in parsed_message.parts] == ["tool_call"]
    assert [(part.name, part.trust) for part in result.parts] == [("run_terminal_command", "tool")]
