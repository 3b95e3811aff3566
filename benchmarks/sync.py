"""How long syncing takes: the first push of a large palace, a push of a hundred more drawers, and what a device pulls.

    python benchmarks/sync.py PALACE [--git] [--pull]

PALACE is copied; `make_palace.py` makes one. The baseline is the time to read the same records without bringing them
anywhere (`palazzo export`'s work), in the same run.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.features.sync.contract import SyncInitRequest, SyncPullRequest, SyncPushRequest
from palazzo.features.sync.sync_init import sync_init
from palazzo.features.sync.sync_pull import sync_pull
from palazzo.features.sync.sync_push import sync_push
from palazzo.operations.context import Context
from palazzo.sync import record_lines, record_reader

MORE = 100
T = TypeVar("T")


def main() -> None:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("palace", type=Path)
    parser.add_argument("--git", action="store_true", help="through a bare git repository instead of a folder")
    parser.add_argument("--pull", action="store_true", help="also let another device take it in")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="palazzo-sync-") as scratch:
        _measure(given.palace, Path(scratch), given.git, given.pull)


def _measure(palace: Path, scratch: Path, through_git: bool, pulls: bool) -> None:
    remote = scratch / "remote"
    if through_git:
        subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    else:
        remote.mkdir()
    shutil.copy(palace, scratch / "palace.db")
    with _at(scratch, "palace.db") as context:
        context.writing()
        count = _told("reading all records", lambda: _read(context))
        sync_init(context, SyncInitRequest(str(remote), save_key=scratch / "key"))
        first = _told("first push", lambda: sync_push(context, SyncPushRequest())).remotes[0]
        size = f"{first.segments} segments, {first.bytes / 1e6:.1f} MB"
        print(f"  {first.records['item']:,} items, {count:,} records, {size}")
        _told("push of nothing", lambda: sync_push(context, SyncPushRequest()))
        for n in range(MORE):
            remember(
                context, RememberRequest(f"Note {n} of the benchmark: the gateway retries {n} times.", wing="bench")
            )
        more = _told(f"push of {MORE} more", lambda: sync_push(context, SyncPushRequest())).remotes[0]
        print(f"  {more.records['item']:,} items, {more.bytes / 1e3:.1f} kB")
    if pulls:
        with _at(scratch, "other.db") as other:
            sync_init(other, SyncInitRequest(str(remote), key=scratch / "key"))
            _told("first pull", lambda: sync_pull(other, SyncPullRequest()))


def _at(scratch: Path, name: str) -> Context:
    return Context(scratch / name, scratch, {"HOME": str(scratch), "PALAZZO_SERVICE": "off"})


def _read(context: Context) -> int:
    with context.reading().database.snapshot() as connection:
        return sum(
            bool(record_lines.to_line(one))
            for one in record_reader.records(connection, tombstones=True, addresses=False)
        )


def _told(what: str, act: Callable[[], T]) -> T:
    began, worked = time.perf_counter(), time.process_time()
    result = act()
    took, spent = time.perf_counter() - began, time.process_time() - worked
    print(f"{what}: {took:.2f} s ({spent:.2f} s of a processor)", flush=True)
    return result


if __name__ == "__main__":
    main()
