"""Transcripts of the coding suite: hand-written sessions (`corpus/sessions/*.yaml`) as Claude Code's rows.

Owns what a row looks like (2.1.330, without the rows that a host writes for itself) and the ids, which follow from
the session's name and the row's place. Knows nothing of questions.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from benchmarks.coding.tools import use

Row = dict[str, Any]
CORPUS = Path(__file__).parent / "corpus"
DIGESTS = Path(__file__).parents[1] / "digests"
"""More hand-written sessions, of six other projects: the second set of questions is about them."""
_IDS = uuid.UUID("6f1d6b52-7f2a-4f0e-9a57-3d0b2c1a9e44")
_BETWEEN = timedelta(seconds=47)


def session_id(name: str) -> str:
    """Return the id under which the session called `name` is filed."""
    return str(uuid.uuid5(_IDS, name))


def read_sessions(corpus: Path = CORPUS) -> list[Row]:
    """Return the sessions as they stand in YAML: `id`, `cwd`, `branch`, `begin`, `steps`."""
    return [
        one for file in sorted((corpus / "sessions").glob("*.yaml")) for one in yaml.safe_load(file.read_text("utf-8"))
    ]


def write_sessions(directory: Path, corpus: Path = CORPUS) -> dict[str, Path]:
    """Write a transcript for each session, under its project's slug, and return them by the session's name."""
    return {session["id"]: write_session(directory, session) for session in read_sessions(corpus)}


def write_session(directory: Path, session: Row) -> Path:
    """Write one session's transcript, under its project's slug."""
    path: Path = directory / session["cwd"].replace("/", "-") / f"{session_id(session['id'])}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = list(_rows(session))
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    last = datetime.fromisoformat(rows[-1]["timestamp"]).timestamp()
    os.utime(path, (last, last))
    return path


def _rows(session: Row) -> Iterator[Row]:
    now, parent, number = _begin(session), None, 0
    for step in session["steps"]:
        for kind, message, more in _messages(session, step, number):
            row = {
                "parentUuid": parent,
                "isSidechain": False,
                "type": kind,
                "message": message,
                "uuid": str(uuid.uuid5(_IDS, f"{session['id']} {number}")),
                "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "userType": "external",
                "entrypoint": "cli",
                "cwd": session["cwd"],
                "sessionId": session_id(session["id"]),
                "version": "2.1.330",
                "gitBranch": session["branch"],
            }
            parent, number, now = row["uuid"], number + 1, now + _BETWEEN
            yield row | more


def _begin(session: Row) -> datetime:
    begin = session["begin"]
    return (begin if isinstance(begin, datetime) else datetime.fromisoformat(begin)).replace(tzinfo=UTC)


def _messages(session: Row, step: Row, number: int) -> Iterator[tuple[str, Row, Row]]:
    """Yield (row type, message, further fields) of one step: one for words, two for a tool."""
    if "u" in step:
        yield "user", {"role": "user", "content": [{"type": "text", "text": step["u"].strip()}]}, {}
        return
    place = f"{session['id']} {number}"
    answer = f"msg_{uuid.uuid5(_IDS, f'answer {place}').hex[:24]}"
    if "a" in step:
        yield "assistant", _said(answer, {"type": "text", "text": step["a"].strip()}, "end_turn"), {}
        return
    call, used = f"toolu_{uuid.uuid5(_IDS, f'call {place}').hex[:24]}", use(step, session["cwd"])
    block = {"type": "tool_use", "id": call, "name": used.name, "input": used.arguments}
    yield "assistant", _said(answer, block, "tool_use"), {}
    result = {"type": "tool_result", "tool_use_id": call, "content": used.shown, "is_error": used.failed}
    yield "user", {"role": "user", "content": [result]}, {"toolUseResult": used.recorded}


def _said(name: str, block: Row, stop_reason: str) -> Row:
    return {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [block],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 50},
    }
