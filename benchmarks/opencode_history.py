"""opencode's history: a real database of 60 sessions, until findable and until fully embedded.

    python benchmarks/opencode_history.py [--sessions 60] [--no-embedding] [--json]

The database has the schema that opencode 1.18 made, and is written as opencode writes it, in WAL mode; its sessions
are those of `corpus.py`, as opencode stores messages and parts. The figure to beat, published for a history of this
size by a peer that embeds inside its write, is 21 minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.corpus import write_sessions
from benchmarks.ingest import run_embed, run_mine, sizes
from benchmarks.measuring import MB, Row, report
from tests.sources.opencode_samples import START, Writer, text, tool

_BETWEEN_SESSIONS = 3 * 3600 * 1000
"""Milliseconds."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a row for each step."""
    parser = argparse.ArgumentParser(description="Measure reading opencode's history.")
    parser.add_argument("--sessions", type=int, default=60)
    parser.add_argument("--no-embedding", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="palazzo-opencode-") as scratch:
        rows = measure(Path(scratch), given.sessions, not given.no_embedding)
    report(f"opencode: {given.sessions} sessions", rows, given.json)
    return 0


def measure(scratch: Path, sessions: int, embedding: bool) -> list[Row]:
    """Return a row for each step."""
    database, palace = scratch / "opencode.db", scratch / "palace" / "palace.db"
    messages = write_history(database, write_sessions(scratch / "sessions", sessions, seed=4))
    mined = run_mine(palace, database)
    found = sizes(palace)
    rows: list[Row] = [
        {
            "step": "findable by keyword",
            "seconds": round(mined.seconds, 2),
            "goal": 10,
            "items": int(mined.said["items"]),
            "drawers": int(found["drawers"]),
            "MB": round(database.stat().st_size / MB, 1),
            "messages": messages,
        }
    ]
    if embedding:
        embedded = run_embed(palace)
        rows.append(
            {
                "step": "fully embedded, from the start",
                "seconds": round(mined.seconds + embedded.seconds, 1),
                "goal": 120,
                "passages": int(embedded.said["made"]),
            }
        )
    again = run_mine(palace, database)
    rows.append({"step": "again, nothing new", "seconds": round(again.seconds, 2), "items": int(again.said["items"])})
    return rows


def write_history(path: Path, transcripts: Sequence[Path]) -> int:
    """Write the sessions of Claude Code transcripts as opencode's; return the number of messages."""
    writer = Writer(path)
    messages = 0
    for number, transcript in enumerate(transcripts):
        session, at = f"ses_{number:026d}", START + number * _BETWEEN_SESSIONS
        writer.session(session, at, title=f"Session {number}")
        writer.connection.execute("BEGIN")
        for role, parts in _messages(transcript):
            at += 1000
            writer.message(session, role, at, parts)
            messages += 1
        writer.connection.execute("COMMIT")
    writer.close()
    return messages


def _messages(transcript: Path) -> Iterator[tuple[str, list[Mapping[str, object]]]]:
    """Yield role and parts: what a tool answered stands in the part of its call."""
    rows = [json.loads(line) for line in transcript.read_bytes().splitlines()]
    blocks = [(row["type"], block) for row in rows if row["type"] in ("user", "assistant") for block in _blocks(row)]
    answers = {block["tool_use_id"]: block for _, block in blocks if block["type"] == "tool_result"}
    for role, block in blocks:
        if block["type"] == "text":
            yield role, [text(block["text"])]
        elif block["type"] == "tool_use":
            answer = answers.get(block["id"], {})
            status = "error" if answer.get("is_error") else "completed"
            yield "assistant", [tool(block["name"].lower(), block["input"], _words(answer), status, block["id"])]


def _blocks(row: dict[str, Any]) -> list[dict[str, Any]]:
    content = row["message"]["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _words(answer: Mapping[str, Any]) -> str:
    content = answer.get("content", "")
    return content if isinstance(content, str) else "\n".join(str(block.get("text", "")) for block in content)


if __name__ == "__main__":
    sys.exit(main())
