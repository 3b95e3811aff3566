"""Measure `palazzo watch`: seconds from a write to findable, and the share of a core that it takes when idle.

    python benchmarks/watching.py [--transcripts 1000] [--writes 30] [--idle 60] [--json]

A real `palazzo watch` runs over a home directory with that many transcripts of six rows. Another process appends a
row with a word of its own to one of them, and searches for that word, by keyword, until it is found. Idle is what the
watcher uses while nothing is written: the processor time that the system counts for it, over the seconds that passed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import Row, milliseconds, percentile, report, resident_mb

from palazzo.features.mining.retention import histories_kept
from palazzo.index.query import Query
from palazzo.operations.context import Context
from palazzo.palace import Palace

SOURCE = Path(__file__).resolve().parents[1] / "src"
PATIENCE = 60.0


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transcripts", type=int, default=1000)
    parser.add_argument("--writes", type=int, default=30)
    parser.add_argument("--idle", type=float, default=60.0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="palazzo-watching-"))
    try:
        rows = measure(home, given.transcripts, given.writes, given.idle)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    report(f"palazzo watch over {given.transcripts:,} transcripts", rows, given.json)


def measure(home: Path, transcripts: int, writes: int, idle: float) -> list[Row]:
    """Return the rows of the table."""
    paths = [_write_transcript(home, number) for number in range(transcripts)]
    palace = home / "palace" / "palace.db"
    rows: list[Row] = []
    with _watching(home, palace) as (process, caught_up):
        rows.append({"what": "first catch-up", "seconds": caught_up})
        seconds = _until_found(palace, paths, writes)
        rows.append(_spread(f"from a write to findable, {writes} writes", seconds))
        rows.append({"what": "resident MB afterwards", "MB": round(resident_mb(process.pid), 1)})
    for name, variables in (("told by the system", {}), ("looking", {"PALAZZO_WATCH_POLLING": "1"})):
        with _watching(home, palace, **variables) as (process, caught_up):
            rows.append({"what": f"catch-up with nothing new, {name}", "seconds": caught_up})
            rows.append({"what": f"idle for {idle:.0f} s, {name}", "% of a core": _idle_share(process.pid, idle)})
    with Context(palace=palace, cwd=home, variables={"HOME": str(home)}) as context:
        context.reading()
        taken = [milliseconds(lambda: histories_kept(context)) for _ in range(5)]
    rows.append({"what": "doctor's look at the history, nothing new", "p50 ms": round(percentile(taken, 0.5), 1)})
    return rows


@contextmanager
def _watching(home: Path, palace: Path, **variables: str) -> Iterator[tuple[subprocess.Popen[str], float]]:
    """Run `palazzo watch`; yields the process, and the seconds that catching up took, once it has."""
    environment = {
        **os.environ,
        "HOME": str(home),
        "PYTHONPATH": str(SOURCE),
        "PALAZZO_SERVICE": "off",
        **variables,
    }
    command = [sys.executable, "-m", "palazzo.faces.cli", "watch", "--json", "--palace", str(palace)]
    process = subprocess.Popen(
        command, cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        caught_up = _read_until_caught_up(process.stdout)
        yield process, caught_up
    finally:
        process.terminate()
        process.communicate()


def _read_until_caught_up(lines: IO[str]) -> float:
    for line in lines:
        event = json.loads(line)
        if event["event"] == "caught-up":
            return float(event["took_s"])
    raise SystemExit("palazzo watch ended before it had caught up")


def _until_found(palace: Path, paths: list[Path], writes: int) -> list[float]:
    rng = random.Random(1)
    found = []
    with Palace.open(palace, "read") as opened:
        for _ in range(writes):
            word = "".join(rng.choice("bcdfghjklmnpqrstvwxz") for _ in range(14))
            with rng.choice(paths).open("a") as file:
                file.write(_row(rng.randrange(10**9), 0, f"the word is {word}"))
            found.append(_seconds_until(opened, word))
            time.sleep(rng.uniform(0.2, 1.5))
    return found


def _seconds_until(palace: Palace, word: str) -> float:
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE:
        if any(word in hit.drawer.text for hit in palace.search(Query(word)).hits):
            return time.monotonic() - began
        time.sleep(0.01)
    raise SystemExit(f"'{word}' was not found within {PATIENCE:.0f} seconds")


def _idle_share(pid: int, seconds: float) -> float:
    time.sleep(3)  # what catching up left to do
    before, began = _processor_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return round(100 * (_processor_seconds(pid) - before) / (time.monotonic() - began), 3)


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _spread(what: str, seconds: list[float]) -> Row:
    shares = {"p50 s": 0.5, "p95 s": 0.95, "most s": 1.0}
    return {"what": what, **{name: round(percentile(seconds, share), 2) for name, share in shares.items()}}


def _write_transcript(home: Path, number: int) -> Path:
    session = f"5e55{number:04}-0000-4000-8000-000000000000"
    path = home / ".claude" / "projects" / f"-home-dev-project-{number % 20}" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(_row(number, n, f"Word {n} of session {number}, and some more of them.") for n in range(6)))
    return path


def _row(number: int, n: int, text: str) -> str:
    role = "assistant" if n % 2 else "user"
    stated = {"sessionId": f"s{number}", "timestamp": "2026-11-21T20:39:00Z", "cwd": f"/home/dev/project-{number % 20}"}
    message = {"role": role, "content": text}
    row = {"type": role, "uuid": f"u{number}-{n}", "parentUuid": None, "isSidechain": False, "message": message}
    return json.dumps({**row, **stated}) + "\n"


if __name__ == "__main__":
    main()
