"""Content blocks of the Anthropic Messages API, as Claude Code stores them, and the tools they belong to.

A `content` is a string or a list of blocks: `text`, `thinking`, `tool_use`, `tool_result` (whose own content
is again a string or a list), `image`, `document`, and the server-side kinds that end in `_tool_use` and
`_tool_result`. The block types are those of Anthropic's public API reference; captured files show the first
five.
"""

from __future__ import annotations

from typing import BinaryIO

from palazzo.model import Trust
from palazzo.security.tool_trust import trust_of_tool
from palazzo.sources.formats.block_text import JOINT, Composer, block_text, call_text, media_text
from palazzo.sources.formats.jsonl_rows import JsonObject, parse_line, string

LOOK_BACK = 4 * 1024 * 1024
"""Number of bytes before the start of a read in which a result's call is searched for. A turn's calls are well within
it.
"""


class ToolCalls:
    """The tool of each call id, and the trust of its output.

    A read may begin between a call and its result. The first result with an unknown call triggers one search through
    the bytes just before the read, so that a row has the same meaning wherever reading began.
    """

    def __init__(self, stream: BinaryIO, start: int) -> None:
        self._stream = stream
        self._known: dict[str, tuple[str, Trust]] = {}
        self._behind = start if start and stream.seekable() and stream.tell() == start else 0

    def record_call(self, call: str, name: str, arguments: object) -> None:
        """Remember a call."""
        self._known[call] = (name, trust_of_tool(name, arguments))

    def tool_of(self, call: str) -> tuple[str, Trust]:
        """Return a tool's name and the trust of its output; for an unknown call, "" and external."""
        if call not in self._known and self._behind:
            self._look_back()
        return self._known.get(call) or ("", trust_of_tool(""))

    def _look_back(self) -> None:
        resume_offset, until, self._behind = self._stream.tell(), self._behind, 0
        position = self._stream.seek(max(0, until - LOOK_BACK))
        earlier: dict[str, tuple[str, Trust]] = {}
        while position < until and (raw := self._stream.readline(until - position)):
            position += len(raw)
            row = parse_line(raw) if b"tool_use" in raw else None
            if isinstance(row, dict):
                earlier |= {call: (name, trust_of_tool(name, arguments)) for call, name, arguments in _calls_in(row)}
        self._stream.seek(resume_offset)
        self._known = earlier | self._known


def compose(content: object, calls: ToolCalls) -> tuple[Composer, bool]:
    """Render `content`; return whether it is only tool results, without a person's words."""
    composer = Composer()
    blocks = content if isinstance(content, list) else [content]
    kinds = {_add(composer, block, calls) for block in blocks if block is not None}
    return composer, "tool_result" in kinds and "text" not in kinds


def _add(composer: Composer, block: object, calls: ToolCalls) -> str:
    """Add one block and return the kind it was treated as."""
    if not isinstance(block, dict):
        composer.add("text", block if isinstance(block, str) else call_text("value", block))
        return "text"
    kind = str(block.get("type", ""))
    if kind == "text":
        composer.add("text", string(block, "text"))
    elif kind == "thinking":
        composer.add("thinking", string(block, "thinking"))
    elif _is_call(kind):
        name, call = string(block, "name"), string(block, "id")
        calls.record_call(call, name, block.get("input"))
        composer.add("tool_call", call_text(name or "tool", block.get("input")), name=name, call=call)
    elif kind == "tool_result" or kind.endswith("_tool_result"):
        call = string(block, "tool_use_id")
        name, trust = calls.tool_of(call)
        failed = block.get("is_error") is True
        composer.add("tool_result", _body(block), name=name, call=call, failed=failed, trust=trust)
        return "tool_result"
    elif kind == "image":
        composer.add("image", media_text(block, "image"))
    elif kind == "document":
        composer.add("attachment", _document(block))
    else:
        composer.add("attachment", block_text(block))
    return kind


def _body(block: JsonObject) -> str:
    """Return a tool's whole result: its string, or its blocks separated by a blank line."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    pieces = content if isinstance(content, list) else [content] if content is not None else []
    return JOINT.join(text for piece in pieces if (text := _piece(piece)))


def _piece(piece: object) -> str:
    if isinstance(piece, str):
        return piece
    if not isinstance(piece, dict):
        return call_text("value", piece)
    if piece.get("type") == "text" and isinstance(piece.get("text"), str):
        return str(piece["text"])
    if piece.get("type") == "image":
        return media_text(piece, "image")
    if piece.get("type") == "document":
        return _document(piece)
    return block_text(piece)


def _document(block: JsonObject) -> str:
    """Return a document's title, then its text if it has one, else its type and size."""
    source = block.get("source")
    source = source if isinstance(source, dict) else {}
    if source.get("type") == "text":
        words = string(source, "data")
    elif source.get("type") == "content":
        words = _body(source)
    else:
        words = media_text(block, "document")
    return "\n".join(filter(None, (string(block, "title"), words)))


def _calls_in(row: JsonObject) -> list[tuple[str, str, object]]:
    message, kind = row.get("message"), row.get("type")
    # Claude Code's rows, and Droid's.
    is_message = string(row, "uuid") if kind in ("user", "assistant") else kind == "message" and string(row, "id")
    if not is_message or not isinstance(message, dict):
        return []
    content = message.get("content")
    return [
        (string(block, "id"), string(block, "name"), block.get("input"))
        for block in (content if isinstance(content, list) else [content])
        if isinstance(block, dict) and _is_call(str(block.get("type", "")))
    ]


def _is_call(kind: str) -> bool:
    return kind == "tool_use" or kind.endswith("_tool_use")
