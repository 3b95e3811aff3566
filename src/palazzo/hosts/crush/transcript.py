"""Crush's sessions: one SQLite file for each project, `.crush/crush.db`, written while it is read.

Learned from Crush's own source of August 2026 (`internal/db/migrations`, `internal/db/sql`, `internal/message`,
`internal/session`, `internal/agent/agent.go`).

    sessions(id, parent_session_id, title, created_at, updated_at, …)
    messages(id, session_id, role, parts, model, created_at, updated_at, finished_at, is_summary_message, …)

Times are seconds, although the schema's comments say milliseconds. `parts` is JSON, a list of `{type, data}`:

    text, reasoning, image_url, binary      `binary` is what the person attached: `{Path, MIMEType, Data}`
    tool_call, tool_result                  `{id, name, input}`, `input` as JSON; `{tool_call_id, content, is_error}`
    shell_command                           a command that the person ran: `{command, output, exit_code}`
    finish                                  the end of a message, with the reason and an error's text

An answer is one row, which is changed as the model writes. One without an end, and everything after it, is left for the
next read, for an hour. `parent_session_id` names the session that a sub-agent works for; a session `title-…` only makes
a title. No table has the directory: it is the one that has `.crush`.
"""

from __future__ import annotations

import json
import time
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from palazzo.model import ContentKind, Micros, Role
from palazzo.sources.formats import Collection, Content, Identity, Message, Noise, Row, Session, Unreadable
from palazzo.sources.formats.block_text import Composer, call_text
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import Calls, trust_of_call
from palazzo.sources.formats.row_records import objects_in
from palazzo.sources.formats.source_times import moment
from palazzo.store.foreign_database import ForeignDatabase
from palazzo.store.foreign_tables import check_tables, columns_of, has_tables, is_database_of

KIND = "crush"
NAME = "crush.db"
IDLE_LIMIT = Micros(3600 * 1_000_000)
"""Time after the last change after which an answer without an end is considered abandoned."""
_REQUIRED_COLUMNS = {
    "sessions": {"id", "parent_session_id", "title", "created_at", "updated_at"},
    "messages": {"id", "session_id", "role", "parts", "created_at", "updated_at"},
}
_OPTIONAL_COLUMNS = ("model", "is_summary_message")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}
_CONTINUATION = "The previous session was interrupted because it got too long, the initial user request was: `"
"""How the prompt begins with which Crush goes on after a summary."""
_ERRORS = frozenset({"error", "content_filter"})


def _read_clock() -> Micros:
    return Micros(time.time_ns() // 1000)


class Crush:
    """Reads the sessions of one project."""

    kind = KIND
    version = 1

    def __init__(self, clock: Callable[[], Micros] = _read_clock) -> None:
        self._now = clock

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is a SQLite file of that name with Crush's tables."""
        return is_database_of(path, head, NAME, partial(has_tables, required=_REQUIRED_COLUMNS))

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the sessions that have messages, oldest first."""
        database = ForeignDatabase(path)
        with database.snapshot() as connection:
            check_tables(connection, path, _REQUIRED_COLUMNS, "Crush")
            sql = (
                "SELECT s.id, s.parent_session_id, s.title, max(m.updated_at), count(*), sum(length(m.parts)) "
                "FROM sessions AS s JOIN messages AS m ON m.session_id = s.id GROUP BY s.id ORDER BY s.created_at, s.id"
            )
            headers = [["" if cell is None else str(cell) for cell in row] for row in connection.execute(sql)]
        cwd = str(path.parent.parent) if path.parent.name == ".crush" else ""
        for session, parent, title, updated, count, size in headers:
            if session.startswith("title-"):
                continue
            updated_at = moment(updated)
            is_resting = self._now() - (updated_at or 0) > IDLE_LIMIT
            yield Session(
                Identity((KIND, session), session, parent, led_by_agent=bool(parent)),
                f"{count}.{size}.{updated}" + ("" if is_resting else "+"),
                partial(_rows, database, session, is_resting, cwd),
                title.strip(),
                cwd,
                updated_at,
                is_resting,
            )


def has_session(path: Path, session: str) -> bool:
    """Return whether a project's database has a session; raise SourceUnreadable if that cannot be read."""
    with ForeignDatabase(path).snapshot() as connection:
        return any(True for _ in connection.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)))


def _rows(database: ForeignDatabase, session: str, is_resting: bool, cwd: str) -> Iterator[Row]:
    with database.snapshot() as connection:
        present = columns_of(connection, "messages")
        more = ", ".join(name if name in present else "NULL" for name in _OPTIONAL_COLUMNS)
        sql = (
            f"SELECT id, role, CAST(parts AS BLOB), created_at, {more} FROM messages "  # noqa: S608 (names are constants)
            "WHERE session_id = ? ORDER BY created_at, rowid"
        )
        records = [[_plain(cell) for cell in row] for row in connection.execute(sql, (session,))]
    rows, calls = Rows(), Calls()
    for own, role, parts, created, model, is_summary in records:
        record: JsonObject = {"id": own, "role": role, "parts": _read(parts), "created_at": created, "model": model}
        if is_summary:
            record["is_summary_message"] = is_summary
        if not is_resting and role == "assistant" and not _is_finished(record["parts"]):
            return
        try:
            content = _content(record, calls, cwd)
        except RecursionError:
            content = Unreadable("nested too deeply")
        yield rows.row(record, content)


def _read(value: object) -> object:
    """Return the value of a JSON text; the text if it is not JSON."""
    if not isinstance(value, str):
        return None
    try:
        json_value: object = json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value
    return json_value


def _plain(cell: object) -> object:
    """Return a cell as JSON can hold it; `parts` come as bytes, since text may be invalid UTF-8."""
    return cell.decode("utf-8", "surrogateescape") if isinstance(cell, bytes) else cell


def _is_finished(parts: object) -> bool:
    return any(string(part, "type") == "finish" for part in objects_in(parts))


def _content(record: JsonObject, calls: Calls, cwd: str) -> Content:
    parts = record["parts"]
    if not isinstance(parts, list):
        return Unreadable("a message whose parts are not a list")
    role = _ROLES.get(string(record, "role"))
    if role is None:
        return Unreadable(f"a message with the unknown role {record['role']!r}")
    composer = Composer()
    for part in objects_in(parts):
        data = part.get("data")
        _add_part(composer, string(part, "type"), data if isinstance(data, dict) else {}, calls)
    if not composer.text:
        return Noise(f"{role}, without words")
    kinds = {part.kind for part in composer.parts}
    return Message(
        composer.text,
        "tool" if role == "user" and kinds <= {"tool_call", "tool_result"} else role,
        standing=_classify(record, role, composer),
        author=string(record, "model") if role == "assistant" else "",
        parts=composer.parts,
        uuid=string(record, "id"),
        created_at=moment(record["created_at"]),
        cwd=cwd,
    )


def _classify(record: JsonObject, role: Role, composer: Composer) -> ContentKind:
    if record.get("is_summary_message"):
        return "summary"
    is_hosts = role == "system" or (role == "user" and composer.text.startswith(_CONTINUATION))
    return "meta" if is_hosts else "said"


def _add_part(composer: Composer, kind: str, data: JsonObject, calls: Calls) -> None:
    if kind == "text":
        composer.add("text", string(data, "text"))
    elif kind == "reasoning":
        composer.add("thinking", string(data, "thinking"))
    elif kind == "tool_call":
        name, call, arguments = string(data, "name"), string(data, "id"), _read(data.get("input"))
        calls.record_call(call, name, trust_of_call(name, arguments))
        composer.add("tool_call", call_text(name or "tool", arguments), name=name, call=call)
    elif kind == "tool_result":
        call = string(data, "tool_call_id")
        name, trust = calls.tool_of(call)
        text = string(data, "content") or (f"[{string(data, 'mime_type')}]" if string(data, "mime_type") else "")
        failed = data.get("is_error") is True
        composer.add("tool_result", text, name=name or string(data, "name"), call=call, failed=failed, trust=trust)
    elif kind == "shell_command":
        _add_command(composer, data)
    elif kind == "binary":
        _add_attachment(composer, data)
    elif kind == "image_url":
        url = string(data, "url")
        composer.add("image", "[image]" if url.startswith("data:") or not url else f"[image, {url}]")
    elif kind == "finish":
        error = ": ".join(filter(None, (string(data, "message"), string(data, "details"))))
        composer.add("attachment", error if string(data, "reason") in _ERRORS else "", trust="tool")
    else:
        composer.add("attachment", call_text(kind or "part", data), trust="external")


def _add_command(composer: Composer, data: JsonObject) -> None:
    """Add a command that the person ran, and its output."""
    arguments = {"command": string(data, "command")}
    composer.add("tool_call", call_text("shell", arguments), name="shell")
    failed = data.get("exit_code") not in (0, None)
    trust = trust_of_call("shell", arguments)
    composer.add("tool_result", string(data, "output"), name="shell", failed=failed, trust=trust)


def _add_attachment(composer: Composer, data: JsonObject) -> None:
    """Add a file that the person attached: its text if it has one, else its type and name."""
    path, media = string(data, "Path"), string(data, "MIMEType")
    label = f"[{', '.join(filter(None, (media, path))) or 'file'}]"
    if media.startswith("image/"):
        composer.add("image", label, name=path)
        return
    words = ""
    if media.startswith("text/"):
        try:
            words = b64decode(string(data, "Data"), validate=True).decode("utf-8", "replace")
        except (Base64Error, ValueError):  # ValueError: characters that are not ASCII
            words = ""
    composer.add("attachment", "\n".join(filter(None, (path, words))) if words else label, name=path, trust="repo")


COLLECTIONS: tuple[Collection, ...] = (Crush(),)
