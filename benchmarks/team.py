"""Time a team server's search and ingest, in turns with the palace that has the same drawers.

    python benchmarks/make_palace.py 200000
    python benchmarks/team.py 200000 [--queries 100] [--clients 32] [--merged 2000] [--json]

The drawers of a palace of `make_palace.py` are written into a PostgreSQL (the newest of this machine, with fsync) as a
worker writes them: one wing there is one wing here, with the same terms and vectors. Each question is then asked of
the palace and of the team, in turns, in one wing and over everything; of the team also as a role that row-level
security does not bind, which shows its cost. `--clients` threads ask two processes of `palazzo team serve` over HTTP.
`--merged` drawers go the whole way: shared as segments, received, merged, cut and written by a worker.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.make_palace import MEASURED_WING, Library, palace_path
from benchmarks.measuring import CACHE, Row, milliseconds, report, resident_mb, spread
from benchmarks.search_latency import questions
from benchmarks.synthetic import SyntheticVectors
from tests.team.postgres import OWNER, Cluster, program_directories, running, working

from palazzo.index.query import Query
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.security.device_keys import DeviceKey
from palazzo.store import drawer_listing
from palazzo.store.drawer_listing import Listing
from palazzo.sync import segments
from palazzo.sync.device_cards import Card, Signer
from palazzo.sync.segments import Series
from palazzo.team.client import wing_records
from palazzo.team.client.team_connection import TeamConnection
from palazzo.team.server import accounts, ingress, scratch_palace, wing_rows
from palazzo.team.server.accounts import Account
from palazzo.team.server.team_database import TeamDatabase
from palazzo.team.server.team_search import TeamSearch
from palazzo.team.server.worker import Worker

AT_ONCE = 2_000
"""Drawers that are written in one call, as a worker writes what was shared meanwhile."""
WARM_UP = 5


@dataclass(frozen=True, slots=True)
class Member:
    """A person of the team, and their device."""

    account: Account
    token: str
    key: DeviceKey

    @classmethod
    def join(cls, database: TeamDatabase, name: str) -> Member:
        """Let a person join."""
        key, device = DeviceKey.new(), os.urandom(16)
        token, _ = accounts.join(database, accounts.add_person(database, name), device, key.public, "benchmark")
        return cls(accounts.authenticate(database, token), token, key)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description="Time a team server beside a palace.")
    parser.add_argument("palace", help="a number of drawers, or a path")
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--merged", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    path = palace_path(given.directory, int(given.palace)) if given.palace.isdecimal() else Path(given.palace)
    texts = list(questions(Library.read(given.directory), given.queries + WARM_UP, given.seed))
    with ExitStack() as stack:
        cluster = stack.enter_context(running(program_directories()[0], "-c fsync=on -c shared_buffers=512MB"))
        url = cluster.new_database("team")
        database = stack.enter_context(TeamDatabase(url))
        database.prepare()
        palace = stack.enter_context(Palace.open(path, "read", embedder=SyntheticVectors))
        member = Member.join(database, "Ada")
        report("Team: rows written", [_copy(palace, database, member)], given.json)
        report("Team: one client, in turns with the palace", _time_search(palace, database, cluster, texts), given.json)
        report("Team: many clients over HTTP", _time_clients(url, member, texts, given.clients), given.json)
        report("Team: from a segment to rows", [_time_worker(database, member, texts, given.merged)], given.json)
    return 0


def _copy(palace: Palace, database: TeamDatabase, member: Member) -> Row:
    """Write the palace's drawers as a worker does, wing by wing; return how fast, and how much disk they take."""
    with palace.database.snapshot() as connection:
        wings = defaultdict(list)
        for listed in drawer_listing.list_drawers(connection, Listing()):
            wings[listed.wing].append(listed.row)
        count, seconds = 0, 0.0
        for name, rows in sorted(wings.items()):
            wing = accounts.create_wing(database, member.account, name)
            owners: dict[bytes, int] = _Everything(member.account.person)
            for start in range(0, len(rows), AT_ONCE):
                part = sorted(rows)[start : start + AT_ONCE]
                written = list(scratch_palace.describe_drawers(connection, part, owners))
                uids = [drawer.uid for drawer in written]
                began = time.perf_counter()
                with working(database, wing.wing) as session:
                    wing_rows.update_wing(session, wing.wing, written, uids, SyntheticVectors.id)
                    session.execute(
                        "UPDATE team.wing SET built = built + 1, changed = built + 1 WHERE id = %s", (wing.wing,)
                    )
                seconds += time.perf_counter() - began
            count += len(rows)
    with database.examining() as session:
        session.execute("ANALYZE")
        size = session.execute("SELECT pg_database_size(current_database())").fetchone() or (0,)
    return {
        "drawers": count,
        "wings": len(wings),
        "drawers/s": round(count / seconds),
        "bytes/drawer": size[0] // count,
    }


class _Everything(dict[bytes, int]):
    """Owners of items: one person owns all."""

    def __init__(self, person: int) -> None:
        super().__init__()
        self._person = person

    def __missing__(self, item: bytes) -> int:
        return self._person


def _time_search(palace: Palace, database: TeamDatabase, cluster: Cluster, texts: Sequence[str]) -> list[Row]:
    """Ask each question of the palace, of the team, and of the team without row-level security, in turns."""
    rows = []
    with TeamDatabase(cluster.url("team", OWNER)) as unbound:
        person = Account(1, "Ada", None, None)
        bound_search, unbound_search = (TeamSearch(own, SyntheticVectors) for own in (database, unbound))
        for scope, wing in (("one wing", MEASURED_WING), ("everything", None)):
            ways: dict[str, Callable[[str], object]] = {
                "palace": partial(_ask_palace, palace, wing),
                "team": partial(_ask_team, bound_search, person, wing),
                "team without row security": partial(_ask_team, unbound_search, person, wing),
            }
            taken: dict[str, list[float]] = {name: [] for name in ways}
            for text in texts:
                for name, way in ways.items():
                    taken[name].append(milliseconds(partial(way, text)))
            rows += [{"scope": scope, "what": name, **spread(times[WARM_UP:])} for name, times in taken.items()]
    rows[0]["MB resident"] = round(resident_mb())
    return rows


def _ask_palace(palace: Palace, wing: str | None, text: str) -> object:
    return palace.search(Query(text, wing=wing))


def _ask_team(search: TeamSearch, person: Account, wing: str | None, text: str) -> object:
    return search.search(person, text, 10, wing)


def _time_clients(url: str, member: Member, texts: Sequence[str], clients: int) -> list[Row]:
    """Let one client and then many ask two servers over HTTP."""
    rows = []
    with tempfile.TemporaryDirectory() as home, _serving(url, home) as one, _serving(url, home) as other:
        connections = [TeamConnection(address, member.token) for address in (one, other)]
        for connection in connections:
            for wing in (MEASURED_WING, None):
                connection.search(texts[0], 10, wing)
        for scope, wing in (("one wing", MEASURED_WING), ("everything", None)):
            for count in (1, clients):
                taken: list[float] = []
                began = time.perf_counter()

                threads = [
                    threading.Thread(target=_ask, args=(connections[number % 2], texts[number::count], wing, taken))
                    for number in range(count)
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                rate = len(taken) / (time.perf_counter() - began)
                rows.append({"scope": scope, "clients": count, **spread(taken), "searches/s": round(rate, 1)})
    return rows


def _ask(connection: TeamConnection, texts: Sequence[str], wing: str | None, taken: list[float]) -> None:
    for text in texts:
        began = time.perf_counter()
        connection.search(text, 10, wing)
        taken.append((time.perf_counter() - began) * 1000)


@contextmanager
def _serving(url: str, home: str) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "palazzo", "team", "serve", f"127.0.0.1:{port}", "--no-worker"],
        env={**os.environ, "HOME": home, "PALAZZO_TEAM_DATABASE": url},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        if "listens at" not in line:
            raise SystemExit(line)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate()


def _time_worker(database: TeamDatabase, member: Member, texts: Sequence[str], count: int) -> Row:
    """Share notes as segments, and let a worker build the wing; return how long each part took."""
    access = accounts.create_wing(database, member.account, "merged")
    with tempfile.TemporaryDirectory() as directory:
        with Palace.open(Path(directory) / "palace.db") as palace:
            for number in range(count):
                palace.remember(f"{texts[number % len(texts)]}: decision {number}", Place("merged", "notes"))
            with palace.database.snapshot() as connection:
                lines = [*wing_records.select_records(connection, "merged").lines.values()]
            series = Series(access.uid.hex(), (member.account.device or b"").hex(), None, 1)
            signer = Signer(member.key, Card(member.key.public))
            sent = list(segments.write(lines, series, palace.clock, key=access.key, signer=signer))
        began = time.perf_counter()
        for own in sent:
            ingress.receive(database, member.account, access, own.name, own.content)
        receiving = (time.perf_counter() - began) * 1000
        worker = Worker(database, Path(directory) / "scratch", SyntheticVectors)
        building = milliseconds(worker.run)
    return {
        "drawers": count,
        "segments": len(sent),
        "received, drawers/s": round(count / receiving * 1000),
        "built, drawers/s": round(count / building * 1000),
    }


if __name__ == "__main__":
    sys.exit(main())
