"""Entries of pi's sessions as messages: the roles, the blocks, and the text that an extension or the host inserted.

Blocks are `text`, `thinking`, `toolCall` and `image`, as in pi's own description of its session files. A tool's
`details` are for the screen and stay in the row's bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from palazzo.frozen_class import frozen
from palazzo.model import ContentKind, Role
from palazzo.security.tool_trust import trust_of_tool
from palazzo.sources.formats import Content, Message, Noise, Unreadable
from palazzo.sources.formats.block_text import Composer, block_text, call_text, media_text
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import Calls
from palazzo.sources.formats.source_times import moment

_SUMMARIES = frozenset({"branchSummary", "compactionSummary"})
_EXTENSION_ROLES = frozenset({"custom", "hookMessage"})


@frozen
class Origin:
    """The position of an entry: its thread, whether it begins the thread, and the session's directory."""

    thread: str
    begins: bool
    cwd: str


def calls_in(row: JsonObject) -> Iterator[tuple[str, str, object]]:
    """Yield id, tool and arguments of the calls that an entry makes."""
    message = row.get("message")
    if isinstance(message, dict) and string(message, "role") == "assistant":
        for block in _blocks(message.get("content")):
            if string(block, "type") == "toolCall":
                name = string(block, "name")
                yield string(block, "id"), name, block.get("arguments")


def read_entry(row: JsonObject, origin: Origin, calls: Calls) -> Content:
    """Return the content of an entry; noise for data that pi and its extensions keep for themselves."""
    kind = string(row, "type")
    composer = Composer()
    if kind == "message":
        message = row.get("message")
        if not isinstance(message, dict):
            return Unreadable("message row without a message")
        return _message(row, message, composer, origin, calls)
    if kind in ("compaction", "branch_summary"):
        composer.add("text", string(row, "summary"))
        return _build_message(row, {}, "assistant", "summary", composer, origin)
    if kind == "custom_message":
        _add_all(composer, row.get("content"))
        return _build_message(row, row, "system", "meta", composer, origin)
    return Noise(kind)


def _message(row: JsonObject, message: JsonObject, composer: Composer, origin: Origin, calls: Calls) -> Content:
    role = string(message, "role")
    if role in ("user", "assistant"):
        _add_all(composer, message.get("content"))
        if composer.text or not string(message, "errorMessage"):
            return _build_message(row, message, "user" if role == "user" else "assistant", "said", composer, origin)
        composer.add("text", string(message, "errorMessage"))  # the host, in the model's place
        return _build_message(row, message, "assistant", "meta", composer, origin)
    if role == "toolResult":
        _add_result(composer, message, calls)
        return _build_message(row, message, "tool", "said", composer, origin)
    if role == "bashExecution":
        _add_own_command(composer, message, string(row, "id"))
        return _build_message(row, message, "tool", "said", composer, origin)
    if role in _SUMMARIES:
        composer.add("text", string(message, "summary"))
        return _build_message(row, message, "assistant", "summary", composer, origin)
    if role == "system" or role in _EXTENSION_ROLES:
        _add_all(composer, message.get("content"))
        sections = message.get("sections")
        for section in sections.values() if isinstance(sections, dict) else ():
            composer.add("text", section if isinstance(section, str) else "")
        return _build_message(row, message, "system", "meta", composer, origin)
    return Noise(f"message/{role}" if role else "message")


def _build_message(
    row: JsonObject, message: JsonObject, role: Role, status: ContentKind, composer: Composer, origin: Origin
) -> Message | Noise:
    if not composer.text:
        return Noise(f"{string(row, 'type')}/empty")
    fields = {
        "extension": string(message, "customType"),
        "stop": string(message, "stopReason") if string(message, "stopReason") in ("error", "aborted") else "",
        "branch": origin.thread if origin.begins else "",
        "branch_left": string(row, "fromId"),
    }
    return Message(
        composer.text,
        role,
        standing=status,
        author=string(message, "model") if role == "assistant" else "",
        parts=composer.parts,
        uuid=string(row, "id"),
        namespace=string(row, "timestamp"),
        parent=string(row, "parentId"),
        thread=origin.thread,
        created_at=moment(row.get("timestamp")),
        cwd=origin.cwd,
        meta={key: value for key, value in fields.items() if value},
    )


def _blocks(content: object) -> list[JsonObject]:
    blocks = content if isinstance(content, list) else [content]
    return [block if isinstance(block, dict) else {"type": "text", "text": block} for block in blocks if block]


def _add_all(composer: Composer, content: object) -> None:
    for block in _blocks(content):
        _add(composer, block)


def _add(composer: Composer, block: JsonObject) -> None:
    kind, text = string(block, "type"), block.get("text")
    if kind == "text":
        composer.add("text", text if isinstance(text, str) else call_text("value", text))
    elif kind == "thinking":
        composer.add("thinking", string(block, "thinking"))
    elif kind == "toolCall":
        name = string(block, "name")
        body = call_text(name or "tool", block.get("arguments"))
        composer.add("tool_call", body, name=name, call=string(block, "id"))
    elif kind == "image":
        composer.add("image", media_text(block, "image"))
    else:
        composer.add("attachment", block_text(block))


def _add_result(composer: Composer, message: JsonObject, calls: Calls) -> None:
    call = string(message, "toolCallId")
    name, trust = calls.tool_of(call)
    body = Composer()
    _add_all(body, message.get("content"))
    failed = message.get("isError") is True
    name = name or string(message, "toolName")
    composer.add("tool_result", body.text, name=name, call=call, failed=failed, trust=trust)


def _add_own_command(composer: Composer, message: JsonObject, entry: str) -> None:
    """Render a command that the person ran (`!ls`), and its output."""
    command, code = string(message, "command"), message.get("exitCode")
    composer.add("tool_call", call_text("bash", {"command": command}), name="bash", call=entry)
    failed = isinstance(code, int) and code != 0
    trust = trust_of_tool("bash", {"command": command})
    composer.add("tool_result", string(message, "output"), name="bash", call=entry, failed=failed, trust=trust)
