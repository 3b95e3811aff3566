"""Copilot CLI's event log: what it really wrote, and the events its SDK declares."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from palazzo.hosts.copilot_cli.transcript import Copilot
from palazzo.sources.formats import Message, Noise, Unreadable

from .host_samples import Json, copilot_event, humans, messages, rows_of, sessions_of, written
from .samples import message, read

FEEDER = Copilot()
[SESSION] = sessions_of("copilot")
event = copilot_event


# What the host really wrote


def test_a_real_session_says_everything_once() -> None:
    rows = rows_of(FEEDER, SESSION)
    said = [one for one in messages(rows) if one.standing == "said"]
    assert humans(rows) == ["What port does deploy use?", "Run the failing test"]
    assert [one.text for one in said if one.role == "assistant"] == [
        "Let me check memory first.\n\nmem-memory_search\nquery: deploy port",
        "The deploy service listens on port 8443 (from memory).",
        "Running it.\n\nbash\ncommand: echo 'E   AssertionError: expected 200 got 503' >&2; exit 3\n"
        "description: Run test\nsync: true\nmode: sync",
        "And ask memory.\n\nmem-memory_boom",
        "Root cause: the test hits the service before it is ready (503). Fix: wait for /healthz.",
    ]
    results = [part for one in said for part in one.parts if part.kind == "tool_result"]
    assert [(part.name, part.failed, part.trust) for part in results] == [
        ("mem-memory_search", False, "external"),
        ("bash", True, "tool"),
        ("mem-memory_boom", True, "external"),
    ]
    assert {(one.cwd, one.branch, len(one.commit)) for one in said} == {("/home/dev/acme", "master", 40)}
    assert {one.author for one in said if one.role == "assistant"} == {"fake-model"}


def test_every_row_of_the_captured_file_is_counted() -> None:
    counted = Counter(
        one.content.reason.partition("/")[0] if isinstance(one.content, Noise) else type(one.content).__name__
        for one in rows_of(FEEDER, SESSION)
    )
    assert counted == {
        "Message": 11,
        "hook.start": 17,
        "hook.end": 17,
        "assistant.turn_start": 5,
        "assistant.turn_end": 5,
        "session.usage_record": 5,
        "tool.execution_start": 3,
        "session.shutdown": 2,
        "session.start": 1,
        "session.resume": 1,
    }


def test_the_system_prompt_is_meta() -> None:
    [prompt] = [one for one in messages(rows_of(FEEDER, SESSION)) if one.standing == "meta"]
    assert (prompt.role, prompt.text[:7]) == ("system", "You are")


def test_the_session_is_known_by_its_directory_or_its_first_event() -> None:
    head = SESSION.read_bytes()[:65536]
    for path in (SESSION, Path("copy.jsonl")):
        assert FEEDER.identify(path, head).key == ("copilot", "82d0ee14-4119-4576-b6f0-a99a5a7d0eb6")


# Events that were not captured


def test_an_answer_has_thoughts_words_and_calls() -> None:
    request = {"toolCallId": "c", "name": "edit", "arguments": {"path": "a", "new_str": "x\ny"}}
    data: Json = {"content": "Done", "reasoningText": "Hm", "model": "m", "toolRequests": [request]}
    said = message(FEEDER, event("assistant.message", data))
    assert said.text == "Hm\n\nDone\n\nedit\npath: a\nnew_str:\nx\ny"
    assert [part.kind for part in said.parts] == ["thinking", "text", "tool_call"]


@pytest.mark.parametrize(
    ("fields", "standing", "trust"),
    [
        ({}, "said", None),
        ({"source": "user"}, "said", None),
        ({"source": "skill-pdf"}, "meta", None),
        ({"source": "agent-a1"}, "said", "agent"),
        ({"isAutopilotContinuation": True}, "meta", None),
    ],
)
def test_who_wrote_in_the_persons_place(fields: Json, standing: str, trust: str | None) -> None:
    said = message(FEEDER, event("user.message", {"content": "go on", **fields}))
    assert (said.role, said.standing, said.parts[0].trust) == ("user", standing, trust)


def test_what_is_attached_is_set_aside() -> None:
    attached = {"type": "selection", "displayName": "a.py", "text": "x = 1\ny = 2"}
    said = message(FEEDER, event("user.message", {"content": "Why?", "attachments": [attached]}))
    assert said.text == "Why?\n\nselection\ndisplayName: a.py\ntext:\nx = 1\ny = 2"
    assert [(part.kind, part.trust) for part in said.parts] == [("text", None), ("attachment", "repo")]


@pytest.mark.parametrize(
    ("kind", "data", "role", "standing"),
    [
        ("session.compaction_complete", {"success": True, "summaryContent": "x"}, "assistant", "summary"),
        ("session.error", {"message": "x"}, "system", "meta"),
        ("system.notification", {"content": "x"}, "system", "meta"),
        ("skill.invoked", {"name": "pdf", "content": "x"}, "system", "meta"),
    ],
)
def test_words_of_the_host(kind: str, data: Json, role: str, standing: str) -> None:
    said = message(FEEDER, event(kind, data))
    assert (said.text, said.role, said.standing) == ("x", role, standing)


def test_a_sub_agents_words_have_a_thread() -> None:
    assert message(FEEDER, event("assistant.message", {"content": "x"}, agentId="a1")).thread == "a1"
    nested: Json = {"content": "x", "parentToolCallId": "c9"}
    assert message(FEEDER, event("assistant.message", nested)).thread == "c9"


def test_the_title_and_the_place_may_change() -> None:
    moved = event("session.context_changed", {"cwd": "/v", "branch": "next"})
    rows = read(
        FEEDER,
        written(
            event("session.start", {"context": {"cwd": "/w", "branch": "main"}}),
            event("session.title_changed", {"title": " Ports "}),
            moved,
            event("user.message", {"content": "x"}),
        ),
    )
    assert [one.title for one in rows if one.title] == ["Ports"]
    assert [(one.cwd, one.branch) for one in messages(rows)] == [("/v", "next")]


def test_a_read_from_the_middle_knows_place_and_call() -> None:
    begun: Json = {"toolCallId": "c", "toolName": "mem-find", "mcpServerName": "mem", "mcpToolName": "find"}
    start = event("session.start", {"context": {"cwd": "/w", "branch": "main"}})
    behind = written(start, event("tool.execution_start", begun))
    done = event("tool.execution_complete", {"toolCallId": "c", "success": True, "result": {"content": "x"}})
    [late] = read(FEEDER, behind + written(done), len(behind))
    assert isinstance(late.content, Message)
    [part] = late.content.parts
    assert (part.name, part.trust, late.content.cwd) == ("mem-find", "external", "/w")


@pytest.mark.parametrize(
    ("raw", "content"),
    [
        (b"{}\n", Unreadable("row without a type")),
        (b'{"type": "session.hologram", "data": {}}\n', Noise("session.hologram")),
        (b'{"type": "user.message", "data": 3}\n', Noise("user.message/empty")),
        (b'{"type": "hook.start", "data": {"hookType": "agentStop"}}\n', Noise("hook.start/agentStop")),
        (b"oops\n", Unreadable("not a JSON object")),
    ],
)
def test_a_row_that_says_nothing_is_named(raw: bytes, content: object) -> None:
    assert read(FEEDER, written(event("user.message", {"content": "x"})) + raw)[1].content == content
