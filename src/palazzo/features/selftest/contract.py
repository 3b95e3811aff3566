"""Requests, results and operations of `selftest`: what faces know of the feature, without its engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from palazzo.frozen_class import frozen
from palazzo.operations.operation import About, Operation


@frozen
class SelftestRequest:
    """Show on this machine that nothing acknowledged is lost, on a scratch palace that is removed afterwards.

    Processes of this program are killed at random moments, run on a disk that fails, write at the same time, and read
    damaged files. What was acknowledged is then compared with what is stored. Without a suite, a short run of each is
    made. Your own palace is never opened.
    """

    kill9: Annotated[int | None, About("Kill processes this many times, as 'kill -9' does.", metavar="N")] = None
    faults: Annotated[bool, About("Fail every call that operations make to their files, in every way.")] = False
    operations: Annotated[
        tuple[str, ...],
        About("With --faults, only this operation; may be given several times.", option="--operation", metavar="NAME"),
    ] = ()
    writers: Annotated[int | None, About("Let this many processes write and read at once.", metavar="N")] = None
    bits: Annotated[int | None, About("Flip this many bits in palaces, logs, backups and exports.", metavar="N")] = None
    minutes: Annotated[
        int | None, About("Use a service for this many minutes, and write a plot of its state.", metavar="M")
    ] = None
    seed: Annotated[int | None, About("Random seed. Default: a new one.", metavar="N")] = None
    directory: Annotated[
        Path | None,
        About("Use a scratch palace in this directory. Default: beside the palace.", metavar="DIR"),
    ] = None


@frozen
class SuiteRow:
    """The figures of one suite.

    `acknowledged` counts comparisons of an acknowledged thing with the palace, and `present` those in which it was
    there; `lost` and `doubled` count those that failed. `detected` and `repaired` count damage. `details` are further
    counts by name, and `failures` the first sentences about what failed.
    """

    suite: str
    runs: int
    acknowledged: int
    present: int
    lost: int
    doubled: int
    detected: int
    repaired: int
    seconds: float
    details: dict[str, int]
    failures: tuple[str, ...]


@frozen
class SelftestResult:
    """The rows of all suites, and where they ran.

    `kept` is the directory with the palaces and the journal, if something was lost. A run that was `interrupted` has
    the figures up to then.
    """

    rows: tuple[SuiteRow, ...]
    seed: int
    directory: str
    file_system: str
    mount_options: str
    versions: dict[str, str]
    interrupted: bool
    slept_s: float
    kept: str | None
    plot: str | None
    """The SVG file of a soak: memory, open files, size and latencies over time."""

    @property
    def is_lossless(self) -> bool:
        """Whether nothing was lost or doubled."""
        return not any(row.lost or row.doubled for row in self.rows)


SELFTEST = Operation(
    "selftest",
    SelftestRequest,
    SelftestResult,
    scope="admin",
    group="Upkeep",
    summary="Show that nothing acknowledged is lost here",
    failed=lambda result: not result.is_lossless,
    interrupted=lambda result: result.interrupted,
    examples=("palazzo selftest", "palazzo selftest --kill9 1000 --faults --writers 16 --bits 1000"),
)
