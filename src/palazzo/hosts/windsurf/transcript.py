"""Windsurf's transcripts: JSON Lines, one file per conversation, written again after each answer.

Learned from Windsurf's documentation of its hooks (`post_cascade_response_with_transcript`), from a session that the
program wrote, which autter-cli publishes (`tests/fixtures/windsurf-session-simple.jsonl`), and from the readers git-ai
and daimon (whose `grep_search_v2` is told of as seen in the field).

`~/.windsurf/transcripts/<trajectory id>.jsonl`; at most 100 files, of which the oldest are deleted. Each row is a step:
its `type`, its `status` (`done`, `error`, `canceled`), sometimes a `timestamp`, and an object named as its type, or as
its type without a version at the end. `user_input` has the person's words in `user_response` and the rules that were
applied beside them; `planner_response` has the agent's in `response`. Every other step is a tool, with its arguments
and what it returned (`output`, `content` or `result`) in one object. `original_content`, the file before an edit, stays
in the row's bytes only.

There are no times in what is published, and no directory but the `cwd` of commands.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from palazzo.hosts.editor_workspaces import path_of_uri
from palazzo.model import Role
from palazzo.sources.formats import Content, Feeder, Identity, Message, Noise, Row, Unreadable
from palazzo.sources.formats.block_text import JOINT, Composer, call_text
from palazzo.sources.formats.jsonl_rows import JsonObject, json_lines, objects_in_head, string
from palazzo.sources.formats.resume_context import trust_of_call
from palazzo.sources.formats.source_times import moment

KIND = "windsurf"
_WORDS = {"user_input": "user_response", "planner_response": "response"}
_STEPS = frozenset((*_WORDS, "code_action", "run_command", "view_file", "list_directory", "find", "grep_search"))
"""Steps by which a transcript is recognised."""
_FIRST_STEP = b'{"status":"done","type":"user_input","user_input":{'
"""The beginning of a file whose first row is longer than a head, as the program sorts the names."""
_RESULTS = ("output", "content", "result")
_NO_ARGUMENTS = frozenset((*_RESULTS, "original_content", "exit_code", "user_rejected", "acknowledgement_type"))


class Windsurf:
    """Reads Windsurf's transcripts."""

    kind = KIND
    version = 1
    appends = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether most rows are steps, one of them of a known kind."""
        objects, lines = objects_in_head(head)
        if not lines:
            return head.startswith(_FIRST_STEP)
        steps = [_name_of_step(row) for row in objects if "status" in row]
        return 2 * len([name for name in steps if name]) >= lines and not _STEPS.isdisjoint(steps)

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the session, which only the file's name states."""
        return Identity((KIND, path.stem), path.stem)

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield every row from byte `start`."""
        for position, raw, value in json_lines(stream, start):
            yield Row(position, raw, _content(value) if isinstance(value, dict) else value)


def _name_of_step(row: JsonObject) -> str:
    """Return the name of the object with what the step did; "" if it has none."""
    kind = string(row, "type")
    return next((name for name, member in row.items() if isinstance(member, dict) and kind.startswith(name)), "")


def _content(row: JsonObject) -> Content:
    kind, name = string(row, "type"), _name_of_step(row)
    if not kind:
        return Unreadable("row without a type")
    if not name:
        return Noise(kind)
    step: JsonObject = row[name]
    if name not in _WORDS:
        try:
            return _tool(row, name, step)
        except RecursionError:
            return Unreadable("nested too deeply")
    words = step.get(_WORDS[name], "")
    if not isinstance(words, str):
        return Unreadable(f"a step {kind} whose words are no text")
    if not words:
        return Noise(f"{kind}/empty")
    composer = Composer()
    composer.add("text", words)
    role: Role = "user" if name == "user_input" else "assistant"
    return Message(words, role, parts=composer.parts, created_at=moment(row.get("timestamp")))


def _tool(row: JsonObject, name: str, step: JsonObject) -> Message:
    arguments = {key: _plain(value) for key, value in step.items() if key not in _NO_ARGUMENTS}
    composer = Composer()
    composer.add("tool_call", call_text(name, arguments), name=name)
    code = step.get("exit_code")
    failed = string(row, "status") == "error" or step.get("user_rejected") is True or code not in (None, 0)
    text = JOINT.join(text for key in _RESULTS if (text := string(step, key))) or (
        _failure(row, step) if failed else ""
    )
    composer.add("tool_result", text, name=name, failed=failed, trust=trust_of_call(name, arguments))
    at = moment(row.get("timestamp"))
    return Message(composer.text, "assistant", parts=composer.parts, created_at=at, cwd=string(step, "cwd"))


def _plain(value: object) -> object:
    """Return a path for the URI of a file, as other hosts have it."""
    return path_of_uri(value) or value if isinstance(value, str) else value


def _failure(row: JsonObject, step: JsonObject) -> str:
    """Return what is known of a failure without output."""
    if step.get("user_rejected") is True:
        return "rejected by the user"
    return f"exit code {step['exit_code']}" if step.get("exit_code") else f"status {string(row, 'status')}"


FEEDERS: tuple[Feeder, ...] = (Windsurf(),)
