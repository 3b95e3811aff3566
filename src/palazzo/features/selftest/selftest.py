"""selftest: show on this machine that nothing acknowledged is lost."""

from __future__ import annotations

import platform
import random
import time
from collections import Counter
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from palazzo import __version__
from palazzo.errors import UsageError
from palazzo.features.selftest import bit_suite, fault_suite, kill_suite, soak_suite, writer_suite
from palazzo.features.selftest.contract import SelftestRequest, SelftestResult, SuiteRow
from palazzo.features.selftest.journal import Journal
from palazzo.features.selftest.scratch import Scratch, make_scratch
from palazzo.features.selftest.suite_result import SuiteCounts
from palazzo.operations.context import Context
from palazzo.store import filesystem

_USUAL_KILLS, _USUAL_BITS, _USUAL_WRITERS = 20, 20, 4
"""Sizes when no suite is named: some two minutes."""
_USUAL_FAULTS = ("kg",)
"""The operation whose calls fail when no suite is named: the one with the fewest calls."""
_MOST_FAILURES = 20
_SLEPT = 30.0
"""Seconds by which the wall clock must be ahead of the monotonic clock, for the machine to have slept."""


def selftest(context: Context, request: SelftestRequest) -> SelftestResult:
    """Run the suites that are named, or all of them briefly, in a directory of their own."""
    _check(request)
    seed = random.SystemRandom().randrange(1 << 32) if request.seed is None else request.seed
    named = None if request.directory is None else context.led_to(request.directory)
    if named is not None and not named.is_dir():
        raise UsageError(f"--directory {named} is not a directory.")
    suites: dict[str, SuiteCounts] = {}
    failure_counts: Counter[str] = Counter()
    is_interrupted = False
    wall, monotonic = time.time(), time.monotonic()
    with make_scratch(context.palace_path, named) as scratch, Journal(scratch.directory / "journal.jsonl") as journal:
        mount = _describe_mount(scratch.directory)
        plot = scratch.directory.with_suffix(".svg")
        try:
            for counts in _run(context, request, scratch, journal, seed, plot):
                suites[counts.suite] = counts
                for sentence in counts.failures[failure_counts[counts.suite] :]:
                    journal.write("failed", suite=counts.suite, sentence=sentence)
                failure_counts[counts.suite] = len(counts.failures)
        except KeyboardInterrupt:
            is_interrupted = True
        rows = tuple(map(_row, suites.values()))
        scratch.is_kept = any(row.lost or row.doubled for row in rows)
        kept = str(scratch.directory) if scratch.is_kept else None
        directory = str(scratch.directory.parent)
    slept = (time.time() - wall) - (time.monotonic() - monotonic)
    slept_s = round(slept, 1) if slept > _SLEPT else 0.0
    plot_file = str(plot) if plot.exists() else None
    return SelftestResult(rows, seed, directory, *mount, _versions(), is_interrupted, slept_s, kept, plot_file)


def _check(request: SelftestRequest) -> None:
    for name in ("kill9", "writers", "bits", "minutes"):
        value = getattr(request, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name} is {value}; it must be at least 1.")
    for name in request.operations:
        if name not in fault_suite.STEPS:
            raise UsageError(f"--operation {name} is none of {', '.join(fault_suite.STEPS)}.")
    if request.operations and not request.faults:
        raise UsageError("--operation names operations for --faults. Add --faults.")


def _run(
    context: Context, request: SelftestRequest, scratch: Scratch, journal: Journal, seed: int, plot: Path
) -> Iterator[SuiteCounts]:
    """Run the suites that are named, or all of them briefly; yield the figures as they grow."""
    sizes = (request.kill9, request.writers, request.bits, request.minutes)
    is_usual = not request.faults and all(size is None for size in sizes)
    kills = _USUAL_KILLS if is_usual else request.kill9
    if kills:
        yield from kill_suite.run_kills(scratch, journal, kills, seed, context.report)
    if is_usual or request.faults:
        names = _USUAL_FAULTS if is_usual else request.operations or fault_suite.STEPS
        yield from fault_suite.run_faults(scratch, journal, seed, context.report, names)
    writers = _USUAL_WRITERS if is_usual else request.writers
    if writers:
        yield from writer_suite.run_writers(scratch, journal, writers, seed, context.report)
    bits = _USUAL_BITS if is_usual else request.bits
    if bits:
        yield from bit_suite.run_bits(scratch, journal, bits, seed, context.report)
    if request.minutes:
        yield from soak_suite.run_soak(scratch, journal, request.minutes, seed, context.report, plot)


def _row(counts: SuiteCounts) -> SuiteRow:
    return SuiteRow(
        counts.suite,
        counts.runs,
        counts.acknowledged,
        counts.present,
        counts.lost,
        counts.doubled,
        counts.detected,
        counts.repaired,
        round(counts.seconds, 1),
        dict(sorted(counts.details.items())),
        tuple(counts.failures[:_MOST_FAILURES]),
    )


def _describe_mount(directory: Path) -> tuple[str, str]:
    """Return the type and the mount options of the file system of a directory; 'unknown' where the system says none."""
    kind, options = filesystem.mount_of(directory)
    return kind or "unknown", options


def _versions() -> dict[str, str]:
    """Return the versions of Palazzo and of what its durability depends on."""
    return {
        "palazzo": __version__,
        "python": platform.python_version(),
        "apsw": metadata.version("apsw"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
