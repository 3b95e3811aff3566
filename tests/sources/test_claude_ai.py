"""Claude.ai's export: conversations, attachments, names, projects, and exports that overlap."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import Message, Noise, Row, Unreadable
from palazzo.sources.formats.claude_ai import ClaudeAI

from .collection_samples import few, head_of, is_canonical, json_values, read_all, read_or_refuse, said, words

FEEDER = ClaudeAI()
ROOT = "00000000-0000-4000-8000-000000000000"


def message(n: int, sender: str, text: str, /, **fields: object) -> dict[str, object]:
    written: dict[str, object] = {"uuid": f"m{n}", "sender": sender, "text": text, "attachments": [], "files": []}
    written |= {"content": [{"type": "text", "text": text}], "created_at": f"2026-02-25T19:14:{n:02}.5Z"}
    return written | fields


def conversation(*messages: object, **fields: object) -> dict[str, object]:
    named = {"uuid": "c1", "name": "Ports", "created_at": "2026-02-25T19:14:00Z", "account": {"uuid": "u1"}}
    return {**named, "updated_at": "2026-02-25T19:15:00Z", **fields, "chat_messages": list(messages)}


def write(directory: Path, *conversations: object, **files: object) -> Path:
    (directory / "conversations.json").write_text(json.dumps(conversations))
    for name, value in files.items():
        (directory / f"{name}.json").write_text(json.dumps(value))
    return directory


def rows_of(directory: Path, *conversations: object, **files: object) -> list[Row]:
    return [row for _, rows in read_all(FEEDER, write(directory, *conversations, **files)) for row in rows]


def one(directory: Path, **fields: object) -> Message:
    [found] = said(rows_of(directory, conversation(message(1, "human", "", **fields))))
    return found


def test_speakers_times_ids_and_names_are_kept(tmp_path: Path) -> None:
    told = conversation(message(1, "human", "Which port?"), message(2, "assistant", "8443."))
    users = [{"uuid": "u1", "full_name": "Åsa Öberg"}]
    [(session, rows)] = read_all(FEEDER, write(tmp_path, told, users=users))
    assert (session.title, session.identity.key, session.identity.session_id) == ("Ports", ("claude-ai", "c1"), "c1")
    assert [(one.role, one.text, one.uuid, one.author, one.created_at) for one in said(rows)] == [
        ("user", "Which port?", "m1", "Åsa Öberg", 1_772_046_841_500_000),
        ("assistant", "8443.", "m2", "", 1_772_046_842_500_000),
    ]
    assert all(is_canonical(row.raw) for row in rows)


def test_the_words_of_older_exports_stand_in_text_alone(tmp_path: Path) -> None:
    assert one(tmp_path, text="old words", content=[]).text == "old words"
    assert one(tmp_path, text="old words", content=None).text == "old words"


def test_the_extracted_text_of_attachments_is_kept_and_files_are_named(tmp_path: Path) -> None:
    attachments = [
        {"file_name": "plan.pdf", "file_size": 9, "extracted_content": "Deploy on Friday."},
        {"file_name": ""},
    ]
    files = [{"file_name": "door.png"}, {"file_name": "a.bin"}]
    found = one(tmp_path, text="See:", content=[], attachments=attachments, files=files)
    assert found.text == "See:\n\nplan.pdf\nDeploy on Friday.\n\n[pasted text]\n\n[door.png]\n\n[a.bin]"
    assert [part.kind for part in found.parts] == ["text", "attachment", "attachment", "image", "attachment"]


def test_thoughts_calls_and_results_are_parts(tmp_path: Path) -> None:
    content = [
        {"type": "thinking", "thinking": "Look it up."},
        {"type": "tool_use", "id": "t1", "name": "web_search", "input": {"query": "port"}},
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "name": "web_search",
            "content": [{"type": "text", "text": "8443"}],
        },
        {"type": "tool_result", "tool_use_id": "t2", "name": "repl", "content": "42", "is_error": True},
        {"type": "token_budget"},
        {"type": "text", "text": "It is 8443."},
    ]
    [found] = said(rows_of(tmp_path, conversation(message(1, "assistant", "", content=content))))
    told = [(part.kind, part.name, part.failed, part.trust) for part in found.parts]
    assert told == [
        ("thinking", "", False, None),
        ("tool_call", "web_search", False, None),
        ("tool_result", "web_search", False, "external"),
        ("tool_result", "repl", True, "external"),
        ("text", "", False, None),
    ]
    assert "token_budget" not in found.text


def test_messages_that_name_their_parents_may_branch(tmp_path: Path) -> None:
    tree = [
        message(1, "human", "q", parent_message_uuid=ROOT),
        message(2, "assistant", "first", parent_message_uuid="m1"),
        message(3, "assistant", "second", parent_message_uuid="m1"),
        message(4, "human", "on", parent_message_uuid="m3"),
    ]
    shown = said(rows_of(tmp_path, conversation(*tree)))
    assert [(one.text, one.thread) for one in shown] == [("q", ""), ("first", "m2"), ("second", ""), ("on", "")]
    other = said(rows_of(tmp_path, conversation(*tree, current_leaf_message_uuid="m2")))
    assert [(one.text, one.thread) for one in other] == [("q", ""), ("first", ""), ("second", "m3"), ("on", "m3")]
    assert (shown[0].parent, shown[1].parent) == ("", "m1")


def test_a_later_export_adds_only_what_is_new(tmp_path: Path) -> None:
    told = [message(1, "human", "one"), message(2, "assistant", "two")]
    first = rows_of(tmp_path, conversation(*told))
    second = rows_of(tmp_path, conversation(*told, message(3, "human", "three"), updated_at="2026-03-01T00:00:00Z"))
    assert second[: len(first)] == first
    assert len(second) == len(first) + 1


def test_what_projects_know_are_notes(tmp_path: Path) -> None:
    docs = [{"uuid": "d1", "filename": "api.md", "content": "# API\nUse TLS.", "created_at": "2026-01-02T03:04:05Z"}]
    project = {
        "uuid": "p1",
        "name": "Gateway",
        "description": "All of it",
        "prompt_template": "Be brief.",
        "docs": docs,
    }
    write(tmp_path, conversation(), projects=[project])
    [_, (session, rows)] = read_all(FEEDER, tmp_path)
    assert (session.title, session.identity.key) == ("Gateway", ("claude-ai", "project", "p1"))
    assert [(one.kind, one.role, one.text) for one in said(rows)] == [
        ("note", "author", "All of it"),
        ("note", "author", "Be brief."),
        ("note", "author", "# API\nUse TLS."),
    ]
    before = {one.uuid for one in said(rows)}
    docs[0]["content"] += "\nAnd HTTP/2."
    write(tmp_path, conversation(), projects=[project])
    [_, (changed, rows)] = read_all(FEEDER, tmp_path)
    assert changed.stamp != session.stamp
    assert len({one.uuid for one in said(rows)} - before) == 1


def test_it_is_read_from_a_file_a_directory_and_a_zip_with_one_folder(tmp_path: Path) -> None:
    directory = write(tmp_path, conversation(message(1, "human", "hello")), users=[])
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.write(directory / "conversations.json", "data-2026/conversations.json")
        archive.writestr("data-2026/users.json", json.dumps([{"uuid": "u1", "full_name": "A"}]))
        archive.writestr("../users.json", "[]")
    for place in (directory, directory / "conversations.json", tmp_path / "data.zip"):
        assert FEEDER.recognises(place, head_of(place))
        [(_, rows)] = read_all(FEEDER, place)
        assert said(rows)[0].text == "hello"


def test_a_single_conversation_in_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "claude_conversation.json"
    path.write_text(json.dumps(conversation(message(1, "human", "alone"))))
    assert FEEDER.recognises(path, head_of(path))
    [(_, rows)] = read_all(FEEDER, path)
    assert [one.text for one in said(rows)] == ["alone"]


def test_empty_conversations_and_odd_messages_are_accounted_for(tmp_path: Path) -> None:
    contents = [
        row.content for row in rows_of(tmp_path, conversation("x", message(1, "human", ""), {"sender": "ghost"}))
    ]
    assert contents == [
        Noise("conversation"),
        Unreadable("not a message"),
        Noise("human, without words"),
        Unreadable("a message with the unknown sender 'ghost'"),
    ]
    assert [row.content for row in rows_of(tmp_path, conversation())] == [Noise("conversation")]


def test_a_truncated_export_gives_what_stands_before(tmp_path: Path) -> None:
    path = write(tmp_path, conversation(message(1, "human", "kept")), conversation(uuid="c2")) / "conversations.json"
    path.write_bytes(path.read_bytes()[:-3])
    sessions = FEEDER.sessions(tmp_path)
    assert said(next(sessions).rows())[0].text == "kept"
    with pytest.raises(SourceUnreadable, match="is truncated or damaged after"):
        next(sessions)


@few
@given(told=st.lists(st.tuples(st.sampled_from(["human", "assistant"]), words), max_size=6))
def test_what_is_written_is_read_back(told: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    messages = [message(n, sender, text) for n, (sender, text) in enumerate(told)]
    rows = rows_of(tmp_path_factory.mktemp("c"), conversation(*messages))
    expected = [("user" if sender == "human" else sender, text) for sender, text in told if text]
    assert [(one.role, one.text) for one in said(rows)] == expected


@few
@given(value=json_values, other=json_values)
def test_no_content_makes_reading_fail(value: object, other: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    odd = [
        message(1, "human", "", content=value, attachments=other, files=[value], created_at=other),
        message(2, "assistant", "", content=[{"type": "tool_result", "content": value}, {"type": value}, other]),
        message(3, "human", "x", parent_message_uuid=value, uuid=other),
        value,
    ]
    users: object = [value, {"uuid": "u1", "full_name": other}]
    projects: object = [value, {"uuid": other, "name": value, "docs": [value, {"content": other, "filename": value}]}]
    directory = tmp_path_factory.mktemp("c")
    write(directory, conversation(*odd), conversation(value, account=other), value, users=users, projects=projects)
    read_or_refuse(FEEDER, directory)
