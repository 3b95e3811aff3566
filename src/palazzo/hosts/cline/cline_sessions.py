"""Cline's sessions since version 4 of its extension and version 3 of its program: `<session id>.messages.json`.

Learned from sessions of version 3.0.65 of the program (`tests/fixtures/cline`), and from the source code
(`sdk/packages/core/src/services/session-data.ts` and `session-artifacts.ts`, `session/models/session-manifest.ts`).

    ~/.cline/data/sessions/<session id>/<session id>.messages.json
                                        `{version, updated_at, agent, sessionId, origin, messages, system_prompt}`
                                        <session id>.json
                                        `{session_id, started_at, cwd, workspace_root, prompt, metadata: {title, …}}`
                                        <agent id>.messages.json, for each sub-agent

`hosts/task_messages` has the messages. The file is written anew, in place, after each answer of the model: one that is
read meanwhile ends early, and is complete at the next read. The system prompt is not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.hosts.json_sessions import read_header, read_records_so_far
from palazzo.hosts.task_files import title_of
from palazzo.hosts.task_messages import read_message
from palazzo.model import Micros
from palazzo.sources.formats import Identity, Noise, Row, Session, Unreadable
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import Calls
from palazzo.sources.formats.row_records import decode_json_text, drop_keys, parse, stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.sources.formats.whole_files import read_file

KIND = "cline"
_SUFFIX = ".messages.json"
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{(?=.*"sessionId"\s*:)(?=.*"messages"\s*:\s*\[)', re.DOTALL)
_MESSAGES = re.compile(r'"messages"\s*:\s*(?=\[)')
_SUB_AGENT = re.compile(r"(.+?)__(?:teamtask__)?.+")
_USER_INPUT = re.compile(r"\s*<user_input\b[^>]{0,100}>(.*?)</user_input>\s*", re.DOTALL)


class ClineSessions:
    """Reads one session, given its file of messages."""

    kind = KIND
    version = 1

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is a file of messages."""
        return path.name.endswith(_SUFFIX) and _BEGINNING.match(head) is not None

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the one conversation."""
        data = read_file(path)
        text = decode_json_text(data)
        match = _MESSAGES.search(text)
        if match is None:
            raise SourceUnreadable(f"{path} has no list of messages.")
        header = read_header(text, match.start())
        records, fault = read_records_so_far(text, match.end(), path.name)
        session = string(header, "sessionId") or path.name.removesuffix(_SUFFIX)
        parent = _parent_of(session, header)
        manifest = _manifest_of(path, parent or session)
        cwd = string(manifest, "cwd") or string(manifest, "workspace_root")
        updated_at = moment(header.get("updated_at"))
        yield Session(
            Identity((KIND, session), session, parent, led_by_agent=bool(parent)),
            stamp_of(data),
            partial(_rows, header, records, fault, cwd, moment(manifest.get("started_at"))),
            "" if parent else _title(manifest),
            cwd,
            updated_at,
        )


def _parent_of(session: str, header: JsonObject) -> str:
    """Return the session that a sub-agent works for; "" for a person's own."""
    origin = header.get("origin")
    parent = string(origin, "parentThreadId") if isinstance(origin, dict) else ""
    if parent or string(header, "agent") not in ("subagent", "teammate"):
        return parent
    match = _SUB_AGENT.fullmatch(session)
    return match.group(1) if match is not None else ""


def _manifest_of(path: Path, session: str) -> JsonObject:
    """Return what the host noted of a session; empty if the file is absent, a link or not JSON."""
    manifest = path.parent / f"{Path(session).name}.json"
    try:
        if manifest.is_symlink() or not manifest.is_file():
            return {}
        value = parse(read_file(manifest), manifest.name)
    except (OSError, SourceUnreadable):
        return {}
    return value if isinstance(value, dict) else {}


def _title(manifest: JsonObject) -> str:
    metadata = manifest.get("metadata")
    title = string(metadata, "title") if isinstance(metadata, dict) else ""
    match = _USER_INPUT.fullmatch(title)
    return title_of(match.group(1) if match is not None else title)


def _rows(header: JsonObject, records: list[object], fault: str, cwd: str, began: Micros | None) -> Iterator[Row]:
    rows, calls = Rows(), Calls()
    yield rows.row(drop_keys(header, "updated_at"), Noise("session"))
    for record in records:
        if isinstance(record, dict):
            content = read_message(record, calls, cwd, began, is_plain_said=True)
            yield rows.row(drop_keys(record, "metrics"), content)
        else:
            yield rows.row(record, Unreadable("not a message"))
    if fault:
        yield rows.row({"fault": "the end of the file is not valid JSON"}, Unreadable(fault))
