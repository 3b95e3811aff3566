"""One of many processes that use a palace at once: `python -m palazzo.features.selftest.writer_process`.

    PALACE DIRECTORY NAME COUNT WAY

A line of JSON is printed for each acknowledged write, `{"marker", "text", "kind"}`, and for each read that misses what
this process has written, `{"missed": marker}`. The way is `own` (operations in this process, as commands run them),
`service` (calls of the service, which is started when none answers) or `hook` (an agent's session: a transcript that
grows, and a hook after each turn).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from palazzo.client import rpc
from palazzo.errors import PalazzoError
from palazzo.features.selftest.steps import Workbench, name_marker, run_operation, write_text
from palazzo.features.selftest.victims import hook_command, input_of
from palazzo.operations import registry
from palazzo.operations.serialisation import to_wire

_READ_EVERY, _VERIFY_EVERY = 5, 10
_MARKERS = 100_000
"""Markers of one writer: writer 3 has those from 300,000 on."""

Run = Callable[[str, Mapping[str, Any], str], Any]


def main(arguments: list[str]) -> int:
    """Write and read; return the exit code."""
    palace, directory, number, count, way = (
        Path(arguments[0]),
        Path(arguments[1]),
        *map(int, arguments[2:4]),
        arguments[4],
    )
    writer = Writer(palace, number, count)
    if way == "hook":
        writer.run_session(directory, dict(os.environ))
    elif way == "own":
        writer.write(lambda name, request, key: to_wire(run_operation(palace, os.environ, name, **request)))
    else:
        variables = {**os.environ, "PALAZZO_SERVICE": "on"}
        with rpc.Caller(rpc.address(str(palace), variables), variables, str(directory)) as caller:
            writer.write(lambda name, request, key: _call(caller, name, request, key))
    return 0


class Writer:
    """Writes so many texts and facts with markers of its own."""

    def __init__(self, palace: Path, number: int, count: int) -> None:
        self._palace, self._number, self._count = palace, number, count
        self._chance = random.Random(number)  # noqa: S311 - no secret depends on it

    def write(self, run: Run) -> None:
        """Write notes, facts and diary entries; now and then search for the last note, and verify the palace."""
        last: tuple[str, str] | None = None
        for n in range(self._count):
            marker = name_marker(self._number * _MARKERS + n)
            text = write_text(marker, self._chance)
            kind = ("note", "fact", "diary")[0 if n % 4 < 2 else n % 4 - 1]
            if kind == "note":
                run("remember", {"text": text, "wing": "selftest"}, marker)
                last = (marker, text)
            elif kind == "fact":
                run("kg_add", {"subject": marker, "predicate": "listens on", "object": f"port {n}"}, marker)
            else:
                run("diary_write", {"agent": "ada", "text": text}, marker)
            _print({"marker": marker, "text": text if kind == "note" else None, "kind": kind})
            if last is not None and n % _READ_EVERY == _READ_EVERY - 1:
                answer = run("search", {"query": last[0], "limit": 5}, "")
                if last[0] not in json.dumps(answer):
                    _print({"missed": last[0]})
            if n % _VERIFY_EVERY == _VERIFY_EVERY - 1:
                run("verify", {}, "")  # it reads files that others have open

    def run_session(self, directory: Path, variables: dict[str, str]) -> None:
        """Append turns to a transcript, and run the hook of the end of each turn."""
        bench = Workbench(directory, self._palace, variables, self._chance, first_marker=self._number * _MARKERS)
        step_count = max(1, self._count // 5)
        for _ in range(step_count):
            step = bench.step("hook")
            subprocess.run(  # noqa: S603 - this Python, and this package
                [*hook_command(), "--palace", str(self._palace)],
                env={**variables, "PALAZZO_SERVICE": "on"},
                input=input_of(bench, step).encode(),
                stdout=subprocess.DEVNULL,
                check=True,
            )
            for marker in step.after.texts.keys() - bench.state.texts.keys():
                _print({"marker": marker, "text": None, "kind": "hook"})
            bench.acknowledge(step)


def _call(caller: rpc.Caller, name: str, request: Mapping[str, Any], key: str) -> Any:
    wire = to_wire(registry.operation(name).request(**request))
    answer = caller.call(name, wire, key or f"read-{id(request)}")
    if "error" in answer:
        raise PalazzoError(f"{name}: {answer['error']['message']}")
    return answer["result"]


def _print(line: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
