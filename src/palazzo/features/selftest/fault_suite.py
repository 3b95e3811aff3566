"""Faults: every call that an operation makes to its files fails once, in every way that a disk can fail.

Each operation is run on a disk that fails at its first call, then at its second, until it ends before the fault. A
fault is an error of a write, a read, a sync, a lock or a deletion, a write of which half arrives, a full disk, or a
loss of power that takes back what was not synced, or some of it, or tears a page. The palace must then hold the old
state or the new one, the new one if the operation was acknowledged, and the operation must succeed when it is carried
out again.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from palazzo.errors import PalazzoError
from palazzo.features.selftest.fault_process import FAULTS, state_to_json
from palazzo.features.selftest.journal import Journal
from palazzo.features.selftest.scratch import Scratch
from palazzo.features.selftest.steps import Step, Workbench, make_exports, run_operation
from palazzo.features.selftest.suite_result import Progress, SuiteCounts
from palazzo.operations import registry
from palazzo.operations.serialisation import to_wire

STEPS = (
    *("remember", "diary", "kg", "forget", "undo", "erase", "mine", "import"),
    *("sync", "rebuild", "export", "backup", "restore"),
)
_FIRST_STEPS = ("remember", "remember", "remember", "kg", "diary", "mine", "backup", "erase", "remember")
"""The backup holds a note that is erased after it, and that a restore must not bring back."""


def run_faults(
    scratch: Scratch,
    journal: Journal,
    seed: int,
    report: Progress,
    names: Sequence[str] = STEPS,
    faults: Sequence[str] = tuple(FAULTS),
) -> Iterator[SuiteCounts]:
    """Yield the figures after each failing call."""
    counts, began = SuiteCounts("faults"), time.monotonic()
    try:
        suite = _FaultSuite(scratch, journal, seed, counts)
    except PalazzoError as error:
        counts.fail(f"an operation failed before any fault: {error}")
        yield counts
        return
    total = len(names) * len(faults)
    for n, (name, fault) in enumerate(itertools.product(names, faults)):
        report("failing calls", n, total, f"{name}, {fault}, {counts.runs} so far, {counts.lost} lost")
        for _ in suite.run(name, fault):
            counts.seconds = time.monotonic() - began
            yield counts


class _FaultSuite:
    """The palace before each operation, and the processes that carry it out."""

    def __init__(self, scratch: Scratch, journal: Journal, seed: int, counts: SuiteCounts) -> None:
        self._scratch, self._journal, self._seed, self._counts = scratch, journal, seed, counts
        chance = random.Random(f"{seed} faults")  # noqa: S311 - no secret depends on it
        self._base = scratch.new_directory("faults-base")
        self._directory = self._base.with_name(f"{self._base.name}-work")
        self._directory.mkdir()
        (self._directory / "palace").mkdir()
        palace = scratch.palace_in(self._directory / "palace")
        exports = make_exports(scratch.new_directory("donor"), scratch.variables, chance)
        self._bench = Workbench(self._directory, palace, scratch.variables, chance, exports=exports)
        for name in _FIRST_STEPS:
            self._do(self._bench.step(name))
        self._bench.connect()
        self._steps: dict[str, Step] = {}

    def run(self, name: str, fault: str) -> Iterator[None]:
        """Run an operation with a kind of fault at every call; yield after each."""
        step = self._prepare(name)
        operation = registry.operation(step.operation)
        request = {
            "directory": str(self._directory),
            "base": str(self._base),
            "operation": step.operation,
            "request": to_wire(operation.request(**step.request)),
            "fault": fault,
            "old": state_to_json(self._bench.state),
            "new": state_to_json(step.after),
            "in_parts": step.in_parts,
            "seed": f"{self._seed} {name} {fault}",
        }
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "palazzo.features.selftest.fault_process"],
            env=self._scratch.variables,
            cwd=self._scratch.directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None  # noqa: S101 - for the type checker: both are pipes
            assert process.stdout is not None  # noqa: S101
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.close()
            try:
                for line in process.stdout:
                    self._count(name, fault, step, json.loads(line))
                    yield
                process.wait()
            finally:
                process.kill()
        if process.returncode:
            self._counts.fail(f"{name}, {fault}: the process ended with {process.returncode}")
            yield

    def _prepare(self, name: str) -> Step:
        """Make the step once, and the palace as it is before the step."""
        step = self._steps.get(name)
        if step is None:
            if self._steps:
                _replace(self._directory, self._base)  # the last attempt at the step before has succeeded
            step = self._steps[name] = self._bench.step(name)
            _replace(self._base, self._directory)
        return step

    def _do(self, step: Step) -> None:
        run_operation(self._bench.palace, self._bench.variables, step.operation, **step.request)
        self._bench.acknowledge(step)

    def _count(self, name: str, fault: str, step: Step, attempt: dict[str, Any]) -> None:
        counts = self._counts
        counts.runs += 1
        counts.count(f"{fault}, acknowledged" if attempt["is_acknowledged"] else fault)
        counts.count(f"calls of {name}")
        counts.acknowledged += len(step.after)
        counts.present += len(step.after) - len(attempt["problems"])
        for problem in attempt["problems"]:
            counts.fail(f"{name}, {fault} at call {attempt['k']}: {problem}", is_doubled=attempt["is_doubled"])
            self._journal.write("problem", step=name, fault=fault, **attempt)


def _replace(directory: Path, other: Path) -> None:
    """Make a directory a copy of another."""
    shutil.rmtree(directory)
    shutil.copytree(other, directory)
