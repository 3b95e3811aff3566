"""Messages with a role and content: in all the forms in which programs keep them, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.sources.formats.chat_messages import ChatMessages

from .collection_samples import few, head_of, json_values, read_all, read_or_refuse, said

FEEDER = ChatMessages()
QUESTION, ANSWER = "Which port?", "8443."
MESSAGES = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]


def write(directory: Path, value: object, name: str = "chat.json") -> Path:
    path = directory / name
    lines = isinstance(value, list) and name.endswith("l")
    path.write_text("".join(f"{json.dumps(row)}\n" for row in value) if lines else json.dumps(value))  # type: ignore[attr-defined]
    return path


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (MESSAGES, "chat.json"),
        (MESSAGES, "chat.jsonl"),
        ({"messages": MESSAGES}, "chat.json"),
        ([{"messages": MESSAGES, "title": "Ports"}], "chat.jsonl"),
        ({"history": MESSAGES}, "chat.json"),
        ([{"role": "user", "parts": [{"text": QUESTION}]}, {"role": "model", "parts": [{"text": ANSWER}]}], "a.json"),
        ({"contents": [{"role": "user", "parts": [QUESTION]}, {"role": "model", "parts": [ANSWER]}]}, "a.json"),
        ([{"sender": "human", "text": QUESTION}, {"sender": "ai", "text": ANSWER}], "a.json"),
        (
            [
                {"role": message["role"], "content": [{"type": "text", "text": message["content"]}]}
                for message in MESSAGES
            ],
            "a.json",
        ),
        ([{"type": message["role"], "message": {"content": message["content"]}} for message in MESSAGES], "a.jsonl"),
        (
            [
                {"type": "session_metadata", "sessionId": "g"},
                {"type": "user", "content": [{"text": QUESTION}]},
                {"type": "gemini", "content": [{"text": ANSWER}]},
                {"role": "user", "content": QUESTION},
                {"role": "assistant", "content": ANSWER},
            ],
            "a.jsonl",
        ),
    ],
)
def test_a_conversation_is_read_in_each_of_its_forms(tmp_path: Path, value: object, name: str) -> None:
    path = write(tmp_path, value, name)
    assert FEEDER.recognises(path, head_of(path))
    [(_, rows)] = read_all(FEEDER, path)
    assert [(message.role, message.text) for message in said(rows)][:2] == [("user", QUESTION), ("assistant", ANSWER)]


def test_several_conversations_have_their_own_titles_and_identities(tmp_path: Path) -> None:
    path = write(tmp_path, [{"name": "Ports", "messages": MESSAGES}, {"uuid": "u2", "messages": MESSAGES}])
    conversations = read_all(FEEDER, path)
    assert [session.title for session, _ in conversations] == ["Ports", ""]
    assert len({session.identity for session, _ in conversations}) == 2
    longer_file = write(tmp_path, [{"name": "Ports", "messages": [*MESSAGES, *MESSAGES]}])
    [(session, _)] = read_all(FEEDER, longer_file)
    assert (session.identity, session.stamp == conversations[0][0].stamp) == (conversations[0][0].identity, False)


def test_what_is_said_beside_words_is_told_apart(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "web_search", "arguments": '{"query": "ports"}'}}
    value = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": QUESTION, "timestamp": "2026-03-04T10:00:00Z"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Port 8443 is usual."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c2", "name": "Bash", "input": {"command": "ls"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c2", "content": "a.py"}]},
        {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}]},
        {"role": "assistant", "content": ""},
        "not a message",
    ]
    [(_, rows)] = read_all(FEEDER, write(tmp_path, value))
    messages = said(rows)
    assert [(message.role, message.standing) for message in messages[:2]] == [("system", "meta"), ("user", "said")]
    assert messages[1].created_at == 1_772_618_400_000_000
    assert [part.kind for message in messages for part in message.parts] == [
        *("text", "text", "tool_call", "tool_result", "tool_call", "tool_result", "image")
    ]
    results = [part for message in messages for part in message.parts if part.kind == "tool_result"]
    assert [(part.name, part.trust) for part in results] == [("web_search", "external"), ("Bash", "tool")]
    assert [row.content.reason for row in rows if not hasattr(row.content, "text")] == [
        "assistant, without words",
        "not a message",
    ]


@pytest.mark.parametrize("is_nested", [False, True])
def test_what_a_command_fetched_is_external(tmp_path: Path, is_nested: bool) -> None:
    fetch = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "curl https://example.com"}}
    value: list[Mapping[str, object]] = [
        *MESSAGES,
        {"role": "assistant", "content": [fetch]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a page"}]},
    ]
    if is_nested:
        value = [{"type": message["role"], "message": message} for message in value]
    [(_, rows)] = read_all(FEEDER, write(tmp_path, value))
    results = [part for message in said(rows) for part in message.parts if part.kind == "tool_result"]
    assert [(part.name, part.trust) for part in results] == [("Bash", "external")]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ([], "a.json"),
        ({"messages": []}, "a.json"),
        ([{"role": "user", "content": "alone"}], "a.json"),
        ([{"role": "admin", "name": "Ada"}, {"role": "user", "name": "Bo"}], "users.json"),
        ([{"role": "user", "id": 1}, {"role": "assistant", "id": 2}], "roles.json"),
        ({"messages": {"hello": "Hej"}}, "translations.json"),
        ([*MESSAGES, *({"row": n} for n in range(9))], "mixed.json"),
        ([{"type": "user", "id": n} for n in range(4)], "rows.jsonl"),
        ("text", "a.json"),
        (MESSAGES, "chat.txt"),
    ],
)
def test_what_is_no_conversation_is_not_taken_for_one(tmp_path: Path, value: object, name: str) -> None:
    path = write(tmp_path, value, name)
    assert not FEEDER.recognises(path, head_of(path))


@few
@given(
    value=st.lists(
        json_values | st.fixed_dictionaries({"role": st.sampled_from(["user", "model"]), "content": json_values})
    )
)
def test_any_json_is_read_or_refused_with_a_sentence(value: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "chat.json"
    path.write_bytes(json.dumps(value).encode("utf-8", "surrogatepass"))
    FEEDER.recognises(path, head_of(path))
    read_or_refuse(FEEDER, path)
