"""Benchmarks that anybody can run on their own machine. Knows no face.

    guard                how good redaction is, what poison is told unasked, whether fences hold; its data is here
    locomo, longmemeval  how well search answers the questions of a public data set that the user holds
    self                 how well search finds what the user's own palace holds

A data set's module has `TITLE` and `read(document)`, which returns cases; a new one is a module and a line here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Cell = str | float | int
Progress = Callable[[str, int, int], None]

DATA_SETS = {"locomo": "palazzo.bench.locomo", "longmemeval": "palazzo.bench.longmemeval"}
"""The reader of each data set by its name."""
BENCHES = ("guard", *DATA_SETS, "self")
"""Every benchmark's name."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a benchmark says: a title, and rows that all have the same cells."""

    title: str
    rows: tuple[dict[str, Cell], ...]
