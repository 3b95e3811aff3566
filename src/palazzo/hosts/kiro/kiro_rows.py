"""Rows of Kiro's sessions in JSON Lines, in the two forms that its engines write. Files are only appended to.

From public readers, which agree: aws-bench (`Kiro CLI agent`, engines v1 to v3), memex (`kiro.rs`, for v3), irrlicht
and agent-fleet (lines of versions 2.5.1 to 2.14.1, for v2). Kiro was not run; its source code has the database only.

Engine v2, `sessions/cli/<session id>.jsonl`:

    {version: "v1", kind: Prompt | AssistantMessage | ToolResults | Clear | …,
     data: {message_id, content: [{kind: text | toolUse | toolResult | thinking | image, data}], meta: {timestamp}}}

Only prompts have a time. Engine v3, which Kiro's editor 1.0 also uses, `sessions/<workspace>/sess_<id>/messages.jsonl`:

    {id, timestamp, payload: {type: user | assistant | tool_call | tool_result | sub_agent_start | …}}

`operationType` of an assistant's row is Say, Reasoning (whose text is "..." where the model keeps it) or Summary.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from palazzo.hosts.kiro.tool_results import result_text, trust_of_kiro_call
from palazzo.model import ContentKind, Micros, Role
from palazzo.sources.formats import Content, Message, Noise, Unreadable
from palazzo.sources.formats.block_text import Composer, block_text, call_text, media_text
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import Calls
from palazzo.sources.formats.row_records import objects_in
from palazzo.sources.formats.source_times import moment

_ROLES: dict[str, Role] = {"Prompt": "user", "AssistantMessage": "assistant", "ToolResults": "tool"}
_OTHER_KINDS = frozenset({"Clear", "Compaction", "Summary", "ResetTo", "CancelledPrompt"})
_EVENTS = frozenset(
    {
        *("user", "assistant", "tool_call", "tool_result", "sub_agent_start", "sub_agent_complete", "turn_start"),
        *("turn_end", "session_start", "session_metadata", "session_event", "steering_inclusion", "usage_summary"),
        *("pending_interaction", "interaction_resolved", "tombstone", "ContextualHookInvoked"),
    }
)
_WITHHELD = "..."
_SUB_AGENT = "subagent"


def is_session_row(row: JsonObject) -> bool:
    """Return whether a row has one of the two forms."""
    payload = row.get("payload")
    if isinstance(payload, dict):
        return "type" not in row and "timestamp" in row and string(payload, "type") in _EVENTS
    return isinstance(row.get("data"), dict) and string(row, "kind") in {*_ROLES, *_OTHER_KINDS}


@dataclass(slots=True)
class RowContext:
    """What follows from earlier rows: the calls, and the time of the last prompt."""

    calls: Calls = field(default_factory=Calls)
    prompted_at: Micros | None = None

    def record(self, row: JsonObject) -> None:
        """Remember what later rows refer to."""
        payload, data = row.get("payload"), row.get("data")
        if isinstance(payload, dict):
            self._record_event(payload)
        elif isinstance(data, dict):
            details = data.get("meta")
            at = moment(details.get("timestamp")) if isinstance(details, dict) else None
            self.prompted_at = self.prompted_at if at is None else at
            for block in objects_in(data.get("content")):
                use = block.get("data")
                if string(block, "kind") == "toolUse" and isinstance(use, dict):
                    self._record_call(string(use, "toolUseId"), string(use, "name"), use.get("input"))

    def _record_event(self, payload: JsonObject) -> None:
        kind = string(payload, "type")
        if kind == "tool_call":
            self._record_call(string(payload, "toolCallId"), string(payload, "toolName"), payload.get("args"))
        elif kind == "sub_agent_start":
            self._record_call(string(payload, "subSessionId"), _SUB_AGENT, None)

    def _record_call(self, call: str, name: str, arguments: object) -> None:
        self.calls.record_call(call, name, trust_of_kiro_call(name, arguments))


def content_of_row(row: JsonObject, context: RowContext) -> Content:
    """Return what a row says."""
    payload = row.get("payload")
    try:
        return _content_of_event(row, payload, context) if isinstance(payload, dict) else _content(row, context)
    except RecursionError:
        return Unreadable("nested too deeply")


# --- engine v2 ---------------------------------------------------------------------------------------------


def _content(row: JsonObject, context: RowContext) -> Content:
    kind, data = string(row, "kind"), row.get("data")
    if not kind:
        return Unreadable("row without a kind")
    role = _ROLES.get(kind)
    if role is None:
        return Noise(kind)
    if not isinstance(data, dict):
        return Unreadable(f"{kind} without data")
    composer = Composer()
    for block in objects_in(data.get("content")):
        _add_block(composer, block, context.calls)
    if not composer.text:
        return Noise(f"{kind}, without words")
    return Message(
        composer.text,
        role,
        parts=composer.parts,
        uuid=string(data, "message_id"),
        created_at=context.prompted_at,
    )


def _add_block(composer: Composer, block: JsonObject, calls: Calls) -> None:
    kind, data = string(block, "kind"), block.get("data")
    record: JsonObject = data if isinstance(data, dict) else {}
    if kind == "text":
        composer.add("text", data if isinstance(data, str) else "")
    elif kind in ("thinking", "reasoning"):
        composer.add("thinking", string(record, "text") or (data if isinstance(data, str) else ""))
    elif kind == "toolUse":
        name = string(record, "name")
        call = string(record, "toolUseId")
        composer.add("tool_call", call_text(name or "tool", record.get("input")), name=name, call=call)
    elif kind == "toolResult":
        failed = string(record, "status").lower() == "error"
        _add_result(composer, string(record, "toolUseId"), record.get("content"), failed, calls)
    elif kind == "image":
        composer.add("image", f"[image/{string(record, 'format')}]" if string(record, "format") else "[image]")
    else:
        composer.add("attachment", block_text({"type": kind or "block", **record}))


def _add_result(composer: Composer, call: str, content: object, failed: bool, calls: Calls) -> None:
    name, trust = calls.tool_of(call)
    text, is_error = result_text(content)
    composer.add("tool_result", text, name=name, call=call, failed=failed or is_error, trust=trust)


# --- engine v3 ---------------------------------------------------------------------------------------------


def _content_of_event(row: JsonObject, payload: JsonObject, context: RowContext) -> Content:
    kind = string(payload, "type")
    composer, role, standing = Composer(), _role(kind), _standing(payload)
    if role is None:
        return Noise(kind) if kind else Unreadable("row without a type")
    _add_event(composer, kind, payload, context.calls)
    if not composer.text:
        return Noise(f"{kind}, without words")
    return Message(
        composer.text,
        role,
        standing=standing,
        parts=composer.parts,
        uuid=string(row, "id"),
        created_at=moment(row.get("timestamp")),
    )


def _role(kind: str) -> Role | None:
    if kind == "user":
        return "user"
    if kind in ("tool_result", "sub_agent_complete"):
        return "tool"
    return "assistant" if kind in ("assistant", "tool_call", "sub_agent_start") else None


def _standing(payload: JsonObject) -> ContentKind:
    """Return how a row counts: a hook of the editor may send a prompt that no person wrote."""
    if string(payload, "type") == "user" and string(payload, "source").casefold() in ("hook", "system"):
        return "meta"
    return "summary" if string(payload, "operationType") == "Summary" else "said"


def _add_event(composer: Composer, kind: str, payload: JsonObject, calls: Calls) -> None:
    text = string(payload, "content")
    if kind == "tool_call":
        name = string(payload, "toolName")
        call = string(payload, "toolCallId")
        composer.add("tool_call", call_text(name or "tool", payload.get("args")), name=name, call=call)
    elif kind == "tool_result":
        failed = payload.get("success") is False
        _add_result(composer, string(payload, "toolCallId"), payload.get("content"), failed, calls)
    elif kind == "sub_agent_start":
        arguments = {"agent": string(payload, "subAgentName"), "prompt": string(payload, "prompt")}
        call = string(payload, "subSessionId")
        composer.add("tool_call", call_text(_SUB_AGENT, arguments), name=_SUB_AGENT, call=call)
    elif kind == "sub_agent_complete":
        _add_result(composer, string(payload, "subSessionId"), payload.get("response"), False, calls)
    elif string(payload, "operationType") == "Reasoning":
        composer.add("thinking", "" if text == _WITHHELD else text)
    else:
        composer.add("text", text)
        _add_attachments(composer, payload, "images")
        _add_attachments(composer, payload, "documents")


def _add_attachments(composer: Composer, payload: JsonObject, key: Literal["images", "documents"]) -> None:
    attachments = payload.get(key)
    for attachment in attachments if isinstance(attachments, list) else []:
        record: JsonObject = attachment if isinstance(attachment, dict) else {}
        address = attachment if isinstance(attachment, str) else ""
        if key == "images":
            composer.add("image", f"[image, {address}]" if address else media_text(record, "image"))
        else:
            name = string(record, "displayName")
            words = string(record, "content") or name or string(record, "id") or address
            composer.add("attachment", words, name=name, trust="repo")
