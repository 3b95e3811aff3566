"""ChatGPT's export: a tree of messages, pictures by name, hidden messages, and exports that overlap."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import Message, Noise, Row, Unreadable
from palazzo.sources.formats.chatgpt import ChatGPT
from palazzo.sources.formats.claude_ai import ClaudeAI

from .collection_samples import few, head_of, is_canonical, json_values, read_all, read_or_refuse, said, words

FEEDER = ChatGPT()
T0 = 1_767_225_600.25


def node(own: str, parent: str | None, message: Mapping[str, object] | None, *children: str) -> dict[str, object]:
    return {own: {"id": own, "parent": parent, "children": list(children), "message": message}}


def message(own: str, role: str, content: object, at: object = T0, **fields: object) -> dict[str, object]:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    return {"id": own, "author": {"role": role, "name": None}, "create_time": at, "content": content, **fields}


def line(*told: tuple[str, object], **fields: object) -> dict[str, object]:
    """A conversation without branches, below the root that has no message."""
    mapping = node("root", None, None, "m0")
    for n, (role, content) in enumerate(told):
        mapping |= node(f"m{n}", f"m{n - 1}" if n else "root", message(f"m{n}", role, content, T0 + n), f"m{n + 1}")
    return conversation(mapping, f"m{len(told) - 1}", **fields)


def conversation(mapping: Mapping[str, object], current: str, **fields: object) -> dict[str, object]:
    named = {"title": "A talk", "create_time": T0, "update_time": T0 + 9, "mapping": mapping, "current_node": current}
    return {**named, "conversation_id": "c1", **fields}


def write(directory: Path, *conversations: object) -> Path:
    path = directory / "conversations.json"
    path.write_text(json.dumps(conversations))
    return path


def rows_of(directory: Path, *conversations: object) -> list[Row]:
    found = read_all(FEEDER, write(directory, *conversations))
    return [row for _, rows in found for row in rows]


def one(directory: Path, role: str, content: object, **fields: object) -> Message:
    mapping = node("root", None, None) | node("m0", "root", message("m0", role, content, **fields))
    [found] = said(rows_of(directory, conversation(mapping, "m0")))
    return found


# The tree


def test_the_conversation_leads_from_the_shown_message_to_the_root_and_the_rest_are_branches(tmp_path: Path) -> None:
    mapping = (
        node("root", None, None)
        | node("q", "root", message("q", "user", "Which port?", T0))
        | node("a1", "q", message("a1", "assistant", "Port 1.", T0 + 1))
        | node("a2", "q", message("a2", "assistant", "Port 2.", T0 + 5))
        | node("q2", "a1", message("q2", "user", "Sure?", T0 + 2))
        | node("q3", "a2", message("q3", "user", "Thanks.", T0 + 6))
    )
    rows = rows_of(tmp_path, conversation(mapping, "q3"))
    told = [(found.text, found.thread, found.parent) for found in said(rows)]
    assert told == [
        ("Which port?", "", "root"),
        ("Port 1.", "a1", "q"),
        ("Sure?", "a1", "a1"),
        ("Port 2.", "", "q"),
        ("Thanks.", "", "a2"),
    ]
    assert [row.content for row in rows if isinstance(row.content, Noise)] == [
        Noise("conversation"),
        Noise("node without a message"),
    ]
    assert all(is_canonical(row.raw) for row in rows)


def test_roles_times_and_ids_are_kept(tmp_path: Path) -> None:
    told = line(("user", "Hej"), ("assistant", "Hallå"))
    [asked, answered] = said(rows_of(tmp_path, told))
    assert (asked.role, asked.uuid, asked.created_at) == ("user", "m0", 1_767_225_600_250_000)
    assert (answered.role, answered.uuid, answered.created_at) == ("assistant", "m1", 1_767_225_601_250_000)


def test_an_answer_names_its_model(tmp_path: Path) -> None:
    assert one(tmp_path, "assistant", "Hi", metadata={"model_slug": "gpt-5"}).author == "gpt-5"


def test_a_conversation_that_went_on_adds_only_what_is_new(tmp_path: Path) -> None:
    first = rows_of(tmp_path, line(("user", "one"), ("assistant", "two")))
    second = rows_of(tmp_path, line(("user", "one"), ("assistant", "two"), ("user", "three"), update_time=T0 + 99))
    assert [row.content for row in second[: len(first)]] == [row.content for row in first]
    assert [found.uuid for found in said(second)] == ["m0", "m1", "m2"]
    assert second[0].raw == first[0].raw


def test_an_equal_stamp_means_an_equal_conversation(tmp_path: Path) -> None:
    told, other = line(("user", "one")), line(("user", "one"), conversation_id="c2")
    [first, untouched] = FEEDER.sessions(write(tmp_path, told, other))
    [second, again] = FEEDER.sessions(write(tmp_path, line(("user", "one!")), other))
    assert (first.identity, first.stamp == second.stamp) == (second.identity, False)
    assert untouched.stamp == again.stamp


# What messages hold


def test_pictures_are_named_and_words_beside_them_kept(tmp_path: Path) -> None:
    picture = {
        "content_type": "image_asset_pointer",
        "asset_pointer": "sediment://file_1",
        "width": 1024,
        "height": 768,
        "metadata": {"dalle": {"prompt": "a red door"}},
    }
    content = {"content_type": "multimodal_text", "parts": [picture, "What is this?"]}
    found = one(tmp_path, "user", content, metadata={"attachments": [{"name": "door.png", "mime_type": "image/png"}]})
    assert found.text == "[image, sediment://file_1, 1024×768]\na red door\n\nWhat is this?\n\n[door.png, image/png]"
    assert [part.kind for part in found.parts] == ["image", "text", "attachment"]


def test_speech_is_text(tmp_path: Path) -> None:
    parts = [{"content_type": "audio_transcription", "text": "spoken"}, {"content_type": "audio_asset_pointer"}]
    assert one(tmp_path, "user", {"content_type": "multimodal_text", "parts": parts}).text.startswith("spoken\n\n")


def test_calls_and_results_know_their_tool_and_their_trust(tmp_path: Path) -> None:
    call = one(tmp_path, "assistant", {"content_type": "code", "text": "print(1)"}, recipient="python")
    assert (call.text, call.parts[0].kind, call.parts[0].name) == ("python\nprint(1)", "tool_call", "python")
    ran = one(
        tmp_path, "tool", {"content_type": "execution_output", "text": "1"}, author={"role": "tool", "name": "python"}
    )
    assert (ran.role, ran.parts[0].kind, ran.parts[0].trust) == ("tool", "tool_result", "tool")
    page = {"content_type": "sonic_webpage", "title": "T", "url": "https://x.example", "text": "Words"}
    read = one(tmp_path, "tool", page, author={"role": "tool", "name": "web.run"})
    assert (read.text, read.parts[0].trust) == ("T\nhttps://x.example\nWords", "external")


def test_thoughts_are_thinking(tmp_path: Path) -> None:
    thoughts = [{"summary": "Ports", "content": "It may be 1."}]
    found = one(tmp_path, "assistant", {"content_type": "thoughts", "thoughts": thoughts})
    assert (found.text, found.parts[0].kind) == ("Ports\n\nIt may be 1.", "thinking")


def test_what_the_person_never_saw_is_meta(tmp_path: Path) -> None:
    assert one(tmp_path, "system", "You are ChatGPT.").standing == "meta"
    hidden = {"is_visually_hidden_from_conversation": True}
    assert one(tmp_path, "assistant", "hidden", metadata=hidden).standing == "meta"
    context = {"content_type": "user_editable_context", "user_profile": "P", "user_instructions": "I"}
    assert (one(tmp_path, "user", context).text, one(tmp_path, "user", context).standing) == ("P\nI", "meta")


def test_what_is_not_understood_is_said_and_never_raw_json(tmp_path: Path) -> None:
    odd = line(("user", {"content_type": "holograms", "layers": [1]}), ("narrator", "x"), ("assistant", ""))
    contents = [row.content for row in rows_of(tmp_path, odd)][2:]
    assert contents == [
        Unreadable("content of an unknown type"),
        Unreadable("a message with the unknown role 'narrator'"),
        Noise("assistant, without words"),
    ]


# Where it lies


def test_it_is_read_from_a_file_a_directory_and_a_zip(tmp_path: Path) -> None:
    path = write(tmp_path, line(("user", "hello")))
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(path, "conversations.json")
        archive.writestr("chat.html", "<html>")
    for place in (path, tmp_path, tmp_path / "export.zip"):
        assert FEEDER.recognises(place, head_of(place))
        assert not ClaudeAI().recognises(place, head_of(place))
        [(session, rows)] = read_all(FEEDER, place)
        assert (session.title, session.identity.session_id, said(rows)[0].text) == ("A talk", "c1", "hello")


def test_several_files_are_one_export(tmp_path: Path) -> None:
    for n in range(3):
        content = json.dumps([line(("user", f"hello {n}"), conversation_id=f"c{n}")])
        (tmp_path / f"conversations-00{n}.json").write_text(content)
    assert FEEDER.recognises(tmp_path, b"")
    assert [session.identity.session_id for session in FEEDER.sessions(tmp_path)] == ["c0", "c1", "c2"]


def test_other_json_is_not_taken_for_it(tmp_path: Path) -> None:
    for content in (b"[]", b"{}", b'{"a": "mapping"}', b'# "mapping": {', b'["say \\"mapping\\": twice"]'):
        assert not FEEDER.recognises(tmp_path / "x.json", content)
    assert not FEEDER.recognises(tmp_path, b"")
    assert not FEEDER.recognises(tmp_path / "gone.zip", b"PK\x03\x04")


def test_a_bomb_in_place_of_the_conversations_is_refused_with_a_reason(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "e.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * 40_000_000 + b"]")
    with pytest.raises(SourceUnreadable, match="zip bomb"):
        list(FEEDER.sessions(tmp_path / "e.zip"))


# What may be wrong


def test_what_stands_before_a_cut_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, line(("user", "one")), line(("user", "two"), conversation_id="c2"))
    path.write_bytes(path.read_bytes()[:-30])
    sessions = FEEDER.sessions(path)
    assert said(next(sessions).rows())[0].text == "one"
    with pytest.raises(SourceUnreadable, match="is truncated or damaged after"):
        next(sessions)


def test_an_empty_conversation_and_one_with_a_single_message_are_conversations(tmp_path: Path) -> None:
    empty = conversation({}, "", conversation_id="c0")
    found = read_all(FEEDER, write(tmp_path, empty, line(("user", "alone"))))
    assert [len(said(rows)) for _, rows in found] == [0, 1]


def test_what_is_no_conversation_is_accounted_for(tmp_path: Path) -> None:
    [(_, rows), _] = read_all(FEEDER, write(tmp_path, 7, line(("user", "x"))))
    assert [row.content for row in rows] == [Unreadable("not a conversation")]


@few
@given(told=st.lists(st.tuples(st.sampled_from(["user", "assistant"]), words), max_size=6))
def test_what_is_written_is_read_back(told: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    rows = rows_of(tmp_path_factory.mktemp("g"), line(*told))
    assert [(found.role, found.text) for found in said(rows)] == [(role, text) for role, text in told if text]


@few
@given(mapping=st.dictionaries(st.text(max_size=3), json_values, max_size=4), content=json_values, author=json_values)
def test_no_content_makes_reading_fail(
    mapping: dict[str, object], content: object, author: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    odd = {"id": content, "author": author, "content": content, "metadata": author, "recipient": content}
    typed = [
        message("t", "user", {"content_type": kind, "parts": content, "text": content, "thoughts": content})
        for kind in ("text", "code", "thoughts", "multimodal_text")
    ]
    nodes = mapping | node("o", "root", odd)
    for n, found in enumerate(typed):
        nodes |= node(f"t{n}", f"t{n - 1}", found)
    directory = tmp_path_factory.mktemp("g")
    read_or_refuse(
        FEEDER, write(directory, conversation(nodes, "t1"), {**conversation({}, ""), "mapping": content}, content)
    )
