"""Codex's rollouts: JSON Lines, one file per thread, only ever appended to.

Learned from files that Codex 0.44, 0.80 and 0.169 wrote (`tests/fixtures/codex`), and from the description of rollouts
in the public Rust sources of Codex (`codex-rs/protocol`, `codex-rs/rollout`).

`sessions/YYYY/MM/DD/rollout-<local time>-<thread id>.jsonl`, moved to `archived_sessions/` when the thread is archived.
A row is `{timestamp, type, payload}`. `session_meta` comes first and states directory, branch, commit, and for a
sub-agent its parent; `turn_context` before each turn states directory and model. The model's input and output are in
rows of type `response_item` (see `codex_items`), and those are the conversation. Rows of type `event_msg` repeat the
same for a screen, so they are noise; but only they report that a tool failed, the name of the thread, and errors.
`compacted` holds the summary of a compaction, and a copy of the history that is kept. Files from before September 2025
hold the payloads bare, below a first row that has no type.

**Forks.** A fork begins with its own `session_meta` and continues with the other thread's rows, `session_meta` first,
written again with new times (T3 Code and other public readers count them twice or skip them). Since 0.169 an item has
an id and its turn's id, which a copy keeps: a message is identified by these ids and its text, because ids of the
model's server need not be unique. So a copy is the same message, its row a variant of the first. Items of older
versions have no ids; their messages are identified by their position, and a fork's copies are archived again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from palazzo.hosts.codex.codex_items import (
    Utterance,
    call_in,
    failed_call,
    inner,
    read_item,
    running_process,
    written_to,
)
from palazzo.model import ContentKind, Role, Trust
from palazzo.sources.formats import Content, Identity, Message, Noise, Row, Unreadable
from palazzo.sources.formats.block_text import Composer
from palazzo.sources.formats.jsonl_rows import JsonObject, json_lines, objects_in_head, string
from palazzo.sources.formats.resume_context import Calls, rows_before
from palazzo.sources.formats.row_records import stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.text.lazy_patterns import make_regex

KIND = "codex"

_ROWS = frozenset(
    {
        *("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"),
        *("token_usage_record", "inter_agent_communication"),
    }
)
_BARE_ITEMS = frozenset(
    {"message", "reasoning", "function_call", "function_call_output", "local_shell_call"}
    | {"custom_tool_call", "custom_tool_call_output", "web_search_call"}
)
_COMPLAINTS = frozenset({"error", "warning", "stream_error", "guardian_warning", "deprecation_notice"})
"""Events of the host to the user whose text occurs nowhere else."""

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAME = make_regex(rf"rollout-.*?({_ID})", re.IGNORECASE)
_PARENTS = tuple(re.compile(rf'"{key}":\s*"({_ID})"'.encode()) for key in ("parent_thread_id", "forked_from_id"))
_LONG_FIRST_ROW = make_regex(rb'\s*\{"timestamp":\s*"[^"]*",\s*(?:"ordinal":\s*\d+,\s*)?"type":\s*"session_meta"')


class Codex:
    """Reads Codex's rollouts, including those of its sub-agents."""

    kind = KIND
    version = 1
    appends = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the rows of `head` are a rollout's. `codex exec --json` and hook logs are not."""
        objects, lines = objects_in_head(head)
        if not lines:
            return _LONG_FIRST_ROW.match(head.removeprefix(b"\xef\xbb\xbf")) is not None
        bare = bool(objects) and _is_bare_header(objects[0])
        return 2 * len(objects) >= lines and (bare or any(map(_is_rollout_row, objects)))

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the thread, from the file's name, else from its first row; names the parent of a sub-agent or a fork.

        A fork begins with its own row and continues with a copy of the other's, so only the first row counts.
        """
        objects, _ = objects_in_head(head)
        match = _NAME.match(path.stem)
        meta = _payload(objects[0]) if objects else {}
        session = match[1] if match else string(meta, "id") or path.stem
        first_line = head.partition(b"\n")[0]
        parent = next((parent_match[1].decode() for key in _PARENTS if (parent_match := key.search(first_line))), "")
        is_subagent = parent != session and _PARENTS[0].search(first_line) is not None
        return Identity((KIND, session), session, parent if parent != session else "", led_by_agent=is_subagent)

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield every row from byte `start`."""
        thread = _Thread()
        for earlier_row in rows_before(stream, start):
            thread.see(earlier_row)
        for position, raw, value in json_lines(stream, start):
            if isinstance(value, dict):
                thread.see(value)
                yield Row(position, raw, _content(value, thread), _title(value))
            else:
                yield Row(position, raw, value)


class _Thread:
    """State from earlier rows that later rows depend on."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.meta: JsonObject = {}
        self.cwd = self.model = self.branch = self.commit = ""
        self.is_subagent = False
        self._processes: dict[str, Trust] = {}

    def see(self, row: JsonObject) -> None:
        """Record the calls of one row."""
        kind, payload = _kind(row), _payload(row)
        if kind == "session_meta" and not self.meta:
            git = inner(payload, "git")
            self.meta = payload
            self.cwd = string(payload, "cwd")
            self.branch, self.commit = string(git, "branch"), string(git, "commit_hash")
            self.is_subagent = "subagent" in inner(payload, "source")
        elif kind == "turn_context":
            self.cwd = string(payload, "cwd") or self.cwd
            self.model = string(payload, "model") or self.model
        elif kind == "response_item":
            self._see_item(payload)
        elif kind == "event_msg":
            self.calls.fail(failed_call(payload))

    def _see_item(self, item: JsonObject) -> None:
        """Record a call, or a process left running: its later output has the trust of its command."""
        call_info, process = call_in(item), running_process(item)
        if call_info:
            call, name, trust = call_info
            self.calls.record_call(call, name, self._processes.get(written_to(item), trust))
        if process:
            _, self._processes[process] = self.calls.tool_of(string(item, "call_id"))


def _kind(row: JsonObject) -> str:
    if isinstance(row.get("payload"), dict):
        return string(row, "type")
    if _is_bare_header(row):
        return "session_meta"
    return "response_item" if string(row, "type") in _BARE_ITEMS else string(row, "type")


def _payload(row: JsonObject) -> JsonObject:
    payload = row.get("payload")
    if isinstance(payload, dict):
        return payload
    return row if _is_bare_header(row) or string(row, "type") in _BARE_ITEMS else {}


def _is_rollout_row(row: JsonObject) -> bool:
    return string(row, "type") in _ROWS and isinstance(row.get("payload"), dict) and bool(string(row, "timestamp"))


def _is_bare_header(row: JsonObject) -> bool:
    return "type" not in row and bool(string(row, "id") and string(row, "timestamp")) and "instructions" in row


def _title(row: JsonObject) -> str:
    payload = _payload(row)
    return string(payload, "thread_name").strip() if string(payload, "type") == "thread_name_updated" else ""


def _content(row: JsonObject, thread: _Thread) -> Content:
    kind, payload = _kind(row), _payload(row)
    if not kind:
        return Noise("record_type") if "record_type" in row else Unreadable("row without a type")
    if not payload:
        return Unreadable(f"{kind} row without a payload") if kind in _ROWS else Noise(kind)
    try:
        if kind == "response_item":
            return _build_message(row, payload, read_item(payload, row, thread.calls), thread)
        if kind == "event_msg":
            return _event(row, payload, thread)
        if kind == "compacted":
            return _plain(row, "compacted", string(payload, "message"), "assistant", "summary", thread)
        if kind == "inter_agent_communication":
            return _plain(row, kind, string(payload, "content"), "assistant", "said", thread)
    except RecursionError:
        return Unreadable("nested too deeply")
    return Noise(kind)


def _event(row: JsonObject, payload: JsonObject, thread: _Thread) -> Content:
    kind = string(payload, "type")
    reason = "/".join(filter(None, ("event_msg", kind, string(inner(payload, "item"), "type"))))
    if kind in _COMPLAINTS:
        return _plain(row, reason, string(payload, "message"), "system", "meta", thread)
    return Noise(reason)


def _plain(row: JsonObject, reason: str, text: str, role: Role, status: ContentKind, thread: _Thread) -> Content:
    composer = Composer()
    composer.add("text", text)
    return _build_message(
        row, _payload(row), Utterance(role, composer, status, string(_payload(row), "author")), thread, reason
    )


def _build_message(
    row: JsonObject, payload: JsonObject, utterance: Utterance | Noise, thread: _Thread, reason: str = ""
) -> Message | Noise:
    if isinstance(utterance, Noise):
        return utterance
    if not utterance.composer.text:
        return Noise(reason or f"response_item/{string(payload, 'type')}/empty")
    author = utterance.author or (thread.model if utterance.role == "assistant" else "")
    parts = utterance.composer.parts
    if thread.is_subagent and utterance.role == "user":
        parts = tuple(replace(part, trust="agent") for part in parts)  # another agent wrote the task
    fields = {
        "session_id": string(thread.meta, "id"),
        "item_id": string(payload, "id"),
        "turn_id": string(inner(payload, "internal_chat_message_metadata_passthrough"), "turn_id"),
        "phase": string(payload, "phase"),
        "version": string(thread.meta, "cli_version"),
    }
    text = utterance.composer.text
    is_known = bool(fields["item_id"] and fields["turn_id"])
    return Message(
        text,
        utterance.role,
        standing=utterance.standing,
        author=author,
        parts=parts,
        uuid=f"{fields['item_id']}/{stamp_of(text)}" if is_known else "",
        namespace=fields["turn_id"] if is_known else "",
        created_at=moment(row.get("timestamp")),
        cwd=thread.cwd,
        branch=thread.branch,
        commit=thread.commit,
        meta={key: value for key, value in fields.items() if value},
    )
