"""Goose's sessions: one SQLite file, `sessions.db`, written while it is read.

Learned from Goose's own source (`crates/goose/src/session/session_manager.rs`, which writes it, and
`conversation/message.rs`).

    sessions(id, name | description, working_dir, created_at, updated_at, session_type, …)
    messages(id, session_id, role, content_json, created_timestamp, metadata_json, …)

`content_json` is a list of `{type: text | image | thinking | toolRequest | toolResponse | …}`. `toolRequest` has
`toolCall`, `toolResponse` has `toolResult`; both are `{status: success, value}` or `{status: error, error}`. A message
is inserted when it is complete. A compaction replaces all messages, which get other ids, so ids are not read:
`metadata_json` then says that the agent does not see the old ones, and that the person does not see the summary.

Older versions wrote one JSONL file per session, which a newer one imports into the database.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from palazzo.model import Role
from palazzo.sources.formats import Collection, Content, Identity, Message, Noise, Row, Session, Unreadable
from palazzo.sources.formats.block_text import JOINT, Composer, block_text, call_text, media_text
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import Calls, trust_of_call
from palazzo.sources.formats.row_records import objects_in
from palazzo.sources.formats.source_times import moment
from palazzo.store.foreign_database import ForeignDatabase
from palazzo.store.foreign_tables import check_tables, columns_of, has_tables, is_database_of

KIND = "goose"
_NAME = "sessions.db"
_REQUIRED_COLUMNS = {
    "sessions": {"id", "working_dir", "created_at", "updated_at"},
    "messages": {"id", "session_id", "role", "content_json", "created_timestamp"},
}
_OWN_EXTENSION = "developer__"
"""The prefix of the tools of Goose's extension for shells and files."""


class Goose:
    """Reads Goose's database of sessions."""

    kind = KIND
    version = 1

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is a SQLite file of that name with Goose's tables."""
        return is_database_of(path, head, _NAME, partial(has_tables, required=_REQUIRED_COLUMNS))

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the sessions that have messages, oldest first."""
        database = ForeignDatabase(path)
        with database.snapshot() as connection:
            check_tables(connection, path, _REQUIRED_COLUMNS, "Goose")
            columns = columns_of(connection, "sessions")
            name = "name" if "name" in columns else "description" if "description" in columns else "''"
            kind = "session_type" if "session_type" in columns else "''"
            sql = (
                f"SELECT s.id, s.working_dir, {name}, {kind}, s.updated_at, count(m.id), max(m.id) "  # noqa: S608
                "FROM sessions AS s JOIN messages AS m ON m.session_id = s.id GROUP BY s.id ORDER BY s.created_at, s.id"
            )
            headers = [["" if cell is None else str(cell) for cell in row] for row in connection.execute(sql)]
        for session, directory, title, session_type, updated, messages, last in headers:
            yield Session(
                Identity((KIND, session), session, led_by_agent=session_type == "sub_agent"),
                f"{messages}.{last}.{updated}",
                partial(_rows, database, session),
                title.strip(),
                directory,
                moment(updated),
            )


def _rows(database: ForeignDatabase, session: str) -> Iterator[Row]:
    with database.snapshot() as connection:
        metadata = "metadata_json" if "metadata_json" in columns_of(connection, "messages") else "NULL"
        sql = f"SELECT role, content_json, created_timestamp, {metadata} FROM messages WHERE session_id = ? ORDER BY id"  # noqa: S608
        records = [tuple(row) for row in connection.execute(sql, (session,))]
    rows, calls = Rows(), Calls()
    for role, content_json, created, metadata_json in records:
        content, details = _read(content_json), _read(metadata_json)
        record: JsonObject = {"role": role, "content": content, "created": created}
        if details is not None:
            record["metadata"] = details
        try:
            meaning = _content(record, calls)
        except RecursionError:
            meaning = Unreadable("nested too deeply")
        yield rows.row(record, meaning)


def _read(text: object) -> object:
    """Return the value of a JSON text; the text if it is not JSON."""
    if not isinstance(text, str):
        return None
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text
    return value


def _content(record: JsonObject, calls: Calls) -> Content:
    parts = record["content"]
    if not isinstance(parts, list):
        return Unreadable("a message whose content is not a list")
    composer = Composer()
    for part in objects_in(parts):
        _add_part(composer, part, calls)
    role = _role(record, composer)
    if role is None:
        return Unreadable(f"a message with the unknown role {record['role']!r}")
    if not composer.text:
        return Noise(f"{record['role']}, without words")
    details = record.get("metadata")
    is_hidden = isinstance(details, dict) and details.get("userVisible") is False
    return Message(
        composer.text,
        role,
        standing="meta" if is_hidden and role != "tool" else "said",
        parts=composer.parts,
        created_at=moment(record["created"]),
    )


def _role(record: JsonObject, composer: Composer) -> Role | None:
    if record["role"] == "assistant":
        return "assistant"
    if record["role"] != "user":
        return None
    kinds = {part.kind for part in composer.parts}
    return "tool" if kinds == {"tool_result"} else "user"


def _add_part(composer: Composer, part: JsonObject, calls: Calls) -> None:
    kind, call = string(part, "type"), string(part, "id")
    if kind == "text":
        composer.add("text", string(part, "text"))
    elif kind == "thinking":
        composer.add("thinking", string(part, "thinking"))
    elif kind == "image":
        composer.add("image", media_text(part, "image"))
    elif kind in ("toolRequest", "frontendToolRequest"):
        launch, _ = _outcome(part.get("toolCall"))
        request: JsonObject = launch if isinstance(launch, dict) else {}
        name, arguments = string(request, "name"), request.get("arguments")
        calls.record_call(call, name, trust_of_call(name.removeprefix(_OWN_EXTENSION), arguments))
        composer.add("tool_call", call_text(name or "tool", arguments), name=name, call=call)
    elif kind == "toolResponse":
        name, trust = calls.tool_of(call)
        result, error = _outcome(part.get("toolResult"))
        failed = bool(error) or (isinstance(result, dict) and result.get("isError") is True)
        composer.add("tool_result", error or _words(result), name=name, call=call, failed=failed, trust=trust)
    elif kind not in ("redactedThinking", "toolConfirmationRequest", "actionRequired", "systemNotification"):
        composer.add("attachment", block_text(part))


def _outcome(value: object) -> tuple[object, str]:
    """Return the value of a call or of its result, and the error; one of them is empty."""
    outcome = value if isinstance(value, dict) else {}
    return outcome.get("value"), string(outcome, "error")


def _words(value: object) -> str:
    """Return the text of a result: a list of blocks, in newer versions below `content`."""
    blocks = value.get("content") if isinstance(value, dict) else value
    return JOINT.join(string(block, "text") or block_text(block) for block in objects_in(blocks))


COLLECTIONS: tuple[Collection, ...] = (Goose(),)
