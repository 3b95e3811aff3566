"""bench: run a benchmark on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """Which benchmark."""

    name: Annotated[Literal["guard"], About("The benchmark.", positional=True)]


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What was measured: rows that all have the same cells."""

    name: str
    title: str
    rows: tuple[dict[str, str | float | int], ...]


def bench(context: Context, request: BenchRequest) -> BenchResult:
    """Run a benchmark on this machine and print its figures next to the goals. It needs no palace.

    guard: what of labelled secrets redaction finds, and what of ordinary lines it marks.
    """
    from palazzo.bench import run

    result = run(request.name, context.report)
    return BenchResult(request.name, result.title, result.rows)


OPERATION = Operation("bench", BenchRequest, BenchResult, bench)
