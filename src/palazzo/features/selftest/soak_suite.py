"""Soak: one service works through a day's pattern for minutes or hours; its memory, handles, file and latency are kept.

A round is what an agent's session causes: a start, some prompts with searches, notes and facts, a hook at the end of
each turn. Every so many rounds documents change and are mined, and a backup is made. At the end everything
acknowledged must be stored once.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from palazzo.features.selftest.expected_state import ObservedState, compare
from palazzo.features.selftest.journal import Journal
from palazzo.features.selftest.kill_suite import verify_palace
from palazzo.features.selftest.line_plot import Series, write_plot
from palazzo.features.selftest.scratch import Scratch
from palazzo.features.selftest.steps import Step, Workbench, run_operation
from palazzo.features.selftest.suite_result import Progress, SuiteCounts
from palazzo.features.selftest.victims import Commands, ServiceVictim

_ROUND = ("remember", "kg", "remember", "diary", "remember", "forget")
_MINE_EVERY, _BACKUP_EVERY, _HOOK_EVERY = 5, 40, 2
"""Rounds between two of each."""
_SAMPLES = 200
"""Points of the plot."""
_MB = 1_000_000


@dataclass(frozen=True)
class Sample:
    """One look at the service. Latencies are medians of the calls since the look before, in milliseconds."""

    minute: float
    memory_mb: float
    handles: int
    file_mb: float
    search_ms: float
    write_ms: float


def run_soak(
    scratch: Scratch, journal: Journal, minutes: float, seed: int, report: Progress, plot: Path
) -> Iterator[SuiteCounts]:
    """Yield the figures after each sample; write the plot at the end."""
    counts, began = SuiteCounts("soak"), time.monotonic()
    directory = scratch.new_directory("soak")
    (directory / "palace").mkdir()
    palace = scratch.palace_in(directory / "palace")
    bench = Workbench(directory, palace, scratch.variables, random.Random(f"{seed} soak"))  # noqa: S311
    run_operation(palace, scratch.variables, "remember", text="The palace exists.", wing="selftest")
    samples: list[Sample] = []
    with (
        Commands(scratch.variables, scratch.directory) as commands,
        ServiceVictim(palace, scratch.variables).running() as service,
    ):
        day = _Day(bench, service, commands, journal, counts)
        while (passed := time.monotonic() - began) < minutes * 60:
            report("soaking", int(passed), int(minutes * 60), f"{counts.runs} rounds")
            day.run_round()
            if passed >= len(samples) * minutes * 60 / _SAMPLES:
                samples.append(day.take_sample(passed / 60))
                counts.seconds = passed
                yield counts
        samples.append(day.take_sample((time.monotonic() - began) / 60))
        day.settle()
    difference = compare(bench.state, bench.state, ObservedState.of(palace))
    counts.acknowledged, counts.present = len(bench.state), len(bench.state) - len(difference.lost)
    for sentence in difference.lost:
        counts.fail(sentence)
    for sentence in difference.doubled:
        counts.fail(sentence, is_doubled=True)
    for sentence in verify_palace(palace, bench):
        counts.fail(f"verify: {sentence}")
    for name, value in (("memory MB", samples[-1].memory_mb), ("handles", samples[-1].handles)):
        counts.details[f"{name} at the end"] = round(value)
    counts.details["memory MB at the beginning"] = round(samples[0].memory_mb)
    counts.seconds = time.monotonic() - began
    _plot(samples, plot)
    yield counts


class _Day:
    """The rounds of a soak, and what is measured meanwhile."""

    def __init__(
        self, bench: Workbench, service: ServiceVictim, commands: Commands, journal: Journal, counts: SuiteCounts
    ) -> None:
        self._bench, self._service, self._commands = bench, service, commands
        self._journal, self._counts = journal, counts
        self._search_ms: list[float] = []
        self._write_ms: list[float] = []

    def run_round(self) -> None:
        """Carry out one round."""
        self._counts.runs += 1
        for name in _ROUND:
            step = self._bench.step(name)
            self._write_ms.append(self._call(step))
            self._bench.acknowledge(step)
            query = {"query": f"{name} {self._bench.chance.choice(('queue', 'heron', 'ledger'))}"}
            self._search_ms.append(self._call(Step("search", "search", query, self._bench.state)))
        if self._counts.runs % _HOOK_EVERY == 0:
            step = self._bench.step("hook")
            self._commands.run(self._bench, step, None)
            self._bench.acknowledge(step)
        for name, every in (("mine", _MINE_EVERY), ("backup", _BACKUP_EVERY)):
            if self._counts.runs % every == 0:
                step = self._bench.step(name)
                self._call(step)
                self._bench.acknowledge(step)
                if name == "backup" and step.writes_file is not None:
                    step.writes_file.unlink()
        self._journal.write("round", number=self._counts.runs, texts=len(self._bench.state))

    def settle(self) -> None:
        """Read the session's transcript once more: a hook that ran out of time has kept a pointer to it for later."""
        self._commands.run(self._bench, self._bench.mine_session(), None)

    def take_sample(self, minute: float) -> Sample:
        """Look at the service and its file."""
        palace = self._bench.palace
        file_bytes = sum(path.stat().st_size for path in palace.parent.iterdir() if path.is_file())
        sample = Sample(
            minute,
            _memory_mb(self._service.pid),
            _count_handles(self._service.pid),
            file_bytes / _MB,
            statistics.median(self._search_ms or [0.0]),
            statistics.median(self._write_ms or [0.0]),
        )
        self._search_ms.clear()
        self._write_ms.clear()
        return sample

    def _call(self, step: Step) -> float:
        key = f"soak-{self._counts.runs}-{len(self._write_ms)}-{len(self._search_ms)}-{step.name}"
        outcome = self._service.call(self._bench, step, key)
        if not outcome.is_acknowledged:
            self._counts.fail(f"{step.name} failed: {outcome.error}")
        return outcome.seconds * 1000


def _memory_mb(pid: int) -> float:
    """Return the resident memory of a process; 0 where the system does not say it as Linux does."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / _MB


def _count_handles(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return 0


def _plot(samples: list[Sample], path: Path) -> None:
    minutes = [sample.minute for sample in samples]
    columns = {
        "memory of the service, MB": [sample.memory_mb for sample in samples],
        "open files of the service": [float(sample.handles) for sample in samples],
        "size of the palace, MB": [sample.file_mb for sample in samples],
        "median search, ms": [sample.search_ms for sample in samples],
        "median write, ms": [sample.write_ms for sample in samples],
    }
    write_plot(path, [Series(title, minutes, values) for title, values in columns.items()], "minutes")
