"""Time a service from its start to the answer of its first hook, beside a bare Python.

    python benchmarks/service_start.py [ROUNDS]

Prints, for a prompt that asks for the past and for a session's start, the least and the median of the wall-clock time,
of the service's processor time until then, and of the processor time of `python -I -S -E -c pass` in turns with it. On
a busy machine compare the processor times: the goal of 0.7 s holds where a bare Python takes some 9 ms.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from palazzo.client import rpc
from palazzo.errors import ServiceUnavailable
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.operations.context import Context

DECISION = "We decided on a retry budget of ten percent, because storms of retries took the gateway down in March."
PROMPT = "what did we decide about the retry budget?"
NAMES = ("wall", "service's CPU", "bare Python's CPU")
SOURCES = str(Path(rpc.__file__).parents[2])


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    with tempfile.TemporaryDirectory(prefix="start") as place:
        home = Path(place)
        variables = {"HOME": place, "PATH": os.environ["PATH"], "PYTHONPATH": SOURCES}
        palace = Path(rpc.chosen_palace(None, variables, place))
        with Context(palace, home, {**variables, "PALAZZO_SERVICE": "off"}) as context:
            remember(context, RememberRequest(DECISION, kind="decision"))
            context.writing().embed_pending()
        for event in ("UserPromptSubmit", "SessionStart"):
            rows = [first_answer(rpc.address(str(palace), variables), variables, place, event) for _ in range(rounds)]
            for name, values in zip(
                ("wall", "service's CPU", "bare Python's CPU"), zip(*rows, strict=True), strict=True
            ):
                least, median = min(values) * 1_000, statistics.median(values) * 1_000
                print(f"{event:<18} {name:<18} least {least:7.0f} ms   median {median:7.0f} ms")


def first_answer(endpoint: rpc.Address, variables: dict[str, str], cwd: str, event: str) -> tuple[float, float, float]:
    """Start a service and call one hook; return seconds: until the answer, of the service's CPU, of a bare Python's."""
    payload = json.dumps({"session_id": str(time.time_ns()), "cwd": cwd, "prompt": PROMPT}).encode()
    around = rpc.surroundings(cwd, variables)
    fields = {"host": "claude-code", "event": event, "length": len(payload), "within_ms": 30_000, "any": True}
    began = time.monotonic()
    rpc.start(endpoint, variables)
    while True:
        try:
            stream, greeting = rpc.greet(endpoint, {"want": "hook", **fields, "surroundings": around}, 30.0)
            break
        except ServiceUnavailable:
            time.sleep(0.005)
    stream.socket.sendall(payload)
    answer = stream.read_line()
    seconds = time.monotonic() - began
    threads = Path(f"/proc/{greeting['pid']}/task").glob("*/schedstat")
    cpu = sum(int(file.read_text().split()[0]) for file in threads) / 1e9
    stream.close()
    if answer is None or DECISION.encode() not in answer:
        raise SystemExit(f"{event} was not answered: {answer!r}")
    stop(endpoint)
    return seconds, cpu, bare_python()


def stop(endpoint: rpc.Address) -> None:
    """End the service."""
    stream, _ = rpc.greet(endpoint, {"want": "stop", "any": True}, 30.0)
    while stream.read() is not None:
        pass
    stream.close()


def bare_python() -> float:
    """Return the CPU seconds of a Python that does nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-I", "-S", "-E", "-c", "pass"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
