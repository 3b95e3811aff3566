"""Time searches as of a day, beside searches of today, and taking in what was forgotten.

    python benchmarks/make_palace.py 100000
    python benchmarks/as_of.py 100000 [--forget 5000] [--queries 40] [--json]

Works on a copy of the palace that `make_palace.py` made. A day's first search loads the vectors that were live then, as
the first search of a process loads today's; both stand in the table. `--forget` forgets so many drawers, drawn at
random, and times how long the first question about the past takes to take them in.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.make_palace import Library, palace_path
from benchmarks.measuring import CACHE, Row, median, milliseconds, report
from benchmarks.search_latency import questions
from benchmarks.synthetic import SyntheticVectors

from palazzo.index.query import Query
from palazzo.model import Micros
from palazzo.palace import Palace

DAYS = (("a tenth of it was there", 0.1), ("half", 0.5), ("nearly all", 0.99))
FORGOTTEN_AT_ONCE = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Time a copy of the palace named."""
    parser = argparse.ArgumentParser(description="Time searches as of a day.")
    parser.add_argument("drawers", type=int)
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--forget", type=int, default=5000)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    asked = list(questions(Library.read(given.directory), given.queries, given.seed))
    with tempfile.TemporaryDirectory(dir=given.directory) as directory:
        path = Path(directory) / "palace.db"
        shutil.copy(palace_path(given.directory, given.drawers), path)
        with Palace.open(path, embedder=SyntheticVectors) as palace:
            rows = [*_asked(palace, asked, ""), *_forgotten(palace, given.forget, given.seed)]
            rows += _asked(palace, asked, f", {given.forget:,} forgotten")
    report(f"Searches as of a day, {given.drawers:,} drawers", rows, given.json)
    return 0


def _asked(palace: Palace, asked: Sequence[str], state: str) -> list[Row]:
    days = [(f"as of a day when {name}{state}", _day(palace, share)) for name, share in DAYS]
    return [_timed(palace, name, asked, at) for name, at in [(f"today{state}", None), *days]]


def _timed(palace: Palace, name: str, asked: Sequence[str], at: Micros | None) -> Row:
    first = milliseconds(lambda: palace.search(Query(asked[0], as_of=at)))
    later = [milliseconds(lambda text=text: palace.search(Query(text, as_of=at))) for text in asked]  # type: ignore[misc]
    return {"": name, "first ms": first, "p50 ms": median(later), "max ms": max(later)}


def _day(palace: Palace, share: float) -> Micros:
    with palace.database.snapshot() as connection:
        (count,) = next(connection.execute("SELECT count(*) FROM drawer"))
        rows = connection.execute(
            "SELECT created_at FROM drawer ORDER BY created_at LIMIT 1 OFFSET ?", (int(count * share),)
        )
        return Micros(next(rows)[0])


def _forgotten(palace: Palace, count: int, seed: int) -> list[Row]:
    with palace.database.snapshot() as connection:
        live = [bytes(uid).hex() for (uid,) in connection.execute("SELECT uid FROM drawer WHERE retired_at IS NULL")]
    chosen = random.Random(seed).sample(live, min(count, len(live)))
    group = palace.begin_group("user", "forget")
    for start in range(0, len(chosen), FORGOTTEN_AT_ONCE):
        palace.forget(chosen[start : start + FORGOTTEN_AT_ONCE], group=group)
    taken = milliseconds(palace.follow_past)
    return [{"": f"taking in {len(chosen):,} forgotten drawers", "first ms": taken}]


if __name__ == "__main__":
    raise SystemExit(main())
