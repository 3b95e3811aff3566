"""Sessions of Claude Desktop's local agent mode: Claude Code's rows, where that program keeps them."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest
from tests.fidelity import hosts
from tests.fidelity.told import START, Turn

from palazzo.hosts.claude_desktop.transcript import ClaudeDesktop
from palazzo.sources.formats import Message
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS

FEEDER = ClaudeDesktop()
TURNS = [Turn("user", "Which port?", START), Turn("assistant", "8443.", START + 1)]
ROWS = hosts.claude_code(TURNS, 0).replace(b"/home/dev/acme", b"/sessions/bold-inspiring-tesla")
SESSION = "0b5e3c41-6f2a-4d0e-9a43-5a3c1c7d9e10"


def place(tmp_path: Path, record: object, *between: str) -> Path:
    """A session's file, and the record beside the session's folder."""
    session = tmp_path.joinpath("Claude", "local-agent-mode-sessions", "a1", "o1", *between, "local_1")
    projects = session / ".claude" / "projects" / "-sessions-bold-inspiring-tesla"
    projects.mkdir(parents=True)
    session.with_name("local_1.json").write_text(record if isinstance(record, str) else json.dumps(record))
    (projects / f"{SESSION}.jsonl").write_bytes(ROWS)
    return projects / f"{SESSION}.jsonl"


@pytest.mark.parametrize("between", [(), ("agent",)])
def test_a_session_belongs_to_the_folder_that_was_selected(tmp_path: Path, between: tuple[str, ...]) -> None:
    path = place(tmp_path, {"title": "x", "userSelectedFolders": ["/home/dev/acme", "/home/dev/other"]}, *between)
    assert [one.kind for one in TRANSCRIPTS if one.recognises(path, ROWS)] == ["claude-desktop"]
    identity = FEEDER.identify(path, ROWS)
    assert (identity.key, identity.cwd) == (("claude-desktop", SESSION), "/home/dev/acme")


def test_the_directory_in_the_virtual_machine_is_not_told(tmp_path: Path) -> None:
    told = [row.content for row in FEEDER.rows(BytesIO(ROWS)) if isinstance(row.content, Message)]
    assert [(one.role, one.text, one.cwd) for one in told] == [("user", "Which port?", ""), ("assistant", "8443.", "")]
    outside = [row.content for row in FEEDER.rows(BytesIO(hosts.claude_code(TURNS, 0)))]
    assert {one.cwd for one in outside if isinstance(one, Message)} == {"/home/dev/acme"}


@pytest.mark.parametrize("record", ["", "[", "[]", {}, {"userSelectedFolders": "/x"}, {"userSelectedFolders": [1]}])
def test_a_session_whose_record_names_no_folder_has_none(tmp_path: Path, record: object) -> None:
    path = place(tmp_path, record)
    assert FEEDER.identify(path, ROWS).cwd == ""
    path.parents[3].with_name("local_1.json").unlink()
    assert FEEDER.identify(path, ROWS).cwd == ""


def test_the_stream_that_repeats_a_session_is_not_read(tmp_path: Path) -> None:
    path = place(tmp_path, {})
    stream = b'{"type":"user","message":{"role":"user","content":"Which port?"},"session_id":"s","uuid":"u"}\n'
    assert [one.kind for one in TRANSCRIPTS if one.recognises(path.parents[3] / "audit.jsonl", stream)] == []
