"""Time starts: the bare interpreter, the version, a search as a command, and what each import costs.

    python benchmarks/startup.py [--palace 10000] [--rounds 15] [--json]

Each round runs every command once, so that a slow spell falls on all alike; figures are medians. Searches run
without a service: the command loads the model itself, and asks a copy of the palace whose synthetic vectors are taken
for the model's. They are timed with the file of vectors beside the palace, and without it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.make_palace import palace_path
from benchmarks.measuring import CACHE, Row, median, milliseconds, percentile, report

from palazzo.index.minilm import MiniLM
from palazzo.onnx_runtime import disable_telemetry
from palazzo.store.vector_file_paths import vector_file

SOURCE = Path(__file__).resolve().parents[1] / "src"
WITHOUT_FILE = "the same, without the file of vectors"
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
    with tempfile.TemporaryDirectory(dir=given.directory) as directory:
        copies = [_copy(palace, Path(directory) / name) for name in ("with", "without")]
        report(f"Starts, {palace.parent.name}", measure(commands(*copies), given.rounds, copies[1]), given.json)
    return 0


def _copy(palace: Path, directory: Path) -> Path:
    """Return a copy of a palace whose vectors are said to be the bundled model's."""
    directory.mkdir()
    copy = directory / "palace.db"
    shutil.copyfile(palace, copy)
    with contextlib.closing(apsw.Connection(str(copy))) as connection:
        connection.execute("UPDATE embedder SET name = ?", (MiniLM.id,))
    return copy


def commands(palace: Path, palace_without_file: Path) -> dict[str, list[str]]:
    """Return what is timed, by name."""
    python, module = sys.executable, [sys.executable, "-m", "palazzo.faces.cli"]
    search = [*module, "--palace", str(palace), "search", "retry budget of the queue"]
    found = {
        "python -I -S -E -c pass": [python, "-I", "-S", "-E", "-c", "pass"],
        "python -c pass": [python, "-c", "pass"],
        "palazzo --version": [*module, "--version"],
        "palazzo search, no service": search,
        WITHOUT_FILE: [part.replace(str(palace), str(palace_without_file)) for part in search],
    }
    return found | {f"import {name}": [python, "-c", f"import {name}"] for name in IMPORTED}


def measure(timed: dict[str, list[str]], rounds: int, palace_without_file: Path) -> list[Row]:
    """Return the median and the 95th percentile of each, in milliseconds, and its ratio to the bare interpreter."""
    disable_telemetry()  # also of an interpreter that imports ONNX Runtime alone
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "PALAZZO_SERVICE": "off"}
    taken: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(rounds + 1):
        for name, command in timed.items():
            vector_file(palace_without_file).unlink(missing_ok=True)
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
