"""Every row of every captured file is a message, noise of a known kind, or unreadable with a reason; none is lost.

Noise must hold no words of a person or an agent that stand nowhere else. What stands in noise alone in the captured
files was looked at: it is the host's own (instructions, reminders, catalogues of tools, what a hook put in), as `HOSTS`
lists it. A kind of noise that is not listed there may hold copies only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.host_samples import FIXTURES, not_sessions
from tests.sources.opencode_samples import unpack, unpack_live, unpack_storage

from palazzo.hosts.opencode.opencode_database import Opencode
from palazzo.hosts.opencode.opencode_storage import OpencodeStorage
from palazzo.model import Micros
from palazzo.sources.formats import Feeder, Message, Noise, Row
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS

HOSTS = {
    "claude-code": {
        "api-request-blob",  # what went to the API once more, with the host's reminders appended
        "api-request-shape",  # the system prompt and the tools
        "attachment/agent_listing_delta",
        "attachment/date",
        "attachment/deferred_tools_delta",
        "attachment/deferred_tools_record",
        "attachment/environment",
        "attachment/hook_additional_context",
        "attachment/hook_blocking_error",
        "attachment/hook_success",
        "attachment/instructions",  # CLAUDE.md, which is a document
        "attachment/mcp_instructions_delta",
        "attachment/model",
        "attachment/prompt_snapshot",
        "attachment/session_context",
        "attachment/skill_listing",
        "attachment/task_reminder",
        "attachment/total_tokens_reminder",
        "queue-operation",  # a command with its arguments, which the conversation has apart
        "system/compact_boundary",
        "system/stop_hook_summary",
    },
    "codex": {
        "event_msg/item_completed/CommandExecution",  # a tool's output; the model saw it shortened
        "event_msg/item_completed/FileChange",  # a patch as a difference
        "session_meta",  # instructions
        "turn_context",
        "world_state",
    },
    "copilot": {"tool.execution_start"},
    "droid": {
        "context",  # the host's reminders
        *(f"hook/{event}" for event in ("SessionStart", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")),
    },
    "gemini": {"gemini/repeated"},  # labels of calls for the screen
    "pi": set[str](),
    "qwen": set[str](),
}
LONGEST_LABEL = 12


def captured() -> dict[str, tuple[Feeder, Path]]:
    found = {}
    for path in sorted(FIXTURES.rglob("*.jsonl")):
        with path.open("rb") as stream:
            head = stream.read(64 * 1024)
        for feeder in TRANSCRIPTS:
            if feeder.recognises(path, head):
                found[str(path.relative_to(FIXTURES))] = (feeder, path)
                break
    return found


SESSIONS = captured()
each = pytest.mark.parametrize("name", SESSIONS)


def rows_of(name: str) -> list[Row]:
    feeder, path = SESSIONS[name]
    with path.open("rb") as stream:
        return list(feeder.rows(stream))


def words_in(value: object) -> Iterator[str]:
    """The strings of a row that are words: longer than a label, and with a space."""
    if isinstance(value, str):
        if len(value) > LONGEST_LABEL and " " in value.strip():
            yield value.strip()
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from words_in(member)


def test_every_captured_session_is_read_and_nothing_else() -> None:
    others = {str(path.relative_to(FIXTURES)) for path in not_sessions()}
    assert {str(path.relative_to(FIXTURES)) for path in FIXTURES.rglob("*.jsonl")} == others | set(SESSIONS)
    assert not others & set(SESSIONS)


@each
def test_rows_are_the_lines_of_the_file_and_each_is_understood(name: str) -> None:
    _, path = SESSIONS[name]
    rows = rows_of(name)
    assert all(isinstance(row.content, Message | Noise) for row in rows)
    assert b"".join(row.raw for row in rows) == path.read_bytes()
    ends = {row.position + len(row.raw) for row in rows}
    at = 0
    for line in path.read_bytes().splitlines(keepends=True):
        at += len(line)
        assert at in ends  # a line is one row, or several where it holds several messages


@each
def test_no_word_of_a_person_or_an_agent_is_noise_alone(name: str) -> None:
    feeder, _ = SESSIONS[name]
    rows = rows_of(name)
    said = "\n".join(row.content.text for row in rows if isinstance(row.content, Message))
    for row in rows:
        if isinstance(row.content, Noise) and row.content.reason not in HOSTS[feeder.kind]:
            raw = row.raw.strip().strip(b",")
            whole = raw.startswith(b"{") and raw.endswith(b"}")  # a stretch around messages is no row of JSON
            assert [one for one in words_in(json.loads(raw) if whole else None) if one not in said] == []


@pytest.mark.parametrize("name", ["1.18.33.db", "1.18.33-18-turns.db", "migrated.db", "live.db", "storage"])
def test_every_row_of_opencodes_stores_is_understood(name: str, tmp_path: Path) -> None:
    later = Micros(4_000_000_000_000_000)
    if name == "storage":
        found = [list(one.rows()) for one in OpencodeStorage(lambda: later).sessions(unpack_storage(tmp_path))]
    else:
        path = unpack_live(tmp_path) if name == "live.db" else unpack(name, tmp_path)
        found = [list(one.rows()) for one in Opencode(lambda: later).sessions(path)]
    rows = [row for listed in found for row in listed]
    assert rows
    assert all(isinstance(row.content, Message | Noise) for row in rows)
    said = "\n".join(row.content.text for row in rows if isinstance(row.content, Message))
    for row in rows:
        if isinstance(row.content, Noise) and row.content.reason.startswith("message/"):
            record = json.loads(row.raw)
            data = record.get("data", record)
            data.pop("summary", None)  # for the screen: a title, and what edits amount to
            assert [one for one in words_in(data) if one not in said] == []
