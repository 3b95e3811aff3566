"""Claude Code's transcripts: what it really wrote, and what may go wrong with it."""

from __future__ import annotations

import json
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest

from palazzo.hosts.claude_code.transcript import ClaudeCode
from palazzo.sources.formats import Message, Noise, Row, Unreadable
from palazzo.sources.formats.jsonl_rows import json_lines

from .samples import (
    EIGHTEEN_TURNS,
    FIXTURES,
    SESSION,
    SUBAGENT,
    TRANSCRIPTS,
    line,
    message,
    read,
    spoken,
)

FEEDER = ClaudeCode()


def rows_of(path: Path) -> list[Row]:
    with path.open("rb") as stream:
        return list(FEEDER.rows(stream))


def messages_of(path: Path) -> list[Message]:
    return [row.content for row in rows_of(path) if isinstance(row.content, Message)]


def call(name: str, given: object, call_id: str = "t1") -> dict[str, object]:
    return spoken("assistant", [{"type": "tool_use", "id": call_id, "name": name, "input": given}])


def result(content: object, call_id: str = "t1", **fields: object) -> dict[str, object]:
    return spoken("user", [{"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}])


# What the host really wrote


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_every_byte_of_a_real_transcript_is_in_a_row(path: Path) -> None:
    assert b"".join(row.raw for row in rows_of(path)) == path.read_bytes()


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_every_row_of_a_real_transcript_is_accounted_for(path: Path) -> None:
    for row in rows_of(path):
        written = json.loads(row.raw)
        is_said = written["type"] in ("user", "assistant") or written.get("attachment", {}).get("type") == "file"
        assert isinstance(row.content, Message if is_said else Noise)
        if isinstance(row.content, Message):
            assert row.content.uuid == written["uuid"]
            assert row.content.created_at
            assert row.content.cwd == "/home/dev/acme"


def test_a_file_that_the_host_read_is_what_its_tool_would_have_given() -> None:
    [file] = [one for one in messages_of(SESSION) if one.role == "tool" and one.standing == "meta"]
    assert file.text == "service: deploy\nport: 8443\nretries: 5\n"
    assert [(part.kind, part.name, part.trust) for part in file.parts] == [("tool_result", "Read", "tool")]
    assert file.meta["file"] == "deploy.yaml"


def test_a_prompt_that_a_hook_refused_is_kept_with_the_refusal() -> None:
    [path] = (FIXTURES / "2.1.330-blocked").glob("*.jsonl")
    [told] = messages_of(path)
    assert (told.role, told.standing) == ("system", "meta")
    assert "Original prompt: What port does deploy use?" in told.text


def test_the_eighteen_turns_are_all_there() -> None:
    expected = json.loads((FIXTURES / "EXPECTED-18-turns.json").read_bytes())
    said = messages_of(EIGHTEEN_TURNS)
    humans = [one.text for one in said if one.role == "user" and one.standing == "said"]
    commands = [one.text for one in said for part in one.parts if part.kind == "tool_call"]
    answers = [one.text for one in said if one.role == "assistant"]
    assert humans == [turn["user"] for turn in expected]
    for turn, command in zip(expected, commands, strict=True):
        assert turn["tool_command"] in command
        assert turn["assistant_final"] in answers


def test_what_a_tool_printed_is_whole() -> None:
    [log] = [one.text for one in messages_of(EIGHTEEN_TURNS) if one.text.startswith("[build] step 1:")]
    assert len(log.splitlines()) == 400
    assert log.endswith("step 400: compiled module_400 in 30 ms")


def test_the_session_has_the_roles_and_standings_that_were_captured() -> None:
    counted = Counter((one.role, one.standing) for one in messages_of(SESSION))
    assert counted == {
        ("user", "said"): 5,
        ("assistant", "said"): 27,
        ("tool", "said"): 12,
        ("tool", "meta"): 1,
        ("user", "summary"): 1,
        ("user", "meta"): 3,
    }


def test_results_know_their_tool_their_failure_and_their_trust() -> None:
    results = [part for one in messages_of(SESSION) for part in one.parts if part.kind == "tool_result"]
    told = [(part.name, part.failed, part.trust) for part in results]
    assert ("Bash", True, "tool") in told
    assert ("mcp__mem__memory_search", False, "external") in told
    assert ("mcp__mem__memory_boom", True, "external") in told
    assert ("Read", False, "tool") in told


def test_a_sub_agent_is_a_session_of_its_own() -> None:
    identity = FEEDER.identify(SUBAGENT, SUBAGENT.read_bytes()[:65536])
    assert identity.session_id == f"{SESSION.stem}/agent-ad54d616a2fa255a4"
    assert identity.parent_session == SESSION.stem
    assert identity.key == ("claude-code", identity.session_id)
    assert {one.thread for one in messages_of(SUBAGENT)} == {"ad54d616a2fa255a4"}


def test_the_session_is_known_by_its_id() -> None:
    identity = FEEDER.identify(SESSION, SESSION.read_bytes()[:65536])
    assert identity.key == ("claude-code", SESSION.stem)
    assert not identity.parent_session


def test_real_transcripts_are_recognised_and_logs_are_not() -> None:
    for path in TRANSCRIPTS:
        assert FEEDER.recognises(Path("renamed.txt"), path.read_bytes()[:65536])
    for name in ("hooks.jsonl", "stream-json.jsonl", "EXPECTED-18-turns.json"):
        path = FIXTURES / name
        assert not FEEDER.recognises(path, path.read_bytes()[:65536])
    meta = SUBAGENT.with_suffix(".meta.json")
    assert not FEEDER.recognises(meta, meta.read_bytes())


# Recognising and identifying


def test_a_row_longer_than_the_head_is_recognised() -> None:
    head = line(spoken("user", "x" * 100_000))[:65536]
    assert FEEDER.recognises(Path("a.jsonl"), head)


def test_a_document_that_quotes_a_transcript_is_none() -> None:
    head = b"# The format\n\nLook:\n\n" + line(spoken("user", "hi")) + b"\nThat is all.\n"
    assert not FEEDER.recognises(Path("format.md"), head)


def test_a_transcript_that_begins_with_a_bad_line_is_recognised() -> None:
    assert FEEDER.recognises(Path("a.jsonl"), b"oops\n" + line(spoken("user", "hi")) * 2)


def test_a_title_without_any_session_is_recognised() -> None:
    assert FEEDER.recognises(Path("a.jsonl"), line({"type": "summary", "summary": "Ports", "leafUuid": "u"}))


def test_a_renamed_file_keeps_its_session() -> None:
    assert FEEDER.identify(Path("backup.jsonl"), line(spoken("user", "hi"))).session_id == "s1"
    assert FEEDER.identify(Path("backup.jsonl"), b"").session_id == "backup"


def test_a_session_that_begins_with_rows_of_another_keeps_its_own_id() -> None:
    own = "0a1b2c3d-0000-4000-8000-000000000001"
    assert FEEDER.identify(Path(f"{own}.jsonl"), line(spoken("user", "hi"))).session_id == own


def test_older_sub_agents_lie_beside_their_session() -> None:
    row = spoken("user", "look", isSidechain=True, agentId="9f")
    identity = FEEDER.identify(Path("project/agent-9f.jsonl"), line(row))
    assert (identity.session_id, identity.parent_session) == ("s1/agent-9f", "s1")


# Rendering


def test_a_call_reads_as_its_name_and_its_arguments_whole() -> None:
    body = 'def f():\n    return "\\n"\n'
    said = message(FEEDER, call("Write", {"file_path": "a.py", "content": body, "flags": [1, True, None], "o": {}}))
    assert said.text == f"Write\nfile_path: a.py\ncontent:\n{body}\nflags:\n  - 1\n  - true\n  - null\no: {{}}"
    [part] = said.parts
    assert (part.kind, part.name, part.call, part.trust) == ("tool_call", "Write", "t1", None)
    assert said.text[part.start : part.end] == said.text


def test_nested_edits_keep_every_word_in_place() -> None:
    edits = [{"old_string": "a\nb", "new_string": "c\n\td"}, {"old_string": "", "new_string": "{x}"}]
    text = message(FEEDER, call("MultiEdit", {"edits": edits})).text
    assert "\na\nb\n" in text
    assert "\nc\n\td\n" in text
    assert "new_string: {x}" in text
    assert "\\n" not in text


def test_blocks_are_joined_by_a_blank_line_and_each_has_its_part() -> None:
    said = message(
        FEEDER,
        spoken(
            "assistant",
            [
                {"type": "thinking", "thinking": "Hm 🙏.", "signature": "c2ln"},
                {"type": "text", "text": ""},
                {"type": "text", "text": "Done."},
            ],
        ),
    )
    assert said.text == "Hm 🙏.\n\nDone."
    assert [(p.kind, said.text[p.start : p.end]) for p in said.parts] == [("thinking", "Hm 🙏."), ("text", "Done.")]


def test_images_are_named_by_type_and_size() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    said = message(FEEDER, spoken("user", [image, {"type": "text", "text": "Look"}]))
    assert said.text == "[image/png, 5 bytes]\n\nLook"
    assert [part.kind for part in said.parts] == ["image", "text"]
    shown = message(FEEDER, call("Read", {"file_path": "a.png"}), result([image, {"type": "text", "text": "a"}]))
    assert shown.text == "[image/png, 5 bytes]\n\na"


def test_the_text_is_what_the_model_saw_not_what_the_screen_showed() -> None:
    row = result("shortened") | {"toolUseResult": {"stdout": "the unshortened output"}}
    assert message(FEEDER, row).text == "shortened"


def test_a_block_of_an_unknown_kind_is_kept_readable() -> None:
    said = message(FEEDER, spoken("assistant", [{"type": "hologram", "caption": "a cat", "data": "QUJD" * 40}]))
    assert said.text == "hologram\ncaption: a cat\ndata: [120 bytes]"
    assert said.parts[0].kind == "attachment"


# Who speaks, and in what standing


@pytest.mark.parametrize(
    ("fields", "standing"),
    [
        ({"isMeta": True}, "meta"),
        ({"isCompactSummary": True, "isVisibleInTranscriptOnly": True}, "summary"),
        ({"isVisibleInTranscriptOnly": True}, "summary"),
        ({}, "said"),
    ],
)
def test_flags_decide_the_standing(fields: dict[str, object], standing: str) -> None:
    assert message(FEEDER, spoken("user", "hello", **fields)).standing == standing


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/compact</command-name>",
        "<command-message>init is running</command-message>\n<command-name>/init</command-name>",
        "<local-command-stdout>ok</local-command-stdout>",
        "<local-command-caveat>ran directly</local-command-caveat>",
        "Stop hook feedback:\n[check]: not done",
        "<system-reminder>\nOne\n</system-reminder>\n<system-reminder>Two</system-reminder>\n",
        "<task-notification><status>completed</status></task-notification>",
        "[Request interrupted by user for tool use]",
    ],
)
def test_words_of_the_host_are_meta(text: str) -> None:
    assert message(FEEDER, spoken("user", text)).standing == "meta"
    assert message(FEEDER, spoken("user", [{"type": "text", "text": text}])).standing == "meta"


def test_a_person_may_write_below_a_reminder_or_about_one() -> None:
    assert message(FEEDER, spoken("user", "<system-reminder>x</system-reminder>\nUse 8443")).standing == "said"
    assert message(FEEDER, spoken("user", "What is a <system-reminder>?")).standing == "said"
    assert message(FEEDER, spoken("user", "<system-reminder> is never closed")).standing == "said"
    assert message(FEEDER, spoken("user", "<bash-stdout> is empty, why?")).standing == "said"


def test_an_error_of_the_api_is_not_what_the_model_said() -> None:
    row = spoken("assistant", [{"type": "text", "text": "API Error: 529"}], isApiErrorMessage=True)
    assert message(FEEDER, row).standing == "meta"
    synthetic = spoken("assistant", "x", message={"model": "<synthetic>", "content": "No response requested."})
    assert (message(FEEDER, synthetic).standing, message(FEEDER, synthetic).author) == ("meta", "")


def test_what_is_typed_while_the_agent_works_is_the_persons_message() -> None:
    queued = {"type": "queued_command", "prompt": "also bump retries", "commandMode": "prompt"}
    said = message(FEEDER, spoken("attachment", "", attachment=queued | {"origin": {"kind": "human"}}))
    assert (said.text, said.role, said.standing) == ("also bump retries", "user", "said")
    for other in ({"commandMode": "task-notification"}, {"origin": {"kind": "peer"}}, {"isMeta": True}):
        [row] = read(FEEDER, line(spoken("attachment", "", attachment=queued | other)))
        assert row.content == Noise("attachment/queued_command")


def test_a_row_of_results_is_the_tools_and_with_a_persons_words_it_is_the_persons() -> None:
    assert message(FEEDER, result("x")).role == "tool"
    mixed = [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}, {"type": "text", "text": "No, stop"}]
    assert message(FEEDER, spoken("user", mixed)).role == "user"


def test_a_side_chain_has_a_thread() -> None:
    assert message(FEEDER, spoken("user", "x", isSidechain=True)).thread == "sidechain"
    assert message(FEEDER, spoken("user", "x", isSidechain=True, agentId="a1")).thread == "a1"


def test_a_row_tells_where_it_comes_from() -> None:
    row = spoken(
        "assistant",
        "hi",
        message={"id": "msg_1", "model": "opus", "content": "hi"},
        parentUuid="u0",
        cwd="/home/dev/acme",
        gitBranch="main",
        version="2.1.330",
        permissionMode="plan",
    )
    said = message(FEEDER, row)
    assert (said.uuid, said.parent, said.author, said.branch) == ("u1", "u0", "opus", "main")
    assert said.created_at == 1795293540629000
    assert said.meta == {
        "session_id": "s1",
        "message_id": "msg_1",
        "model": "opus",
        "version": "2.1.330",
        "permission": "plan",
    }
    assert message(FEEDER, row | {"gitBranch": "HEAD"}).branch == ""


@pytest.mark.parametrize("when", [None, "", "soon", "2026-13-45", True, [], float("nan"), float("inf"), 1e300, 10**30])
def test_a_time_that_is_none_is_no_time(when: object) -> None:
    assert message(FEEDER, spoken("user", "x", timestamp=when)).created_at is None


@pytest.mark.parametrize(
    "when", [1795293540.629, 1795293540629, "1795293540629", "2026-11-21T21:39:00.629+01:00", "2026-11-21T20:39:00.629"]
)
def test_a_time_may_be_written_in_many_ways(when: object) -> None:
    assert message(FEEDER, spoken("user", "x", timestamp=when)).created_at == 1795293540629000


def test_titles_are_found() -> None:
    data = b"".join(
        line(row)
        for row in (
            {"type": "summary", "summary": "Ports", "leafUuid": "u"},
            {"type": "ai-title", "aiTitle": "Deploy ports", "sessionId": "s"},
            {"type": "custom-title", "customTitle": " Mine ", "sessionId": "s"},
        )
    )
    assert [row.title for row in read(FEEDER, data)] == ["Ports", "Deploy ports", "Mine"]


# What may go wrong


@pytest.mark.parametrize(
    ("raw", "content"),
    [
        (b"\n", Noise("blank")),
        (b"\r\n", Noise("blank")),
        (b"\x00\x00\n", Noise("blank")),
        (b"{oops\n", Unreadable("not valid JSON")),
        (b"[1, 2]\n", Unreadable("not a JSON object")),
        (b'"words"\n', Unreadable("not a JSON object")),
        (b"{}\n", Unreadable("row without a type")),
        (b'{"type": 3}\n', Unreadable("row without a type")),
        (b'{"type": "user", "message": {"content": "x"}}\n', Unreadable("user row without a uuid")),
        (b'{"type": "user", "uuid": "u", "message": "x"}\n', Unreadable("user row without a message")),
        (b'{"type": "x", "n": ' + b"9" * 5000 + b"}\n", Unreadable("not valid JSON")),
        (b'{"type": "system", "subtype": "compact_boundary"}\n', Noise("system/compact_boundary")),
        (b'{"type": "attachment", "attachment": {"type": "date"}}\n', Noise("attachment/date")),
    ],
)
def test_a_row_that_says_nothing_is_named(raw: bytes, content: object) -> None:
    good = line(spoken("user", "still here"))
    rows = read(FEEDER, good + raw + good)
    assert [row.raw for row in rows] == [good, raw, good]
    assert rows[1].content == content


def test_endless_nesting_costs_one_row() -> None:
    deep = b'{"type": "x", "v": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    rows = read(FEEDER, deep + line(spoken("user", "still here")))
    assert isinstance(rows[0].content, Unreadable | Noise)
    assert isinstance(rows[1].content, Message)


def test_odd_bytes_around_and_within_a_row_cost_no_word() -> None:
    row = spoken("user", "a\ud800b\u0000c é")
    said = line(row)
    for raw in (b"\xef\xbb\xbf" + said, said.replace(b"\n", b"\r\n"), b"\x00\x00" + said):
        [read_row] = read(FEEDER, raw)
        assert read_row.raw == raw
        assert isinstance(read_row.content, Message)
        assert read_row.content.text == "a\ud800b\0c é"


def test_bytes_that_are_not_utf8_become_lone_surrogates() -> None:
    raw = line(spoken("user", "caf?")).replace(b"caf?", b"caf\xe9 \x00")
    [row] = read(FEEDER, raw)
    assert isinstance(row.content, Message)
    assert row.content.text == "caf\udce9 \0"
    assert row.content.text.encode("utf-8", "surrogateescape") == b"caf\xe9 \x00"


def test_a_line_of_ten_megabytes_is_one_row() -> None:
    body = "0123456789" * 1_000_000
    assert message(FEEDER, spoken("user", body)).text == body


def test_a_line_that_never_ends_comes_in_pieces() -> None:
    data = b"x" * 250 + b"\n" + line({"type": "mode"})
    found = list(json_lines(BytesIO(data), 0, longest=100))
    assert [len(raw) for _, raw, _ in found] == [100, 100, 51, 17]
    assert all(isinstance(value, Unreadable) for _, _, value in found[:3])


def test_a_last_line_being_written_waits_for_its_end() -> None:
    whole, half = line(spoken("user", "one")), line(spoken("user", "two"))[:-20]
    assert [row.raw for row in read(FEEDER, whole + half)] == [whole]
    unended = whole + line(spoken("user", "two"), b"")
    assert len(read(FEEDER, unended)) == 2
    [late] = read(FEEDER, unended + b"\r\n", len(unended))
    assert (late.raw, late.content) == (b"\r\n", Noise("blank"))


def test_a_result_before_its_call_is_kept_and_not_trusted() -> None:
    [first, _] = read(FEEDER, line(result("x")) + line(call("Bash", {"command": "ls"})))
    assert isinstance(first.content, Message)
    assert (first.content.parts[0].name, first.content.parts[0].trust) == ("", "external")


def test_a_result_whose_call_lies_before_the_read_knows_its_tool() -> None:
    before = line(call("WebFetch", {"url": "https://example.com"})) + line(call("Bash", {"command": "ls"}, "t2"))
    data = before + line(result("x")) + line(result("y", "t2"))
    parts = [row.content.parts[0] for row in read(FEEDER, data, len(before)) if isinstance(row.content, Message)]
    assert [(part.name, part.trust) for part in parts] == [("WebFetch", "external"), ("Bash", "tool")]


def test_an_empty_file_has_no_rows() -> None:
    assert read(FEEDER, b"") == []
