"""The messages of a thread of Zed, in the forms of versions 0.3.0 and older. See `transcript` for the sources."""

from __future__ import annotations

from collections.abc import Iterator

from palazzo.model import ContentKind, Role, Trust
from palazzo.security.tool_kinds import plain_name
from palazzo.sources.formats import Content, Message, Noise, Row, Unreadable
from palazzo.sources.formats.block_text import JOINT, Composer, block_text, call_text
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import Calls, trust_of_call
from palazzo.sources.formats.row_records import drop_keys, objects_in

_VOLATILE_KEYS = (
    *("messages", "updated_at", "cumulative_token_usage", "request_token_usage", "draft_prompt", "ui_scroll_position"),
    *("detailed_summary", "detailed_summary_state", "sandboxed_terminal_temp_dir", "title", "summary"),
)
_TOOLS = {
    "findpath": "Glob",
    **dict.fromkeys(("diagnostics", "readterminal", "thinking", "now"), "Read"),
    **dict.fromkeys(("copypath", "movepath", "deletepath", "savefile", "restorefilefromdisk", "open"), "Edit"),
}
"""Zed's own tools, with their standard equivalents. Every other tool may bring untrusted content."""
_WEB_MENTIONS = frozenset({"Fetch"})
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


def thread_rows(thread: JsonObject, branch: str) -> Iterator[Row]:
    """Yield a thread's own row, then a row for each message."""
    rows, calls = Rows(), Calls()
    title = string(thread, "title") or string(thread, "summary")
    yield rows.row(drop_keys(thread, *_VOLATILE_KEYS), Noise("thread"), title.strip())
    messages = thread.get("messages")
    for message in messages if isinstance(messages, list) else []:
        try:
            content = _content(message, calls, branch)
        except RecursionError:
            content = Unreadable("nested too deeply")
        yield rows.row(message, content)


def _content(message: object, calls: Calls, branch: str) -> Content:
    if message == "Resume":
        return Noise("Resume")
    if not isinstance(message, dict):
        return Unreadable("not a message")
    if "role" in message:
        return _content_of_older(message, calls, branch)
    kind, body = next(iter(message.items()), ("", None))
    if kind not in ("User", "Agent") or not isinstance(body, dict):
        return Unreadable(f"a message of the unknown kind {kind!r}")
    composer = Composer()
    parts = body.get("content")
    for part in parts if isinstance(parts, list) else []:
        if kind == "User":
            _add_user_part(composer, part)
        else:
            _add_agent_part(composer, part, body, calls)
    own = string(body, "id") if kind == "User" else ""
    return _message(composer, "user" if kind == "User" else "assistant", "said", own, branch)


def _message(composer: Composer, role: Role, standing: ContentKind, own: str, branch: str) -> Content:
    if not composer.text:
        return Noise(f"{role}, without words")
    return Message(composer.text, role, standing=standing, parts=composer.parts, uuid=own, branch=branch)


def _variant(part: object) -> tuple[str, object]:
    """Return the name and the value of a part that is `{name: value}`."""
    return next(iter(part.items()), ("", None)) if isinstance(part, dict) else ("", part)


def _add_user_part(composer: Composer, part: object) -> None:
    kind, value = _variant(part)
    if kind == "Text":
        composer.add("text", value if isinstance(value, str) else "")
    elif kind == "Image":
        composer.add("image", "[image]")
    elif kind == "Mention" and isinstance(value, dict):
        mention, target = _variant(value.get("uri"))
        address = (
            next((text for text in target.values() if isinstance(text, str)), "") if isinstance(target, dict) else ""
        )
        trust: Trust = "external" if mention in _WEB_MENTIONS else "repo"
        words = "\n".join(text for text in (address, string(value, "content")) if text)
        composer.add("attachment", words or mention, name=mention, trust=trust)
    else:
        composer.add("attachment", block_text({"type": kind or "part", "value": value}), trust="repo")


def _add_agent_part(composer: Composer, part: object, message: JsonObject, calls: Calls) -> None:
    kind, value = _variant(part)
    if kind == "Text":
        composer.add("text", value if isinstance(value, str) else "")
    elif kind == "Thinking":
        composer.add("thinking", string(value, "text") if isinstance(value, dict) else "")
    elif kind == "ToolUse" and isinstance(value, dict):
        _add_call(composer, value, calls)
        results = message.get("tool_results")
        result = results.get(string(value, "id")) if isinstance(results, dict) else None
        if isinstance(result, dict):
            _add_result(composer, {"tool_use_id": string(value, "id"), **result}, calls)
    elif kind != "RedactedThinking":
        composer.add("attachment", block_text({"type": kind or "part", "value": value}))


def _add_call(composer: Composer, use: JsonObject, calls: Calls) -> None:
    call, name, arguments = string(use, "id"), string(use, "name"), use.get("input")
    if isinstance(arguments, dict) and arguments.keys() == {"type", "value"} and arguments["type"] in ("json", "text"):
        arguments = arguments["value"]  # newer versions say whether the model wrote JSON
    calls.record_call(call, name, trust_of_call(_TOOLS.get(plain_name(name), name), arguments))
    composer.add("tool_call", call_text(name or "tool", arguments), name=name, call=call)


def _add_result(composer: Composer, result: JsonObject, calls: Calls) -> None:
    call = string(result, "tool_use_id")
    name, trust = calls.tool_of(call)
    content = result.get("content")
    texts = [_text_of_result(piece) for piece in (content if isinstance(content, list) else [content])]
    failed = result.get("is_error") is True
    composer.add("tool_result", JOINT.join(filter(None, texts)), name=name, call=call, failed=failed, trust=trust)


def _text_of_result(piece: object) -> str:
    """Return the text of a piece of a result, which may be a text, `{type: text, text}`, `{Text}` or an image."""
    if isinstance(piece, str):
        return piece
    if not isinstance(piece, dict):
        return ""
    fields = {str(key).lower(): value for key, value in piece.items()}
    text = fields.get("text")
    return text if isinstance(text, str) else "[image]" if fields.keys() & {"image", "source"} else ""


def _content_of_older(message: JsonObject, calls: Calls, branch: str) -> Content:
    """Return what a message of a thread before 0.3.0 says; before 0.2.0, results are in a message of the user's."""
    role = _ROLES.get(string(message, "role").lower())
    if role is None:
        return Unreadable(f"a message with the unknown role {message['role']!r}")
    composer = Composer()
    results = objects_in(message.get("tool_results"))
    is_results = role == "user" and bool(results)
    if not is_results:
        composer.add("text", string(message, "text"))
        for segment in objects_in(message.get("segments")):
            composer.add("thinking" if string(segment, "type") == "thinking" else "text", string(segment, "text"))
        composer.add("attachment", string(message, "context"), trust="repo")
    for use in objects_in(message.get("tool_uses")):
        _add_call(composer, use, calls)
    for result in results:
        _add_result(composer, result, calls)
    standing: ContentKind = "meta" if message.get("is_hidden") is True or role == "system" else "said"
    return _message(composer, "tool" if is_results else role, standing, "", branch)
