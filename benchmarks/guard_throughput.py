"""Measure what the guard costs: `mine` of transcripts with redaction on and off, in turns within one run.

    python benchmarks/guard_throughput.py [--sessions 20] [--rounds 5] [--json]

Two corpora: synthetic sessions of real prose and source (`corpus.py`), in which little is found, and the captured
sessions of all hosts under tests/fixtures, copied until they are as large. Each round mines into a palace of its
own, in this process, without vectors; seconds are the process's own (user and system), and the least of all rounds
counts, since what else the machine does only adds to them.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.corpus import write_sessions
from benchmarks.measuring import MB, Row, report

from palazzo.palace import Palace, system_clock
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine

FIXTURES = Path(__file__).resolve().parents[1] / "tests" / "fixtures"
GOAL = 85.0


def main() -> None:
    """Print both figures side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=20, help="synthetic sessions to mine")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        synthetic, captured = Path(directory) / "synthetic", Path(directory) / "captured"
        write_sessions(synthetic, arguments.sessions)
        copy_captured(captured, size_of(synthetic))
        rows = [measured(corpus, arguments.rounds) for corpus in (synthetic, captured)]
    report("mine with the guard on and off, seconds of the processor", rows, arguments.json)


def copy_captured(directory: Path, size: int) -> None:
    """Copy the fixtures' transcripts, each copy a session of its own, until there are `size` bytes of them."""
    transcripts = [path for path in sorted(FIXTURES.rglob("*.jsonl")) if is_transcript(path)]
    copied = n = 0
    while copied < size:
        for path in transcripts:
            target = directory / str(n) / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text("utf-8")
            for session in ids(path):
                text = text.replace(session, f"{session[:-6]}{n:06d}")
            target.write_text(text, "utf-8")
            copied += len(text)
        n += 1


def is_transcript(path: Path) -> bool:
    """Whether a fixture is a session as its host keeps it."""
    return "not-sessions" not in path.parts and path.stem not in ("hooks", "stream-json") and path.stat().st_size > 0


def ids(path: Path) -> Iterator[str]:
    """Yield what is the session's own in the name of its file."""
    yield path.stem[-36:]


def size_of(directory: Path) -> int:
    """Return the bytes of all files below a directory."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def measured(corpus: Path, rounds: int) -> Row:
    """Return one corpus's row."""
    best: dict[bool, float] = {}
    for _ in range(rounds):
        for redact in (True, False):
            best[redact] = min(best.get(redact, 1e9), seconds(corpus, redact))
    size = size_of(corpus) / MB
    return {
        "corpus": corpus.name,
        "MB": round(size, 1),
        "on, s": round(best[True], 3),
        "off, s": round(best[False], 3),
        "on, MB/s": round(size / best[True], 2),
        "off, MB/s": round(size / best[False], 2),
        "on of off, %": round(100 * best[False] / best[True], 1),
        "goal": f"at least {GOAL:g}",
    }


def seconds(corpus: Path, redact: bool) -> float:
    """Mine the corpus into a new palace; return the processor's seconds."""
    directory = tempfile.mkdtemp()
    try:
        with Palace.open(Path(directory) / "palace.db", redact=redact) as palace:
            began = time.process_time()
            mine(palace.database, system_clock, MineRequest((corpus,), mode="convos"))
            return time.process_time() - began
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
