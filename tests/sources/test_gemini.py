"""Gemini CLI's recordings: what it really wrote, what it writes again, and its older single JSON text."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest

from palazzo.errors import SourceUnreadable
from palazzo.hosts.gemini_cli.transcript import Gemini
from palazzo.security.injected_text import palazzo_spans
from palazzo.sources.formats import Message, Noise, Row, Unreadable
from palazzo.sources.formats.json_members import elements

from .host_samples import GEMINI_HEADER, Json, Turn, gemini_text, humans, messages, rows_of, sessions_of, written
from .samples import read

FEEDER = Gemini()
SESSIONS = sessions_of("gemini")
SAID = [Turn("user", "Which port?", 1), Turn("tool", "8443\n", 2), Turn("assistant", "8443 – åäö", 3)]


def said(identity: str, kind: str, content: object, **fields: object) -> Json:
    return {"id": identity, "timestamp": "2026-11-21T21:04:00Z", "type": kind, "content": content, **fields}


def call(name: str, given: object, response: object = None, status: str = "success") -> Json:
    answer = {"functionResponse": {"id": "c1", "name": name, "response": response}}
    return {"id": "c1", "name": name, "args": given, "status": status, "result": [answer] if response else None}


def texts(*rows: Json) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in messages(read(FEEDER, written(GEMINI_HEADER, *rows)))]


# What the host really wrote


def test_a_real_session_says_everything_once() -> None:
    rows = rows_of(FEEDER, SESSIONS[0])
    assert humans(rows) == ["What port does deploy use?", "Run the failing test"]
    spoken = [one for one in messages(rows) if one.role == "assistant"]
    assert [one.text.partition("\n")[0] for one in spoken] == [
        "Let me check memory first.",
        "mcp_mem_memory_search",
        "The deploy service listens on port 8443 (from memory).",
        "Running it.",
        "run_shell_command",
        "And ask memory.",
        "mcp_mem_memory_boom",
        "Root cause: the test hits the service before it is ready (503). Fix: wait for /healthz.",
    ]
    assert {one.author for one in spoken} == {"gemini-2.5-pro"}
    results = [part for one in spoken for part in one.parts if part.kind == "tool_result"]
    assert [(part.failed, part.trust) for part in results] == [(False, "external"), (True, "tool"), (True, "external")]


def test_the_context_is_meta_and_tells_the_directory() -> None:
    for path in SESSIONS:
        [context] = [one for one in messages(rows_of(FEEDER, path)) if one.standing == "meta"]
        assert context.text.startswith("<session_context>")
        assert context.cwd == "/home/dev/acme"


def test_every_row_of_the_captured_files_is_counted() -> None:
    counted: Counter[str] = Counter()
    for path in SESSIONS:
        for one in rows_of(FEEDER, path):
            counted[one.content.reason if isinstance(one.content, Noise) else type(one.content).__name__] += 1
    assert counted == {"Message": 12, "$set": 17, "user/repeated": 7, "gemini/repeated": 2, "header": 2}


def test_files_of_one_session_share_its_identity() -> None:
    keys = {FEEDER.identify(path, path.read_bytes()[:65536]).key for path in SESSIONS}
    assert keys == {("gemini", "12a4bcd7-3af8-43af-b5ba-90e701560d2e")}


# What is written again


def test_a_message_written_again_says_what_is_new() -> None:
    shell = call("run_shell_command", {"command": "ls"}, {"output": "a.txt"})
    first, again = said("m1", "gemini", "Look."), said("m1", "gemini", "Look.", toolCalls=[shell])
    rows = read(FEEDER, written(GEMINI_HEADER, first, again, again))
    one, two = messages(rows)
    assert (one.text, two.text) == ("Look.", "run_shell_command\ncommand: ls\n\na.txt")
    assert (one.uuid, two.uuid, two.meta) == ("m1", "m1#1", {"continues": "m1"})
    assert rows[-1].content == Noise("gemini/repeated")


def test_the_answer_to_a_call_is_said_once_wherever_it_stands() -> None:
    response = {"functionResponse": {"id": "c1", "name": "ls", "response": {"output": "a.txt"}}}
    made = said("m1", "gemini", [{"functionCall": {"id": "c1", "name": "ls", "args": {}}}])
    assert texts(made, said("m2", "user", [response])) == [("assistant", "ls"), ("tool", "a.txt")]
    whole = said("m1", "gemini", "", toolCalls=[call("ls", {}, {"output": "a.txt"})])
    assert texts(whole, said("m2", "user", [response])) == [("assistant", "ls\n\na.txt")]


def test_a_person_may_say_the_same_twice() -> None:
    assert texts(said("m1", "user", "yes"), said("m2", "user", "yes")) == [("user", "yes")] * 2


def test_a_history_set_anew_says_only_what_nobody_said_before() -> None:
    snapshot = said("x1", "user", [{"text": "<state_snapshot>All so far</state_snapshot>"}])
    filler = said("x2", "gemini", [{"text": "Got it. Thanks for the additional context!"}])
    kept, fresh = said("x3", "user", [{"text": "Which port?"}]), said("x4", "gemini", "From elsewhere")
    data = written(
        GEMINI_HEADER, said("m1", "user", "Which port?"), {"$set": {"messages": [snapshot, filler, kept, fresh]}}
    )
    found = [(one.text, one.standing) for one in messages(read(FEEDER, data))]
    assert found == [
        ("Which port?", "said"),
        ("<state_snapshot>All so far</state_snapshot>", "summary"),
        ("Got it. Thanks for the additional context!", "meta"),
        ("From elsewhere", "said"),
    ]


def test_what_was_taken_back_was_said() -> None:
    rewind: Json = {"$rewindTo": "m1"}
    rows = read(FEEDER, written(GEMINI_HEADER, said("m1", "user", "a"), rewind, said("m2", "user", "b")))
    assert humans(rows) == ["a", "b"]
    assert rows[2].content == Noise("$rewindTo")


def test_a_read_may_begin_between_two_messages_of_a_line() -> None:
    listed = [said(f"m{n}", "user", f"\ud800é {n}") for n in range(4)]
    data = written(GEMINI_HEADER, said("m0", "user", "\ud800é 0"), {"$set": {"messages": listed, "summary": "Ports"}})
    rows = read(FEEDER, data)
    assert len(rows) == 2 + 1 + 4 + 1
    assert [one.title for one in rows if one.title] == ["Ports"]
    assert b"".join(one.raw for one in rows) == data
    for index, one in enumerate(rows):
        assert read(FEEDER, data, one.position) == rows[index:]


# The older form


def test_one_json_text_is_cut_between_its_messages() -> None:
    data = gemini_text(SAID)
    rows = read(FEEDER, data)
    assert b"".join(one.raw for one in rows) == data
    assert [one.text for one in messages(rows)] == [
        "Which port?",
        "run_shell_command\ncommand: ls\n\n8443\n",
        "8443 – åäö",
    ]
    assert [json.loads(one.raw.rstrip().rstrip(b",")) for one in rows[1:-1]] == json.loads(data)["messages"]
    for index, one in enumerate(rows):
        assert read(FEEDER, data, one.position) == rows[index:]


def test_a_session_keeps_its_ids_when_the_host_takes_it_into_the_newer_form() -> None:
    old = gemini_text(SAID)
    new = written(GEMINI_HEADER, *json.loads(old)["messages"])
    path = Path("chats/session-2026-01-01T00-00-g1.json")
    assert FEEDER.recognises(path, old)
    assert FEEDER.identify(path, old) == FEEDER.identify(path.with_suffix(".jsonl"), new)

    def ids(rows: list[Row]) -> list[tuple[str, str]]:
        return [(one.uuid, one.text) for one in messages(rows)]

    assert ids(read(FEEDER, old)) == ids(read(FEEDER, new))


def test_one_json_text_that_is_being_written_waits() -> None:
    data = gemini_text(SAID)
    for cut in (40, len(data) // 2, len(data) - 1):
        with pytest.raises(SourceUnreadable, match="being written"):
            list(FEEDER.rows(BytesIO(data[:cut])))


def test_the_end_of_a_line_that_was_read_before_it_had_ended_is_a_row() -> None:
    whole = written(GEMINI_HEADER, said("m1", "user", "hello"))
    early = read(FEEDER, whole[:-1])
    start = early[-1].position + len(early[-1].raw)
    assert start == len(whole) - 1
    assert read(FEEDER, whole, start) == [Row(start, b"\n", Noise("blank"))]
    odd = whole[:-1] + b" and more\n"
    assert [one.content for one in read(FEEDER, odd, start)] == [Unreadable("text after a complete row")]


HASH = hashlib.sha256(b"/home/dev/acme").hexdigest()


def in_host(directory: Path, project: str) -> tuple[Path, bytes]:
    """A session in one JSON text where the host keeps it."""
    chats = directory / ".gemini" / "tmp" / project / "chats"
    chats.mkdir(parents=True)
    data = gemini_text(SAID).replace(b'"projectHash": "h"', f'"projectHash": "{HASH}"'.encode())
    (chats / "session-2026-01-01T00-00-12345678.json").write_bytes(data)
    return chats / "session-2026-01-01T00-00-12345678.json", data


def test_the_directory_is_the_one_that_the_hash_is_of(tmp_path: Path) -> None:
    path, data = in_host(tmp_path, HASH)
    assert FEEDER.identify(path, data).cwd == ""
    known = {"projects": {"/home/dev/other": "other", "/home/dev/acme": "acme"}}
    (tmp_path / ".gemini" / "projects.json").write_text(json.dumps(known))
    assert FEEDER.identify(path, data).cwd == "/home/dev/acme"


def test_the_directory_stands_in_the_projects_own_folder(tmp_path: Path) -> None:
    path, data = in_host(tmp_path, "acme")
    (path.parents[1] / ".project_root").write_text("/home/dev/acme")
    assert FEEDER.identify(path, data).cwd == "/home/dev/acme"
    (path.parents[1] / ".project_root").write_text("/home/dev/elsewhere")
    assert FEEDER.identify(path, data).cwd == ""


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"projects": 3}', b"\xff\xfe", b"{" * 100_000])
def test_a_damaged_list_of_projects_costs_nothing(damage: bytes, tmp_path: Path) -> None:
    path, data = in_host(tmp_path, "acme")
    (path.parents[1] / ".project_root").mkdir()
    (tmp_path / ".gemini" / "projects.json").write_bytes(damage)
    assert FEEDER.identify(path, data).cwd == ""


def test_a_session_without_messages_is_one() -> None:
    data = json.dumps({**GEMINI_HEADER, "messages": []}, indent=2).encode()
    assert FEEDER.recognises(Path("a.json"), data)
    assert [one.content for one in read(FEEDER, data)] == [Noise("header")]


@pytest.mark.parametrize(
    "head",
    [
        b'[{"sessionId": "x", "messageId": 0, "type": "user", "message": "hi"}]',
        b'{"sessionId": "x", "version": 1}\n',
        b'{"name": "acme", "version": "1.0.0"}\n',
        b"",
    ],
)
def test_other_json_is_no_session(head: bytes) -> None:
    assert not FEEDER.recognises(Path("logs.json"), head)


def test_a_sub_agent_lies_in_its_parents_folder() -> None:
    head = written(GEMINI_HEADER | {"kind": "subagent"})
    identity = FEEDER.identify(Path("chats/12a4bcd7/g1.jsonl"), head)
    assert (identity.session_id, identity.parent_session) == ("g1", "12a4bcd7")
    assert FEEDER.identify(Path("chats/session-x.jsonl"), written(GEMINI_HEADER)).parent_session == ""


# Parts


def test_thoughts_images_and_files() -> None:
    thoughts = [{"subject": "Ports", "description": "I look.", "timestamp": "x"}]
    image = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
    data = written(
        said("m1", "gemini", "Done", thoughts=thoughts),
        said("m2", "user", [image, {"fileData": {"mimeType": "text/csv", "fileUri": "gs://a"}}, "and this"]),
    )
    one, two = messages(read(FEEDER, data))
    assert (one.text, [part.kind for part in one.parts]) == ("Ports\nI look.\n\nDone", ["thinking", "text"])
    assert two.text == "[image/png, 5 bytes]\n\n[text/csv, gs://a]\n\nand this"


def test_what_the_person_typed_is_told_from_the_files_behind_it() -> None:
    content = [{"text": "explain @a.ts"}, {"text": "--- Content from referenced files ---"}, {"text": "export {}"}]
    [one] = messages(read(FEEDER, written(said("m1", "user", content, displayContent="explain @a.ts"))))
    assert [(part.kind, part.trust) for part in one.parts] == [
        ("text", None),
        ("attachment", "repo"),
        ("attachment", "repo"),
    ]
    hooked = said("m2", "user", [{"text": "my prompt"}, {"text": "<hook_context>x</hook_context>"}])
    [two] = messages(read(FEEDER, written(hooked)))
    assert (two.standing, [part.kind for part in two.parts]) == ("said", ["text", "attachment"])
    [three] = messages(read(FEEDER, written(said("m3", "user", "<hook_context>x</hook_context>"))))
    assert three.standing == "meta"
    fence = "&lt;palazzo-memory&gt;\nPort 8443\n&lt;/palazzo-memory&gt;"
    [four] = messages(read(FEEDER, written(said("m4", "user", f"<hook_context>{fence}</hook_context>\n\nWhich port?"))))
    parts = [(part.kind, part.trust, four.text[part.start : part.end]) for part in four.parts]
    assert (four.standing, four.role, len(parts), parts[-1]) == ("said", "user", 2, ("text", None, "Which port?"))
    assert (parts[0][:2], palazzo_spans(parts[0][2])) == (("attachment", "tool"), [(14, 14 + len(fence))])


@pytest.mark.parametrize(
    ("made", "text", "failed", "trust"),
    [
        (call("run_shell_command", {"command": "ls"}, {"output": "Output: x\nExit Code: 3\n"}), None, True, "tool"),
        (call("run_shell_command", {"command": "curl x.y/z"}, {"output": "x"}), "x", False, "external"),
        (call("read_file", {"absolute_path": "/a"}, {"error": "ENOENT"}, "error"), "ENOENT", True, "tool"),
        (call("web_fetch", {"prompt": "x"}, {"output": "page"}), "page", False, "external"),
        (call("mcp_palazzo_search", {"query": "x"}, {"output": "y"}), "y", False, "tool"),
        (call("x", {}, {"hits": [{"id": 1}]}), "response\nhits:\n  -\n    id: 1", False, "external"),
    ],
)
def test_calls_and_what_came_back(made: Json, text: str | None, failed: bool, trust: str) -> None:
    [one] = messages(read(FEEDER, written(said("m1", "gemini", "", toolCalls=[made]))))
    called, result = one.parts
    assert (called.kind, result.kind, result.name, result.call) == ("tool_call", "tool_result", made["name"], "c1")
    assert (result.failed, result.trust) == (failed, trust)
    assert text is None or one.text[result.start : result.end] == text


def test_notes_of_the_host_are_meta() -> None:
    for kind in ("info", "warning", "error"):
        [one] = messages(read(FEEDER, written(said("m1", kind, "Request cancelled."))))
        assert (one.role, one.standing) == ("system", "meta")


@pytest.mark.parametrize(
    ("raw", "content"),
    [
        (b'{"x": 1}\n', Unreadable("row without a type")),
        (b'{"id": "a", "type": "hologram"}\n', Noise("hologram")),
        (b'{"id": "a", "type": "user", "content": ""}\n', Noise("user/empty")),
        (b'{"$set": {"messages": []}}\n', Noise("$set")),
        (b"[1]\n", Unreadable("not a JSON object")),
    ],
)
def test_a_row_that_says_nothing_is_named(raw: bytes, content: object) -> None:
    assert read(FEEDER, written(GEMINI_HEADER) + raw)[1].content == content


def test_a_message_that_is_none_costs_itself_alone() -> None:
    rows = read(FEEDER, written({"$set": {"messages": [3, said("m1", "user", "here")]}}))
    assert [type(one.content) for one in rows] == [Noise, Unreadable, Message, Noise]


def test_elements_lie_where_json_says() -> None:
    raw = b'\xef\xbb\xbf {"a": [0], "b" : {"c":[ 1 , "\xc3\xa5]\\"", {"c": [2]},\n[] ] } }'
    found = elements(raw, ("b", "c"))
    assert [value for _, _, value in found] == [1, 'å]"', {"c": [2]}, []]
    assert [json.loads(raw[start:end]) for start, end, _ in found] == [value for _, _, value in found]
    assert elements(raw, ("a", "c")) == elements(raw, ("b",)) == elements(raw, ("z",)) == []
