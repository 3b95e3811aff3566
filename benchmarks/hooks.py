"""Time `palazzo hook`, from the start of its process to its end: of each event and host, with a service and without.

    python benchmarks/make_palace.py 100000
    python benchmarks/hooks.py 100000 [--rounds 60] [--peer DIR/minilm-l6-v2-fp32.onnx [--venv DIR]] [--json]

Works on a copy of the palace that `make_palace.py` made. Every round runs each kind of hook once, in another order each
time, and between them a bare Python in two spellings and, with `--peer`, the hooks of MemPalace 3.11.0, so that a slow
spell falls on all alike. "In the service" is the same operation's time there, as its log has it in whole milliseconds.
A hook that captures is told of a transcript that has grown by one exchange, which is Claude Code's whatever the host
(`ingest.py` has the formats); one transcript has 75 MB before it grows. One that asks for the past has another session
each time, so that it is told something.

Goals: a hook that neither recalls nor captures twice a bare Python, any other that and the operation's own time; p95
three times p50. Without a service: four times a bare Python, with 10,000 drawers.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.against_peer import served
from benchmarks.hook_machine import ASKING, BARE, ORDINARY, Machine
from benchmarks.ingest import big_transcript
from benchmarks.make_palace import palace_path
from benchmarks.measuring import CACHE, Row, median, milliseconds, percentile, report
from benchmarks.peer_hooks import PeerHooks, peer_hooks

from palazzo.hosts.host_registry import adapters

NOTHING = (b"{}\n", b"")
_LOGGED = re.compile(r" hook (\d+) ms")
BARES = {
    "python -I -S -E -c pass": [*BARE, "-c", "pass"],
    "python -I -S -c pass": [sys.executable, "-I", "-S", "-c", "pass"],
}
LARGE = "7b0dd7aa-647d-4982-993a-921f19bc76c2"
"""The session that the transcript of 75 MB is of."""
KNOWN_OF_ALL = ("session-start", "prompt", "post-tool", "stop", "session-end")
"""Events that are timed of the other hosts too, where they have them."""


@dataclass(slots=True)
class Kind:
    """A kind of call: how it is made, what comes before and after it untimed, and what it took."""

    name: str
    call: Callable[[], object]
    ready: Callable[[], object] = lambda: None
    after: Callable[[], object] = lambda: None
    host: str = "claude-code"
    does_much: bool = False
    """It recalls or captures."""
    taken: list[float] = field(default_factory=list)
    inside: list[float] = field(default_factory=list)
    told: int = 0

    def run(self, log: Callable[[], list[str]]) -> None:
        """Make the call once; `log` returns the lines that the service has written since it was last asked."""
        self.ready()
        log()
        answers: list[object] = []
        self.taken.append(milliseconds(lambda: answers.append(self.call())))
        self.inside += [float(found[1]) for line in log() if (found := _LOGGED.search(line))][:1]
        self.told += isinstance(answers[0], bytes) and answers[0] not in NOTHING
        self.after()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, with a service and without."""
    parser = argparse.ArgumentParser(description="Time palazzo hook.")
    parser.add_argument("palace", help="a number of drawers, or a path")
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument(
        "--peer", type=Path, help="the fp32 graph that MemPalace embeds with; without it, it is left out"
    )
    parser.add_argument("--venv", type=Path, default=Path("/tmp/peer-venv"), help="where MemPalace is, or is installed")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    named = str(given.palace)
    palace = palace_path(given.directory, int(named)) if named.isdecimal() else Path(named)
    with ExitStack() as stack:
        machine = Machine(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="palazzo-hooks-"))), palace)
        stack.callback(machine.close)
        large = big_transcript(machine.home / ".claude")
        peer = _peer(stack, machine, large, given.peer, given.venv)
        machine.take_in(large, LARGE)
        before, _ = machine.kept()
        with machine.service():
            kinds = [*_bare(), *_warm(machine, large), *_of_other_hosts(machine), *_of_peer(peer)]
            _in_turns(kinds, given.rounds, machine)
        report(
            f"Hooks, {palace.parent.name}, a service running",
            rows(kinds),
            given.json,
            kept=f"{machine.kept()[0] - before} of {machine.to_keep} messages",
        )
        kinds = [*_bare(), *_cold(machine, starts=False)]
        _in_turns(kinds, given.rounds)
        report("Hooks, no service, and none may be started", rows(kinds, 4), given.json)
        kinds = [*_bare(), *_cold(machine, starts=True)]
        _in_turns(kinds, max(3, given.rounds // 6))
        report("Hooks, no service, and each starts one", rows(kinds, 4), given.json)
    return 0


def _in_turns(kinds: Sequence[Kind], rounds: int, machine: Machine | None = None) -> None:
    """Run each kind once a round, and once more before: the first brings files into the machine's cache."""
    order = random.Random(1)
    for _ in range(rounds + 1):
        for kind in order.sample(kinds, len(kinds)):
            kind.run(machine.logged if machine is not None and kind.host in adapters() else list)


# --- what is called ----------------------------------------------------------------------------------------


def _bare() -> Iterator[Kind]:
    for name, command in BARES.items():
        yield Kind(name, partial(subprocess.run, command, check=True), host="bare")


def _warm(machine: Machine, large: Path) -> Iterator[Kind]:
    """Every event of Claude Code's, by its own name."""
    transcript = machine.transcripts / "s.jsonl"
    fresh = _Fresh()

    def kind(name: str, event: str, does_much: bool, ready: Callable[[], object] = lambda: None, **fields: Any) -> Kind:
        session = str(fields.pop("session", ""))
        file = fields.pop("transcript", transcript)
        more = {"hook_event_name": event, **fields}
        return Kind(
            name,
            lambda: machine.run("claude-code", event, machine.payload(session or fresh.last, file, **more)),
            lambda: (fresh(), ready()),
            does_much=does_much,
        )

    def grow() -> None:
        machine.say(transcript, "s")

    failed: dict[str, Any] = {"tool_response": None, "error": "Exit code 1\nE   AssertionError: expected 200 got 503"}
    agents = machine.transcripts / "s" / "subagents"
    agent: dict[str, Any] = {"agent_id": "a1", "agent_type": "general-purpose"}
    yield kind("session start", "SessionStart", True)
    yield kind("prompt that asks for the past", "UserPromptSubmit", True, prompt=ASKING)
    yield kind("ordinary prompt", "UserPromptSubmit", True, prompt=ORDINARY)
    yield kind("before a tool (off by default)", "PreToolUse", False)
    yield kind("after a command", "PostToolUse", False)
    yield kind("after a command that failed", "PostToolUseFailure", True, **failed)
    yield kind("sub-agent starts", "SubagentStart", True, **agent)
    yield Kind(
        "sub-agent stops",
        lambda: machine.run(
            "claude-code",
            "SubagentStop",
            machine.payload("s", transcript, **agent, agent_transcript_path=str(agents / f"agent-{fresh.last}.jsonl")),
        ),
        lambda: machine.say(agents / f"agent-{fresh()}.jsonl", "s"),
        does_much=True,
    )
    yield kind("stop, grown by an exchange", "Stop", True, grow, session="s")
    yield kind(
        "stop, 75 MB grown by an exchange",
        "Stop",
        True,
        lambda: machine.say(large, LARGE),
        session=LARGE,
        transcript=large,
    )
    yield kind("before a compaction, grown by an exchange", "PreCompact", True, grow, session="s")
    yield kind("session ends", "SessionEnd", False, session="s")


def _of_other_hosts(machine: Machine) -> Iterator[Kind]:
    """What the others have in common."""
    fresh = _Fresh()
    for name, adapter in adapters().items():
        if name == "claude-code":
            continue
        for event in KNOWN_OF_ALL:
            if event not in adapter.events:
                continue
            captures = event == "stop"
            transcript = machine.transcripts / (f"{name}.jsonl" if captures else "s.jsonl")

            def call(name: str = name, event: str = event, transcript: Path = transcript) -> bytes:
                session = name if event == "stop" else fresh.last
                return machine.run(name, event, machine.payload(session, transcript, prompt=ASKING))

            def ready(name: str = name, event: str = event, transcript: Path = transcript) -> None:
                fresh()
                if event == "stop":
                    machine.say(transcript, name)

            yield Kind(event, call, ready, host=name, does_much=event in ("session-start", "prompt", "stop"))


def _cold(machine: Machine, starts: bool) -> Iterator[Kind]:
    """Hooks that find no service. A prompt that asks for the past is answered by keyword, each time another session."""
    variables = {} if starts else {"PALAZZO_SERVICE": "off"}
    fresh, transcript = _Fresh(), machine.transcripts / "s.jsonl"

    def call(event: str, prompt: str) -> bytes:
        return machine.run("claude-code", event, machine.payload(fresh(), transcript, prompt=prompt), **variables)

    kinds = {
        "prompt that asks for the past": ("UserPromptSubmit", ASKING),
        "ordinary prompt": ("UserPromptSubmit", ORDINARY),
        "stop": ("Stop", ASKING),
    }
    for name, given in kinds.items():
        yield Kind(name, partial(call, *given), after=machine.stop_once_it_listens if starts else lambda: None)


class _Fresh:
    """Ids of sessions that no hook was told of yet."""

    def __init__(self) -> None:
        self._count, self.last = 0, ""

    def __call__(self) -> str:
        self._count += 1
        self.last = f"fresh-{id(self)}-{self._count}"
        return self.last


# --- the peer ----------------------------------------------------------------------------------------------


def _peer(stack: ExitStack, machine: Machine, large: Path, graph: Path | None, venv: Path) -> PeerHooks | None:
    if graph is None:
        return None
    home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="palazzo-peer-"))) / "home"
    url, _ = stack.enter_context(served(graph))
    return stack.enter_context(peer_hooks(home, venv, url, machine.say, large))


def _of_peer(peer: PeerHooks | None) -> Iterator[Kind]:
    for one in () if peer is None else peer.calls():
        yield Kind(one.name, one.call, one.ready, one.after, host="MemPalace")


# --- rows --------------------------------------------------------------------------------------------------


def rows(kinds: Sequence[Kind], cold_goal: int | None = None) -> list[Row]:
    """Return a row for each kind."""
    bare = median(kinds[0].taken[1:])
    return [_row(kind, bare, cold_goal) for kind in kinds]


def _row(kind: Kind, bare: float, cold_goal: int | None) -> Row:
    """The first call of each is left out: it brings files into the machine's cache."""
    taken, inside = kind.taken[1:], median(kind.inside[1:])
    p50, p95, p99 = median(taken), percentile(taken, 0.95), percentile(taken, 0.99)
    goal = None
    if kind.host in adapters():
        goal = cold_goal * bare if cold_goal is not None else 2 * bare + (inside if kind.does_much else 0.0)
    return {
        "hook": kind.name if kind.host == "bare" else f"{kind.host}: {kind.name}",
        "calls": len(taken),
        "told": kind.told if kind.host in adapters() else None,
        "p50 ms": round(p50, 1),
        "p95 ms": round(p95, 1),
        "p99 ms": round(p99, 1),
        "× bare": round(p50 / bare, 2),
        "in the service, p50 ms": round(inside, 1) if kind.inside else None,
        "share in the service": f"{inside / p50:.0%}" if kind.inside else None,
        "goal p50 ms": None if goal is None else round(goal, 1),
        "p50 within it": None if goal is None else _yes(p50 <= goal),
        "p95 ≤ 3 × p50": _yes(p95 <= 3 * p50),
    }


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


if __name__ == "__main__":
    sys.exit(main())
