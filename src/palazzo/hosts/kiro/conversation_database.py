"""Conversations of Kiro's program in engine v1, formerly Amazon Q Developer's: a SQLite file, `data.sqlite3`.

Learned from its source code (`aws/amazon-q-developer-cli`: `database/mod.rs` with its migrations, `ConversationState`
in `cli/chat/conversation.rs`, and `cli/chat/message.rs`).

    conversations_v2(key, conversation_id, value, created_at, updated_at)     times in milliseconds
    conversations(key, value)                                                 older: one for each directory

`key` is the directory. `value` is JSON with `conversation_id` and `history`, a list of `{user, assistant,
request_metadata}` (older: `[user, assistant]`). `user.content` is one of `{Prompt: {prompt}}`, `{ToolUseResults:
{tool_use_results}}` and `{CancelledToolUses: {prompt, tool_use_results}}`. Words of hooks and context files are apart,
in `additional_context`. `assistant` is `{Response: {content}}` or `{ToolUse: {content, tool_uses}}`, either with
`thinking`. A turn is written when it is complete. The file also has credentials, in tables that are not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.hosts.kiro.tool_results import result_text, trust_of_kiro_call
from palazzo.model import Micros, Role
from palazzo.sources.formats import Content, Identity, Message, Noise, Row, Session, Unreadable
from palazzo.sources.formats.block_text import Composer, call_text
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import Calls
from palazzo.sources.formats.row_records import objects_in, stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.store.database import SqliteConnection
from palazzo.store.foreign_database import ForeignDatabase
from palazzo.store.foreign_tables import has_tables, is_database_of

_NAME = "data.sqlite3"
_TABLES = {
    "conversations_v2": {"key", "conversation_id", "value", "created_at", "updated_at"},
    "conversations": {"key", "value"},
}


class KiroDatabase:
    """Reads the database of Kiro's program."""

    version = 1

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is a SQLite file of that name with a table of conversations."""
        return is_database_of(path, head, _NAME, lambda connection: bool(_tables(connection)))

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the conversations that have a turn, oldest first."""
        database = ForeignDatabase(path)
        with database.snapshot() as connection:
            tables = _tables(connection)
            if not tables:
                raise SourceUnreadable(f"{path} has no table of conversations: this version of Kiro is not supported.")
            found = [session for table in tables for session in self._sessions(database, connection, table)]
        yield from sorted(found, key=lambda session: session.updated_at or 0)

    def _sessions(self, database: ForeignDatabase, connection: SqliteConnection, table: str) -> Iterator[Session]:
        updated = "updated_at" if table == "conversations_v2" else "NULL"
        sql = f"SELECT rowid, key, value, {updated} FROM {table}"  # noqa: S608 (names are constants)
        for row, directory, value, at in connection.execute(sql):
            record = _parse(value)
            if not record.get("history"):
                continue
            own = string(record, "conversation_id") or stamp_of(str(directory))
            yield Session(
                Identity((self.kind, own), own),
                stamp_of(str(value)),
                partial(_rows, database, table, int(str(row))),
                cwd=str(directory),
                updated_at=moment(at) or _last_time(record),
            )


def _tables(connection: SqliteConnection) -> list[str]:
    """Return the tables of conversations that have all their columns."""
    return [table for table, columns in _TABLES.items() if has_tables(connection, {table: columns})]


def _parse(value: object) -> JsonObject:
    try:
        record: object = json.loads(str(value), strict=False)
    except (ValueError, RecursionError):
        return {"history": [None]}
    return record if isinstance(record, dict) else {"history": [None]}


def _last_time(record: JsonObject) -> Micros | None:
    history = record.get("history")
    times = [_time(entry) for entry in objects_in(history)]
    return max((at for at in times if at is not None), default=None)


def _time(entry: JsonObject) -> Micros | None:
    details = entry.get("request_metadata")
    return moment(details.get("request_start_timestamp_ms")) if isinstance(details, dict) else None


def _rows(database: ForeignDatabase, table: str, row: int) -> Iterator[Row]:
    with database.snapshot() as connection:
        sql = f"SELECT value FROM {table} WHERE rowid = ?"  # noqa: S608 (names are constants)
        values = [value for (value,) in connection.execute(sql, (row,))]
    rows, calls = Rows(), Calls()
    history = _parse(values[0]).get("history") if values else None
    for entry in history if isinstance(history, list) else []:
        turn = _turn(entry)
        if turn is None:
            yield rows.row(entry, Unreadable("not a turn"))
            continue
        user, assistant, metadata = turn
        for record, content in (
            ({"user": user}, _content_of_user(user, metadata, calls)),
            ({"assistant": assistant, "request_metadata": metadata}, _content_of_assistant(assistant, metadata, calls)),
        ):
            yield rows.row(record, content)


def _turn(entry: object) -> tuple[JsonObject, JsonObject, JsonObject] | None:
    """Return the user, the assistant and the metadata of an entry of the history."""
    if isinstance(entry, list) and len(entry) == 2 and all(isinstance(one, dict) for one in entry):
        return entry[0], entry[1], {}
    if not isinstance(entry, dict):
        return None
    user, assistant, metadata = (entry.get(key) for key in ("user", "assistant", "request_metadata"))
    if not isinstance(user, dict) or not isinstance(assistant, dict):
        return None
    return user, assistant, metadata if isinstance(metadata, dict) else {}


def _content_of_user(user: JsonObject, metadata: JsonObject, calls: Calls) -> Content:
    content = user.get("content")
    kind, body = next(iter(content.items()), ("", None)) if isinstance(content, dict) else ("", None)
    if kind not in ("Prompt", "ToolUseResults", "CancelledToolUses") or not isinstance(body, dict):
        return Unreadable(f"a message of the unknown kind {kind!r}")
    composer = Composer()
    try:
        for result in objects_in(body.get("tool_use_results")):
            call = string(result, "tool_use_id")
            name, trust = calls.tool_of(call)
            text, failed = result_text(result.get("content"))
            failed = failed or string(result, "status").lower() == "error"
            composer.add("tool_result", text, name=name, call=call, failed=failed, trust=trust)
    except RecursionError:
        return Unreadable("nested too deeply")
    composer.add("text", string(body, "prompt"))
    images = user.get("images")
    for _ in images if isinstance(images, list) else []:
        composer.add("image", "[image]")
    if not composer.text:
        return Noise(f"{kind}, without words")
    role: Role = "user" if string(body, "prompt") or kind == "Prompt" else "tool"
    at = moment(user.get("timestamp"))
    return Message(
        composer.text,
        role,
        parts=composer.parts,
        created_at=moment(metadata.get("request_start_timestamp_ms")) if at is None else at,
        cwd=_directory(user),
    )


def _directory(user: JsonObject) -> str:
    context = user.get("env_context")
    state = context.get("env_state") if isinstance(context, dict) else None
    return string(state, "current_working_directory") if isinstance(state, dict) else ""


def _content_of_assistant(assistant: JsonObject, metadata: JsonObject, calls: Calls) -> Content:
    kind, body = next(iter(assistant.items()), ("", None))
    if kind not in ("Response", "ToolUse") or not isinstance(body, dict):
        return Unreadable(f"an answer of the unknown kind {kind!r}")
    composer = Composer()
    try:
        composer.add("thinking", _thinking(body.get("thinking")))
        composer.add("text", string(body, "content"))
        for use in objects_in(body.get("tool_uses")):
            call, name, arguments = string(use, "id"), string(use, "name"), use.get("args")
            calls.record_call(call, name, trust_of_kiro_call(name, arguments))
            composer.add("tool_call", call_text(name or "tool", arguments), name=name, call=call)
    except RecursionError:
        return Unreadable("nested too deeply")
    if not composer.text:
        return Noise(f"{kind}, without words")
    times = (metadata.get("stream_end_timestamp_ms"), metadata.get("request_start_timestamp_ms"))
    return Message(
        composer.text,
        "assistant",
        author=string(metadata, "model_id"),
        parts=composer.parts,
        uuid=string(body, "message_id"),
        created_at=next((at for value in times if (at := moment(value)) is not None), None),
    )


def _thinking(value: object) -> str:
    """Return the text of thoughts, which may be in an object of its own (`reasoningText`)."""
    while isinstance(value, dict) and value:
        value = value.get("text") or value.get("reasoning_text") or next(iter(value.values()))
    return value if isinstance(value, str) else ""
