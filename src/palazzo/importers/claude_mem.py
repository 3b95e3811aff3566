"""claude-mem's database: what its agent observed in sessions, their summaries, and the prompts in them.

Learned from claude-mem 13.25.3 (the SQL in its `worker-service.cjs`). The file is `~/.claude-mem/claude-mem.db`; its
columns depend on its age, and only those of each first line are required:

    observations        memory_session_id, project, type, created_at_epoch,
                        text, title, subtitle, narrative, facts, concepts, files_read, files_modified (JSON lists),
                        prompt_number, content_hash, agent_type, merged_into_project, metadata
    session_summaries   memory_session_id, project, created_at_epoch,
                        request, investigated, learned, completed, next_steps, notes, files_read, files_edited
    user_prompts        content_session_id, prompt_text, created_at_epoch, prompt_number
    sdk_sessions        memory_session_id, content_session_id, project, platform_source, custom_title

Times are milliseconds. Ids count from 1 on each machine, so a row is identified by its session, its time and its text.
Each row becomes a note: an observation of its type, a summary, or a prompt. A prompt is the person's own text, the
others are a model's. Rows that are queued for a summary that was never made are not imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.importers import Note, SkippedRecord, StoreRecord
from palazzo.importers.json_documents import head, is_directory, key_of, present, text_at, texts_at
from palazzo.sources.formats.jsonl_rows import JsonObject
from palazzo.sources.formats.source_times import moment
from palazzo.store.database import SqliteConnection
from palazzo.store.foreign_database import MAGIC, ForeignDatabase

NAME = "claude-mem.db"
_REQUIRED_COLUMNS = {
    "observations": {"memory_session_id", "project", "type", "created_at_epoch"},
    "session_summaries": {"memory_session_id", "project", "created_at_epoch"},
    "user_prompts": {"prompt_text", "created_at_epoch"},
}
_PARTS = (
    ("request", "Request"),
    ("investigated", "Investigated"),
    ("learned", "Learned"),
    ("completed", "Completed"),
    ("next_steps", "Next steps"),
    ("notes", "Notes"),
)
"""The parts of a summary, in the order in which claude-mem shows them."""
_SKIPPED_TABLES = (
    ("pending_messages", "queued messages", "they have no observations yet"),
    ("memories", "rows of claude-mem before 4", "from a table that no later version reads"),
    ("overviews", "rows of claude-mem before 4", "from a table that no later version reads"),
)
_LISTS = ("facts", "concepts", "files_read", "files_modified", "files_edited")


class ClaudeMem:
    """Reads claude-mem's database, given the file or its directory."""

    name = "claude-mem"
    title = "claude-mem"

    def recognises(self, path: Path) -> bool:
        """Whether this is a SQLite file of that name, or a directory with one."""
        file = _file(path)
        return file.name.startswith("claude-mem") and head(file).startswith(MAGIC)

    def read(self, path: Path) -> Iterator[StoreRecord]:
        """Yield observations, summaries and prompts, each in the order in which they were made."""
        file = _file(path)
        with ForeignDatabase(file).snapshot() as connection:
            tables = _tables(connection)
            for table, columns in _REQUIRED_COLUMNS.items():
                if missing := sorted(columns - tables.get(table, set())):
                    raise SourceUnreadable(
                        f"{file} has no column '{missing[0]}' in '{table}': it is not a supported claude-mem "
                        "database. Versions from 5 on are supported."
                    )
            sessions = _sessions(connection, tables.get("sdk_sessions", set()))
            for record in _records(connection, "observations"):
                yield _observation(record, sessions)
            for record in _records(connection, "session_summaries"):
                yield _summary(record, sessions)
            for record in _records(connection, "user_prompts"):
                yield _prompt(record, sessions)
            for table, label, why in _SKIPPED_TABLES:
                if table in tables and (count := _count(connection, table)):
                    yield SkippedRecord(label, why, table, count)


@frozen
class _Session:
    """The program's data about a session; `host` is the program in which it took place."""

    project: str = ""
    host: str = ""
    title: str = ""


def _observation(record: JsonObject, sessions: dict[str, _Session]) -> StoreRecord:
    facts = "\n".join(f"- {fact}" for fact in texts_at(record, "facts"))
    heading = "\n".join(filter(None, (text_at(record, "title").strip(), text_at(record, "subtitle").strip())))
    paragraphs = [heading, text_at(record, "narrative").strip()]
    older = text_at(record, "text").strip()
    if older and older not in paragraphs:
        paragraphs.append(older)
    label = text_at(record, "type").lower()
    return _note("observations", record, sessions, "\n\n".join(filter(None, (*paragraphs, facts))), label, heading)


def _summary(record: JsonObject, sessions: dict[str, _Session]) -> StoreRecord:
    parts = ((name, text_at(record, column).strip()) for column, name in _PARTS)
    text = "\n\n".join(f"{name}: {part_text}" for name, part_text in parts if part_text)
    return _note("summaries", record, sessions, text, "summary", text_at(record, "request").strip())


def _prompt(record: JsonObject, sessions: dict[str, _Session]) -> StoreRecord:
    return _note("prompts", record, sessions, text_at(record, "prompt_text"), "prompt", "")


def _note(
    category: str, record: JsonObject, sessions: dict[str, _Session], text: str, label: str, title: str
) -> Note | SkippedRecord:
    session = text_at(record, "memory_session_id", "content_session_id")
    at = moment(record.get("created_at_epoch"))
    if at is None:
        at = moment(record.get("created_at"))
    if not text.strip():
        return SkippedRecord(category, "without words", str(record.get("id", "")))
    session_info = sessions.get(session, _Session())
    prompt_number = record.get("prompt_number")
    about = present(
        {
            "files_read": list(texts_at(record, "files_read")),
            "files_modified": list(texts_at(record, "files_modified") or texts_at(record, "files_edited")),
            "prompt": prompt_number if isinstance(prompt_number, int) else None,
            "session": session_info.title,
        }
    )
    wing = text_at(record, "merged_into_project", "project") or session_info.project
    return Note(
        key=key_of(category, session, str(at), text),
        text=text,
        wing=wing,
        created_at=at,
        label=label,
        tags=texts_at(record, "concepts"),
        author=text_at(record, "agent_type") or ("" if category == "prompts" else session_info.host),
        trust="user" if category == "prompts" else "agent",
        origin=session,
        title=title.splitlines()[0] if title else "",
        about=about,
    )


def _tables(connection: SqliteConnection) -> dict[str, set[str]]:
    """The columns of each table."""
    rows = connection.execute(
        "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
    )
    columns_by_table: dict[str, set[str]] = {}
    for table, column in rows:
        columns_by_table.setdefault(str(table), set()).add(str(column))
    return columns_by_table


def _sessions(connection: SqliteConnection, columns: set[str]) -> dict[str, _Session]:
    """The sessions, by each of their ids."""
    if not {"memory_session_id", "content_session_id", "project"} <= columns:
        return {}
    sessions: dict[str, _Session] = {}
    for record in _records(connection, "sdk_sessions"):
        session = _Session(
            text_at(record, "project"), text_at(record, "platform_source"), text_at(record, "custom_title")
        )
        for own in ("memory_session_id", "content_session_id"):
            if key := text_at(record, own):
                sessions[key] = session
    return sessions


def _records(connection: SqliteConnection, table: str) -> Iterator[JsonObject]:
    """Return the rows of a table as objects, with lists that are stored as JSON decoded."""
    columns = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]
    for row in connection.execute(f"SELECT * FROM {table} ORDER BY id"):
        record: JsonObject = dict(zip(columns, row, strict=True))
        for name in _LISTS:
            record[name] = _list(record.get(name))
        yield record


def _list(value: object) -> list[object]:
    """Decode a list that is stored as JSON; any other value becomes its only element."""
    if not isinstance(value, str) or not value.strip():
        return []
    try:
        elements = json.loads(value)
    except (ValueError, RecursionError):
        return [value]
    return elements if isinstance(elements, list) else [value]


def _count(connection: SqliteConnection, table: str) -> int:
    ((count,),) = connection.execute(f"SELECT count(*) FROM {table}")
    return int(count)


def _file(path: Path) -> Path:
    return path / NAME if is_directory(path) else path
