"""Databases as opencode writes them, from the schema that it made itself, and the stores that it really wrote."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import zstandard

FIXTURES = Path(__file__).parents[1] / "fixtures" / "opencode"
START = 1_795_293_302_613
"""Milliseconds; when the first message of a made session was written."""


def unpack(name: str, directory: Path, to: str = "opencode.db") -> Path:
    """Put a real database into `directory`."""
    path = directory / to
    path.write_bytes(zstandard.decompress((FIXTURES / f"{name}.zst").read_bytes()))
    return path


def unpack_live(directory: Path) -> Path:
    """Put the database that was copied while opencode ran into `directory`, with its log."""
    unpack("live.db-wal", directory, "opencode.db-wal")
    return unpack("live.db", directory)


def unpack_storage(directory: Path) -> Path:
    """Put the JSON tree into `directory`."""
    with zipfile.ZipFile(FIXTURES / "1.1.65-storage.zip") as archive:
        archive.extractall(directory)
    return directory / "storage"


def identifier(kind: str, at: int, n: int) -> str:
    """An id as opencode makes them: 48 bits of milliseconds and a counter, which begin anew after 795 days."""
    return f"{kind}_{(at * 4096 + n) % (1 << 48):012x}{n:014d}"


@cache
def schema() -> tuple[str, ...]:
    """The statements of opencode's schema."""
    with TemporaryDirectory() as directory:
        source = apsw.Connection(str(unpack("1.18.33.db", Path(directory))))
        statements = tuple(sql for (sql,) in source.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
        source.close()
    return statements


class Writer:
    """Writes a database with opencode's own schema, in WAL mode, and stays open as opencode does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = apsw.Connection(str(path))
        self.connection.execute("PRAGMA journal_mode=WAL").fetchall()
        self.connection.execute("PRAGMA synchronous=OFF")
        for sql in schema():
            self.connection.execute(sql)
        self.insert("project", id="p1", worktree="/home/dev/acme", sandboxes="[]")
        self.count = 0

    def insert(self, table: str, **fields: object) -> None:
        """Insert a row, with something in every column that needs it."""
        for _, name, kind, needed, default, _ in self.connection.execute(f"PRAGMA table_info({table})"):
            if needed and default is None and name not in fields:
                fields[name] = START if kind.lower() == "integer" else "x"
        marks = ", ".join("?" * len(fields))
        sql = f"INSERT OR REPLACE INTO {table} ({', '.join(fields)}) VALUES ({marks})"
        self.connection.execute(sql, tuple(fields.values()))

    def session(self, session: str, at: int = START, **fields: object) -> None:
        """Add a session."""
        fields = {"title": session, "directory": "/home/dev/acme", "project_id": "p1", **fields}
        self.insert("session", id=session, time_created=at, time_updated=at, **fields)

    def message(self, session: str, role: str, at: int, parts: Sequence[object], **data: object) -> str:
        """Add a message with its parts; an assistant's is completed unless `time` says otherwise."""
        self.count += 1
        own = identifier("msg", at, self.count % 4096)
        times = {"created": at, "completed": at + 1} if role == "assistant" else {"created": at}
        self.put("message", own, {"role": role, "time": times, **data}, at, session_id=session)
        for part in parts:
            self.count += 1
            self.put("part", identifier("prt", at, self.count % 4096), part, at, session_id=session, message_id=own)
        return own

    def put(self, table: str, own: str, data: object, at: int, **fields: object) -> None:
        """Add or replace one row; `data` is JSON, or the text to write in its place."""
        text = data.encode("utf-8", "replace").decode() if isinstance(data, str) else json.dumps(data)
        self.insert(table, id=own, data=text, time_created=at, time_updated=at, **fields)

    def close(self) -> None:
        """Leave as opencode does: the last to close folds the log in and removes it."""
        self.connection.close()


def text(words: str, **fields: object) -> Mapping[str, object]:
    """A text part."""
    return {"type": "text", "text": words, **fields}


def tool(name: str, given: object, output: str, status: str = "completed", call: str = "c1") -> Mapping[str, object]:
    """A tool part."""
    result = {"error": output} if status == "error" else {"output": output}
    return {"type": "tool", "tool": name, "callID": call, "state": {"status": status, "input": given, **result}}
