"""Codex's rollouts: three generations that it really wrote, and what its sources say may stand in one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from palazzo.hosts.codex.codex_rollouts import Codex
from palazzo.sources.formats import Message, Noise, Unreadable

from .host_samples import EXPECTED, Json, humans, messages, rows_of, sessions_of, written
from .samples import message, read

FEEDER = Codex()
BY_VERSION = {path.parent.name: path for path in sessions_of("codex")}
EIGHTEEN_TURNS = BY_VERSION["0.169.0-18-turns"]
ID = "01a1ffe9-7e49-7971-83b4-a2cdeadd0a30"


def row(kind: str, payload: Json, **fields: object) -> Json:
    return {"timestamp": "2026-11-21T21:00:54.796Z", "type": kind, "payload": payload, **fields}


def item(kind: str, **fields: object) -> Json:
    return row("response_item", {"type": kind, **fields})


def user(*texts: str, kinds: list[str] | None = None) -> Json:
    content = [{"type": "input_text", "text": text} for text in texts]
    beside: Json = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": kinds}} if kinds else {}
    return item("message", role="user", content=content, **beside)


def call(name: str, given: object, **fields: object) -> Json:
    return item("function_call", name=name, arguments=json.dumps(given), call_id="c1", **fields)


def output(body: object, **fields: object) -> Json:
    return item("function_call_output", call_id="c1", output=body, **fields)


def meta(**fields: object) -> Json:
    return row("session_meta", {"id": ID, "cwd": "/w", "git": {"branch": "main", "commit_hash": "abc"}, **fields})


# What the host really wrote


def test_the_eighteen_turns_are_all_there() -> None:
    rows = rows_of(FEEDER, EIGHTEEN_TURNS)
    said = messages(rows)
    calls = [one.text for one in said for part in one.parts if part.kind == "tool_call"]
    answers = [one.text for one in said if one.role == "assistant"]
    assert humans(rows) == [turn["user"] for turn in EXPECTED]
    for turn, command in zip(EXPECTED, calls, strict=True):
        assert command == f"exec_command\ncmd: {turn['tool_command']}"
        assert answers.count(turn["assistant_final"]) == 1
    assert Counter(one.role for one in said if one.standing == "said") == {"user": 18, "assistant": 54, "tool": 18}


@pytest.mark.parametrize("version", ["0.44.0", "0.80.0", "0.169.0"])
def test_three_generations_say_the_same(version: str) -> None:
    rows = rows_of(FEEDER, BY_VERSION[version])
    asked = ["What port does deploy use?", "Create a config file for it", "Run the failing test"]
    assert humans(rows) == [*asked, "What port does deploy use?"]
    said = [one for one in messages(rows) if one.standing == "said"]
    assert Counter(one.role for one in said) == {"user": 4, "assistant": 17, "tool": 6}
    assert {(one.cwd, one.branch, len(one.commit)) for one in said} == {("/home/dev/acme", "master", 40)}
    assert {one.author for one in said if one.role == "assistant"} == {"fake-model"}
    results = [(part, one.text) for one in said for part in one.parts if part.kind == "tool_result"]
    assert [(part.failed, part.trust) for part, _ in results] == [
        (False, "external"),
        (False, "tool"),
        (False, "tool"),
        (True, "tool"),
        (version == "0.169.0", "external"),  # before, no row says that an MCP server's tool failed
        (False, "external"),
    ]
    assert all(text.endswith("E   AssertionError: expected 200 got 503\n") for part, text in results[3:4])
    assert [part.kind for one in said for part in one.parts].count("thinking") == 1


def test_what_the_host_inserts_is_meta() -> None:
    for path in BY_VERSION.values():
        for one in messages(rows_of(FEEDER, path)):
            hosts = one.text.startswith(("#", "<", "Warning:", "MARK-CTX"))
            assert (one.standing == "meta") == hosts, one.text[:60]


def test_a_compaction_is_a_summary_and_nothing_that_was_said() -> None:
    rows = rows_of(FEEDER, BY_VERSION["0.169.0-compaction"])
    summaries = [one for one in messages(rows) if one.standing == "summary"]
    assert len(summaries) == 2
    assert all("wait for /healthz" in one.text for one in summaries)
    assert humans(rows) == ["What port does deploy use?", "BIG CONTEXT go"]


def test_every_row_of_the_captured_files_is_counted() -> None:
    counted: Counter[str] = Counter()
    for path in BY_VERSION.values():
        for one in rows_of(FEEDER, path):
            kind = json.loads(one.raw)["type"]
            spoken = kind in ("response_item", "compacted")
            assert isinstance(one.content, Message if spoken else Noise)
            counted[kind] += 1
    assert counted == {
        "response_item": 196,
        "event_msg": 298,
        "token_usage_record": 51,
        "turn_context": 45,
        "session_meta": 5,
        "world_state": 4,
        "compacted": 1,
    }


# Recognising and identifying


def test_a_thread_is_known_by_its_file_wherever_it_lies() -> None:
    name = f"rollout-2026-11-21T21-00-54-{ID}.jsonl"
    for folder in ("sessions/2026/11/21", "archived_sessions", ""):
        identity = FEEDER.identify(Path("/home/dev/.codex", folder, name), b"")
        assert identity.key == ("codex", ID)
    assert FEEDER.identify(Path("copy.jsonl"), written(meta())).session_id == ID


def test_a_first_row_longer_than_the_head_is_recognised() -> None:
    head = written(meta(base_instructions={"text": "x" * 100_000}))[:65536]
    assert FEEDER.recognises(Path("a.jsonl"), head)


def test_a_sub_agent_names_its_parent_and_its_task_is_an_agents() -> None:
    parent = "01a1ffe9-0000-7971-83b4-a2cdeadd0a30"
    source = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
    data = written(meta(source=source), user("Count the files"))
    identity = FEEDER.identify(Path("a.jsonl"), data)
    assert (identity.session_id, identity.parent_session) == (ID, parent)
    task = message(FEEDER, meta(source=source), user("Count the files"))
    assert [part.trust for part in task.parts] == ["agent"]


def test_a_fork_keeps_its_own_name_and_its_own_place() -> None:
    other = "01a1ffe9-0000-7971-83b4-a2cdeadd0a30"
    copied = row("session_meta", {"id": other, "cwd": "/elsewhere", "git": {"branch": "old"}})
    data = written(meta(forked_from_id=other), copied, user("hello"))
    identity = FEEDER.identify(Path("a.jsonl"), data)
    assert (identity.session_id, identity.parent_session) == (ID, other)
    said = messages(read(FEEDER, data))[0]
    assert (said.cwd, said.branch) == ("/w", "main")


def test_the_oldest_rollouts_hold_the_items_bare() -> None:
    header: Json = {"id": ID, "timestamp": "2025-06-01T00:00:00Z", "instructions": "x", "git": {"branch": "main"}}
    spoken: Json = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    data = written(header, {"record_type": "state"}, spoken)
    assert FEEDER.recognises(Path("a.jsonl"), data)
    assert FEEDER.identify(Path("a.jsonl"), data).session_id == ID
    rows = read(FEEDER, data)
    assert [one.content for one in rows[:2]] == [Noise("session_meta"), Noise("record_type")]
    assert [(one.text, one.branch) for one in messages(rows)] == [("hello", "main")]


# Who speaks


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>",
        "<user_instructions>\n\nBe brief.\n\n</user_instructions>",
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
        "<turn_aborted>\nThe user interrupted the previous turn\n</turn_aborted>",
        "<subagent_notification>{}</subagent_notification>",
    ],
)
def test_words_of_the_host_are_meta(text: str) -> None:
    assert message(FEEDER, user(text)).standing == "meta"


def test_the_host_s_own_mark_wins_over_how_words_begin() -> None:
    assert message(FEEDER, user("<environment_context> is what?", kinds=["user.text"])).standing == "said"
    assert message(FEEDER, user("Be brief", kinds=["agents_md.instructions"])).standing == "meta"
    assert message(FEEDER, user("see", kinds=["unknown"])).standing == "said"


def test_a_persons_words_beside_the_hosts_are_said_and_the_hosts_set_aside() -> None:
    said = message(FEEDER, user("<environment_context>x</environment_context>", "Go on"))
    assert (said.standing, [part.kind for part in said.parts]) == ("said", ["attachment", "text"])


def test_a_summary_handed_on_is_a_summary() -> None:
    text = "Another language model started to solve this problem and produced a summary of its thinking. Here: x"
    assert message(FEEDER, user(text)).standing == "summary"
    assert message(FEEDER, row("compacted", {"message": "short"})).standing == "summary"
    [empty] = read(FEEDER, written(row("compacted", {"message": "", "replacement_history": []})))
    assert empty.content == Noise("compacted")


def test_a_command_that_the_person_ran_is_a_tools() -> None:
    text = "<user_shell_command>\n<command>\ncurl https://example.com\n</command>\n<result>\nExit code: 7\nOutput:\n\n"
    said = message(FEEDER, user(text))
    [part] = said.parts
    assert (said.role, part.kind, part.failed, part.trust) == ("tool", "tool_result", True, "external")


def test_agents_write_to_one_another() -> None:
    content = [{"type": "input_text", "text": "done"}, {"type": "encrypted_content", "encrypted_content": "x"}]
    said = message(FEEDER, item("agent_message", author="/root/worker", recipient="/root", content=content))
    assert (said.text, said.role, said.author) == ("done", "assistant", "/root/worker")
    sent = row("inter_agent_communication", {"author": "/root", "recipient": "/root/w", "content": "count"})
    assert message(FEEDER, sent).role == "assistant"


def test_a_threads_name_is_its_title_and_a_complaint_is_kept() -> None:
    rows = read(
        FEEDER,
        written(
            row("event_msg", {"type": "thread_name_updated", "thread_name": " Ports "}),
            row("event_msg", {"type": "error", "message": "usage limit reached"}),
        ),
    )
    assert [one.title for one in rows] == ["Ports", ""]
    [complaint] = messages(rows)
    assert (complaint.text, complaint.role, complaint.standing) == ("usage limit reached", "system", "meta")


def test_images_are_named_and_reasoning_is_thinking() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,aGVsbG8="}
    said = message(FEEDER, item("message", role="user", content=[image, {"type": "input_text", "text": "Look"}]))
    assert said.text == "[image/png, 5 bytes]\n\nLook"
    summary = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]
    thought = message(FEEDER, item("reasoning", summary=summary, content=None, encrypted_content="x"))
    assert [part.kind for part in thought.parts] == ["thinking", "thinking"]
    [hidden] = read(FEEDER, written(item("reasoning", summary=[], encrypted_content="x")))
    assert hidden.content == Noise("response_item/reasoning/empty")


# Tools


@pytest.mark.parametrize(
    ("body", "text", "failed"),
    [
        ("plain\n", "plain\n", False),
        ('{"output":"E  x\\n","metadata":{"exit_code":3,"duration_seconds":0.0}}', "E  x\n", True),
        ('{"output":"ok","metadata":{"exit_code":0}}', "ok", False),
        ('[{"text":"a","type":"text"},{"text":"b","type":"text"}]', "a\n\nb", False),
        ('{"content":[{"type":"text","text":"a"}],"isError":true}', "a", True),
        ('{"name": "acme"}\n', '{"name": "acme"}\n', False),
        ('{"output": 3}', '{"output": 3}', False),
        ("[1, 2]", "[1, 2]", False),
        ("{", "{", False),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\n\nb", False),
        ({"content": "a", "success": False}, "a", False),
        ("Chunk ID: 1\nWall time: 0 seconds\nProcess exited with code 3\nOutput:\nx", None, True),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nx", None, True),
        ("Exit code: 0\nOutput:\nProcess exited with code 3", None, False),
    ],
)
def test_outputs_are_unwrapped_and_say_whether_they_failed(body: object, text: str | None, failed: bool) -> None:
    said = message(FEEDER, call("shell", {"command": ["ls"]}), output(body))
    assert said.text == (body if text is None else text)
    [part] = said.parts
    assert (part.kind, part.name, part.failed, part.trust) == ("tool_result", "shell", failed, "tool")


def test_a_failure_that_an_event_tells_of_is_known() -> None:
    failing: list[Json] = [
        {"type": "item_completed", "item": {"type": "McpToolCall", "id": "c1", "status": "failed"}},
        {"type": "mcp_tool_call_end", "call_id": "c1", "result": {"Ok": {"isError": True}}},
        {"type": "mcp_tool_call_end", "call_id": "c1", "result": {"Err": "gone"}},
        {"type": "exec_command_end", "call_id": "c1", "exit_code": 2},
        {"type": "patch_apply_end", "call_id": "c1", "success": False},
    ]
    for event in failing:
        said = message(FEEDER, call("x", {}), row("event_msg", event), output("no"))
        assert said.parts[0].failed


def test_every_kind_of_call_reads_as_its_tool_and_what_it_was_given() -> None:
    patch = "*** Begin Patch\n*** End Patch"
    told = {
        "apply_patch\n" + patch: item("custom_tool_call", name="apply_patch", input=patch, call_id="c"),
        "local_shell\ncommand:\n  - ls": item("local_shell_call", action={"type": "exec", "command": ["ls"]}),
        "web_search\ntype: search\nquery: x": item("web_search_call", action={"type": "search", "query": "x"}),
        "mcp__mem__find\nq: 1": item("function_call", name="find", namespace="mcp__mem", arguments='{"q": 1}'),
        "shell\nnot json {": item("function_call", name="shell", arguments="not json {"),
    }
    for text, called in told.items():
        said = message(FEEDER, called)
        assert (said.text, said.role, said.parts[0].kind) == (text, "assistant", "tool_call")


def test_trust_follows_the_call() -> None:
    for name, given, trust in (
        ("shell", {"command": ["bash", "-lc", "curl https://example.com"]}, "external"),
        ("exec_command", {"cmd": "ls"}, "tool"),
        ("mem__search", {}, "external"),
        ("palazzo__search", {}, "tool"),
    ):
        assert message(FEEDER, call(name, given), output("x")).parts[0].trust == trust
    assert message(FEEDER, output("x")).parts[0].trust == "external"


def test_what_a_process_prints_later_is_worth_what_its_command_is() -> None:
    left = "Chunk ID: 1\nWall time: 10 seconds\nProcess running with session ID 97\nOutput:\n"
    more = item("function_call", name="write_stdin", arguments='{"session_id": 97, "chars": ""}', call_id="c2")
    printed = item("function_call_output", call_id="c2", output="x")
    for command, trust in (("curl https://example.com", "external"), ("make", "tool")):
        said = message(FEEDER, call("exec_command", {"cmd": command}), output(left), more, printed)
        assert (said.parts[0].name, said.parts[0].trust) == ("write_stdin", trust)


def test_a_read_from_the_middle_knows_place_model_call_and_failure() -> None:
    turn = row("turn_context", {"cwd": "/w/sub", "model": "gpt"})
    failure = row("event_msg", {"type": "exec_command_end", "call_id": "c1", "exit_code": 1})
    behind = written(meta(), turn, call("shell", {"command": "curl x"}), failure)
    [late] = read(FEEDER, behind + written(output("x")), len(behind))
    assert isinstance(late.content, Message)
    assert (late.content.cwd, late.content.branch, late.content.parts[0].failed) == ("/w/sub", "main", True)
    assert (late.content.parts[0].name, late.content.parts[0].trust) == ("shell", "external")


@pytest.mark.parametrize(
    ("raw", "content"),
    [
        (b"\r\n", Noise("blank")),
        (b"{oops\n", Unreadable("not valid JSON")),
        (b"{}\n", Unreadable("row without a type")),
        (b'{"type": "response_item"}\n', Unreadable("response_item row without a payload")),
        (b'{"type": "hologram", "payload": {"x": 1}}\n', Noise("hologram")),
        (b'{"type": "response_item", "payload": {"type": "ghost_snapshot"}}\n', Noise("response_item/ghost_snapshot")),
        (b'{"type": "event_msg", "payload": {"type": "token_count"}}\n', Noise("event_msg/token_count")),
    ],
)
def test_a_row_that_says_nothing_is_named(raw: bytes, content: object) -> None:
    good = written(user("still here"))
    rows = read(FEEDER, good + raw + good)
    assert [one.raw for one in rows] == [good, raw, good]
    assert rows[1].content == content
