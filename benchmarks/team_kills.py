"""A team server, its worker and PostgreSQL are killed (-9) in the middle of work; what was acknowledged is found.

    python benchmarks/team_kills.py [--kills 50] [--minutes 60] [--seed 1] [--failover]

A person shares one decision after another with `palazzo team share`'s own code, and repeats a share that failed, as the
service does. Meanwhile one of three is killed at a random moment and started again: the `team serve` that answers,
the `team serve` that merges, all of PostgreSQL (with fsync and synchronous_commit, as it comes). At the
end every decision whose share succeeded must be found by its words, once. PostgreSQL is the newest of this machine.
With `--failover`, PostgreSQL has a synchronous streaming replica instead: the primary is killed once and never started
again, the replica is promoted, and servers and worker find it by the address alone, which names both.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.team.members import Person
from tests.team.postgres import Cluster, program_directories, replicating, running

from palazzo.errors import PalazzoError
from palazzo.features.team import contract
from palazzo.team.server import accounts
from palazzo.team.server.team_database import TeamDatabase

OPTIONS = "-c fsync=on"
FAILOVER_AFTER = 10.0
"""Seconds of work before a failover, and after it."""
PATIENCE = 120.0
"""Seconds until a started program must answer, and until the worker must have built what was shared."""


class Server:
    """A process of `palazzo team serve` at a fixed port."""

    def __init__(self, database: str, home: Path, *options: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._command = [
            sys.executable, "-P", "-m", "palazzo", "team", "serve", f"127.0.0.1:{self.port}", *options
        ]  # fmt: skip
        self._variables = {**os.environ, "HOME": str(home), "PALAZZO_TEAM_DATABASE": database}
        self.start()

    def start(self) -> None:
        """Start it; it refuses to start while PostgreSQL is away, so it is started again until it listens."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            self._process = subprocess.Popen(
                self._command, env=self._variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            while self._process.poll() is None:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                        return
                time.sleep(0.05)
        raise SystemExit("a team server did not start")

    def kill(self) -> None:
        """Kill it with -9, also where it has ended."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def has_ended(self) -> bool:
        """Return whether it ended by itself, which it must not."""
        return self._process.poll() is not None


class Writer:
    """A person who shares decisions, one after another, until told to stop."""

    def __init__(self, person: Person) -> None:
        self._person = person
        self.stop = threading.Event()
        self.acknowledged: list[str] = []
        self.failures: Counter[str] = Counter()
        self.thread = threading.Thread(target=self._write, daemon=True)

    def _write(self) -> None:
        number = 0
        while not self.stop.is_set():
            text = f"Decision decision{number}x: the queue keeps payments for {number} days."
            self._person.say(text)
            if self._share():
                self.acknowledged.append(text)
            number += 1

    def _share(self) -> bool:
        """Share until it succeeds; return False if it must stop before."""
        while True:
            try:
                self._person.share(with_past=True)
                return True
            except PalazzoError as error:
                self.failures[type(error).__name__] += 1
                if self.stop.wait(0.2):
                    return False


def run(kills: int, minutes: float, seed: int, cluster: Cluster, directory: Path) -> bool:
    """Kill, and print what is found; return whether everything is."""
    chance, url = random.Random(seed), cluster.new_database("team")
    with TeamDatabase(url) as database:
        database.prepare()
        invitation = accounts.add_person(database, "Ada")
    answering, merging = Server(url, directory / "one", "--no-worker"), Server(url, directory / "two")
    try:
        return _kill_in_turns(kills, minutes, chance, cluster, (answering, merging), invitation, directory)
    finally:
        merging.kill()
        answering.kill()


def _kill_in_turns(
    kills: int,
    minutes: float,
    chance: random.Random,
    cluster: Cluster,
    servers: tuple[Server, Server],
    invitation: str,
    directory: Path,
) -> bool:
    answering, merging = servers
    person = Person(directory / "ada" / "palace.db")
    person.run(contract.TeamJoinRequest(f"http://127.0.0.1:{answering.port}", invitation))
    writer, counts = Writer(person), Counter[str]()
    writer.thread.start()
    until = time.monotonic() + minutes * 60
    while counts.total() < kills and time.monotonic() < until:
        time.sleep(chance.uniform(0.1, 2.5))
        victim = chance.choice(["server", "worker", "PostgreSQL"])
        counts[victim] += 1
        if victim == "PostgreSQL":
            cluster.kill()
            cluster.start(OPTIONS)
        else:
            process = answering if victim == "server" else merging
            process.kill()
            process.start()
        for process in (answering, merging):
            if process.has_ended():
                writer.stop.set()
                print(f"a server ended by itself after {victim} was killed")
                return False
    writer.stop.set()
    writer.thread.join()
    missing, doubled = _look(person, writer.acknowledged)
    killed = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    failed = ", ".join(f"{name} {count}" for name, count in sorted(writer.failures.items())) or "none"
    print(f"killed: {killed}")
    print(f"acknowledged: {len(writer.acknowledged)}; attempts that failed and were repeated: {failed}")
    print(f"not found: {len(missing)}; found twice: {len(doubled)}")
    return not missing and not doubled


def fail_over(cluster: Cluster, directory: Path) -> bool:
    """Kill a primary under load and promote its replica; print what is found; return whether everything is."""
    url = cluster.new_database("team")
    with TeamDatabase(url) as database, replicating(cluster, OPTIONS) as replica:
        database.prepare()
        invitation = accounts.add_person(database, "Ada")
        both = url.replace(str(cluster.directory), f"{cluster.directory},{replica.directory}")
        server = Server(f"{both} target_session_attrs=read-write", directory / "one")
        person = Person(directory / "ada" / "palace.db")
        person.run(contract.TeamJoinRequest(f"http://127.0.0.1:{server.port}", invitation))
        writer = Writer(person)
        writer.thread.start()
        time.sleep(FAILOVER_AFTER)
        before = len(writer.acknowledged)
        cluster.kill()
        began = time.monotonic()
        replica.run("pg_ctl", "-D", str(replica.data), "-w", "promote")
        while len(writer.acknowledged) <= before + 1 and time.monotonic() < began + PATIENCE:
            time.sleep(0.05)
        paused = time.monotonic() - began
        time.sleep(FAILOVER_AFTER)
        writer.stop.set()
        writer.thread.join()
        missing, doubled = _look(person, writer.acknowledged)
        server.kill()
    print(f"the primary was killed after {before} acknowledged shares; the next was acknowledged {paused:.1f} s later")
    print(f"acknowledged: {len(writer.acknowledged)}; not found: {len(missing)}; found twice: {len(doubled)}")
    return not missing and not doubled and len(writer.acknowledged) > before


def _look(person: Person, texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the texts that are not found once the worker is done, and those that are found more than once."""
    until = time.monotonic() + PATIENCE
    while texts and time.monotonic() < until and not _is_found(person, texts[-1]):
        time.sleep(0.5)
    counts = {text: _count(person, text) for text in texts}
    return [text for text in texts if counts[text] == 0], [text for text in texts if counts[text] > 1]


def _is_found(person: Person, text: str) -> bool:
    """Return whether a text is found by now; PostgreSQL may still be recovering from the last kill."""
    try:
        return _count(person, text) > 0
    except PalazzoError:
        return False


def _count(person: Person, text: str) -> int:
    return sum(hit.text == text for hit in person.find(text.split(":")[0]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, with a cluster and homes of its own."""
    parser = argparse.ArgumentParser(description="Kill a team server, its worker and PostgreSQL.")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60, help="stop killing after this time")
    parser.add_argument("--failover", action="store_true")
    given = parser.parse_args(arguments)
    programs = program_directories()[0]
    version = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory(prefix="palazzo-kills-") as directory, running(programs, OPTIONS) as cluster:
        print(f"{version.stdout.strip()}, seed {given.seed}")
        is_whole = (
            fail_over(cluster, Path(directory))
            if given.failover
            else run(given.kills, given.minutes, given.seed, cluster, Path(directory))
        )
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
