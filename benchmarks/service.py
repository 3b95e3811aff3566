"""Measure the background service of a large palace: memory at first and over many calls, CPU when idle, and what a
search costs as a command and as a call, with and without it.

    python benchmarks/make_palace.py 100000
    python benchmarks/service.py 100000 [--calls 20000] [--idle 60] [--rounds 15] [--json]

The palace is copied. Its vectors are synthetic and are declared to be the bundled model's, so that the service loads
model and index as it does for a user; what is found means nothing. Calls are what agents make: searches in a wing and
over everything, notes, wake-ups, statuses. The figures that are compared are taken in turns.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.make_palace import MEASURED_WING, Library, palace_path
from benchmarks.measuring import CACHE, Row, median, milliseconds, percentile, private_mb, report, resident_mb
from benchmarks.search_latency import questions
from benchmarks.synthetic import SyntheticVectors

from palazzo import locks
from palazzo.client import rpc
from palazzo.features.service.background_process import lock_file
from palazzo.index.minilm import MiniLM
from palazzo.store import page_checksums

SOURCE = Path(__file__).resolve().parents[1] / "src"
SAMPLES = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the service of one palace."""
    parser = argparse.ArgumentParser(description="Measure the background service.")
    parser.add_argument("palace", help="a number of drawers")
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--idle", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    asked = list(questions(Library.read(given.directory), 300, 5))
    with tempfile.TemporaryDirectory(prefix="pz") as place:
        palace = _copy(palace_path(given.directory, int(given.palace)), Path(place))
        variables = _variables(Path(place))
        embedding = locks.try_lock(lock_file(palace))  # what embeds is another process, and would be measured with it
        where = rpc.address(str(palace), variables)
        try:
            rows = _memory(where, variables, asked, given.calls)
            report(f"The service, {given.palace} drawers: memory", rows, given.json)
            report("Idle", [_idle(where, given.idle)], given.json)
            report("A search", _searches(where, variables, palace, asked, given.rounds), given.json)
        finally:
            _stop(where)
            assert embedding is not None
            embedding.release()
    return 0


def _copy(palace: Path, place: Path) -> Path:
    copy = place / "palace.db"
    shutil.copy(palace, copy)
    page_checksums.install()
    connection = apsw.Connection(str(copy))
    connection.execute("UPDATE embedder SET name = ? WHERE name = ?", (MiniLM.id, SyntheticVectors.id))
    connection.close()
    return copy


def _variables(place: Path) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PALAZZO_", "XDG_"))}
    return {**own, "HOME": str(place), "XDG_RUNTIME_DIR": str(place), "PYTHONPATH": str(SOURCE)}


def _memory(where: rpc.Address, variables: Mapping[str, str], asked: Sequence[str], calls: int) -> list[Row]:
    """Memory after the first search, with the MCP SDK loaded, and over many calls."""
    rows: list[Row] = []
    with rpc.Caller(where, variables, where.directory) as caller:
        caller.connect()
        _search(caller, asked[0])
        rows.append(_resident(where, "after the first search", 0))
        with rpc.connect(where, {"want": "mcp", "surroundings": rpc.surroundings("/", variables)}) as agent:
            told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
            agent.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": told})
            agent.read()
        rows.append(_resident(where, "with an agent connected", 1))
        began = time.perf_counter()
        for n in range(1, calls + 1):
            _call(caller, n, asked[n % len(asked)])
            if n % max(1, calls // SAMPLES) == 0:
                rows.append(_resident(where, f"after {n:,} calls", n, (time.perf_counter() - began) * 1000 / n))
    return rows


def _call(caller: rpc.Caller, n: int, text: str) -> None:
    match n % 8:
        case 0:
            _search(caller, text, None)
        case 1 | 2 | 3:
            _search(caller, text, MEASURED_WING)
        case 4 | 5:
            caller.call("remember", {"text": f"{text} ({n})", "wing": "notes", "room": "notes"}, f"call {n}")
        case 6:
            caller.call("wake_up", {"wing": MEASURED_WING, "hurry": True})
        case _:
            caller.call("settings", {})


def _search(caller: rpc.Caller, text: str, wing: str | None = None) -> None:
    answer = caller.call("search", {"query": text, "wing": wing})
    assert answer["result"]["index"] != "keyword-only", answer["result"]


def _resident(where: rpc.Address, when: str, calls: int, each: float | None = None) -> Row:
    pid = _pid(where)
    mean = round(each, 2) if each is not None else None
    return {"when": when, "RSS MB": round(resident_mb(pid)), "private MB": round(private_mb(pid)), "ms a call": mean}


def _idle(where: rpc.Address, seconds: float) -> Row:
    """Which share of one core the service takes while nobody asks it for anything."""
    pid = _pid(where)
    time.sleep(5)
    before = _cpu_seconds(pid)
    time.sleep(seconds)
    used = _cpu_seconds(pid) - before
    return {"for s": seconds, "CPU s": round(used, 3), "CPU %": round(100 * used / seconds, 3)}


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _searches(
    where: rpc.Address, variables: Mapping[str, str], palace: Path, asked: Sequence[str], rounds: int
) -> list[Row]:
    """A search as a command with the service and without, and as a call of the service."""
    command = [sys.executable, "-m", "palazzo.faces.cli", "--palace", str(palace), "search", "--wing", MEASURED_WING]
    alone = {**variables, "PALAZZO_SERVICE": "off"}
    run = partial(subprocess.run, capture_output=True, check=True, timeout=300)
    bare = [sys.executable, "-I", "-S", "-E", "-c", "pass"]
    with rpc.Caller(where, variables, where.directory) as caller:
        caller.connect()
        ways = {
            "python -I -S -E -c pass": lambda text: run(bare),
            "palazzo search, service running": lambda text: run([*command, text], env=variables),
            "palazzo search --json, service running": lambda text: run([*command, "--json", text], env=variables),
            "palazzo search, no service": lambda text: run([*command, text], env=alone),
            "a call of the service": lambda text: _search(caller, text, MEASURED_WING),
        }
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for text in asked[: rounds + 1]:
            for name, way in ways.items():
                taken[name].append(milliseconds(lambda way=way, text=text: way(text)))  # type: ignore[misc]
    return [
        {"what": name, "p50 ms": round(median(each[1:]), 1), "p95 ms": round(percentile(each[1:], 0.95), 1)}
        for name, each in taken.items()
    ]


def _pid(where: rpc.Address) -> int:
    stream, told = rpc.greet(where, {"want": "state"})
    stream.close()
    return int(told["pid"])


def _stop(where: rpc.Address) -> None:
    stream, _ = rpc.greet(where, {"want": "stop"}, 60)
    stream.read_line()
    stream.close()


if __name__ == "__main__":
    sys.exit(main())
