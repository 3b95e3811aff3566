"""Continue's sessions: `~/.continue/sessions/<session id>.json`, with an index in `sessions.json`.

Learned from Continue's own source (`core/util/history.ts`, which writes them, and `ChatHistoryItem`, `ChatMessage` and
`ToolCallState` in `core/index.d.ts`).

A session is `{sessionId, title, workspaceDirectory, history}`. An item of `history` nests the message under `message`
(`role`: user, assistant, thinking, system or tool; `content`: a string, or parts of type `text` and `imageUrl`; an
assistant's `toolCalls` as OpenAI has them; a tool's `toolCallId`). Beside it are `contextItems`, which the person
attached, and `toolCallStates` (older: `toolCallState`), which holds a call's `output` if no message of role tool has
it. Items have neither ids nor times; the index says when a session began.

The program `cn` (1.5.47) writes the same. The output of an MCP server's tool is there the JSON of its list of blocks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from palazzo.errors import SourceUnreadable
from palazzo.model import Micros, Role, Trust
from palazzo.security.tool_trust import trust_of_tool
from palazzo.sources.formats import Collection, Content, Identity, Message, Noise, Row, Session, Unreadable
from palazzo.sources.formats.block_text import JOINT, Composer, call_text, function_calls
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.row_records import drop_keys, objects_in, parse, stamp_of
from palazzo.sources.formats.source_times import moment

KIND = "continue"
_FORKS = frozenset({"kiro.kiroagent"})
"""Directories of extensions made from Continue, which write its format and are read for their own hosts."""
_INDEX = "sessions.json"
_HEAD = 64 * 1024
_SESSION = re.compile(rb'\s*\{(?=.*"sessionId"\s*:)(?=.*"history"\s*:\s*\[)', re.DOTALL)
_ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "thinking": "assistant",
    "system": "system",
    "tool": "tool",
}
_ACTIVE_STATES = frozenset({"generating", "calling"})
_OUTSIDE = frozenset({"url", "web", "search", "google", "docs", "http", "github", "issue", "jira", "mcp", "discord"})
"""Context providers that bring untrusted content."""


class ContinueDev:
    """Reads Continue's sessions, or those of an extension made from it, given their directory or one file.

    Such an extension has its own `kind`, and keeps them in its own `directory` among those of `_FORKS`.
    """

    version = 2  # 1 kept the JSON around the text of an MCP server's answer

    def __init__(self, kind: str = KIND, directory: str = "") -> None:
        self.kind, self._directory = kind, directory

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is a session, or the directory that has the index."""
        if self._directory not in (_FORKS.intersection(path.parts) or {""}):
            return False
        if head:
            return path.suffix == ".json" and bool(_SESSION.match(head))
        try:
            with (path / _INDEX).open("rb") as stream:
                return path.is_dir() and re.match(rb'\s*\[\s*\{[^{}]*"sessionId"\s*:', stream.read(_HEAD)) is not None
        except OSError:
            return False

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield each session file's conversation. A damaged file becomes a session that says so."""
        if not path.is_dir():
            yield _session(self.kind, path, {})
            return
        if not (path / _INDEX).is_file():
            raise SourceUnreadable(f"{path} has no '{_INDEX}', so it is not Continue's directory of sessions.")
        began = _began(path / _INDEX)
        for file in sorted(path.glob("*.json")):
            if file.name != _INDEX and file.is_file() and not file.is_symlink():
                yield _session(self.kind, file, began)


def _session(kind: str, path: Path, began: Mapping[str, Micros | None]) -> Session:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read ({error}).") from None
    stamp = stamp_of(data)
    try:
        value = parse(data, path.name)
    except SourceUnreadable as error:
        return _make_unreadable(kind, path, data, str(error), stamp)
    record = value if isinstance(value, dict) else {}
    session = string(record, "sessionId") or path.stem
    return Session(
        Identity((kind, session), session),
        stamp,
        partial(_rows, record, began.get(session)),
        string(record, "title").strip(),
        _directory(string(record, "workspaceDirectory")),
    )


def _make_unreadable(kind: str, path: Path, data: bytes, reason: str, stamp: str) -> Session:
    rows = [Row(0, data, Unreadable(reason.rstrip(".")))] if data else []
    return Session(Identity((kind, path.stem), path.stem), stamp, lambda: iter(rows))


def _began(index: Path) -> dict[str, Micros | None]:
    try:
        entries = objects_in(parse(index.read_bytes(), index.name))
    except (OSError, SourceUnreadable):
        return {}
    return {string(entry, "sessionId"): moment(entry.get("dateCreated")) for entry in entries}


def _directory(location: str) -> str:
    """Return the workspace as a path; newer versions write a `file:` URI."""
    return unquote(urlsplit(location).path) if location.startswith("file://") else location


def _rows(record: JsonObject, began: Micros | None) -> Iterator[Row]:
    rows = Rows()
    title = string(record, "title").strip()
    yield rows.row(drop_keys(record, "history", "usage"), Noise("session"), title)
    history = record.get("history")
    items: list[object] = history if isinstance(history, list) else []
    tools = _tools(items)
    for item in items:
        if item is items[-1] and isinstance(item, dict) and _is_unfinished(item):
            return
        try:
            content = _content(item, tools, began) if isinstance(item, dict) else Unreadable("not an item")
        except RecursionError:
            content = Unreadable("nested too deeply")
        stored_item = drop_keys(item, "promptLogs", "editorState") if isinstance(item, dict) else item
        yield rows.row(stored_item, content)


def _is_unfinished(item: JsonObject) -> bool:
    """Return whether a tool is still running: the item is read when it has ended and its text is complete."""
    return any(string(state, "status") in _ACTIVE_STATES for state in _states(item))


class _Tools:
    """The tool and the trust of each call, and which calls have a message with their output."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[str, Trust]] = {}
        self.answered: set[str] = set()


def _tools(items: list[object]) -> _Tools:
    tools = _Tools()
    for item in items:
        message = _message(item) if isinstance(item, dict) else None
        if message is not None:
            if string(message, "role") == "tool":
                tools.answered.add(string(message, "toolCallId"))
            for call, name, arguments in function_calls(message.get("toolCalls")):
                tools.known[call] = (name, trust_of_tool(name, arguments))
    return tools


def _message(item: JsonObject) -> JsonObject | None:
    """Return the message of an item; in hand-made files the item itself is the message."""
    message = item if "content" in item else item.get("message")
    return message if isinstance(message, dict) else None


def _states(item: JsonObject) -> list[JsonObject]:
    state = item.get("toolCallState")
    return [*objects_in(item.get("toolCallStates")), *([state] if isinstance(state, dict) else [])]


def _content(item: JsonObject, tools: _Tools, began: Micros | None) -> Content:
    message = _message(item)
    if message is None:
        return Unreadable("an item without a message")
    role = _ROLES.get(string(message, "role"))
    if role is None:
        return Unreadable(f"a message with the unknown role {string(message, 'role')!r}")
    composer = _compose(item, message, tools)
    if not composer.text:
        return Noise(f"{string(message, 'role')}, without words")
    return Message(
        composer.text,
        role,
        standing="meta" if role == "system" else "said",
        parts=composer.parts,
        created_at=began,
    )


def _compose(item: JsonObject, message: JsonObject, tools: _Tools) -> Composer:
    composer = Composer()
    thoughts = item.get("reasoning")
    if isinstance(thoughts, dict):
        composer.add("thinking", string(thoughts, "text"))
    if string(message, "role") == "tool":
        call = string(message, "toolCallId")
        name, trust = tools.known.get(call) or ("", trust_of_tool(""))
        composer.add("tool_result", _words(message.get("content")), name=name, call=call, trust=trust)
    elif string(message, "role") == "thinking":
        composer.add("thinking", _words(message.get("content")))
    else:
        _add_content(composer, message.get("content"))
    for call, name, arguments in function_calls(message.get("toolCalls")):
        composer.add("tool_call", call_text(name or "tool", arguments), name=name, call=call)
    for state in _states(item):
        call = string(state, "toolCallId")
        name, trust = tools.known.get(call) or ("", trust_of_tool(""))
        failed = string(state, "status") == "errored"
        if call not in tools.answered:
            output = JOINT.join(_text_of_blocks(string(block, "content")) for block in objects_in(state.get("output")))
            composer.add("tool_result", output, name=name, call=call, failed=failed, trust=trust)
    for context in objects_in(item.get("contextItems")):
        words = "\n".join(filter(None, (string(context, "name"), string(context, "content"))))
        composer.add("attachment", words, name=string(context, "name"), trust=_trust(context))
    return composer


def _add_content(composer: Composer, content: object) -> None:
    if isinstance(content, str):
        composer.add("text", content)
    for part in objects_in(content):
        picture = part.get("imageUrl")
        if string(part, "type") == "text":
            composer.add("text", string(part, "text"))
        elif isinstance(picture, dict):
            url = string(picture, "url")
            composer.add("image", "[image]" if url.startswith("data:") or not url else f"[image, {url}]")


def _text_of_blocks(output: str) -> str:
    """Return the text of an output that is the JSON of blocks of text; the output itself if it is anything else."""
    if not output.startswith('[{"'):
        return output
    try:
        blocks: object = json.loads(output)
    except ValueError:
        return output
    texts = [block.get("text") for block in objects_in(blocks) if block.keys() == {"type", "text"}]
    is_all_text = isinstance(blocks, list) and len(texts) == len(blocks)
    return JOINT.join(text for text in texts if isinstance(text, str)) if is_all_text else output


def _words(content: object) -> str:
    return content if isinstance(content, str) else JOINT.join(string(part, "text") for part in objects_in(content))


def _trust(context: JsonObject) -> Trust:
    identity = context.get("id")
    provider = string(identity, "providerTitle") if isinstance(identity, dict) else ""
    return "external" if provider in _OUTSIDE else "tool"


COLLECTIONS: tuple[Collection, ...] = (ContinueDev(),)
