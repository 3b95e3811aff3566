"""Cursor's conversations: keys and values in one SQLite file, `globalStorage/state.vscdb`, written while it is read.

Cursor publishes no format, and no file of it was captured for Palazzo. Independent public readers agree on the
following (pppp606/cursor-efficiency's `vscdbRelation.md`, blueplane-ai/bp-telemetry-core's schema analysis,
AgentOrchestrator/AgentBase's `CURSOR.md`):

    cursorDiskKV(key TEXT UNIQUE, value BLOB)          values are JSON
    composerData:<conversation>                        composerId, name, createdAt, lastUpdatedAt, status,
                                                       fullConversationHeadersOnly: [{bubbleId, type}]
    bubbleId:<conversation>:<bubble>                   type (1 the person, 2 the model), text, thinking.text, createdAt,
                                                       toolFormerData: {name, rawArgs, params, result, status}

The headers give the order. Older versions have the bubbles themselves in `conversation`, or in `conversationMap`.
`composerHeaders(composerId, workspaceId, isSubagent)` and `workspaceStorage/<workspace>/workspace.json` (`folder`) give
the directory of a conversation, and whether another agent leads it (agent-recap and cursor-manager agree). Times of
bubbles are often missing; then the start of the conversation is used.

The rows of a conversation are its own, then its bubbles as canonical JSON. A tool call that is still running, and
everything after it, is left for the next read, for an hour.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.hosts.editor_workspaces import workspace_directory
from palazzo.model import Micros
from palazzo.sources.formats import Collection, Content, Identity, Message, Noise, Row, Session, Unreadable
from palazzo.sources.formats.block_text import Composer, call_text
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import trust_of_call
from palazzo.sources.formats.row_records import drop_keys, objects_in, stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.store.database import SqliteConnection
from palazzo.store.foreign_database import MAGIC, ForeignDatabase

KIND = "cursor"
NAME = "state.vscdb"
IDLE_LIMIT = Micros(3600 * 1_000_000)
"""Time after the last change after which a running tool is considered abandoned."""
_TABLE = "cursorDiskKV"
_INSIDE = ("fullConversationHeadersOnly", "conversation", "conversationMap")
_VOLATILE_KEYS = (*_INSIDE, "lastUpdatedAt", "status", "usageData", "context", "tokenCount", "contextUsagePercent")
_AT_WORK = frozenset({"loading", "running", "pending", "generating"})
_FAILED = frozenset({"error", "failed", "cancelled", "rejected"})
_RESULT_WORDS = ("output", "contents", "content", "text", "error")
_TOOLS = {
    **dict.fromkeys(("run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2"), "Bash"),
    **dict.fromkeys(("read_file", "read_file_v2", "list_dir", "list_dir_v2"), "Read"),
    **dict.fromkeys(("grep", "grep_search", "ripgrep_raw_search", "glob_file_search", "file_search"), "Grep"),
    **dict.fromkeys(("edit_file", "edit_file_v2", "search_replace", "write", "delete_file"), "Edit"),
}
"""Cursor's own tools, with their standard equivalents. Every other tool may bring untrusted content."""


def _read_clock() -> Micros:
    return Micros(time.time_ns() // 1000)


class Cursor:
    """Reads Cursor's database of conversations."""

    kind = KIND
    version = 1

    def __init__(self, clock: Callable[[], Micros] = _read_clock) -> None:
        self._now = clock

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is a SQLite file of that name. VS Code's own, and a workspace's, have it too."""
        return path.name == NAME and head.startswith(MAGIC)

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the conversations that have text, oldest first."""
        database = ForeignDatabase(path)
        with database.snapshot() as connection:
            _check(connection, path)
            places = _places(connection, path.parent.parent / "workspaceStorage")
            headers = [_read_header(connection, key, data) for key, data in _texts(connection, "composerData:")]
        for header in sorted(headers, key=lambda one: (one.began or 0, one.id)):
            if header.bubbles:
                yield self._session(database, header, places.get(header.id, _Place()))

    def _session(self, database: ForeignDatabase, header: _ConversationHeader, place: _Place) -> Session:
        is_resting = self._now() - (header.updated or header.began or 0) > IDLE_LIMIT
        return Session(
            Identity((KIND, header.id), header.id, led_by_agent=place.is_of_sub_agent),
            header.stamp + ("" if is_resting else "+"),
            partial(_rows, database, header.id, is_resting),
            header.title,
            place.directory,
            header.updated,
            is_resting,
        )


@frozen
class _ConversationHeader:
    """Data about a conversation that is known without reading it."""

    id: str
    title: str
    began: Micros | None
    updated: Micros | None
    bubbles: int
    stamp: str


@frozen
class _Place:
    """What the database says of a conversation apart from it."""

    directory: str = ""
    is_of_sub_agent: bool = False


def _check(connection: SqliteConnection, path: Path) -> None:
    tables = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if _TABLE not in tables:
        raise SourceUnreadable(
            f"{path} has no table '{_TABLE}': it contains settings of VS Code or of one workspace. Cursor keeps its "
            "conversations in 'User/globalStorage/state.vscdb'."
        )
    columns = {str(row[1]) for row in connection.execute(f"PRAGMA table_info({_TABLE})")}
    for column in ("key", "value"):
        if column not in columns:
            raise SourceUnreadable(
                f"{path} has no column '{column}' in '{_TABLE}': this version of Cursor is not supported."
            )


def _read_header(connection: SqliteConnection, key: str, text: str) -> _ConversationHeader:
    value = _read(text)
    conversation = value if isinstance(value, dict) else {}
    own = key.partition(":")[2]
    sizes = connection.execute(
        f"SELECT count(*), coalesce(sum(length(value)), 0) FROM {_TABLE} WHERE key >= ? AND key < ?",  # noqa: S608
        (f"bubbleId:{own}:", f"bubbleId:{own};"),
    )
    ((count, size),) = sizes
    inside = sum(len(entries) for name in _INSIDE if isinstance(entries := conversation.get(name), list | dict))
    began = moment(conversation.get("createdAt"))
    updated = moment(conversation.get("lastUpdatedAt"))
    stamp = stamp_of(text, f"{count}.{size}")
    title = string(conversation, "name").strip()
    return _ConversationHeader(own, title, began, updated if updated is not None else began, int(count) + inside, stamp)


def _rows(database: ForeignDatabase, own: str, is_resting: bool) -> Iterator[Row]:
    with database.snapshot() as connection:
        conversation = next((value for _, value in _values(connection, f"composerData:{own}", whole=True)), None)
        bubbles = {key.rpartition(":")[2]: value for key, value in _values(connection, f"bubbleId:{own}:")}
    record = conversation if isinstance(conversation, dict) else {}
    rows = Rows()
    yield rows.row(drop_keys(record, *_VOLATILE_KEYS), Noise("conversation"), string(record, "name").strip())
    began = moment(record.get("createdAt"))
    for identity, bubble in _in_order(record, bubbles):
        if not is_resting and isinstance(bubble, dict) and string(_tool(bubble), "status") in _AT_WORK:
            return
        yield rows.row(bubble, _content(identity, bubble, began))


def _in_order(record: JsonObject, bubbles: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the bubbles with their IDs in the headers' order; then those that no header names."""
    rest = dict(bubbles)
    older = record.get("conversationMap")
    older = older if isinstance(older, dict) else {}
    for header in objects_in(record.get("fullConversationHeadersOnly")):
        own = string(header, "bubbleId")
        bubble = rest.pop(own, None) or older.get(own)
        if bubble is not None:
            yield own, bubble
    for bubble in objects_in(record.get("conversation")):
        if not rest.pop(string(bubble, "bubbleId"), None):
            yield string(bubble, "bubbleId"), bubble
    yield from sorted(rest.items(), key=lambda item: (_time(item[1]) or 0, item[0]))


def _content(own: str, bubble: object, began: Micros | None) -> Content:
    if not isinstance(bubble, dict):
        return Unreadable("not valid JSON")
    kind = bubble.get("type")
    if kind not in (1, 2):
        return Unreadable(f"a bubble of the unknown type {kind!r}")
    composer = Composer()
    try:
        _compose(composer, bubble)
    except RecursionError:
        return Unreadable("nested too deeply")
    speaker = "user" if kind == 1 else "assistant"
    if not composer.text:
        return Noise(f"{speaker}, without words")
    said_at = _time(bubble)
    return Message(
        composer.text,
        "user" if kind == 1 else "assistant",
        parts=composer.parts,
        uuid=own,
        created_at=said_at if said_at is not None else began,
    )


def _compose(composer: Composer, bubble: JsonObject) -> None:
    thoughts = bubble.get("thinking")
    composer.add("thinking", string(thoughts, "text") if isinstance(thoughts, dict) else "")
    composer.add("text", string(bubble, "text"))
    tool = _tool(bubble)
    name = string(tool, "name")
    if name:
        arguments = _read(tool.get("rawArgs")) or _read(tool.get("params"))
        call = string(tool, "toolCallId")
        composer.add("tool_call", call_text(name, arguments), name=name, call=call)
        failed = string(tool, "status") in _FAILED
        trust = trust_of_call(_TOOLS.get(name, name), arguments)
        composer.add("tool_result", _result(tool.get("result")), name=name, call=call, failed=failed, trust=trust)


def _tool(bubble: JsonObject) -> JsonObject:
    tool = bubble.get("toolFormerData")
    return tool if isinstance(tool, dict) else {}


def _result(raw_value: object) -> str:
    """Return a tool's result, unwrapped from Cursor's JSON."""
    result = _read(raw_value)
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        words = [text for key in _RESULT_WORDS if isinstance(text := result.get(key), str)]
        return "\n".join(filter(None, words)) if words else (call_text("result", result) if result else "")
    return call_text("result", result) if result else ""


def _read(raw_value: object) -> object:
    """Return the value of a JSON string; anything else unchanged."""
    if not isinstance(raw_value, str):
        return raw_value
    try:
        value: object = json.loads(raw_value, strict=False)
    except (ValueError, RecursionError):
        return raw_value
    return value if isinstance(value, dict | list | str) else raw_value


def _time(bubble: object) -> Micros | None:
    return moment(bubble.get("createdAt")) if isinstance(bubble, dict) else None


# --- the database, and what lies beside it -----------------------------------------------------------------


def _values(connection: SqliteConnection, prefix: str, whole: bool = False) -> Iterator[tuple[str, object]]:
    """Yield the keys that begin with a prefix (or are it) and their JSON; a string that is not JSON stays."""
    for key, text in _texts(connection, prefix, whole):
        yield key, _read(text)


def _texts(connection: SqliteConnection, prefix: str, whole: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the keys that begin with a prefix (or are it) and the texts of their values."""
    end = f"{prefix}\x00" if whole else f"{prefix[:-1]}{chr(ord(prefix[-1]) + 1)}"
    sql = f"SELECT CAST(key AS BLOB), CAST(value AS BLOB) FROM {_TABLE} WHERE key >= ? AND key < ? ORDER BY key"  # noqa: S608
    for key, value in connection.execute(sql, (prefix, end)):
        if isinstance(value, bytes):
            yield bytes(key).decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape")


def _places(connection: SqliteConnection, storage: Path) -> dict[str, _Place]:
    """Return what the database says of each conversation that has a header."""
    columns = {str(row[1]) for row in connection.execute("PRAGMA table_info(composerHeaders)")}
    if not {"composerId", "workspaceId"} <= columns:
        return {}
    sub_agent = "isSubagent" if "isSubagent" in columns else "0"
    places = {}
    sql = f"SELECT composerId, workspaceId, {sub_agent} FROM composerHeaders"  # noqa: S608 (names are constants)
    for own, workspace, is_of_sub_agent in connection.execute(sql):
        name = str(workspace or "")
        is_plain = bool(name) and name == Path(name).name and name != ".."
        directory = workspace_directory(storage / name) if is_plain else ""
        places[str(own)] = _Place(directory, bool(is_of_sub_agent))
    return places


COLLECTIONS: tuple[Collection, ...] = (Cursor(),)
