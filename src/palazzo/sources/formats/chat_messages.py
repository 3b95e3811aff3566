"""Messages with a role and content, as programs that talk to models keep them: JSON, or one message a line.

There is no single format. This module reads the common core of the chat APIs of OpenAI, Anthropic and Google, and of
the files that people make of their answers:

    [{"role": "user", "content": "…"}, {"role": "assistant", "content": [{"type": "text", "text": "…"}]}]
    {"messages": [ … ], "title": "…"}          also under `chat_messages`, `contents` or `history`
    [{"name": "…", "messages": [ … ]}, …]      several conversations
    {"role": "user", "content": "…"}           one message a line, or one conversation a line

`sender`, `from`, or a `type` that is a role may replace `role`, and `text`, `parts` (Google's) or `message` may replace
`content`. Tests and training data have this form, too, so such a file is read only if a person names it or states that
it is a conversation, and only if a person and an assistant speak in it. The speakers are taken from the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.model import Micros, Role, Trust
from palazzo.security.tool_trust import trust_of_tool
from palazzo.sources.formats import Content, Identity, Message, Noise, Row, Session, Unreadable
from palazzo.sources.formats.block_text import JOINT, Composer, block_text, call_text, function_calls, media_text
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.jsonl_rows import JsonObject, parse_line, string
from palazzo.sources.formats.row_records import canonical, decode_json_text, drop_keys, objects_in, parse, stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.sources.formats.whole_files import read_file

KIND = "chat-messages"
SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
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
"""Minimum share of messages in a list for the list to be a conversation."""


class ChatMessages:
    """Reads conversations kept as messages with a role and content."""

    kind = KIND
    version = 1

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file is mainly messages of a person and an assistant."""
        if path.suffix.lower() not in SUFFIXES or head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
            return False
        try:
            return any(_is_conversation(conversation.messages) for conversation in _conversations(path))
        except (SourceUnreadable, ValueError, RecursionError):
            return False

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the file's conversations."""
        for conversation in _conversations(path):
            yield _session(path.name, conversation)


@frozen
class _Conversation:
    """A list of messages, and the other fields of the object that holds the list."""

    messages: list[object]
    about: JsonObject


_Tools = Mapping[str, tuple[str, Trust]]
"""The name of the tool of each call (id), and the trust of its result."""


def _conversations(path: Path) -> list[_Conversation]:
    data = read_file(path)
    value = _lines_of(data) if path.suffix.lower() in _LINES else parse(data, path.name)
    if isinstance(value, dict):
        conversation = _conversation_in(value)
        return [] if conversation is None else [conversation]
    if not isinstance(value, list):
        return []
    conversations = [
        _conversation_in(record) if isinstance(record, dict) and not _role(record) else None for record in value
    ]
    if value and None not in conversations:
        return [conversation for conversation in conversations if conversation is not None]
    return [_Conversation(value, {})]


def _lines_of(data: bytes) -> list[object]:
    """Return the object of each line, or the line's text if it is not an object."""
    records: list[object] = []
    for line in data.splitlines():
        if line.strip(b"\x00\t\r \xef\xbb\xbf"):
            record = parse_line(line)
            records.append(record if isinstance(record, dict) else decode_json_text(line))
    return records


def _conversation_in(record: JsonObject) -> _Conversation | None:
    for key in _LISTS:
        messages = record.get(key)
        if isinstance(messages, list):
            return _Conversation(messages, drop_keys(record, key))
    return None


def _is_conversation(messages: list[object]) -> bool:
    roles = [role for record in objects_in(messages) if (role := _role(record))]
    return {"user", "assistant"} <= set(roles) and len(roles) >= _LEAST_MESSAGES * len(messages)


def _role(record: JsonObject) -> Role | None:
    """Return the speaker; None if the record is not a message."""
    for message in (_message(record), record):
        for key in ("role", "sender", "from", "type"):
            role = _ROLES.get(string(message, key).lower())
            if role is not None and (_has_content(message) or _has_content(record)):
                return role
    return None


def _message(record: JsonObject) -> JsonObject:
    """Return the message of a record: its `message` field, or else the record."""
    message = record.get("message")
    return message if isinstance(message, dict) else record


def _has_content(record: JsonObject) -> bool:
    return any(key in record for key in ("content", "text", "parts", "message", "value", "tool_calls"))


def _session(name: str, conversation: _Conversation) -> Session:
    """Identify a session by its own ID, or else by file name and first message, which stay as it grows."""
    about, messages = conversation.about, conversation.messages
    own_id = _first_string(about, "uuid", "id", "sessionId", "conversation_id")
    key = own_id or stamp_of(*map(_bytes_of, messages[:1]))
    title = _first_string(about, "title", "name")
    stamp = stamp_of(_bytes_of(about), *map(_bytes_of, messages))
    return Session(Identity((KIND, name, key), f"{name}/{key}"), stamp, partial(_rows, conversation, title), title)


def _first_string(record: JsonObject, *keys: str) -> str:
    return next((text for key in keys if (text := string(record, key).strip())), "")


def _bytes_of(value: object) -> bytes:
    try:
        return canonical(value)
    except RecursionError:
        return b"null"


def _rows(conversation: _Conversation, title: str) -> Iterator[Row]:
    rows = Rows()
    if conversation.about:
        yield rows.row(conversation.about, Noise("conversation"), title)
    tools = _tools(conversation.messages)
    for record in conversation.messages:
        try:
            content = _content(record, tools) if isinstance(record, dict) else Unreadable("not a message")
        except RecursionError:
            content = Unreadable("nested too deeply")
        yield rows.row(record, content)


def _content(record: JsonObject, tools: _Tools) -> Content:
    role = _role(record)
    if role is None:
        return Noise(f"{string(record, 'type')}, no message") if "type" in record else Unreadable("not a message")
    message = _message(record)
    composer = Composer()
    if role == "tool":
        _add_result(composer, message, tools)
    else:
        _add_blocks(composer, message, tools)
    for call, name, arguments in function_calls(message.get("tool_calls")):
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


def _add_blocks(composer: Composer, message: JsonObject, tools: _Tools) -> None:
    words = next((message[key] for key in ("content", "parts", "text", "value", "message") if key in message), None)
    for block in words if isinstance(words, list) else [words]:
        if isinstance(block, str):
            composer.add("text", block)
        elif isinstance(block, dict):
            _add_block(composer, block, tools)


def _add_block(composer: Composer, block: JsonObject, tools: _Tools) -> None:
    kind, text = string(block, "type"), string(block, "text")
    if kind == "tool_result":
        _add_result(composer, block, tools)
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


def _add_result(composer: Composer, message: JsonObject, tools: _Tools) -> None:
    call = string(message, "tool_call_id") or string(message, "tool_use_id")
    called_name, trust = tools.get(call, ("", None))
    name = string(message, "name") or called_name
    words = message.get("content", message.get("text"))
    text = words if isinstance(words, str) else JOINT.join(string(block, "text") for block in objects_in(words))
    composer.add("tool_result", text, name=name, call=call, trust=trust or trust_of_tool(name))


def _tools(messages: list[object]) -> _Tools:
    tools: dict[str, tuple[str, Trust]] = {}
    for message in map(_message, objects_in(messages)):
        for call, name, arguments in function_calls(message.get("tool_calls")):
            tools[call] = (name, trust_of_tool(name, arguments))
        for block in objects_in(message.get("content")):
            if string(block, "type") == "tool_use":
                name = string(block, "name")
                tools[string(block, "id")] = (name, trust_of_tool(name, block.get("input")))
    return tools


def _said_at(record: JsonObject) -> Micros | None:
    return next((at for key in _TIMES if (at := moment(record.get(key))) is not None), None)
