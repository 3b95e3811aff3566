"""What all benchmarks share: medians and percentiles, memory of a process, the machine's load, tables.

Owns how figures are taken and printed; knows nothing of what is measured. Figures are compared within one run:
whoever measures two things visits them in turns.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

CACHE = Path(os.environ.get("PALAZZO_BENCHMARKS", "/tmp/palazzo-benchmarks"))
"""Where palaces and corpora that take long to make are kept between runs."""
MB = 1024 * 1024
Cell = str | float | int | None
Row = dict[str, Cell]


def milliseconds(work: Callable[[], object]) -> float:
    """Return how many milliseconds `work` took."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` (0 to 1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def spread(values: Sequence[float], unit: str = "ms") -> Row:
    """Return p50, p95 and p99 as cells of a row."""
    return {f"{name} {unit}": round(percentile(values, share), 2) for name, share in _SHARES.items()}


_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def median(values: Sequence[float]) -> float:
    """Return the median, 0 of nothing."""
    return statistics.median(values) if values else 0.0


def resident_mb(pid: int | str = "self") -> float:
    """Return the resident set of a process in MB, 0 where /proc does not tell or the process has ended."""
    return _status(pid, "VmRSS")


def peak_mb(pid: int | str = "self") -> float:
    """Return the greatest resident set a process has had, in MB."""
    return _status(pid, "VmHWM")


def private_mb(pid: int | str = "self") -> float:
    """Return the resident memory that belongs to the process alone (no mapped files), in MB."""
    return _status(pid, "RssAnon")


def machine() -> Row:
    """Return what the figures were taken on, and how busy it was."""
    one, five, _ = os.getloadavg()
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "load": f"{one:.1f} (1 min), {five:.1f} (5 min)",
    }


def report(title: str, rows: Sequence[Row], as_json: bool, **more: Cell) -> None:
    """Print the rows as a table, or all as JSON."""
    if as_json:
        print(json.dumps({"title": title, **machine(), **more, "rows": rows}, indent=1))
        return
    print(f"\n{title}")
    print("  ".join(f"{name}: {value}" for name, value in {**machine(), **more}.items()))
    print(table(rows), flush=True)


def table(rows: Sequence[Row]) -> str:
    """Return rows as aligned columns; a row may lack some."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [columns, *([_text(row.get(name)) for name in columns] for row in rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(columns))]
    return "\n".join(_line(line, widths) for line in cells)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    return "  ".join([first, *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))]).rstrip()


def _text(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3f}" if abs(cell) < 1 else f"{cell:.2f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def _status(pid: int | str, name: str) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines()
    except OSError:
        return 0.0
    found = next((line.split()[1] for line in lines if line.startswith(f"{name}:")), "0")
    return int(found) / 1024
