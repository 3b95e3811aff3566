"""Messages with a role and content, as programs that talk to models keep them: JSON, or one message a line.

There is no one format. What is read here is the common core of the chat APIs of OpenAI, Anthropic and Google, and of
the files that people make of their answers:

    [{"role": "user", "content": "…"}, {"role": "assistant", "content": [{"type": "text", "text": "…"}]}]
    {"messages": [ … ], "title": "…"}          also under `chat_messages`, `contents` or `history`
    [{"name": "…", "messages": [ … ]}, …]      several conversations
    {"role": "user", "content": "…"}           one message a line, or one conversation a line

`sender`, `from`, or a `type` that is a role may stand for `role`, and `text`, `parts` (Google's) or `message` for
`content`.
Such files are also what tests and training data are made of, so they are read where somebody names them or says that
they are conversations, and only if a person and an assistant speak in them. Who speaks is what the file says.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.feeders import Content, Identity, Message, Noise, Row, Session, Unreadable
from palazzo.feeders.conversation_exports import Rows
from palazzo.feeders.jsonl import JsonObject, parse_line, string
from palazzo.feeders.moments import moment
from palazzo.feeders.records import canonical, decode_json_text, objects_in, parse, stamp_of, without
from palazzo.feeders.rendering import JOINT, Composer, block_text, call_text, media_text
from palazzo.guard.trust import trust_of_tool
from palazzo.model import Micros, Role

KIND = "chat-messages"
SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
LARGEST = 256 * 1024 * 1024
_LINES = frozenset({".jsonl", ".ndjson"})
_ROLES: Mapping[str, Role] = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "claude", "gemini", "chatgpt", "gpt"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
_LISTS = ("messages", "chat_messages", "contents", "history")
_TIMES = ("timestamp", "created_at", "createdAt", "create_time", "time")
_LEAST_MESSAGES = 0.8
"""Share of a list that must be messages for it to be a conversation."""


class ChatMessages:
    """Reads conversations kept as messages with a role and content."""

    kind = KIND
    version = 1

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether a person and an assistant speak in the file, and little else is in it."""
        if path.suffix.lower() not in SUFFIXES or head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
            return False
        try:
            return any(_is_conversation(one.messages) for one in _conversations(path))
        except (SourceUnreadable, ValueError, RecursionError):
            return False

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the file's conversations."""
        for conversation in _conversations(path):
            yield _session(path.name, conversation)


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A list of messages, and the object that it is a part of, without it."""

    messages: list[object]
    about: JsonObject


def _conversations(path: Path) -> list[_Conversation]:
    value = _rows_of(path) if path.suffix.lower() in _LINES else parse(_read(path), path.name)
    if isinstance(value, dict):
        listed = _listed_in(value)
        return [] if listed is None else [listed]
    if not isinstance(value, list):
        return []
    several = [_listed_in(one) if isinstance(one, dict) and not _role(one) else None for one in value]
    if value and all(one is not None for one in several):
        return [one for one in several if one is not None]
    return [_Conversation(value, {})]


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise SourceUnreadable(f"{path} is over {LARGEST:,} bytes; split it.")
        return path.read_bytes()
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read ({error}).") from None


def _rows_of(path: Path) -> list[object]:
    """The objects of the lines; a line that is none stands for itself, as text."""
    rows: list[object] = []
    for line in _read(path).splitlines():
        if line.strip(b"\x00\t\r \xef\xbb\xbf"):
            row = parse_line(line)
            rows.append(row if isinstance(row, dict) else decode_json_text(line))
    return rows


def _listed_in(record: JsonObject) -> _Conversation | None:
    for key in _LISTS:
        listed = record.get(key)
        if isinstance(listed, list):
            return _Conversation(listed, without(record, key))
    return None


def _is_conversation(listed: list[object]) -> bool:
    roles = [_role(one) for one in listed if isinstance(one, dict)]
    spoken = [role for role in roles if role]
    return {"user", "assistant"} <= set(spoken) and len(spoken) >= _LEAST_MESSAGES * len(listed)


def _role(record: JsonObject) -> Role | None:
    """Who speaks; None where the record is no message."""
    inner = record.get("message")
    for one in (inner, record) if isinstance(inner, dict) else (record,):
        for key in ("role", "sender", "from", "type"):
            role = _ROLES.get(string(one, key).lower())
            if role is not None and _has_content(one) | _has_content(record):
                return role
    return None


def _has_content(record: JsonObject) -> bool:
    return any(key in record for key in ("content", "text", "parts", "message", "value", "tool_calls"))


def _session(name: str, conversation: _Conversation) -> Session:
    """A session is known by its own id or else by the file's name and how it begins, which stays as it grows."""
    about, messages = conversation.about, conversation.messages
    stated = next(
        (found for key in ("uuid", "id", "sessionId", "conversation_id") if (found := string(about, key))), ""
    )
    begins = stated or stamp_of(*(_written(one) for one in messages[:1]))
    title = next((found for key in ("title", "name") if (found := string(about, key).strip())), "")
    stamp = stamp_of(_written(about), *map(_written, messages))
    identity = Identity((KIND, name, begins), f"{name}/{begins}")
    return Session(identity, stamp, partial(_rows, conversation, title), title)


def _written(value: object) -> bytes:
    try:
        return canonical(value)
    except RecursionError:
        return b"null"


def _rows(conversation: _Conversation, title: str) -> Iterator[Row]:
    rows = Rows()
    if conversation.about:
        yield rows.row(conversation.about, Noise("conversation"), title)
    names = _names_of_calls(conversation.messages)
    for record in conversation.messages:
        try:
            content = _content(record, names) if isinstance(record, dict) else Unreadable("not a message")
        except RecursionError:
            content = Unreadable("nested too deeply")
        yield rows.row(record, content)


def _content(record: JsonObject, names: Mapping[str, str]) -> Content:
    role = _role(record)
    if role is None:
        return Noise(f"{string(record, 'type')}, no message") if "type" in record else Unreadable("not a message")
    inner = record.get("message")
    message = inner if isinstance(inner, dict) else record
    composer = Composer()
    if role == "tool":
        _add_result(composer, message, names)
    else:
        _add_blocks(composer, message, names)
    for call, name, arguments in _calls(message):
        composer.add("tool_call", call_text(name or "tool", arguments), name=name, call=call)
    if not composer.text:
        return Noise(f"{role}, without words")
    return Message(
        composer.text,
        role,
        standing="meta" if role == "system" else "said",
        parts=composer.parts,
        uuid=string(record, "uuid") or string(record, "id"),
        created_at=_said_at(record),
    )


def _add_blocks(composer: Composer, message: JsonObject, names: Mapping[str, str]) -> None:
    words = next((message[key] for key in ("content", "parts", "text", "value", "message") if key in message), None)
    for block in words if isinstance(words, list) else [words]:
        if isinstance(block, str):
            composer.add("text", block)
        elif isinstance(block, dict):
            _add_block(composer, block, names)


def _add_block(composer: Composer, block: JsonObject, names: Mapping[str, str]) -> None:
    kind, text = string(block, "type"), string(block, "text")
    if kind == "tool_result":
        _add_result(composer, block, names)
    elif kind == "tool_use":
        name = string(block, "name")
        composer.add("tool_call", call_text(name or "tool", block.get("input")), name=name, call=string(block, "id"))
    elif kind in ("thinking", "reasoning"):
        composer.add("thinking", string(block, "thinking") or text)
    elif "text" in block:
        composer.add("text", text)
    elif "image" in kind or "inlineData" in block:
        composer.add("image", media_text(block, "image"))
    elif block:
        composer.add("text", block_text(block))


def _add_result(composer: Composer, message: JsonObject, names: Mapping[str, str]) -> None:
    call = string(message, "tool_call_id") or string(message, "tool_use_id")
    name = string(message, "name") or names.get(call, "")
    words = message.get("content", message.get("text"))
    text = words if isinstance(words, str) else JOINT.join(string(block, "text") for block in objects_in(words))
    composer.add("tool_result", text, name=name, call=call, trust=trust_of_tool(name))


def _calls(message: JsonObject) -> Iterator[tuple[str, str, object]]:
    """Calls of tools as OpenAI has them, beside the content."""
    for call in objects_in(message.get("tool_calls")):
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        arguments: object = function.get("arguments")
        if isinstance(arguments, str):
            with contextlib.suppress(ValueError):  # half-written arguments are shown as they are
                arguments = json.loads(arguments, strict=False)
        yield string(call, "id"), string(function, "name"), arguments


def _names_of_calls(messages: list[object]) -> dict[str, str]:
    names: dict[str, str] = {}
    for record in objects_in(messages):
        names.update({call: name for call, name, _ in _calls(record)})
        for block in objects_in(record.get("content")):
            if string(block, "type") == "tool_use":
                names[string(block, "id")] = string(block, "name")
    return names


def _said_at(record: JsonObject) -> Micros | None:
    return next((at for key in _TIMES if (at := moment(record.get(key))) is not None), None)
