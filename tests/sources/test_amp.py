"""Amp's threads, as public readers describe them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given

from palazzo.errors import SourceUnreadable
from palazzo.hosts.amp.transcript import Amp
from palazzo.model import Micros
from palazzo.sources.formats import Noise, Row, Session, Unreadable

from .collection_samples import few, head_of, is_canonical, json_values, read_all, read_or_refuse, said

CREATED = 1_795_293_302_613
OWN = "T-019b9d03-62e3-772f-9780-3e637f90eaec"
CHANGED = Micros(CREATED * 1000)
READER = Amp(lambda: CHANGED)
LATER = Amp(lambda: Micros(CHANGED + 2 * 3600 * 1_000_000))
Json = dict[str, object]
CALL: Json = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"cmd": "ls"}}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def run(status: str, result: object = None, name: str = "result") -> Json:
    return {"type": "tool_result", "toolUseID": "c1", "run": {"status": status, name: result}}


def message(role: str, *content: object, **fields: object) -> Json:
    return {"role": role, "content": list(content), **fields}


def thread(directory: Path, *messages: object, **fields: object) -> Path:
    path = directory / f"{OWN}.json"
    record = {"v": 3, "id": OWN, "created": CREATED, "title": "Ports", **fields, "messages": list(messages)}
    path.write_text(json.dumps(record))
    os.utime(path, ns=(CHANGED * 1000, CHANGED * 1000))
    return path


def only(path: Path, reader: Amp = READER) -> tuple[Session, list[Row]]:
    assert reader.recognises(path, head_of(path))
    [found] = read_all(reader, path)
    return found


def test_a_thread_is_read_with_its_calls_and_their_results(tmp_path: Path) -> None:
    tree = {"uri": "file:///home/dev/my%20acme", "repository": {"ref": "refs/heads/fix/ports"}}
    path = thread(
        tmp_path,
        message("user", text("Which port?"), messageId=0, meta={"sentAt": CREATED + 1000}),
        message(
            "assistant", {"type": "thinking", "thinking": "I look."}, CALL, messageId=1, state={"type": "complete"}
        ),
        message("user", run("done", {"output": "deploy.yaml", "exitCode": 0}), messageId=2),
        message("assistant", text("Port 8443."), messageId=3, usage={"model": "m-1"}),
        message("info", {"type": "summary", "summary": {"type": "message", "summary": "All is well"}}),
        env={"initial": {"trees": [tree]}},
        usageLedger={"events": [{"timestamp": "2026-11-21T22:00:00Z", "toMessageId": 3}]},
    )
    found, rows = only(path)
    assert (found.identity.key, found.title, found.cwd) == (("amp", OWN), "Ports", "/home/dev/my acme")
    told = said(rows)
    assert [(one.role, one.standing, one.text) for one in told] == [
        ("user", "said", "Which port?"),
        ("assistant", "said", "I look.\n\nBash\ncmd: ls"),
        ("tool", "said", "deploy.yaml"),
        ("assistant", "said", "Port 8443."),
        ("system", "summary", "All is well"),
    ]
    assert [one.created_at for one in told[:3]] == [(CREATED + 1000) * 1000] * 3
    assert (told[3].created_at, told[3].author) == (1_795_298_400_000_000, "m-1")
    assert {one.branch for one in told} == {"fix/ports"}
    assert (told[2].parts[0].name, told[2].parts[0].trust, told[2].parts[0].failed) == ("Bash", "tool", False)
    assert all(is_canonical(row.raw) for row in rows)


@pytest.mark.parametrize(
    ("block", "words", "failed"),
    [
        (run("done", "plain"), "plain", False),
        (run("done", ["a.py", "b.py"]), "a.py\nb.py", False),
        (run("done", {"content": "1: x", "absolutePath": "/x"}), "1: x", False),
        (run("done", [text("one"), text("two")]), "one\n\ntwo", False),
        (run("done", {"diff": "+x"}), "+x", False),
        (run("done", {"output": "no rule", "exitCode": 2}), "no rule", True),
        (run("error", {"message": "no such file"}, "error"), "no such file", True),
        (run("rejected-by-user", "no", "progress"), "no", True),
        (run("cancelled", {"output": "half"}, "progress"), "half", True),
    ],
)
def test_a_result_is_its_words_and_whether_it_failed(block: Json, words: str, failed: bool, tmp_path: Path) -> None:
    _, result = said(only(thread(tmp_path, message("assistant", CALL), message("user", block)))[1])
    assert (result.text, result.parts[0].failed) == (words, failed)


@pytest.mark.parametrize(
    "busy",
    [
        message("assistant", text("Let me"), state={"type": "streaming"}),
        message("user", run("in-progress", "half", "progress")),
    ],
)
def test_a_message_that_is_not_finished_waits_for_the_next_read(busy: Json, tmp_path: Path) -> None:
    path = thread(tmp_path, message("user", text("hi")), busy, message("user", text("more")))
    (now, rows), (later, all_rows) = only(path), only(path, LATER)
    assert [one.text for one in said(rows)] == ["hi"]
    assert [one.text for one in said(all_rows)][-1] == "more"
    assert (now.settled, later.settled) == (False, True)
    assert now.stamp != later.stamp


@pytest.mark.parametrize(
    ("initial", "directory"),
    [
        ({"cwd": "/home/dev/acme"}, "/home/dev/acme"),
        ({"trees": [{"uri": "/plain/path"}]}, "/plain/path"),
        ({"trees": [{"uri": {"fsPath": "/of/editor"}}]}, "/of/editor"),
        ({"trees": [{"uri": "https://example.org/x"}]}, ""),
        ({"trees": [{"uri": "file://[bad"}]}, ""),
        ({}, ""),
    ],
)
def test_the_directory_is_where_the_thread_began(initial: Json, directory: str, tmp_path: Path) -> None:
    assert only(thread(tmp_path, env={"initial": initial}))[0].cwd == directory


def test_a_half_written_thread_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = thread(
        tmp_path, message("user", text("one")), message("assistant", text("two")), message("user", text("three"))
    )
    whole = path.read_bytes()
    for end in range(len(whole) // 2, len(whole), 5):
        path.write_bytes(whole[:end])
        for found, rows in read_or_refuse(READER, path):
            assert (found.identity.session_id, found.title) == (OWN, "Ports")
            told = [one.text for one in said(rows)]
            assert told == ["one", "two", "three"][: len(told)]
            assert isinstance(rows[-1].content, Unreadable)


def test_a_thread_that_went_on_and_was_named_adds_only_what_is_new(tmp_path: Path) -> None:
    before, first = only(thread(tmp_path, message("user", text("one"))))
    after, second = only(thread(tmp_path, message("user", text("one")), message("assistant", text("two")), title="New"))
    assert [row.raw for row in second[: len(first)]] == [row.raw for row in first]
    assert before.stamp != after.stamp


def test_what_is_odd_is_accounted_for_and_another_file_is_not_taken(tmp_path: Path) -> None:
    path = thread(tmp_path, 7, message("ghost", text("x")), message("assistant"), message("user", {"type": "hologram"}))
    assert [row.content for row in only(path)[1][1:4]] == [
        Unreadable("not a message"),
        Unreadable("a message with the unknown role 'ghost'"),
        Noise("assistant, without words"),
    ]
    other = tmp_path / "T-notes.json"
    other.write_text('{"id": "T-1", "messages": []}')
    assert not READER.recognises(other, head_of(other))
    path.write_text('{"id": "T-1", "messages": 7}')
    with pytest.raises(SourceUnreadable, match="not a thread of Amp"):
        list(READER.sessions(path))


@few
@given(value=json_values, other=json_values)
def test_no_content_makes_reading_fail(value: object, other: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    kinds = ("text", "thinking", "tool_use", "tool_result", "image", "summary", "x")
    blocks: list[object] = [
        {"type": kind, **dict.fromkeys(("text", "id", "name", "input", "toolUseID", "run", "summary", "source"), value)}
        for kind in kinds
    ]
    odd = [
        message("assistant", CALL, *blocks, messageId=value, meta=other, state=value, usage=other),
        message("user", run("done", value), run(str(other), other), other, meta={"sentAt": value}),
        {"role": "user", "content": value},
        value,
    ]
    env = {"initial": {"trees": [{"uri": value, "repository": other}, other], "cwd": other}}
    path = thread(tmp_path_factory.mktemp("c"), *odd, env=env, usageLedger={"events": [value, {"toMessageId": other}]})
    for reader in (READER, LATER):
        read_or_refuse(reader, path)
    read_or_refuse(READER, thread(path.parent, *odd, env=value, usageLedger=other, created=value, title=other))
