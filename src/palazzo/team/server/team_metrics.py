"""Figures for Prometheus: requests and builds of this process, and counts from the database. No name and no word.

The text is in the exposition format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate

from palazzo.team.server.team_database import TeamDatabase

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper bounds of the histogram of request times, in seconds."""
_PREFIX = "palazzo_team"


class ProcessMetrics:
    """What one process has done since its start. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._times: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._builds: Counter[str] = Counter({"done": 0, "failed": 0})

    def count_request(self, verb: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        with self._lock:
            self._requests[verb, status] += 1
            self._times[verb][bisect_left(BUCKETS, seconds)] += 1
            self._seconds[verb] += seconds

    def count_builds(self, outcome: str, count: int = 1) -> None:
        """Count wings that the worker has built (`done`), or its failures (`failed`)."""
        with self._lock:
            self._builds[outcome] += count

    def lines(self) -> Iterator[str]:
        """Yield the lines of the exposition."""
        with self._lock:
            yield from _head("requests_total", "counter", "Requests answered by this process.")
            for (verb, status), count in sorted(self._requests.items()):
                yield f'{_PREFIX}_requests_total{{verb="{verb}",status="{status}"}} {count}'
            yield from _head("request_seconds", "histogram", "Time to answer, in seconds.")
            for verb, counts in sorted(self._times.items()):
                bounds = (*(f"{bound:g}" for bound in BUCKETS), "+Inf")
                for bound, total in zip(bounds, accumulate(counts), strict=True):
                    yield f'{_PREFIX}_request_seconds_bucket{{verb="{verb}",le="{bound}"}} {total}'
                yield f'{_PREFIX}_request_seconds_sum{{verb="{verb}"}} {self._seconds[verb]:.6f}'
                yield f'{_PREFIX}_request_seconds_count{{verb="{verb}"}} {sum(counts)}'
            yield from _head("worker_runs_total", "counter", "Wings built by this process, and failures of its worker.")
            for outcome, count in sorted(self._builds.items()):
                yield f'{_PREFIX}_worker_runs_total{{outcome="{outcome}"}} {count}'


_GAUGES = (
    ("people", "People who have not left.", "SELECT count(*) FROM team.person WHERE left_at IS NULL"),
    ("wings", "Wings.", "SELECT count(*) FROM team.wing"),
    ("wings_waiting", "Wings that wait for a worker.", "SELECT count(*) FROM team.wing WHERE changed > built"),
    (
        "erasures_pending",
        "Withdrawals whose words are still in PostgreSQL's files: 'palazzo team purge' removes them.",
        "SELECT count(*) FROM team.erasure WHERE heap_at IS NULL",
    ),
    (
        "tokens_expiring",
        "Tokens that expire within 14 days.",
        "SELECT count(*) FROM team.token WHERE scope = 'member' AND revoked_at IS NULL"
        " AND expires_at BETWEEN now() AND now() + interval '14 days'",
    ),
    ("segment_bytes", "Size of what was sent, in bytes.", "SELECT pg_total_relation_size('team.segment')"),
    ("database_bytes", "Size of the database, in bytes.", "SELECT pg_database_size(current_database())"),
)


def expose(database: TeamDatabase, process: ProcessMetrics) -> str:
    """Return all figures as text. Raises DatabaseUnusable."""
    lines = list(process.lines())
    with database.as_server() as session:
        for name, meaning, query in _GAUGES:
            row = session.execute(query).fetchone()
            lines += [*_head(name, "gauge", meaning), f"{_PREFIX}_{name} {row[0] if row else 0}"]
    return "\n".join(lines) + "\n"


def _head(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP {_PREFIX}_{name} {meaning}", f"# TYPE {_PREFIX}_{name} {kind}"]
