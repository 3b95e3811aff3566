"""Measure what a new process takes for a long transcript of pi or Gemini CLI that has grown by one exchange.

    python benchmarks/grown_transcripts.py [--rounds 5] [--other DIRECTORY] [--json]

Figures are milliseconds of processor time (user and system), medians. "Reading" is the preparation of what is new,
from the state that the palace recorded, in a process of its own that has imported everything before. "Command" is
`palazzo mine FILE` without a service, from the start of the interpreter to its end; "nothing new" is the same command
once more, and "a bare Python" what starts before any of it. A branch, and a copy of the history as Gemini CLI writes
when a session is resumed, are told only by all rows before them: their reading is a column of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import Row, median, report

SOURCE = Path(__file__).resolve().parents[1] / "src"
SIZES = (("gemini", 8), ("pi", 27), ("gemini", 75), ("pi", 75))
"""Formats, and sizes in millions of bytes."""

READ = """
import sys, time
from pathlib import Path
from palazzo.archive.ingest_guard import Guard
from palazzo.palace import Palace
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS
from palazzo.sources.transcript_preparation import prepare_transcript
from palazzo.store import source_rows
path = Path(sys.argv[2])
with Palace.open(Path(sys.argv[1])) as palace:
    with palace.database.snapshot() as connection:
        state = source_rows.read_file_state(connection, path.as_uri())
    guard = Guard.of(palace.database)
    feeder = next(feeder for feeder in TRANSCRIPTS if feeder.kind == sys.argv[3])
    began = time.process_time()
    with path.open("rb") as stream:
        prepared = prepare_transcript(feeder, path, stream, state, (), guard)
        rows = sum(len(batch.ingest_batch.filings) for batch in prepared.batches)
    print(prepared.start, rows, (time.process_time() - began) * 1000)
"""


class PiSession:
    """Rows of pi's session file, each of which continues the one before."""

    kind, name = "pi", "2026-11-21T20-00-00-000Z_01a1ffca-51e5-77c3-b770-2a6cac1d47f0.jsonl"

    def __init__(self, words: random.Random) -> None:
        self._words, self._last, self._count = words, "", 0

    def header(self) -> dict[str, object]:
        """Return the first row."""
        session = self.name.partition("_")[2].removesuffix(".jsonl")
        return {"type": "session", "version": 3, "id": session, "timestamp": _time(0), "cwd": "/home/dev/acme"}

    def exchange(self) -> Iterator[dict[str, object]]:
        """Yield a prompt, calls with results, and an answer."""
        yield self._entry({"role": "user", "content": [self._text(200)]})
        for _ in range(self._words.randrange(1, 6)):
            call = f"call_{self._words.getrandbits(80):020x}"
            block = {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": _say(self._words, 60)}}
            yield self._entry({"role": "assistant", "content": [self._text(150), block], "model": "fake"})
            result = {"role": "toolResult", "toolCallId": call, "toolName": "bash", "isError": False}
            yield self._entry(result | {"content": [self._text(self._words.randrange(100, 4000))]})
        yield self._entry({"role": "assistant", "content": [self._text(600)], "model": "fake"})

    def unusual(self) -> Iterator[dict[str, object]]:
        """Yield a branch: a prompt at the beginning, and its answer."""
        self._last = ""
        yield self._entry({"role": "user", "content": [self._text(200)]})
        yield self._entry({"role": "assistant", "content": [self._text(600)], "model": "fake"})

    def _text(self, length: int) -> dict[str, object]:
        return {"type": "text", "text": _say(self._words, length)}

    def _entry(self, message: dict[str, object]) -> dict[str, object]:
        self._count += 1
        parent, self._last = self._last or None, f"{self._words.getrandbits(32):08x}"
        row = {"type": "message", "id": self._last, "parentId": parent, "timestamp": _time(self._count)}
        return {**row, "message": message}


class GeminiSession:
    """Rows of Gemini CLI's recording, where a message is written again with its calls."""

    kind, name = "gemini", "session-2026-11-21T20-00-12a4bcd7.jsonl"

    def __init__(self, words: random.Random) -> None:
        self._words, self._count = words, 0

    def header(self) -> dict[str, object]:
        """Return the first row."""
        session = "12a4bcd7-3af8-43af-b5ba-90e701560d2e"
        return {"sessionId": session, "projectHash": "0" * 64, "startTime": _time(0), "lastUpdated": _time(0)}

    def exchange(self) -> Iterator[dict[str, object]]:
        """Yield a prompt, messages that are written again with a call and its result, and an answer."""
        yield from self._message("user", [{"text": _say(self._words, 200)}])
        for _ in range(self._words.randrange(1, 6)):
            call = f"run_shell_command_{self._words.getrandbits(48)}_0"
            output = _say(self._words, self._words.randrange(100, 4000))
            answer = {"id": call, "name": "run_shell_command", "response": {"output": output}}
            part = {"functionResponse": answer}
            made = {"id": call, "name": "run_shell_command", "args": {"command": _say(self._words, 60)}}
            [first, update] = self._message("gemini", _say(self._words, 150))
            yield from (first, update)
            yield {**first, "toolCalls": [{**made, "status": "success", "result": [part]}]}
            yield update
            yield from self._message("user", [part])
        yield from self._message("gemini", _say(self._words, 600))

    def unusual(self) -> Iterator[dict[str, object]]:
        """Yield a copy of what the model sees."""
        [row, _] = self._message("user", [{"text": _say(self._words, 200)}])
        yield {"$set": {"messages": [row]}}

    def _message(self, speaker: str, content: object) -> list[dict[str, object]]:
        self._count += 1
        identity = f"{self._words.getrandbits(128):032x}"
        row = {"id": identity, "timestamp": _time(self._count), "type": speaker, "content": content}
        return [row, {"$set": {"lastUpdated": _time(self._count)}}]


def _time(second: int) -> str:
    return (
        f"2026-11-{1 + second // 86400 % 28:02}T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"
    )


def _say(words: random.Random, length: int) -> str:
    said = " ".join(words.choices(_VOCABULARY, k=length // 6 + 1))
    return said[:length]


_VOCABULARY = [
    f"{a}{b}{c}" for a in ("ba", "de", "ko", "mi", "ru") for b in ("lan", "ter", "vo") for c in ("", "s", "ing")
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each format and size, and print a row for each and for each version."""
    parser = argparse.ArgumentParser(description="Measure long transcripts that have grown.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--other", type=Path, help="the src directory of another version, measured in turns with this")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    versions = {"this": SOURCE} | ({"other": given.other.resolve()} if given.other else {})
    rows: list[Row] = []
    for kind, megabytes in SIZES:
        with tempfile.TemporaryDirectory(prefix="palazzo-grown-") as scratch:
            rows += _measure(Path(scratch), kind, megabytes, given.rounds, versions)
        print(rows[-len(versions) :], file=sys.stderr, flush=True)
    report("Long transcripts grown by one exchange, ms of processor time", rows, given.json)
    return 0


def _measure(scratch: Path, kind: str, megabytes: int, rounds: int, versions: dict[str, Path]) -> list[Row]:
    session = (PiSession if kind == "pi" else GeminiSession)(random.Random(megabytes))
    path = scratch / session.name
    _append(path, [session.header()])
    while path.stat().st_size < megabytes * 1_000_000:
        _append(path, [row for _ in range(100) for row in session.exchange()])
    measured = {name: _Version(name, source, scratch, path, kind) for name, source in versions.items()}
    first = next(iter(measured.values()))
    first.mine()
    for version in measured.values():
        if version is not first:
            shutil.copy(first.palace, version.palace)
    for _ in range(rounds):
        _append(path, session.exchange())
        for version in measured.values():
            version.time_growth()
    for _ in range(rounds):
        _append(path, session.unusual())
        for version in measured.values():
            version.unusual.append(version.read())
            version.mine()
    bare = median([_run([sys.executable, "-c", "pass"], first.environment)[0] for _ in range(rounds)])
    transcript = f"{kind}, {megabytes} MB"
    return [{"transcript": transcript} | each.figures() | {"a bare Python": round(bare)} for each in measured.values()]


class _Version:
    """A version of the package, its palace, and the figures taken of it."""

    def __init__(self, name: str, source: Path, scratch: Path, path: Path, kind: str) -> None:
        self.name, self.palace = name, scratch / f"{name}.db"
        self.environment = os.environ | {"PYTHONPATH": str(source), "PALAZZO_SERVICE": "off", "HOME": str(scratch)}
        self._mine = [sys.executable, "-m", "palazzo.faces.cli", "--palace", str(self.palace), "mine", str(path)]
        self._read = [sys.executable, "-c", READ, str(self.palace), str(path), kind]
        self._reading: list[float] = []
        self._command: list[float] = []
        self._nothing: list[float] = []
        self.unusual: list[float] = []

    def mine(self) -> float:
        """Run the command."""
        return _run(self._mine, self.environment)[0]

    def read(self) -> float:
        """Read what is new, and archive nothing."""
        start, rows, taken = _run(self._read, self.environment)[1].split()
        if not int(start) or not int(rows):
            raise SystemExit("the transcript was not read from where reading had stopped")
        return float(taken)

    def time_growth(self) -> None:
        """Take the figures of a transcript that has grown."""
        self._reading.append(self.read())
        self._command.append(self.mine())
        self._nothing.append(self.mine())

    def figures(self) -> Row:
        """Return the medians."""
        return {
            "version": self.name,
            "reading": round(median(self._reading), 1),
            "command": round(median(self._command)),
            "command, nothing new": round(median(self._nothing)),
            "reading a branch or a copy": round(median(self.unusual)),
        }


def _append(path: Path, rows: Iterator[dict[str, object]] | Sequence[dict[str, object]]) -> None:
    with path.open("ab") as stream:
        stream.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def _run(command: list[str], environment: dict[str, str]) -> tuple[float, str]:
    """Run a command; return its milliseconds of processor time, those of its processes included, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=1800)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken * 1000, done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
