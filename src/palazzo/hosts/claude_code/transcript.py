"""Claude Code's transcripts: JSON Lines, one file per session, only ever appended to.

Learned from files that Claude Code 2.1.330 wrote (`tests/fixtures/claude-code`), its hook payloads, and reports of
other public readers of this format.

`<session id>.jsonl` is in a folder named after the working directory; a sub-agent's own conversation is in `<session
id>/subagents/agent-<id>.jsonl` (older versions: `agent-<id>.jsonl` beside the session). Every row has a `type`. Rows of
type `user` and `assistant` with a `uuid` are the conversation; one message of the API is spread over several rows, one
content block each, under one `message.id`. A tool's result is a `user` row. A prompt that a person types while the
agent is at work never becomes a `user` row: it is an `attachment` of type `queued_command`. A file that the person
named with `@`, or that the host read again after a compaction, is an `attachment` of type `file`. A prompt that a hook
refused is only in a `system` row of subtype `informational`. Everything else is the host's own: a queue, costs,
snapshots, and in recent versions a second copy of the API requests.

A session that resumes or forks another in a file of its own begins with copies of its rows: another `sessionId`, the
same `uuid`s. These are unique everywhere, so that a copy is the same message.

`message.content` is the model's input or output and becomes the text. `toolUseResult` beside it is for the host's
screen (a patch, the file before an edit, the unshortened output); it stays in the row's bytes only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from palazzo.model import ContentKind, Role
from palazzo.security.tool_trust import trust_of_tool
from palazzo.sources.formats import Content, Feeder, Identity, Message, Noise, Row, Unreadable
from palazzo.sources.formats.block_text import Composer
from palazzo.sources.formats.claude_blocks import ToolCalls, compose
from palazzo.sources.formats.jsonl_rows import JsonObject, json_lines, objects_in_head, string
from palazzo.sources.formats.source_times import moment
from palazzo.text.lazy_patterns import make_regex

KIND = "claude-code"
LOCAL_AGENT_SESSIONS = "local-agent-mode-sessions"
"""The directory in which Claude Desktop keeps the sessions that it started; `claude_desktop` reads them."""

_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}

_HOST_ROWS = frozenset(
    {
        *("queue-operation", "last-prompt", "mode", "permission-mode", "cost-state", "tools-used", "atis-latch"),
        *("api-request", "api-request-blob", "api-request-shape", "ai-title", "custom-title", "agent-name"),
    }
)
"""Row types that, with a `sessionId`, identify a file as this host's even before the first message."""

_HOST_WORDS = ("Stop hook feedback:", "[Request interrupted by user")
"""The beginnings of `user` rows that the host wrote."""
_HOST_TAGS = (
    *("command-name", "command-message", "local-command-stdout", "local-command-stderr", "local-command-caveat"),
    *("bash-stdout", "bash-stderr", "task-notification"),
)
"""Tags around echoes of the host's own commands and background tasks. A person may write an opening tag, but no closing
tag.
"""

_UUID = make_regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class ClaudeCode:
    """Reads Claude Code's session files and its sub-agents' session files."""

    kind = KIND
    version = 2
    appends = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the rows of `head` are this host's and not of a session that Claude Desktop started in it."""
        return LOCAL_AGENT_SESSIONS not in path.parts and is_transcript(head)

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the session, from the file's name if it is the host's own, else from its rows.

        A session that continues another may begin with rows that carry the other's ID, so the name takes precedence.
        """
        objects, _ = objects_in_head(head)
        session_id = next((value for row in objects if (value := string(row, "sessionId"))), "")
        if _is_subagent(path, objects):
            parent = session_id or path.parent.parent.name
            session = f"{parent}/{path.stem}"
            return Identity((KIND, session), session, parent, led_by_agent=True)
        session = path.stem if _UUID.fullmatch(path.stem) else session_id or path.stem
        return Identity((KIND, session), session)

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield every row from byte `start`."""
        calls = ToolCalls(stream, start)
        for position, raw, value in json_lines(stream, start):
            if isinstance(value, dict):
                yield Row(position, raw, _content(value, calls), _title(value))
            else:
                yield Row(position, raw, value)


def is_transcript(head: bytes) -> bool:
    """Return whether the rows of `head` are a session's. Those of hook logs and of stream-json output are not."""
    objects, lines = objects_in_head(head)
    if not lines:
        return head.removeprefix(b"\xef\xbb\xbf").startswith(b'{"parentUuid":')  # one row, longer than the head
    return 2 * len(objects) >= lines and any(_is_transcript_row(row) for row in objects)


def _is_transcript_row(row: JsonObject) -> bool:
    kind = string(row, "type")
    if kind == "summary":
        return bool(string(row, "leafUuid"))
    if kind == "file-history-snapshot":
        return "snapshot" in row and "messageId" in row
    if not string(row, "sessionId") or _is_of_qwen_code(row):
        return False
    return kind in _HOST_ROWS or bool(kind and string(row, "uuid") and "parentUuid" in row)


def _is_of_qwen_code(row: JsonObject) -> bool:
    """Return whether a row of this envelope has content as Google's API has it; Qwen Code writes such rows."""
    message = row.get("message")
    return "systemPayload" in row or (isinstance(message, dict) and "parts" in message)


def _is_subagent(path: Path, objects: list[JsonObject]) -> bool:
    if not path.stem.startswith("agent-"):
        return False
    return path.parent.name == "subagents" or any(row.get("isSidechain") is True for row in objects)


def _title(row: JsonObject) -> str:
    return string(row, _TITLES.get(string(row, "type"), "")).strip()


def _content(row: JsonObject, calls: ToolCalls) -> Content:
    kind = string(row, "type")
    if not kind:
        return Unreadable("row without a type")
    try:
        if kind in ("user", "assistant"):
            return _parse_message(row, kind, calls)
        return _parse_prompt_attachment(row, calls) or _file(row) or _parse_notice(row) or Noise(_reason(row, kind))
    except RecursionError:
        return Unreadable("nested too deeply")


def _reason(row: JsonObject, kind: str) -> str:
    attachment = row.get("attachment")
    subtype = string(row, "subtype") or (string(attachment, "type") if isinstance(attachment, dict) else "")
    return f"{kind}/{subtype}" if subtype else kind


def _parse_message(row: JsonObject, kind: str, calls: ToolCalls) -> Content:
    message = row.get("message")
    if not isinstance(message, dict):
        return Unreadable(f"{kind} row without a message")
    if not string(row, "uuid"):
        return Unreadable(f"{kind} row without a uuid")
    composer, only_results = compose(message.get("content"), calls)
    role: Role = "assistant" if kind == "assistant" else "tool" if only_results else "user"
    author = _model(message) if role == "assistant" else ""
    text, parts = composer.text, composer.parts
    if role == "user" and row.get("isSidechain") is True:  # another agent wrote the task
        parts = tuple(replace(part, trust="agent") if part.kind == "text" else part for part in parts)
    return Message(text, role, standing=_classify_message(row, role, text), author=author, parts=parts, **_origin(row))


def _parse_prompt_attachment(row: JsonObject, calls: ToolCalls) -> Message | None:
    """Return the message if an attachment is what a person typed while the agent was working."""
    attachment = row.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command" or not string(row, "uuid"):
        return None
    origin = attachment.get("origin")
    sender = string(origin, "kind") if isinstance(origin, dict) else "human"
    if attachment.get("isMeta") or attachment.get("commandMode", "prompt") != "prompt" or sender != "human":
        return None
    composer, _ = compose(attachment.get("prompt"), calls)
    text = composer.text
    if not text:
        return None
    return Message(text, "user", standing=_classify_message(row, "user", text), parts=composer.parts, **_origin(row))


def _file(row: JsonObject) -> Message | None:
    """Return the message if an attachment is a file that the host read, as its own tool would have."""
    attachment = row.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "file" or not string(row, "uuid"):
        return None
    content = attachment.get("content")
    file = content.get("file") if isinstance(content, dict) else None
    words = string(file, "content") if isinstance(file, dict) else ""
    if not words:
        return None
    composer = Composer()
    path = string(attachment, "filename")
    composer.add("tool_result", words, name="Read", trust=trust_of_tool("Read", {"file_path": path}))
    file_meta = {"file": string(attachment, "displayPath") or path}
    origin = _origin(row)
    origin["meta"] = {**origin["meta"], **file_meta}
    return Message(words, "tool", standing="meta", parts=composer.parts, **origin)


def _parse_notice(row: JsonObject) -> Message | None:
    """Return the message if the host informs the person that a hook refused a prompt, with the hook's text."""
    text = string(row, "content")
    if string(row, "type") != "system" or string(row, "subtype") != "informational" or not text:
        return None
    composer = Composer()
    composer.add("text", text)
    return Message(text, "system", standing="meta", parts=composer.parts, **_origin(row))


def _classify_message(row: JsonObject, role: Role, text: str) -> ContentKind:
    if row.get("isCompactSummary") is True or row.get("isVisibleInTranscriptOnly") is True:
        return "summary"
    if row.get("isMeta") is True:
        return "meta"
    if role == "assistant":
        return "meta" if row.get("isApiErrorMessage") is True or _is_synthetic(row) else "said"
    if role == "user" and (_is_of_the_host(text.lstrip()) or _only_reminders(text)):
        return "meta"
    return "said"


def _is_of_the_host(text: str) -> bool:
    if text.startswith(_HOST_WORDS):
        return True
    return any(text.startswith(f"<{tag}>") and f"</{tag}>" in text for tag in _HOST_TAGS)


def _only_reminders(text: str) -> bool:
    prefix, *reminders = text.split("<system-reminder>")
    return bool(reminders) and not prefix.strip() and all(_closes(piece) for piece in reminders)


def _closes(reminder: str) -> bool:
    _, end, suffix = reminder.rpartition("</system-reminder>")
    return bool(end) and not suffix.strip()


def _is_synthetic(row: JsonObject) -> bool:
    """Return whether the host wrote this in the model's place ("API Error: …", "No response requested.")."""
    return bool(row["message"].get("model") == "<synthetic>")


def _model(message: Mapping[str, object]) -> str:
    model = message.get("model")
    return model if isinstance(model, str) and model != "<synthetic>" else ""


def _origin(row: JsonObject) -> dict[str, Any]:
    """Return fields that every message row has, as `Message` names them.

    A `gitBranch` of `HEAD` means a detached head or no repository at all, so it names no branch.
    """
    branch = string(row, "gitBranch")
    thread = (string(row, "agentId") or "sidechain") if row.get("isSidechain") is True else ""
    uuid = string(row, "uuid")
    return {
        "uuid": uuid,
        "namespace": "*" if _UUID.fullmatch(uuid) else "",
        "parent": string(row, "parentUuid"),
        "thread": thread,
        "created_at": moment(row.get("timestamp")),
        "cwd": string(row, "cwd"),
        "branch": "" if branch == "HEAD" else branch,
        "meta": _meta(row),
    }


def _meta(row: JsonObject) -> dict[str, object]:
    message = row.get("message")
    message = message if isinstance(message, dict) else {}
    fields = {
        "session_id": string(row, "sessionId"),
        "message_id": string(message, "id"),
        "model": _model(message),
        "version": string(row, "version"),
        "permission": string(row, "permissionMode"),
    }
    return {key: value for key, value in fields.items() if value}


FEEDERS: tuple[Feeder, ...] = (ClaudeCode(),)
