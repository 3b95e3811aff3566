"""How the figures of a benchmark look to a person."""

from __future__ import annotations

from palazzo.cli.screen import Screen
from palazzo.operations.bench import BenchResult


def bench(screen: Screen, result: BenchResult) -> None:
    """Show the figures as a table."""
    screen.say((result.title, "bold"))
    names = tuple(result.rows[0]) if result.rows else ()
    numbers = tuple(n for n, name in enumerate(names) if not isinstance(result.rows[0][name], str))
    rows = [
        tuple(f"{row[name]:,}" if n in numbers else str(row[name]) for n, name in enumerate(names))
        for row in result.rows
    ]
    screen.table(names, rows, right=numbers)
