"""Run `palazzo selftest` on several file systems, each in a file or in memory, and print one table.

    sudo python3 tools/selftest_file_systems.py [--kill9 20] [--bits 40] [--seed 1] [KIND …]

Kinds: tmpfs, ext4, xfs, btrfs, overlay. Root may mount; `mkfs.KIND` must be on PATH. What cannot be made is named, and
the others run. Everything is unmounted and removed at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KINDS = ("tmpfs", "ext4", "xfs", "btrfs", "overlay")
SIZE_MB = 900
"""A selftest needs 400 MB; XFS and btrfs keep some for themselves."""
COLUMNS = ("suite", "runs", "acknowledged", "present", "lost", "doubled", "detected", "repaired", "seconds")


class CannotMount(Exception):
    """A file system that cannot be made here; the message is why."""


def run(*command: str) -> None:
    """Run a command; CannotMount with its last line if it fails."""
    if shutil.which(command[0]) is None:
        raise CannotMount(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotMount((done.stderr.strip().splitlines() or ["it failed"])[-1])


@contextmanager
def mounted(kind: str, directory: Path) -> Iterator[Path]:
    """Mount a new file system of that kind, and yield where."""
    point = directory / "mounted"
    point.mkdir()
    if kind == "tmpfs":
        run("mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", str(point))
    elif kind == "overlay":
        for name in ("lower", "upper", "work"):
            (directory / name).mkdir()
        layers = ",".join(f"{name}dir={directory / name}" for name in ("lower", "upper", "work"))
        run("mount", "-t", "overlay", "-o", layers, "overlay", str(point))
    else:
        image = directory / "image"
        with image.open("wb") as file:
            file.truncate(SIZE_MB << 20)
        run(f"mkfs.{kind}", "-q", str(image))
        run("mount", "-o", "loop", str(image), str(point))
    try:
        yield point
    finally:
        subprocess.run(["umount", "-l", str(point)], check=True)


def selftest(point: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the selftest there; return its JSON."""
    command = [sys.executable, "-m", "palazzo", "selftest", "--json", "--directory", str(point)]
    for suite in ("kill9", "bits"):
        if size := getattr(arguments, suite):
            command += [f"--{suite}", str(size)]
    command += ["--seed", str(arguments.seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> int:
    """Print a row for each file system and suite; exit code 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kill9", type=int, default=20)
    parser.add_argument("--bits", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    arguments = parser.parse_args()
    parent = os.environ.get("TMPDIR") or tempfile.gettempdir()
    print(f"| file system | {' | '.join(COLUMNS)} |\n|{'---|' * (1 + len(COLUMNS))}", flush=True)
    is_lossless = True
    for kind in arguments.kinds or KINDS:
        with tempfile.TemporaryDirectory(dir=parent) as name:
            try:
                with mounted(kind, Path(name)) as point:
                    result = selftest(point, arguments)
            except CannotMount as error:
                print(f"| {kind} | not run: {error} |", flush=True)
                continue
        for row in result["rows"]:
            values = [row[column] if column != "seconds" else round(row[column]) for column in COLUMNS]
            print(f"| {result['file_system']} | {' | '.join(map(str, values))} |", flush=True)
            is_lossless &= not row["lost"] and not row["doubled"]
    return 0 if is_lossless else 1


if __name__ == "__main__":
    raise SystemExit(main())
