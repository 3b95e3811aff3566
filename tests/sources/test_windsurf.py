"""Windsurf's transcripts, as its documentation and a session that was published have them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from palazzo.hosts.windsurf.transcript import Windsurf
from palazzo.sources.formats import Message, Noise, Unreadable
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS

FEEDER = Windsurf()
# The documentation's example, with the program's own steps from autter-cli's fixture, their paths and texts shortened.
SESSION = rb"""{"status":"done","type":"user_input","user_input":{"rules_applied":{"always_on":["my-rule.md"]},"user_response":"create a hello world file"}}
{"planner_response":{"response":"I'll create a hello world file for you."},"status":"done","type":"planner_response"}
{"status":"done","type":"view_file","view_file":{"content":"\u003cfile name=\"/home/dev/acme/xyz.md\"\u003e\n# XYZ\n\u003c/file\u003e","end_line":1,"path":"file:///home/dev/acme%20shop/xyz.md","start_line":0}}
{"code_action":{"acknowledgement_type":"ACKNOWLEDGEMENT_TYPE_ACCEPT","new_content":"print('hello world')\n","original_content":"# before\n","path":"file:///home/dev/acme/file.py"},"status":"done","type":"code_action"}
{"run_command":{"command":"cat missing","cwd":"/home/dev/acme","exit_code":1,"output":"no such file","user_rejected":false},"status":"done","type":"run_command"}
{"run_command":{"command":"clear","cwd":"/home/dev/acme","exit_code":0,"user_rejected":false},"status":"done","type":"run_command"}
{"run_command":{"command":"rm -r x","cwd":"/home/dev/acme","user_rejected":true},"status":"canceled","type":"run_command"}
{"mcp_tool":{"result":"words from elsewhere"},"status":"error","type":"mcp_tool"}
{"planner_response":{"response":"I created the file for you."},"status":"error","type":"planner_response"}
"""  # noqa: E501 (captured)


def messages(data: bytes) -> list[Message]:
    return [row.content for row in FEEDER.rows(BytesIO(data)) if isinstance(row.content, Message)]


def test_a_session_is_read_with_its_tools() -> None:
    [reader] = [one.kind for one in TRANSCRIPTS if one.recognises(Path("t1.jsonl"), SESSION)]
    assert reader == "windsurf"
    assert FEEDER.identify(Path("t1.jsonl"), SESSION).session_id == "t1"
    told = messages(SESSION)
    assert [(one.role, one.text) for one in told] == [
        ("user", "create a hello world file"),
        ("assistant", "I'll create a hello world file for you."),
        (
            "assistant",
            "view_file\nend_line: 1\npath: /home/dev/acme shop/xyz.md\nstart_line: 0\n\n"
            '<file name="/home/dev/acme/xyz.md">\n# XYZ\n</file>',
        ),
        ("assistant", "code_action\nnew_content:\nprint('hello world')\n\npath: /home/dev/acme/file.py"),
        ("assistant", "run_command\ncommand: cat missing\ncwd: /home/dev/acme\n\nno such file"),
        ("assistant", "run_command\ncommand: clear\ncwd: /home/dev/acme"),
        ("assistant", "run_command\ncommand: rm -r x\ncwd: /home/dev/acme\n\nrejected by the user"),
        ("assistant", "mcp_tool\n\nwords from elsewhere"),
        ("assistant", "I created the file for you."),
    ]
    results = [part for one in told for part in one.parts if part.kind == "tool_result"]
    assert [(part.name, part.failed, part.trust) for part in results] == [
        ("view_file", False, "tool"),
        ("run_command", True, "tool"),
        ("run_command", True, "tool"),
        ("mcp_tool", True, "external"),
    ]
    assert {one.cwd for one in told} == {"", "/home/dev/acme"}


def test_a_file_of_another_project_s_shape_is_not_taken() -> None:
    for data in (
        b'{"type":"message","status":"completed","message":{"role":"user","content":"x"}}\n',
        b'{"type":"user_input","user_input":{"user_response":"x"}}\n',
        b"",
        b"[]\n",
    ):
        assert not FEEDER.recognises(Path("t1.jsonl"), data)


def test_a_session_whose_first_words_are_longer_than_a_head_is_recognised() -> None:
    data = b'{"status":"done","type":"user_input","user_input":{"user_response":"' + b"x" * 100_000 + b'"}}\n'
    assert FEEDER.recognises(Path("t1.jsonl"), data[: 64 * 1024])
    [told] = messages(data)
    assert len(told.text) == 100_000


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (b'{"status":"done"}\n', Unreadable("row without a type")),
        (b'{"status":"done","type":"memory"}\n', Noise("memory")),
        (b'{"status":"done","type":"user_input","user_input":[]}\n', Noise("user_input")),
        (
            b'{"status":"done","type":"user_input","user_input":{"user_response":[1]}}\n',
            Unreadable("a step user_input whose words are no text"),
        ),
        (b'{"status":"done","type":"planner_response","planner_response":{}}\n', Noise("planner_response/empty")),
    ],
)
def test_a_step_that_says_nothing_is_named(row: bytes, expected: object) -> None:
    assert [one.content for one in FEEDER.rows(BytesIO(row))] == [expected]


def test_a_step_nested_too_deeply_is_named() -> None:
    deep = b'{"status":"done","type":"find","find":{"a":' + b"[" * 900 + b"]" * 900 + b"}}\n"
    [row] = FEEDER.rows(BytesIO(deep))
    assert row.content == Unreadable("nested too deeply")
