"""Copilot CLI's sessions: an event log in JSON Lines, one file per session, only ever appended to.

Learned from a file that Copilot CLI 1.0.102 wrote (`tests/fixtures/copilot`) and from the event types that its public
SDK declares.

`~/.copilot/session-state/<session id>/events.jsonl`. An event is `{type, data, id, timestamp, parentId}`, with
`agentId` for a sub-agent's event. `session.start` and `session.resume` state directory, branch and commit.
`user.message` has `content`, the person's input, and `transformedContent`, the same with the host's context, which
stays in the row's bytes. `assistant.message` has text, reasoning and the requested calls; `tool.execution_complete` has
their results. `tool.execution_start`, `hook.*` and `assistant.reasoning` repeat the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from palazzo.model import ContentKind, Role, Trust
from palazzo.sources.formats import Content, Feeder, Identity, Message, Noise, Row, Unreadable
from palazzo.sources.formats.block_text import Composer, block_text, call_text
from palazzo.sources.formats.jsonl_rows import JsonObject, json_lines, objects_in_head, string
from palazzo.sources.formats.resume_context import Calls, rows_before, trust_of_call
from palazzo.sources.formats.source_times import moment

KIND = "copilot"

_FAMILIES = frozenset({"session", "user", "assistant", "tool", "hook", "system", "subagent", "skill"})
_PLACES = frozenset({"session.start", "session.resume", "session.context_changed"})
_WORDS_OF_THE_HOST = {
    "system.message": "content",
    "system.notification": "content",
    "skill.invoked": "content",
    "session.error": "message",
    "session.warning": "message",
    "session.info": "message",
}
"""Events whose words are the host's, and where in `data` the words are."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Copilot:
    """Reads Copilot CLI's event logs."""

    kind = KIND
    version = 1
    appends = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the rows of `head` are events of a session."""
        objects, lines = objects_in_head(head)
        return 2 * len(objects) >= max(lines, 1) and any(map(_is_event, objects))

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the session, from the directory if it is the host's own, else from its first event."""
        objects, _ = objects_in_head(head)
        session_id = next((value for row in objects if (value := string(_data(row), "sessionId"))), "")
        own = path.name == "events.jsonl" and _UUID.fullmatch(path.parent.name)
        session = path.parent.name if own else session_id or path.stem
        return Identity((KIND, session), session)

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield every row from byte `start`."""
        session = _Session()
        for earlier_row in rows_before(stream, start):
            session.see(earlier_row)
        for position, raw, value in json_lines(stream, start):
            if isinstance(value, dict):
                session.see(value)
                yield Row(position, raw, _content(value, session), _title(value))
            else:
                yield Row(position, raw, value)


class _Session:
    """State from earlier rows that later rows depend on."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.cwd = self.branch = self.commit = ""

    def see(self, row: JsonObject) -> None:
        """Process one event."""
        kind, data = string(row, "type"), _data(row)
        if kind in _PLACES:
            context = data.get("context")
            context = context if isinstance(context, dict) else data
            self.cwd = string(context, "cwd") or self.cwd
            self.branch, self.commit = string(context, "branch"), string(context, "headCommit")
        elif kind == "assistant.message":
            for request in _requests(data):
                self.calls.record_call(string(request, "toolCallId"), string(request, "name"), _trust(request))
        elif kind == "tool.execution_start":
            self.calls.record_call(string(data, "toolCallId"), string(data, "toolName"), _trust(data))


def _is_event(row: JsonObject) -> bool:
    family, dot, _ = string(row, "type").partition(".")
    has_envelope = bool(string(row, "id") and string(row, "timestamp")) and "parentId" in row
    return bool(dot) and family in _FAMILIES and has_envelope and isinstance(row.get("data"), dict)


def _data(row: JsonObject) -> JsonObject:
    data = row.get("data")
    return data if isinstance(data, dict) else {}


def _requests(data: JsonObject) -> list[JsonObject]:
    requests = data.get("toolRequests")
    return [request for request in requests if isinstance(request, dict)] if isinstance(requests, list) else []


def _trust(call: JsonObject) -> Trust:
    server, tool = string(call, "mcpServerName"), string(call, "mcpToolName")
    name = f"mcp__{server}__{tool}" if server else string(call, "name") or string(call, "toolName")
    return trust_of_call(name, call.get("arguments"))


def _title(row: JsonObject) -> str:
    return string(_data(row), "title").strip() if string(row, "type") == "session.title_changed" else ""


def _content(row: JsonObject, session: _Session) -> Content:
    kind, data = string(row, "type"), _data(row)
    if not kind:
        return Unreadable("row without a type")
    composer = Composer()
    try:
        if kind == "user.message":
            status = _add_user(composer, data)
            return _build_message(row, session, composer, "user", status)
        if kind == "assistant.message":
            _add_assistant(composer, data)
            return _build_message(row, session, composer, "assistant")
        if kind == "tool.execution_complete":
            _add_result(composer, data, session.calls)
            return _build_message(row, session, composer, "tool")
        if kind == "session.compaction_complete":
            composer.add("text", string(data, "summaryContent"))
            return _build_message(row, session, composer, "assistant", "summary")
        if kind in _WORDS_OF_THE_HOST:
            composer.add("text", string(data, _WORDS_OF_THE_HOST[kind]))
            return _build_message(row, session, composer, "system", "meta")
    except RecursionError:
        return Unreadable("nested too deeply")
    hook = string(data, "hookType")
    return Noise(f"{kind}/{hook}" if hook else kind)


def _build_message(
    row: JsonObject, session: _Session, composer: Composer, role: Role, status: ContentKind = "said"
) -> Message | Noise:
    data = _data(row)
    if not composer.text:
        return Noise(f"{string(row, 'type')}/empty")
    fields = {"message_id": string(data, "messageId"), "source": string(data, "source")}
    return Message(
        composer.text,
        role,
        standing=status,
        author=string(data, "model") if role == "assistant" else "",
        parts=composer.parts,
        uuid=string(row, "id"),
        parent=string(row, "parentId"),
        thread=string(row, "agentId") or string(data, "parentToolCallId"),
        created_at=moment(row.get("timestamp")),
        cwd=session.cwd,
        branch=session.branch,
        commit=session.commit,
        meta={key: value for key, value in fields.items() if value},
    )


def _add_user(composer: Composer, data: JsonObject) -> ContentKind:
    """Add what was typed, or what another agent or the host wrote in the person's place."""
    source = string(data, "source")
    by_agent = source.startswith("agent-")
    composer.add("text", string(data, "content"), trust="agent" if by_agent else None)
    attachments = data.get("attachments")
    for attachment in attachments if isinstance(attachments, list) else ():
        if isinstance(attachment, dict):
            composer.add("attachment", block_text(attachment), trust="repo")
    hosts = data.get("isAutopilotContinuation") is True or (source not in ("", "user") and not by_agent)
    return "meta" if hosts else "said"


def _add_assistant(composer: Composer, data: JsonObject) -> None:
    composer.add("thinking", string(data, "reasoningText"))
    composer.add("text", string(data, "content"))
    for request in _requests(data):
        name = string(request, "name")
        body = call_text(name or "tool", request.get("arguments"))
        composer.add("tool_call", body, name=name, call=string(request, "toolCallId"))


def _add_result(composer: Composer, data: JsonObject, calls: Calls) -> None:
    call = string(data, "toolCallId")
    name, trust = calls.tool_of(call)
    result, error, shell = (data.get(key) for key in ("result", "error", "shellExecution"))
    body = string(result, "content") if isinstance(result, dict) else ""
    if not body and isinstance(error, dict):
        body = string(error, "message")
    code = shell.get("exitCode") if isinstance(shell, dict) else None
    failed = data.get("success") is False or (isinstance(code, int) and code != 0)
    composer.add("tool_result", body, name=name, call=call, failed=failed, trust=trust)


FEEDERS: tuple[Feeder, ...] = (Copilot(),)
