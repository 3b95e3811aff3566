"""Zed's threads: one SQLite file, `threads/threads.db`, written while it is read.

Learned from Zed's source code: `crates/agent/src/db.rs`, which writes it (version 0.3.0 of a thread), `thread.rs`
beside it, and `legacy_thread.rs` for older threads, which Zed converts only when they are opened. Zed was not run.

    threads(id, summary, updated_at, data_type, data, parent_id, folder_paths, folder_paths_order, created_at)

`data` is JSON, packed with Zstandard if `data_type` is `zstd`. `folder_paths` has a path on each line, sorted;
`folder_paths_order` says in which order they were opened. Older versions lack the last four columns.

A message is `{User: {id, content}}`, `{Agent: {content, tool_results}}` or `Resume`. Content of a user is `Text`,
`Mention` (`{uri, content}`) or `Image`; content of an agent is `Text`, `Thinking`, `RedactedThinking` or `ToolUse`
(`{id, name, input}`), and `tool_results` has each call's result by id. Messages have no times, so those that are new
have the time of the thread's last change. A message is written when it is complete, with the results of its calls.

Agents that Zed starts (Claude Code, Codex, Gemini CLI) keep their own sessions. Older "text threads" are not read.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import zstandard

from palazzo.frozen_class import frozen
from palazzo.hosts.zed.thread_messages import thread_rows
from palazzo.sources.formats import Collection, Identity, Row, Session, Unreadable
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.row_records import objects_in, stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.store.database import SqliteConnection
from palazzo.store.foreign_database import ForeignDatabase
from palazzo.store.foreign_tables import check_tables, columns_of, has_tables, is_database_of

KIND = "zed"
LARGEST = 256 * 1024 * 1024
"""Maximum bytes of an unpacked thread."""
_NAME = "threads.db"
_TABLE = "threads"
_REQUIRED_COLUMNS = {_TABLE: {"id", "summary", "updated_at", "data_type", "data"}}
_LATER_COLUMNS = ("parent_id", "folder_paths", "folder_paths_order")
_WINDOW = 128 * 1024 * 1024
"""Maximum memory that a packed thread may ask for; the levels that Zed uses need far less."""


@frozen
class _Thread:
    """A thread's row without its messages."""

    id: str
    title: str
    updated: str
    size: str
    parent: str
    folders: str
    order: str


class Zed:
    """Reads Zed's database of threads."""

    kind = KIND
    version = 1

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is a SQLite file of that name with Zed's table."""
        return is_database_of(path, head, _NAME, partial(has_tables, required=_REQUIRED_COLUMNS))

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the threads, in the order of their last change."""
        database = ForeignDatabase(path)
        with database.snapshot() as connection:
            check_tables(connection, path, _REQUIRED_COLUMNS, "Zed")
            columns = columns_of(connection, _TABLE)
            later = ", ".join(name if name in columns else "NULL" for name in _LATER_COLUMNS)
            sql = f"SELECT id, summary, updated_at, length(data), {later} FROM threads ORDER BY updated_at, id"  # noqa: S608
            threads = [_read_thread(row) for row in connection.execute(sql)]
            directories = {thread.id: _directory(connection, thread) for thread in threads}
        for thread in threads:
            yield Session(
                Identity((KIND, thread.id), thread.id, thread.parent, led_by_agent=bool(thread.parent)),
                stamp_of(thread.updated, thread.size, thread.title),
                partial(_rows, database, thread.id),
                thread.title.strip(),
                directories[thread.id],
                moment(thread.updated),
            )


def _read_thread(row: tuple[object, ...]) -> _Thread:
    own, title, updated, size, parent, folders, order = ("" if cell is None else str(cell) for cell in row)
    return _Thread(own, title, updated, size, parent, folders, order)


def _directory(connection: SqliteConnection, thread: _Thread) -> str:
    """Return the folder that was opened first; of an older thread, from its snapshot of the project."""
    paths = [path for path in thread.folders.split("\n") if path]
    positions = [int(digits) for digits in thread.order.split(",") if digits.isdecimal()]
    if len(positions) == len(paths):
        paths = [path for _, path in sorted(zip(positions, paths, strict=True))]
    if paths:
        return paths[0]
    thread_data = _read_data(connection, thread.id)
    return "" if isinstance(thread_data, Unreadable) else string(project_snapshot(thread_data), "worktree_path")


def project_snapshot(thread: JsonObject) -> JsonObject:
    """Return the state of the first folder when the thread began: `worktree_path` and `git_state`."""
    snapshot = thread.get("initial_project_snapshot")
    worktrees = objects_in(snapshot.get("worktree_snapshots")) if isinstance(snapshot, dict) else []
    return worktrees[0] if worktrees else {}


def _rows(database: ForeignDatabase, own: str) -> Iterator[Row]:
    with database.snapshot() as connection:
        thread = _read_data(connection, own)
    if isinstance(thread, Unreadable):
        yield Row(0, b"null", thread)
        return
    git_state = project_snapshot(thread).get("git_state")
    yield from thread_rows(thread, string(git_state, "current_branch") if isinstance(git_state, dict) else "")


def _read_data(connection: SqliteConnection, own: str) -> JsonObject | Unreadable:
    """Return a thread's JSON, or why it cannot be read."""
    for data_type, data in connection.execute("SELECT data_type, CAST(data AS BLOB) FROM threads WHERE id = ?", (own,)):
        if data_type not in ("json", "zstd"):
            return Unreadable(f"a thread in the unknown form {data_type!r}")
        packed = data if isinstance(data, bytes) else b""
        try:
            text = _unpack(packed) if data_type == "zstd" else packed
            thread: object = json.loads(text.decode("utf-8", "surrogateescape"), strict=False)
        except RecursionError:
            return Unreadable("nested too deeply")
        except zstandard.ZstdError as error:
            return Unreadable(f"a thread that cannot be unpacked ({error})")
        except ValueError as error:
            return Unreadable(f"a thread that is not JSON ({error})")
        return thread if isinstance(thread, dict) else Unreadable("a thread that is not an object")
    return Unreadable("a thread that was deleted")


def _unpack(packed: bytes) -> bytes:
    """Return the unpacked bytes; raises ZstdError if they are damaged or more than `LARGEST`."""
    with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(io.BytesIO(packed)) as stream:
        text = stream.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise zstandard.ZstdError(f"over {LARGEST:,} bytes")
    return text


COLLECTIONS: tuple[Collection, ...] = (Zed(),)
