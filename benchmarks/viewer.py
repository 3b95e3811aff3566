"""Measure the viewer's pages: milliseconds to the first byte and to the last, and bytes, page by page.

    python benchmarks/make_palace.py 100000
    python benchmarks/viewer.py 100000 [--rounds 10] [--directory DIR] [--palace FILE] [--json]

Each page is requested over a real socket, and its row is printed when it is measured. `cpu ms` is what server and
client computed: on a busy machine it says what a page costs, where the clock says how long it waited for a core. Rows
"after a note" are of requests that each follow a new note, so that figures and lists have changed. Rows "with …" are
what a page fetches after it is shown. In this palace nothing is derived, and no background process runs: these requests
spend the two seconds on it that a page spends at most. Goal: 100 ms at 100,000 drawers, and at most 250 KB compressed
for the first page with its style sheet and scripts.

The palace is copied. The service makes digests in the background; here only the sessions of the first two pages of the
list get them, because those of all 3,000 take minutes and pages read the digests of their own sessions only.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.make_palace import palace_path
from benchmarks.measuring import CACHE, Row, machine
from tests.faces.web.served_viewer import ServedViewer, served_viewer

from palazzo.derived.digest_consumer import DIGEST_CONSUMER
from palazzo.palace import Palace
from palazzo.store import change_log, source_rows

FIRST_PAGE = ("/", "/static/viewer.css", "/static/viewer.js", "/static/icon.svg")
DIGESTED = 60
"""The newest sessions whose digests are made: two pages of the list."""
PATIENCE = 60.0
"""Seconds after which a request is given up."""


class Timing(NamedTuple):
    """Seconds of one request, and what it brought."""

    status: int
    first_byte: float
    last_byte: float
    processor: float
    size: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the pages of one palace."""
    parser = argparse.ArgumentParser(description="Measure the viewer's pages.")
    parser.add_argument("drawers", type=int)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--palace", type=Path, help="this palace instead of one that make_palace.py made")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON as well, at the end")
    options = parser.parse_args(arguments)
    source = options.palace or palace_path(options.directory, options.drawers)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="pz") as place:
        shutil.copy(source, Path(place) / "palace.db")
        with served_viewer(Path(place)) as served:
            client = served.enter()
            make_digests(client)
            figures = client.run("page_figures")
            print("  ".join(f"{name}: {value}" for name, value in machine().items()))
            print(f"{figures.drawers:,} drawers, {sum(figures.hosts.values()):,} sessions")
            print_cells("page", "cpu ms", "first byte ms", "last byte ms", "KB")
            for row in measure_pages(client, options.rounds):
                rows.append(row)
                print_cells(*row.values())
            print(f"first page with all that it loads: {first_page_kilobytes(client):.1f} KB compressed")
    if options.json:
        print(json.dumps({**machine(), "rows": rows}, indent=1))
    return 0


def print_cells(name: object, *cells: object) -> None:
    """Print one line of the table at once: a run takes minutes."""
    print(f"{name!s:32}" + "".join(f"{cell!s:>15}" for cell in cells), flush=True)


def make_digests(client: ServedViewer) -> None:
    """Make the digests of the newest sessions, and let the consumer begin after them."""
    listed = client.run("session_page", limit=DIGESTED)
    sessions = [session.id for period in listed.periods for session in period.sessions]
    with Palace.open(client.directory / "palace.db") as palace, palace.database.transaction() as connection:
        for session in sessions:
            sources = source_rows.sources_of_session(connection, session)
            output = DIGEST_CONSUMER.make(connection, sources)
            if output is not None:
                DIGEST_CONSUMER.keep(connection, sources, output)
        change_log.advance(connection, DIGEST_CONSUMER.name, DIGEST_CONSUMER.version, change_log.head(connection))


def measure_pages(client: ServedViewer, rounds: int) -> Iterator[Row]:
    """Yield a row for each page, for pages after a change, and for what pages fetch later."""
    for name, path in list_pages(client):
        request_page(client, path)
        yield make_row(name, [request_page(client, path) for _ in range(rounds)])
    for name, path in (("first page", "/"), ("sessions", "/sessions"), ("map", "/palace"), ("health", "/health")):
        yield make_row(f"{name}, after a note", [request_after_note(client, path) for _ in range(max(rounds // 2, 1))])
    for name, path in (
        ("code, with friction", "/code?with=friction"),
        ("review, with conflicts", "/review?with=conflicts"),
        ("review, with duplicates", "/review?with=duplicates"),
        ("code, with a file's history", "/code?path=src/server.py&with=history"),
    ):
        yield make_row(name, [request_page(client, path)])


def list_pages(client: ServedViewer) -> list[tuple[str, str]]:
    """Return the pages to measure with their names: each kind once, those of one thing for the newest."""
    (period, *_) = client.run("session_page", limit=1).periods
    drawer = client.run("list_drawers", limit=1).drawers[0]
    session = period.sessions[0].id
    return [
        ("first page", "/"),
        ("hits while typing", "/?q=database+connection&part=hits"),
        ("sessions", "/sessions"),
        ("sessions of a wing", f"/sessions?wing={drawer.wing}"),
        ("a session", f"/session/{session}"),
        ("a drawer", f"/drawer/{drawer.id}"),
        ("map", "/palace"),
        ("a room", f"/room?wing={drawer.wing}&room={drawer.room}"),
        ("knowledge", "/knowledge"),
        ("what agents were told", "/told"),
        ("health", "/health"),
        ("review", "/review"),
        ("code", "/code"),
        ("code, a file", "/code?path=src/server.py"),
    ]


def request_page(client: ServedViewer, path: str) -> Timing:
    """Request a page as a browser does; SystemExit if it is not shown."""
    timing = time_request(client, path)
    if timing.status != 200:
        raise SystemExit(f"{path} answered {timing.status}")
    return timing


def request_after_note(client: ServedViewer, path: str) -> Timing:
    """Request a page after a note was filed."""
    client.run("remember", text=f"Deploys happen on Fridays, {time.time_ns()}.", wing="benchmark")
    return request_page(client, path)


def time_request(client: ServedViewer, path: str) -> Timing:
    """Request a page once."""
    cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    connection = http.client.HTTPConnection("127.0.0.1", client.server.port, timeout=PATIENCE)
    began, computed = time.perf_counter(), time.process_time()
    connection.request("GET", path, headers={"Cookie": cookie})
    answer = connection.getresponse()
    first_byte = time.perf_counter() - began
    size = len(answer.read())
    last_byte, processor = time.perf_counter() - began, time.process_time() - computed
    connection.close()
    return Timing(answer.status, first_byte, last_byte, processor, size)


def make_row(name: str, timings: Sequence[Timing]) -> Row:
    """Return the medians of a page."""

    def median(values: Sequence[float]) -> float:
        return round(1_000 * statistics.median(values), 1)

    return {
        "page": name,
        "cpu ms": median([timing.processor for timing in timings]),
        "first byte ms": median([timing.first_byte for timing in timings]),
        "last byte ms": median([timing.last_byte for timing in timings]),
        "KB": round(timings[-1].size / 1_000, 1),
    }


def first_page_kilobytes(client: ServedViewer) -> float:
    """Return the compressed size of the first page with everything that it loads."""
    return sum(len(gzip.compress(client.get(path).body)) for path in FIRST_PAGE) / 1_000


if __name__ == "__main__":
    sys.exit(main())
