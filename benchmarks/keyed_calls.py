"""How long a call that has a key holds the write lock: from its first write to its commit, nobody else writes.

    python benchmarks/make_palace.py 10000
    python benchmarks/keyed_calls.py 10000 [--times 5] [--only OPERATION …] [--json]

A copy of the palace is furnished with what the calls of `tests/operations/keyed_calls.py` need; each call is made on a
copy of that. `first` is the first call of a process, which also imports what it needs; `plain` is the same call without
a key: the longest of its transactions. Which a commit is depends on the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.make_palace import palace_path
from benchmarks.measuring import CACHE, Row, median, report
from tests.operations.keyed_calls import CALLS, Ids, furnish

from palazzo.operations.context import Context
from palazzo.operations.idempotency import call
from palazzo.operations.registry import operation
from palazzo.store import palace_opening

GOAL_MS = 50.0
"""What a usual call may take of everybody's time."""


@dataclass(frozen=True)
class Hold:
    """How many milliseconds a transaction held the lock, and how many of these were its commit."""

    all: float
    commit: float


@contextmanager
def holds() -> Iterator[list[Hold]]:
    """Collect how long each transaction held the lock."""
    found: list[Hold] = []
    open_file = palace_opening.open_file

    def traced(
        path: Path, mode: palace_opening.Mode, compares_checksums: bool, cache_mb: int, creates: bool = True
    ) -> apsw.Connection:
        connection = open_file(path, mode, compares_checksums, cache_mb, creates)
        began = committing = 0.0

        def happens(event: Mapping[str, Any]) -> None:
            nonlocal began, committing
            now, is_done = time.perf_counter(), event["code"] == apsw.SQLITE_TRACE_PROFILE
            if event["sql"] == "BEGIN IMMEDIATE" and is_done:
                began = now
            elif event["sql"] in ("COMMIT", "ROLLBACK") and began:
                if is_done:
                    found.append(Hold((now - began) * 1000, (now - committing) * 1000))
                    began = 0.0
                else:
                    committing = now

        connection.trace_v2(apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_PROFILE, happens)
        return connection

    palace_opening.open_file = traced
    try:
        yield found
    finally:
        palace_opening.open_file = open_file


def held(palace: Path, name: str, ids: Ids, key: str | None) -> Hold:
    """Make a call on a copy of the palace; return the longest that it held the lock."""
    found = operation(name)
    with tempfile.TemporaryDirectory() as directory:
        copy = _copied(palace, Path(directory))
        variables = {"PALAZZO_SERVICE": "off", "HOME": str(palace.parent)}
        with holds() as seen, Context(copy, palace.parent, variables) as context:
            call(context, found, found.request(**CALLS[name](ids)), key)
        return max(seen, key=lambda one: one.all)


def _copied(palace: Path, directory: Path) -> Path:
    """Copy a palace, to the disk: the first commit would else wait for all of it."""
    copy = Path(shutil.copy(palace, directory / "palace.db"))
    with copy.open("rb+") as file:
        os.fsync(file.fileno())
    return copy


def measure(palace: Path, name: str, ids: Ids, times: int) -> Row:
    """Return one operation's figures; the first call is the first of this process."""
    cold = held(palace, name, ids, "a key")
    warm = [held(palace, name, ids, "a key") for _ in range(times)]
    plain = [held(palace, name, ids, None) for _ in range(times)]
    alls = [one.all for one in warm]
    return {
        "operation": name,
        "first": cold.all,
        "p50": median(alls),
        "max": max(alls),
        "p50 without commit": median([one.all - one.commit for one in warm]),
        "plain p50": median([one.all for one in plain]),
        f"over {GOAL_MS:.0f} ms": "yes" if median(alls) > GOAL_MS else "first" if cold.all > GOAL_MS else "",
    }


def main() -> None:
    """Measure each operation in a process of its own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("drawers", nargs="?", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=list(CALLS), metavar="OPERATION")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        path, name, ids = given.one
        sys.stdout.write(json.dumps(measure(Path(path), name, json.loads(ids), given.times)))
        return
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as directory:
        palace = _copied(palace_path(CACHE, given.drawers), Path(directory))
        ids = json.dumps(dict(furnish(palace)))
        for name in given.only:
            command = [sys.executable, __file__, "--times", str(given.times), "--one", str(palace), name, ids]
            rows.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
    report(f"Milliseconds that a call holds the lock, {given.drawers:,} drawers", rows, given.json, times=given.times)


if __name__ == "__main__":
    main()
