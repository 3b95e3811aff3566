"""Time `palazzo hook`, from the start of its process to its end: with a service that runs, and without one.

    python benchmarks/make_palace.py 100000
    python benchmarks/hooks.py 100000 [--rounds 60] [--json]

Works on a copy of the palace that `make_palace.py` made. Every round runs each kind of hook once, and between them a
bare `python -I -S -E -c pass`, so that a slow spell falls on all alike. "In the service" is the same operation's time
there, as its log has it. A hook that captures is told of a transcript that has grown by one exchange; one that asks for
the past has another session each time, so that it is told something.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.make_palace import MEASURED_WING, palace_path
from benchmarks.measuring import CACHE, Row, median, milliseconds, percentile, report

from palazzo import client
from palazzo.attention.proactive import USERS_WING
from palazzo.operations.context import Context
from palazzo.operations.service_state import log_file
from palazzo.operations.wing_rename import WingRenameRequest, wing_rename

SOURCE = Path(__file__).resolve().parents[1] / "src"
BARE = [sys.executable, "-I", "-S", "-E"]
HOOK = [*BARE, str(SOURCE / "palazzo" / "__main__.py"), "hook", "claude-code"]
ASKING = "what did we decide about the retry budget of the queue?"
_LOGGED = re.compile(r" hook (\d+) ms")


class Machine:
    """A home with a copy of the palace, whose measured wing is the person's own: hooks tell of it everywhere."""

    def __init__(self, home: Path, palace: Path) -> None:
        self.home, self.project = home, home / MEASURED_WING
        self.project.mkdir()
        self.transcript = home / ".claude" / "projects" / "x" / "s.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.palace = home / "palace.db"
        shutil.copy(palace, self.palace)
        with Context(self.palace, self.project, {"HOME": str(home), "PALAZZO_SERVICE": "off"}) as context:
            wing_rename(context, WingRenameRequest(MEASURED_WING, USERS_WING))
        runtime = home / "run"
        runtime.mkdir(mode=0o700)
        self.variables = {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "PALAZZO_PALACE": str(self.palace),
            "PALAZZO_MIN_MESSAGES": "1",
            "PATH": os.environ["PATH"],
        }
        self._said = 0

    def run(self, event: str, payload: Mapping[str, Any], **variables: str) -> bytes:
        """Run a hook; return what it prints."""
        sent = json.dumps({"session_id": "s", "cwd": str(self.project), **payload}).encode()
        done = subprocess.run(
            [*HOOK, event], input=sent, capture_output=True, check=True, env={**self.variables, **variables}
        )
        return done.stdout

    def say(self) -> None:
        """Let the transcript grow by one exchange."""
        with self.transcript.open("a", encoding="utf-8") as file:
            for role in ("user", "assistant"):
                self._said += 1
                row = {
                    "type": role,
                    "uuid": f"u{self._said}",
                    "sessionId": "s",
                    "cwd": str(self.project),
                    "timestamp": f"2026-11-22T10:{self._said // 60 % 60:02}:{self._said % 60:02}.000Z",
                    "message": {"role": role, "content": f"the {self._said}th thing that was said about the queue"},
                }
                file.write(json.dumps(row) + "\n")

    def in_service(self) -> list[float]:
        """Return what the service's log says of its last hooks, in milliseconds."""
        log = log_file(self.palace, self.variables).read_text("utf-8")
        return [float(found[1]) for found in _LOGGED.finditer(log)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, with a service and without."""
    parser = argparse.ArgumentParser(description="Time palazzo hook.")
    parser.add_argument("palace", help="a number of drawers, or a path")
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    named = str(given.palace)
    palace = palace_path(given.directory, int(named)) if named.isdecimal() else Path(named)
    with tempfile.TemporaryDirectory(prefix="palazzo-hooks-") as home:
        machine = Machine(Path(home), palace)
        where = client.address(str(machine.palace), machine.variables)
        client.ensure_service(where, machine.variables, {"want": "state"}).close()
        try:
            _warm(machine)
            report(f"Hooks, {palace.parent.name}, a service running", warm(machine, given.rounds), given.json)
        finally:
            _stop(where)
        report("Hooks, no service, and none is started", cold(machine, given.rounds), given.json)
    return 0


def _warm(machine: Machine) -> None:
    deadline = time.monotonic() + 60
    number = 0
    while time.monotonic() < deadline:
        number += 1
        if len(machine.run("UserPromptSubmit", {"prompt": ASKING, "session_id": f"w{number}"})) > 10:
            return
        time.sleep(0.5)
    raise SystemExit("The service told nothing within a minute.")


def _stop(where: client.Address) -> None:
    stream, _ = client.greet(where, {"want": "stop", "any": True})
    stream.read()
    stream.close()


def warm(machine: Machine, rounds: int) -> list[Row]:
    """Return the times of each kind of hook, beside a bare Python's."""
    kinds = {
        "prompt that asks for the past": "UserPromptSubmit",
        "ordinary prompt": "UserPromptSubmit",
        "tool (nothing to do)": "PreToolUse",
        "stop, grown by an exchange": "Stop",
    }
    taken: dict[str, list[float]] = {name: [] for name in ("python -I -S -E -c pass", *kinds)}
    inside: dict[str, list[float]] = {name: [] for name in kinds}
    for turn in range(rounds + 1):
        taken["python -I -S -E -c pass"].append(milliseconds(lambda: subprocess.run([*BARE, "-c", "pass"], check=True)))
        for name, event in kinds.items():
            machine.say()
            payload = {
                "session_id": f"t{turn}",
                "prompt": ASKING if "past" in name else "rename this variable in the parser",
                "tool_name": "Bash",
                "tool_input": {"command": "ls"},
                "transcript_path": str(machine.transcript),
            }
            before = len(machine.in_service())
            taken[name].append(milliseconds(partial(machine.run, event, payload)))
            inside[name] += machine.in_service()[before:]
    return _rows(taken, inside)


def cold(machine: Machine, rounds: int) -> list[Row]:
    """Return the times where no service answers and none may be started."""
    taken: dict[str, list[float]] = {"python -I -S -E -c pass": [], "prompt that asks for the past": [], "stop": []}
    for _ in range(rounds + 1):
        bare = taken["python -I -S -E -c pass"]
        bare.append(milliseconds(lambda: subprocess.run([*BARE, "-c", "pass"], check=True)))
        for name, event in (("prompt that asks for the past", "UserPromptSubmit"), ("stop", "Stop")):
            payload = {"prompt": ASKING, "transcript_path": str(machine.transcript)}
            taken[name].append(milliseconds(partial(machine.run, event, payload, PALAZZO_SERVICE="off")))
    return _rows(taken, {})


def _rows(taken: Mapping[str, list[float]], inside: Mapping[str, list[float]]) -> list[Row]:
    """The first round is left out: it brings files into the machine's cache."""
    bare = median(taken["python -I -S -E -c pass"][1:])
    return [
        {
            "hook": name,
            "p50 ms": round(median(times[1:]), 1),
            "p95 ms": round(percentile(times[1:], 0.95), 1),
            "p99 ms": round(percentile(times[1:], 0.99), 1),
            "× bare": round(median(times[1:]) / bare, 2),
            "in the service, p50 ms": round(median(inside[name][1:]), 1) if inside.get(name) else None,
        }
        for name, times in taken.items()
    ]


if __name__ == "__main__":
    sys.exit(main())
