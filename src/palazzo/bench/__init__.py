"""Benchmarks that anybody can run on their own machine. Independent of any face.

    guard                quality of redaction, which poison is injected, whether fences hold; its data is here
    locomo, longmemeval  how well search answers the questions of a public data set that the user has
    self                 how well search finds what the user's own palace holds

The module of a data set has `TITLE` and `read(document)`, which returns cases. A new data set needs a module and a line
here.
"""

from __future__ import annotations

from collections.abc import Callable

from palazzo.frozen_class import frozen

Cell = str | float | int
Progress = Callable[[str, int, int], None]

DATA_SETS = {"locomo": "palazzo.bench.locomo", "longmemeval": "palazzo.bench.longmemeval"}
"""The reader module of each data set, by name."""
BENCHES = ("guard", *DATA_SETS, "self")
"""The names of all benchmarks."""


@frozen
class Result:
    """A benchmark's result: a title, and rows with the same cells."""

    title: str
    rows: tuple[dict[str, Cell], ...]
