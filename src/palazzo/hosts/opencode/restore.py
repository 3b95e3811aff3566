"""A session of opencode as the file that `opencode import` reads: `{info, messages: [{info, parts}]}`.

The format is that of `opencode export` of 1.18.33, and its `import` accepted files generated here. The file is built
from the archived records: rows of the database, whose columns have other names than the fields of the file, or files of
the older tree of JSON, whose fields are the same. The archive does not keep the data of a session that changes all the
time (cost, tokens, a summary of changed files); opencode works without it.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from palazzo.hosts.opencode import opencode_database

Record = dict[str, Any]

_SESSION = {"project_id": "projectID", "parent_id": "parentID", "workspace_id": "workspaceID"}
_AS_THEY_ARE = ("id", "slug", "directory", "path", "title", "version", "agent")
_JSON_COLUMNS = ("model", "permission", "metadata")


def has_session(history: Path, session: str) -> bool:
    """Return whether a database, or a tree of JSON files, has a session; raise SourceUnreadable for a bad database."""
    if history.is_file():
        return opencode_database.has_session(history, session)
    return any(True for _ in history.glob(f"session/*/{glob.escape(session)}.json"))


def import_file(raw: bytes) -> bytes | None:
    """Return the file for `opencode import`, or None if the records are not those of one complete session."""
    session: Record | None = None
    messages: dict[str, Record] = {}
    for record in _records(raw):
        kind, value = _read(record)
        if kind == "session":
            session = session or value
        elif kind == "message":
            messages[str(value["id"])] = {"info": value, "parts": []}
        elif str(value.get("messageID")) in messages:
            messages[str(value["messageID"])]["parts"].append(value)
    if session is None:
        return None
    times = [int(timestamp) for message in messages.values() for timestamp in _times(message["info"])]
    time = session.setdefault("time", {})
    time["updated"] = max([*times, int(time.get("updated") or 0), int(time.get("created") or 0)])
    document = {"info": session, "messages": list(messages.values())}
    return json.dumps(document, ensure_ascii=True, indent=2).encode() + b"\n"


def _records(raw: bytes) -> Iterator[Record]:
    """Yield consecutive JSON objects, each on one line or, from older versions of the tree, on several."""
    text, decoder, at = raw.decode("utf-8", "surrogateescape"), json.JSONDecoder(strict=False), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            at = text.find("\n", at) + 1 or len(text)
            continue
        if isinstance(value, dict):
            yield value


def _read(record: Record) -> tuple[str, Record]:
    data = record.get("data")
    if isinstance(data, dict) and "session_id" in record:
        value = {**data, "id": record.get("id"), "sessionID": record["session_id"]}
        if "message_id" not in record:
            return "message", value
        return "part", {**value, "messageID": record["message_id"]}
    if "messageID" in record:
        return "part", record
    if "sessionID" in record:
        return "message", record
    return "session", _session(record) if "time_created" in record else record


def _session(row: Record) -> Record:
    info: Record = {name: row[name] for name in _AS_THEY_ARE if row.get(name) is not None}
    info |= {name: row[column] for column, name in _SESSION.items() if row.get(column) is not None}
    for name in _JSON_COLUMNS:
        value = row.get(name)
        content = _parse_json(value) if isinstance(value, str) else value
        if content is not None:
            info[name] = content
    info["time"] = {"created": row.get("time_created") or 0}
    return info


def _parse_json(text: str) -> object:
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return value


def _times(info: Record) -> Iterable[int]:
    time = info.get("time")
    values = time.values() if isinstance(time, dict) else ()
    return [int(value) for value in values if isinstance(value, int | float)]
