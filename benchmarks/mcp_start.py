"""Time `palazzo mcp`: from start to first answer, memory, what a call costs over its operation, the size of its tools.

    python benchmarks/mcp_start.py [--palace 10000] [--rounds 21] [--program …/bin/palazzo] [--json]

A service runs. Each round starts every program once, so that a slow spell falls on all alike; figures are medians. The
first answer is that to `initialize`. A call is timed at the host, the same operation at the service (`want: calls`).
With `--program` the installed script is what is timed and what starts the service; without, the relay as the script
would start it from this checkout. The last table is where the relay's start goes, as `python -X importtime` tells it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.make_palace import palace_path
from benchmarks.measuring import CACHE, Row, median, milliseconds, percentile, report, resident_mb

from palazzo.client import rpc

SOURCE = Path(__file__).resolve().parents[1] / "src"
BARE = [sys.executable, "-I", "-S", "-E"]
RELAY = [*BARE, str(SOURCE / "palazzo" / "__main__.py"), "mcp"]
ALONE = [sys.executable, "-P", "-m", "palazzo.faces.mcp.stdio_server"]
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "mcp_start", "version": "1"}}
QUERY = "retry budget of the queue"


class Host:
    """What started a server, and asks it."""

    def __init__(self, command: list[str]) -> None:
        self.started = time.perf_counter()
        environment = os.environ | {"PYTHONPATH": str(SOURCE)}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment)
        self._names = iter(range(1 << 30))

    def ask(self, method: str, params: dict[str, Any]) -> bytes:
        """Send a request; return its answer's line."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = {"jsonrpc": "2.0", "id": next(self._names), "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def begin(self) -> float:
        """Return the milliseconds from the start to the first answer."""
        assert b"serverInfo" in self.ask("initialize", INITIALIZE)
        taken = (time.perf_counter() - self.started) * 1000
        assert self.process.stdin is not None
        self.process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        return taken

    def end(self) -> float:
        """Close its input; return the milliseconds until it has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        taken = milliseconds(lambda: (self.process.stdin.close(), self.process.wait()))  # type: ignore[union-attr]
        self.process.stdout.close()
        assert self.process.returncode == 0
        return taken


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all of it, with a service of the palace."""
    parser = argparse.ArgumentParser(description="Time palazzo mcp.")
    parser.add_argument("--palace", default="10000", help="a number of drawers, or a path")
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--program", type=Path, help="an installed palazzo")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    relay = [*RELAY] if given.program is None else [str(given.program.absolute()), "mcp"]
    named = str(given.palace)
    palace = palace_path(given.directory, int(named)) if named.isdecimal() else Path(named)
    relay += ["--palace", str(palace)]
    with service(relay, palace):
        report("Starts", starts(relay, palace, given.rounds), given.json)
        report(f"Calls, {palace.parent.name}", calls(relay, palace, given.rounds * 5), given.json)
        report("tools/list", sizes(relay), given.json)
        if given.program is None:
            report("What the relay imports", imports(palace), given.json)
    return 0


@contextmanager
def service(relay: list[str], palace: Path) -> Iterator[None]:
    """Let the relay start a service, which loads what it needs; end it."""
    warm = Host(relay)
    warm.begin()
    warm.ask("tools/call", {"name": "search", "arguments": {"query": QUERY}})
    warm.end()
    try:
        yield
    finally:
        subprocess.run(
            [sys.executable, "-m", "palazzo", "--palace", str(palace), "service", "stop"],
            env=os.environ | {"PYTHONPATH": str(SOURCE)}, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip


def starts(relay: list[str], palace: Path, rounds: int) -> list[Row]:
    """Return times from start to end (for the bare interpreters) or to the first answer, memory, and time to end."""
    bare = {
        "python -I -S -E -c pass": ["-c", "pass"],
        "python -I -S -E -c 'import json, _socket, threading'": ["-c", "import json, _socket, threading"],
    }
    alone = [*ALONE, "--palace", str(palace)]
    servers = {"palazzo mcp, service running": relay, "palazzo mcp, in its own process": alone}
    taken: dict[str, list[float]] = {name: [] for name in (*bare, *servers)}
    memory: dict[str, list[float]] = {name: [] for name in servers}
    ending: dict[str, list[float]] = {name: [] for name in servers}
    for turn in range(rounds + 1):
        for name, more in bare.items():
            taken[name].append(milliseconds(partial(subprocess.run, [*BARE, *more], check=True)))
        for name, command in servers.items():
            if command is alone and turn % 5:
                continue  # it takes a hundred times as long
            host = Host(command)
            taken[name].append(host.begin())
            host.ask("tools/list", {})
            memory[name].append(resident_mb(host.process.pid))
            ending[name].append(host.end())
    least = median(taken["python -I -S -E -c pass"][1:])
    return [
        {
            "start": name,
            "p50 ms": round(median(each[1:]), 1),
            "p95 ms": round(percentile(each[1:], 0.95), 1),
            "× bare": round(median(each[1:]) / least, 1),
            "resident MB": round(median(memory[name]), 1) if name in memory else "",
            "to its end ms": round(median(ending[name]), 1) if name in ending else "",
        }
        for name, each in taken.items()
    ]


def calls(relay: list[str], palace: Path, rounds: int) -> list[Row]:
    """Return what calls take through the relay, and what their operations take in the service."""
    host = Host(relay)
    host.begin()
    where = rpc.address(str(palace), os.environ)
    rows: list[Row] = []
    with rpc.connect(where, {"want": "calls", "any": True}) as stream:
        for tool, operation, asked in (
            ("search", "search", {"query": QUERY}),
            ("status", "status", {}),
        ):
            through: list[float] = []
            itself: list[float] = []
            for _ in range(rounds + 1):
                through.append(milliseconds(partial(host.ask, "tools/call", {"name": tool, "arguments": asked})))
                request = {"id": 1, "operation": operation, "request": asked}
                request["surroundings"] = rpc.surroundings("/", os.environ)
                itself.append(milliseconds(partial(exchanged, stream, request)))
            rows.append({
                "tool": tool,
                "call p50 ms": round(median(through[1:]), 1),
                "call p95 ms": round(percentile(through[1:], 0.95), 1),
                "operation p50 ms": round(median(itself[1:]), 1),
                "over it ms": round(median(through[1:]) - median(itself[1:]), 1),
            })  # fmt: skip
    host.end()
    return rows


def exchanged(stream: Any, request: dict[str, Any]) -> None:
    """Send a request and read until it is answered."""
    stream.send(request)
    while "result" not in (answer := stream.read()):
        assert "error" not in answer, answer


def sizes(relay: list[str]) -> list[Row]:
    """Return how many tools there are, and how many characters their list has."""
    rows: list[Row] = []
    for profile, toolset in (("palazzo", "core"), ("palazzo", "full"), ("mempalace", "core"), ("shodh", "core")):
        host = Host([*relay, "--profile", profile, "--toolset", toolset])
        try:
            host.begin()
        except AssertionError:
            host.process.kill()
            continue  # a profile that is not built yet
        listed = json.loads(host.ask("tools/list", {}))["result"]["tools"]
        text = json.dumps(listed, separators=(",", ":"), ensure_ascii=False)
        rows.append({"profile": profile, "toolset": toolset, "tools": len(listed), "characters": len(text)})
        host.end()
    return rows


def imports(palace: Path) -> list[Row]:
    """Return the modules that the relay imports by what each costs with what it imports itself, dearest first."""
    command = [*BARE, "-X", "importtime", *RELAY[4:], "--palace", str(palace)]
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n"
    done = subprocess.run(command, input=asked, capture_output=True, check=True, env=os.environ | {"PYTHONPATH": ""})
    told = re.findall(r"import time:\s+(\d+) \|\s+(\d+) \| (\s*)(\S+)", done.stderr.decode())
    rows: list[Row] = [
        {"module": name, "own ms": round(int(own) / 1000, 1), "with its own ms": round(int(whole) / 1000, 1)}
        for own, whole, _, name in told
    ]
    return sorted(rows, key=lambda row: -float(str(row["with its own ms"])))[:14]


if __name__ == "__main__":
    sys.exit(main())
