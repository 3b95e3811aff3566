"""A day of hooks, all in a few minutes: what the service holds by then, and what it leaves behind.

    python benchmarks/make_palace.py 100000
    python benchmarks/hook_soak.py 100000 [--calls 20000] [--sessions 1000] [--every 10] [--json]

Sessions of all hosts begin, ask, call tools that pass and fail, send sub-agents, end turns, compact and end; of each
the transcript grows before it is told of. Every tenth call is a process of `palazzo hook`, as hosts start it; the
others say the same over the socket by the client's own code (`palazzo.client.hook_client`) in this process, which the
service cannot tell apart. Memory, descriptors, threads and the write-ahead log are the service's, by the number of
calls. Every message that was told of must be in the palace at the end, once, and no process be left that knows this
home.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.hook_machine import ASKING, ORDINARY, Machine
from benchmarks.make_palace import palace_path
from benchmarks.measuring import CACHE, MB, Row, private_mb, report, resident_mb

from palazzo.client import hook_client, offline_hook
from palazzo.errors import ServiceUnavailable
from palazzo.hosts.host_registry import adapters

SAMPLES = 20


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a hook; before a turn's end its transcript grows by an exchange."""

    host: str
    event: str
    session: str
    transcript: Path
    fields: dict[str, Any]
    grows: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the day and print what it did to the service."""
    parser = argparse.ArgumentParser(description="A day of hooks.")
    parser.add_argument("palace", help="a number of drawers, or a path")
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--every", type=int, default=10, help="each how manieth call is a process of its own")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    named = str(given.palace)
    palace = palace_path(given.directory, int(named)) if named.isdecimal() else Path(named)
    with tempfile.TemporaryDirectory(prefix="palazzo-soak-") as home:
        machine = Machine(Path(home), palace)
        try:
            rows = soak(machine, given.calls, given.sessions, given.every)
        finally:
            machine.close()
        report(f"A day of hooks, {palace.parent.name}", rows, given.json)
        report("What is left of it", [left(machine)], given.json)
    return 0


def soak(machine: Machine, calls: int, sessions: int, every: int) -> list[Row]:
    """Make the calls; return what the service held by and by."""
    rows: list[Row] = []
    unanswered = 0
    with machine.service() as pid:
        rows.append(_held(machine, pid, 0, 0.0, 0))
        began = time.perf_counter()
        for number, call in enumerate(day(machine, calls, sessions), 1):
            if call.grows:
                machine.say(call.transcript, call.session)
            unanswered += not _made(machine, call, as_process=number % every == 0)
            if number % max(1, calls // SAMPLES) == 0:
                mean = (time.perf_counter() - began) * 1000 / number
                rows.append(_held(machine, pid, number, mean, unanswered))
    return rows


def day(machine: Machine, calls: int, sessions: int) -> Iterator[Call]:
    """Yield so many calls of so many sessions, which run beside each other in groups."""
    each, hosts = calls // sessions, [name for name in adapters() if _names_transcript(machine, name)]
    for number in range(sessions):
        host, session = hosts[number % len(hosts)], f"soak-{number}"
        events = adapters()[host].events
        transcript = machine.transcripts / f"{session}.jsonl"
        made = [(event, fields) for event, fields in _session() if event in events]
        turn = [one for one in made if one[0] not in ("session-start", "session-end")]
        day_of_it = [("session-start", {}), *(turn[n % len(turn)] for n in range(each - 2)), ("session-end", {})]
        for event, fields in day_of_it:
            yield Call(host, event, session, transcript, fields, event in ("stop", "pre-compact"))


def _names_transcript(machine: Machine, host: str) -> bool:
    """Return whether a host's hooks name the file of what was said at the end of a turn."""
    adapter = adapters()[host]
    if "stop" not in adapter.events:
        return False
    event = adapter.read("stop", machine.payload("s", machine.transcripts / "s.jsonl"))
    return event is not None and event.transcript != ""


def _session() -> list[tuple[str, dict[str, Any]]]:
    """What happens in a turn, again and again."""
    failed: dict[str, Any] = {"tool_response": None, "error": "Exit code 1\nE   AssertionError: expected 200 got 503"}
    agent: dict[str, Any] = {"agent_id": "a1", "agent_type": "general-purpose"}
    return [
        ("prompt", {"prompt": ASKING}),
        ("pre-tool", {}),
        ("post-tool", {}),
        ("tool-failure", failed),
        ("subagent-start", agent),
        ("stop", {}),
        ("prompt", {"prompt": ORDINARY}),
        ("post-tool", {}),
        ("stop", {}),
        ("pre-compact", {"trigger": "auto"}),
        ("prompt", {"prompt": "and what did we agree on about the migration of the search index last week?"}),
        ("stop", {}),
    ]


def _made(machine: Machine, call: Call, as_process: bool) -> bool:
    """Make a call, as the client does; return whether the service answered it in time."""
    payload = machine.payload(call.session, call.transcript, **call.fields)
    if as_process:
        machine.run(call.host, call.event, payload)
        return True
    sent = json.dumps(payload).encode()
    try:
        hook_client.answer_of(call.host, call.event, sent, None, machine.variables, time.monotonic() + 0.9)
    except (OSError, ValueError, ServiceUnavailable):
        offline_hook.answer(call.host, call.event, sent, None, machine.variables)
        return False
    return True


def _held(machine: Machine, pid: int, calls: int, mean: float, unanswered: int) -> Row:
    wal = machine.palace.with_name(machine.palace.name + "-wal")
    return {
        "after calls": calls,
        "RSS MB": round(resident_mb(pid), 1),
        "private MB": round(private_mb(pid), 1),
        "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "threads": len(list(Path(f"/proc/{pid}/task").iterdir())),
        "WAL MB": round(wal.stat().st_size / MB, 2) if wal.exists() else 0.0,
        "palace MB": round(machine.palace.stat().st_size / MB, 1),
        "ms a call": round(mean, 1),
        "unanswered": unanswered,
    }


def left(machine: Machine) -> Row:
    """Return what the palace has of what was said, and how many processes are left that know this home."""
    deadline = time.monotonic() + 10
    while (processes := processes_of(machine)) and time.monotonic() < deadline:
        time.sleep(0.1)
    kept, different = machine.kept()
    return {"messages": machine.to_keep, "kept": kept, "different": different, "processes left": len(processes)}


def processes_of(machine: Machine) -> list[int]:
    """Return the living processes that have this machine's home in their environment."""
    mark = f"HOME={machine.home}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue  # ended meanwhile, or another user's
    return found


if __name__ == "__main__":
    sys.exit(main())
