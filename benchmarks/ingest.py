"""Measure ingest: until findable by keyword, until embedded, again with nothing new, and one exchange more.

    python benchmarks/ingest.py [--sessions 62] [--documents 40] [--no-embedding] [--json]

Every step runs in a process of its own, so that its memory and its seconds are the product's: seconds count from
the start of the interpreter to its end. "Findable" means that the run which files the corpus has ended: a drawer
and its keyword index commit together.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.corpus import write_corpus, write_sessions
from benchmarks.measuring import CACHE, MB, Row, report

SOURCE = Path(__file__).resolve().parents[1] / "src"
BIG_TRANSCRIPT = 75 * 1_000_000
MANY_SESSIONS, MANY_FILES = 100, 10_000

MINE = """
import json, sys
from pathlib import Path
from palazzo.sources.mining_run import mine
from palazzo.sources.mining_report import MineRequest
from palazzo.palace import Palace, system_clock
with Palace.open(Path(sys.argv[1])) as palace:
    reports = [mine(palace.database, system_clock, MineRequest((Path(each),))) for each in sys.argv[2:]]
status = Path("/proc/self/status").read_text()
io = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
print(json.dumps({"peak_mb": int(peak) / 1024, "read": int(io["rchar"]),
    "seconds": sum(r.took_s for r in reports), "failed": sum(len(r.failed) for r in reports),
    "sources": sum(r.sources for r in reports), "items": sum(r.items for r in reports)}))
"""
EMBED = """
import json, sys
from pathlib import Path
from palazzo.index.embedder_choice import EmbedderSpec, open_embedder
from palazzo.palace import Palace
with Palace.open(Path(sys.argv[1]), embedder=lambda: open_embedder(EmbedderSpec(threads=int(sys.argv[2])))) as palace:
    made = palace.embed_pending()
status = Path("/proc/self/status").read_text()
peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
print(json.dumps({"peak_mb": int(peak) / 1024, "made": made}))
"""


@dataclass(frozen=True)
class Run:
    """One process: its seconds from start to end, and what it said of itself."""

    seconds: float
    said: dict[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every step and print a row each."""
    parser = argparse.ArgumentParser(description="Measure ingest.")
    parser.add_argument("--sessions", type=int, default=62)
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--no-embedding", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="palazzo-ingest-") as scratch:
        rows, about = measure(Path(scratch), given.sessions, given.documents, not given.no_embedding)
    report("Ingest", rows, given.json)
    report("What is kept of the corpus", about, given.json)
    return 0


def measure(scratch: Path, sessions: int, documents: int, embedding: bool) -> tuple[list[Row], list[Row]]:
    """Return a row for each step, and one for each kind of data on disk."""
    corpus, palace = scratch / "corpus", scratch / "palace" / "palace.db"
    written = write_corpus(corpus, sessions, documents)
    whole = written.transcript_bytes + written.document_bytes
    mined = run_mine(palace, corpus / "projects", corpus / "docs")
    kept = sizes(palace)
    drawers = int(kept["drawers"])
    rows: list[Row] = [
        {
            "step": f"{sessions} sessions and {documents} documents, findable by keyword",
            "seconds": round(mined.seconds, 2),
            "drawers/s": round(drawers / mined.seconds),
            "MB/s": round(whole / MB / mined.seconds, 1),
            "peak MB": round(mined.said["peak_mb"]),
        }
    ]
    if embedding:
        done = run_embed(palace)
        rows.append(
            {
                "step": f"fully embedded, {done.said['made']:,.0f} passages",
                "seconds": round(done.seconds, 1),
                "texts/s": round(done.said["made"] / done.seconds, 1),
                "peak MB": round(done.said["peak_mb"]),
            }
        )
    rows += [_again(scratch), _many_files(scratch), *_one_exchange_more(scratch)]
    return rows, _disk_rows(palace, written.transcript_bytes, written.document_bytes)


def run_mine(palace: Path, *paths: Path) -> Run:
    """Mine directories or files in a fresh process."""
    return _run(MINE, str(palace), *map(str, paths))


def run_embed(palace: Path, threads: int = 2) -> Run:
    """Make every pending vector in a fresh process."""
    return _run(EMBED, str(palace), str(threads))


def _run(code: str, *arguments: str) -> Run:
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", code, *arguments]
    began = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=1800)
    return Run(time.perf_counter() - began, json.loads(done.stdout))


def _again(scratch: Path) -> Row:
    """Feed 100 sessions, and feed them again."""
    sessions, palace = scratch / "hundred" / "projects", scratch / "hundred.db"
    write_sessions(sessions, MANY_SESSIONS, seed=2)
    run_mine(palace, sessions)
    again = run_mine(palace, sessions)
    return {
        "step": f"{MANY_SESSIONS} sessions again, nothing new",
        "seconds": round(again.seconds, 3),
        "of it mining": round(again.said["seconds"], 3),
        "peak MB": round(again.said["peak_mb"]),
    }


def _many_files(scratch: Path) -> Row:
    """Feed 10,000 small files, and feed them again."""
    files, palace = scratch / "files", scratch / "files.db"
    for number in range(MANY_FILES):
        path = files / f"{number % 100:02}" / f"note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {number}\n\nThe limit of queue {number} is {number * 7 % 1000}.\n", "utf-8")
    first = run_mine(palace, files)
    again = run_mine(palace, files)
    return {
        "step": f"{MANY_FILES:,} small files again, nothing new",
        "seconds": round(again.seconds, 3),
        "of it mining": round(again.said["seconds"], 3),
        "peak MB": round(again.said["peak_mb"]),
        "the first time, s": round(first.seconds, 1),
    }


def _one_exchange_more(scratch: Path) -> list[Row]:
    """Feed a transcript of 75 MB, let it grow by one exchange, and feed it again."""
    transcript = big_transcript(scratch / "big")
    palace = scratch / "big.db"
    first = run_mine(palace, transcript)
    unchanged = run_mine(palace, transcript)
    with transcript.open("ab") as stream:
        stream.write(b"".join(_last_rows(transcript)))
    grown = run_mine(palace, transcript)
    rows: list[Row] = []
    for step, run in (
        ("a transcript of 75 MB, for the first time", first),
        ("the same, unchanged", unchanged),
        ("the same, grown by one exchange", grown),
    ):
        rows.append(
            {
                "step": step,
                "seconds": round(run.seconds, 3),
                "of it mining": round(run.said["seconds"], 3),
                "peak MB": round(run.said["peak_mb"]),
                "kB read": round((run.said["read"]) / 1024),
                "items": int(run.said["items"]),
            }
        )
    return rows


def big_transcript(directory: Path) -> Path:
    """Join sessions into one transcript, as if one session had gone on for weeks; kept between runs."""
    kept = CACHE / "transcript-75mb.jsonl"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        paths = write_sessions(directory / "parts", 280, seed=3)
        name = paths[0].stem
        with kept.open("wb") as stream:
            for path in paths:
                stream.write(path.read_bytes().replace(path.stem.encode(), name.encode()))
                if stream.tell() >= BIG_TRANSCRIPT:
                    break
    copied = directory / "projects" / "-home-dev-acme" / "big.jsonl"
    copied.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(kept, copied)
    return copied


def _last_rows(transcript: Path) -> list[bytes]:
    """Return the last exchange's prompt and answer again, as other rows."""
    lines = transcript.read_bytes()[-400_000:].splitlines(keepends=True)[1:]
    spoken = [json.loads(line) for line in lines if line.startswith(b"{") and b'"message"' in line]
    chosen = [row for row in spoken if row.get("type") in ("user", "assistant") and "uuid" in row][-4:]
    grown = []
    for n, row in enumerate(chosen):
        row["uuid"] = f"00000000-0000-4000-8000-{n:012}"
        grown.append(json.dumps(row).encode() + b"\n")
    return grown


def sizes(palace: Path) -> dict[str, float]:
    """Return bytes on disk by what they hold, and how much text there is (UTF-8 bytes, counts)."""
    import apsw

    connection = apsw.Connection(str(palace), flags=apsw.SQLITE_OPEN_READONLY)
    found: dict[str, float] = {}
    for name, sql in _COUNTED.items():
        (value,) = next(connection.execute(sql))
        found[name] = float(value or 0)
    for table, size in connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
        part = next((part for part, names in _PARTS.items() if str(table).startswith(names)), "the rest")
        found[part] = found.get(part, 0.0) + float(size)
    found["file"] = float(palace.stat().st_size)
    connection.close()
    return found


_COUNTED = {
    "drawers": "SELECT count(*) FROM drawer WHERE retired_at IS NULL",
    "passages": "SELECT count(*) FROM passage",
    "texts": "SELECT count(DISTINCT hash) FROM passage",
    "pack bodies": "SELECT sum(length(body) + coalesce(length(layout), 0)) FROM pack",
    "text bodies": "SELECT sum(length(text)) FROM item",
    "vector bodies": "SELECT sum(length(body)) FROM vector",
}
_PARTS = {
    "pages of packs": ("pack", "sqlite_autoindex_pack", "landmark"),
    "pages of items": ("item", "sqlite_autoindex_item"),
    "pages of the keyword index": ("keyword",),
    "pages of vectors": ("vector",),
    "pages of drawers and passages": ("drawer", "sqlite_autoindex_drawer", "passage"),
    "pages of the chain and log": ("link", "change"),
}


def _disk_rows(palace: Path, transcripts: int, documents: int) -> list[Row]:
    found = sizes(palace)
    rows: list[Row] = [
        {"what": name, "MB": round(size / MB, 2), "of source bytes": round(size / (transcripts + documents), 3)}
        for name, size in found.items()
        if name.startswith("pages") or name in ("file", "pack bodies", "text bodies", "vector bodies", "the rest")
    ]
    rows.append({"what": "source: transcripts and documents", "MB": round((transcripts + documents) / MB, 2)})
    return rows


if __name__ == "__main__":
    sys.exit(main())
