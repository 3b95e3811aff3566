"""Time starts: the bare interpreter, the version, a search as a command, and what each import costs.

    python benchmarks/startup.py [--palace 10000] [--rounds 15] [--json]

Each round runs every command once, so that a slow spell falls on all alike; figures are medians. Searches run
without a service: the command loads the model itself.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.make_palace import palace_path
from benchmarks.measuring import CACHE, Row, median, milliseconds, percentile, report

from palazzo.onnx_runtime import disable_telemetry

SOURCE = Path(__file__).resolve().parents[1] / "src"
IMPORTED = ("apsw", "numpy", "onnxruntime", "tokenizers", "palazzo.palace", "palazzo.faces.cli.app")


def main(arguments: Sequence[str] | None = None) -> int:
    """Time every command, in turns."""
    parser = argparse.ArgumentParser(description="Time starts.")
    parser.add_argument("--palace", default="10000", help="a number of drawers, or a path")
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    named = str(given.palace)
    palace = palace_path(given.directory, int(named)) if named.isdecimal() else Path(named)
    report(f"Starts, {palace.parent.name}", measure(commands(palace), given.rounds), given.json)
    return 0


def commands(palace: Path) -> dict[str, list[str]]:
    """Return what is timed, by name."""
    python, module = sys.executable, [sys.executable, "-m", "palazzo.faces.cli"]
    found = {
        "python -I -S -E -c pass": [python, "-I", "-S", "-E", "-c", "pass"],
        "python -c pass": [python, "-c", "pass"],
        "palazzo --version": [*module, "--version"],
        "palazzo search, no service": [*module, "--palace", str(palace), "search", "retry budget of the queue"],
    }
    return found | {f"import {name}": [python, "-c", f"import {name}"] for name in IMPORTED}


def measure(timed: dict[str, list[str]], rounds: int) -> list[Row]:
    """Return the median and the 95th percentile of each, in milliseconds, and its ratio to the bare interpreter."""
    disable_telemetry()  # also of an interpreter that imports ONNX Runtime alone
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    taken: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(rounds + 1):
        for name, command in timed.items():
            run = partial(subprocess.run, command, env=environment, capture_output=True, check=True, timeout=120)
            taken[name].append(milliseconds(run))
    bare = median(taken["python -I -S -E -c pass"][1:])
    return [
        {
            "start": name,
            "p50 ms": round(median(each[1:]), 1),
            "p95 ms": round(percentile(each[1:], 0.95), 1),
            "× bare": round(median(each[1:]) / bare, 1),
        }
        for name, each in taken.items()
    ]


if __name__ == "__main__":
    sys.exit(main())
