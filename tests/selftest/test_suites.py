"""The suites on the real program, at a small size: nothing is lost. `PALAZZO_RELIABILITY` sets the size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.reliability.sizes import FACTOR, SEED, scaled

from palazzo.features.selftest.bit_suite import run_bits
from palazzo.features.selftest.fault_process import FAULTS
from palazzo.features.selftest.fault_suite import STEPS, run_faults
from palazzo.features.selftest.journal import Journal
from palazzo.features.selftest.kill_suite import run_kills
from palazzo.features.selftest.scratch import Scratch, make_scratch
from palazzo.features.selftest.suite_result import SuiteCounts
from palazzo.features.selftest.writer_suite import run_writers

Run = Callable[[Scratch, Journal], Iterator[SuiteCounts]]


def quiet(activity: str, done: int, total: int, detail: str) -> None:
    """Report nothing."""


def last_of(directory: Path, run: Run) -> SuiteCounts:
    """Run a suite in a scratch directory; return its last figures."""
    with make_scratch(directory / "palace.db", None) as scratch, Journal(directory / "journal.jsonl") as journal:
        return list(run(scratch, journal))[-1]


def lossless(counts: SuiteCounts) -> bool:
    return (counts.lost, counts.doubled, counts.failures) == (0, 0, []) and counts.acknowledged == counts.present > 0


def test_a_few_kills_lose_nothing(tmp_path: Path) -> None:
    counts = last_of(tmp_path, lambda scratch, journal: run_kills(scratch, journal, 3, SEED, quiet))
    assert lossless(counts), counts.failures
    assert counts.runs == 3


@pytest.mark.slow
def test_kills_lose_nothing(tmp_path: Path) -> None:
    counts = last_of(tmp_path, lambda scratch, journal: run_kills(scratch, journal, scaled(300), SEED + 1, quiet))
    assert lossless(counts), counts.failures
    # How long a step takes is learned from those that outlive their kill, so among the first few many do.
    assert counts.details["killed"] > counts.runs // 5


@pytest.mark.slow
def test_every_failing_call_of_an_operation_loses_nothing(tmp_path: Path) -> None:
    """Every call; at CI size without the ways that `tests/reliability/test_faults.py` tries, and without reads."""
    elsewhere = {"EIO on write", "disk full", "dead disk", "power loss, writes lost", "EIO on read"}
    ways = [way for way in FAULTS if FACTOR >= 1 or way not in elsewhere]
    counts = last_of(tmp_path, lambda scratch, journal: run_faults(scratch, journal, SEED, quiet, ("kg",), ways))
    assert lossless(counts), counts.failures
    assert counts.runs > (150 if FACTOR < 1 else 500)
    assert counts.details["calls of kg"] == counts.runs


@pytest.mark.slow
def test_each_operation_runs_on_a_disk_that_fails(tmp_path: Path) -> None:
    """The kind of fault with the fewest calls: the others differ in the calls that fail, not in the operations."""
    faults = ("delete failed",)
    counts = last_of(tmp_path, lambda scratch, journal: run_faults(scratch, journal, SEED, quiet, STEPS, faults))
    assert lossless(counts), counts.failures
    assert {name for name in STEPS if counts.details.get(f"calls of {name}")} == set(STEPS)


@pytest.mark.slow
def test_writers_lose_nothing_while_their_service_is_killed(tmp_path: Path) -> None:
    counts = last_of(tmp_path, lambda scratch, journal: run_writers(scratch, journal, 6, SEED, quiet))
    assert lossless(counts), counts.failures
    assert counts.details["services killed"] > 0


@pytest.mark.slow
def test_no_flipped_bit_is_served(tmp_path: Path) -> None:
    counts = last_of(tmp_path, lambda scratch, journal: run_bits(scratch, journal, scaled(400), SEED, quiet))
    assert lossless(counts), counts.failures
    assert counts.detected > counts.runs // 2
