"""Benchmarks that anybody can run on their own machine, with the data they need. Knows no face.

`BENCHES` names them; each module has `run(report) -> Result`. A new one is a module and a line here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

Cell = str | float | int
Progress = Callable[[str, int, int], None]

BENCHES = {"guard": "palazzo.bench.guard"}
"""Each benchmark's module by name."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a benchmark says: a title, and rows that all have the same cells."""

    title: str
    rows: tuple[dict[str, Cell], ...]


def run(name: str, report: Progress) -> Result:
    """Run the benchmark of that name; KeyError when there is none."""
    found: Callable[[Progress], Result] = importlib.import_module(BENCHES[name]).run
    return found(report)
