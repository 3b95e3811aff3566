"""VS Code's chat sessions, as its source code writes them (version 3 of `ISerializableChatData`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.fidelity.kept import Json, vscode_request
from tests.fidelity.told import START, Turn

from palazzo.hosts.vscode.transcript import VSCode
from palazzo.model import Micros
from palazzo.sources.formats import Message, Row, Session, Unreadable

from .collection_samples import head_of, read_all, said

LATER = Micros((START + 86_400_000) * 1000)
SOON = Micros((START + 60_000) * 1000)
FEEDER = VSCode(lambda: LATER)
ROUND: Json = {
    "response": "",
    "toolCalls": [{"id": "call_1__vscode-1", "name": "read_file", "arguments": '{"filePath": "/home/dev/a.py"}'}],
}
TREE: Json = {
    "node": {
        "type": 1,
        "children": [
            {"type": 2, "text": "port = 8443"},
            {"type": 1, "children": [{"type": 2, "text": "host = 'a'", "lineBreakBefore": True}]},
        ],
    }
}


def request(text: str, *response: Mapping[str, object], **fields: object) -> Json:
    made: Json = {"requestId": "r1", "timestamp": START, "message": {"text": text, "parts": []}}
    return made | {"response": [*response], "modelState": {"value": 1}} | fields


def write(path: Path, *requests: Json, **fields: object) -> Path:
    record: Json = {"version": 3, "responderUsername": "GitHub Copilot", "requests": [*requests], "creationDate": START}
    path.write_text(json.dumps(record | {"sessionId": "s1"} | fields))
    return path


def write_log(path: Path, *changes: object) -> Path:
    start = {"kind": 0, "v": {"version": 3, "creationDate": START, "sessionId": "s1", "requests": []}}
    lines = [change if isinstance(change, str) else json.dumps(change) for change in (start, *changes)]
    path.write_text("\n".join(lines))
    return path


def read(path: Path, feeder: VSCode = FEEDER) -> tuple[Session, list[Row]]:
    assert feeder.recognises(path, head_of(path))
    [(session, rows)] = read_all(feeder, path)
    return session, rows


def message(path: Path) -> Message:
    """The last message."""
    return said(read(path)[1])[-1]


def invocation(**fields: object) -> Json:
    made: Json = {"kind": "toolInvocationSerialized", "toolCallId": "call_1__vscode-1", "toolId": "copilot_readFile"}
    return made | {"isComplete": True, "pastTenseMessage": {"value": "Read [](file:///home/dev/a.py)"}} | fields


def test_a_request_is_a_question_and_its_response(tmp_path: Path) -> None:
    link: Json = {"kind": "inlineReference", "inlineReference": {"path": "/home/dev/deploy.yaml", "scheme": "file"}}
    answer = request(
        "Which port?",
        {"kind": "thinking", "value": "I look."},
        *({"value": "It is in "}, link, {"kind": "undoStop", "id": "u"}, {"value": ": 8443."}),
        modelId="copilot/gpt-4.1",
    )
    path = write(tmp_path / "s1.json", answer, customTitle="Ports", repoData={"localBranch": "main"})
    session, rows = read(path)
    assert (session.identity.key, session.title, session.updated_at) == (("vscode", "s1"), "Ports", START * 1000)
    question, response = said(rows)
    assert (question.role, question.text, question.branch) == ("user", "Which port?", "main")
    assert (response.role, response.text) == ("assistant", "I look.\n\nIt is in `deploy.yaml`: 8443.")
    assert (response.author, response.parent, [part.kind for part in response.parts]) == (
        "gpt-4.1",
        "r1",
        ["thinking", "text"],
    )


def test_a_call_has_the_arguments_and_the_result_that_the_extension_records(tmp_path: Path) -> None:
    metadata = {"toolCallRounds": [ROUND], "toolCallResults": {"call_1__vscode-1": {"content": [{"value": TREE}]}}}
    path = write(tmp_path / "s1.json", request("", invocation(), {"value": "8443."}, result={"metadata": metadata}))
    response = message(path)
    assert response.text == "read_file\nfilePath: /home/dev/a.py\n\nport = 8443\nhost = 'a'\n\n8443."
    assert [(part.kind, part.name, part.trust) for part in response.parts[:2]] == [
        ("tool_call", "read_file", None),
        ("tool_result", "read_file", "tool"),
    ]


def test_calls_under_ids_of_an_older_kind_are_told_once(tmp_path: Path) -> None:
    metadata = {"toolCallRounds": [ROUND], "toolCallResults": {"call_1__vscode-1": {"content": [{"value": "8443"}]}}}
    path = write(tmp_path / "s1.json", request("", invocation(toolCallId="uuid"), result={"metadata": metadata}))
    assert [part.kind for part in message(path).parts] == ["tool_call", "tool_result"]


@pytest.mark.parametrize(
    ("fields", "text", "failed"),
    [
        (
            {
                "toolSpecificData": {
                    "kind": "terminal",
                    "commandLine": {"original": "make"},
                    "terminalCommandOutput": {"text": "no rule"},
                    "terminalCommandState": {"exitCode": 2},
                }
            },
            "readFile\ncommand: make\n\nno rule",
            True,
        ),
        (
            {"resultDetails": {"input": '{"q": "x"}', "output": [{"type": "embed", "isText": True, "value": "found"}]}},
            "readFile\nq: x\n\nfound",
            False,
        ),
        (
            {"resultDetails": {"input": "{}", "output": [], "isError": True}, "pastTenseMessage": "oh"},
            "readFile\n\noh",
            True,
        ),
        ({"isConfirmed": {"type": 0}, "pastTenseMessage": None}, "readFile\n\ndenied", True),
    ],
    ids=["terminal", "server", "error", "denied"],
)
def test_a_call_that_only_the_response_records(fields: Json, text: str, failed: bool, tmp_path: Path) -> None:
    response = message(write(tmp_path / "s1.json", request("", invocation(**fields))))
    assert response.text == text
    assert [part.failed for part in response.parts if part.kind == "tool_result"] == [failed]


def test_an_edit_names_its_file_and_what_it_wrote(tmp_path: Path) -> None:
    edit = {"kind": "textEditGroup", "uri": {"path": "/home/dev/a.py"}, "edits": [[{"text": "port = 1", "range": {}}]]}
    response = message(write(tmp_path / "s1.json", request("", edit)))
    assert response.text == "edit_file\nfilePath: /home/dev/a.py\nnewText: port = 1"


@pytest.mark.parametrize(
    "fields",
    [{"isSystemInitiated": True}, {"confirmation": "Continue"}, {"isHiddenFromTranscript": True}],
)
def test_what_the_person_did_not_type_is_not_told_as_their_words(fields: Json, tmp_path: Path) -> None:
    assert message(write(tmp_path / "s1.json", request("Terminal exited.", **fields))).standing == "meta"


def test_attachments_are_named_and_context_of_the_host_is_left_out(tmp_path: Path) -> None:
    variables = [
        {"kind": "file", "name": "a.py", "value": {"path": "/home/dev/a.py", "scheme": "file"}},
        {"kind": "paste", "name": "Pasted", "code": "x = 1", "value": "x = 1"},
        {"kind": "image", "name": "shot.png", "value": {"0": 137}},
        {
            "kind": "promptText",
            "name": "prompt:instructionsList",
            "value": "<instructions>",
            "automaticallyAdded": True,
        },
        {"kind": "implicit", "name": "current", "value": {"path": "/home/dev/b.py"}},
    ]
    asked = message(write(tmp_path / "s1.json", request("Why?", variableData={"variables": variables})))
    assert asked.text == "Why?\n\n/home/dev/a.py\n\nx = 1\n\n[image, shot.png]"
    assert [(part.kind, part.trust) for part in asked.parts] == [
        ("text", None),
        ("attachment", "repo"),
        ("attachment", "repo"),
        ("image", None),
    ]


def test_a_response_that_goes_on_is_waited_for_and_not_for_ever(tmp_path: Path) -> None:
    path = write(tmp_path / "s1.json", request("Which port?", {"value": "It"}, modelState={"value": 0}))
    session, rows = read(path, VSCode(lambda: SOON))
    assert ([one.text for one in said(rows)], session.settled) == (["Which port?"], False)
    session, rows = read(path)
    assert ([one.text for one in said(rows)], session.settled) == (["Which port?", "It"], True)


def test_a_log_is_its_session_after_all_changes(tmp_path: Path) -> None:
    first, second = request("one"), request("two", requestId="r2")
    path = write_log(
        tmp_path / "s1.jsonl",
        {"kind": 2, "k": ["requests"], "v": [first, second]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "8080"}]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "8443"}], "i": 0},
        {"kind": 1, "k": ["customTitle"], "v": "Ports"},
        {"kind": 3, "k": ["requests", 0, "vote"]},
        {"kind": 2, "k": ["requests"], "i": 1},
        '{"kind": 1, "k": ["customTitle"], "v": "half a li',
    )
    session, rows = read(path)
    assert (session.title, [one.text for one in said(rows)]) == ("Ports", ["one", "8443"])
    assert not any(isinstance(row.content, Unreadable) for row in rows)


def test_changes_that_lead_nowhere_are_named_and_the_others_are_made(tmp_path: Path) -> None:
    bad: list[object] = [
        {"kind": 1, "k": ["requests", 7, "vote"], "v": 1},
        {"kind": 1, "k": ["requests", 10**12], "v": {}},
        {"kind": 2, "k": ["requests"], "i": 10**12},
        {"kind": 2, "k": [True], "v": []},
        {"kind": 1, "k": [], "v": {}},
        {"kind": 8},
        "{broken",
        "[]",
    ]
    path = write_log(tmp_path / "s1.jsonl", *bad, {"kind": 2, "k": ["requests"], "v": [request("still here")]})
    _, rows = read(path)
    assert [one.text for one in said(rows)] == ["still here"]
    assert sum(isinstance(row.content, Unreadable) for row in rows) == len(bad)


def test_another_machine_s_workspace_and_a_link_give_no_directory(tmp_path: Path) -> None:
    sessions = tmp_path / "w1" / "chatSessions"
    sessions.mkdir(parents=True)
    path = write(sessions / "s1.json", request("one"))
    found: list[str] = []
    for record in (
        {"folder": "vscode-remote://wsl/home/dev"},
        {"workspace": "file:///home/dev/acme/acme.code-workspace"},
        {"folder": "file:///c%3A/Users/dev"},
    ):
        (sessions.parent / "workspace.json").write_text(json.dumps(record))
        found.append(read(path)[0].cwd)
    (tmp_path / "other.json").write_text('{"folder": "file:///etc"}')
    (sessions.parent / "workspace.json").unlink()
    (sessions.parent / "workspace.json").symlink_to(tmp_path / "other.json")
    assert [*found, read(path)[0].cwd] == ["", "/home/dev/acme", "c:/Users/dev", ""]


def test_a_file_that_is_no_json_says_so(tmp_path: Path) -> None:
    path = tmp_path / "s1.json"
    path.write_text('{"version": 3, "creationDate": 1, "requests": [')
    session, rows = read(path)
    assert session.identity.session_id == "s1"
    assert [type(row.content) for row in rows] == [Unreadable]


def test_other_json_is_not_taken(tmp_path: Path) -> None:
    for name, text in (("a.json", '{"requests": [1]}'), ("b.jsonl", '{"kind": 0, "v": {"x": 1}}'), ("c.json", "[]")):
        (tmp_path / name).write_text(text)
        assert not FEEDER.recognises(tmp_path / name, text.encode())


def test_the_words_of_a_turn_are_those_of_its_request(tmp_path: Path) -> None:
    turns = [
        Turn("user", "Which port?", START),
        Turn("tool", "8443\n", START + 1),
        Turn("assistant", "8443", START + 2),
    ]
    path = write(tmp_path / "s1.json", *(vscode_request(turn, n) for n, turn in enumerate(turns)))
    assert [one.text for one in said(read(path)[1])] == [
        "Which port?",
        "run_in_terminal\ncommand: ls\n\n8443\n",
        "8443",
    ]
