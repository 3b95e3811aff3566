"""The team's schema on every PostgreSQL of this machine: migrations, and what row-level security lets each see."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from tests.team.postgres import OWNER, Cluster, program_directories, running, working

from palazzo.team.server import team_doctor, team_schema
from palazzo.team.server.team_database import DatabaseUnusable, TeamDatabase

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=program_directories(), ids=lambda path: path.parent.name)
def each_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    programs: Path = request.param
    with running(programs) as cluster:
        yield cluster


ROWS = """
INSERT INTO team.person(name) VALUES ('ada'), ('ben'), ('eve');
INSERT INTO team.wing(uid, name, key) SELECT decode(repeat(x, 16), 'hex'), x, decode(repeat(x, 32), 'hex')
 FROM unnest(ARRAY['aa', 'bb']) AS x;
INSERT INTO team.member VALUES (1, 1, 'owner'), (2, 1, 'reader'), (2, 2, 'owner');
"""
DRAWER = """
INSERT INTO team.drawer VALUES (%s, 0, '\\x01', '\\x02', 1, 'teammate', 'note', 'user', '', '', '', '', 0, 'words')
"""
DEVICE = "INSERT INTO team.device VALUES (decode(repeat('01', 16), 'hex'), 2, decode(repeat('02', 32), 'hex'), 'x')"


def filled(url: str) -> TeamDatabase:
    """Two wings with a drawer each; ada owns the first, ben reads it and owns the second, eve is in neither."""
    database = TeamDatabase(url)
    database.prepare()
    with database.as_server() as session:
        session.execute(ROWS)
    for wing in (1, 2):
        with working(database, wing) as session:
            session.execute(DRAWER, (wing,))
    return database


def test_a_person_sees_only_their_wings_on_every_postgresql(each_cluster: Cluster) -> None:
    with filled(each_cluster.new_database("isolation")) as database:
        seen = {}
        for person in (1, 2, 3):
            with database.as_person(person) as session:
                tables = [
                    [wing for (wing,) in session.execute(query)]
                    for query in ("SELECT wing FROM team.drawer ORDER BY 1", "SELECT id FROM team.wing ORDER BY 1")
                ]
                assert tables[0] == tables[1]
                assert session.execute("SELECT count(*) FROM team.token").fetchone() == (0,)
                assert session.execute("SELECT count(*) FROM team.person").fetchone() == (0,)
                seen[person] = tables[0]
        assert seen == {1: [1], 2: [1, 2], 3: []}


def test_a_transaction_for_nobody_sees_nothing_even_after_one_for_somebody(team_database: TeamDatabase) -> None:
    with team_database.as_server() as session:
        session.execute(ROWS)
    with team_database.as_person(2) as session:
        assert session.execute("SELECT count(*) FROM team.wing").fetchone() == (2,)
    with team_database.as_person(3) as session:  # the pool has one idle connection: it is the same
        assert session.execute("SELECT count(*) FROM team.wing").fetchone() == (0,)


def test_a_worker_writes_only_the_wing_that_it_leased(team_database: TeamDatabase) -> None:
    with team_database.as_server() as session:
        session.execute(ROWS)
    with working(team_database, 1) as session:
        session.execute(DRAWER, (1,))
    with pytest.raises(DatabaseUnusable), working(team_database, 1) as session:
        session.execute(DRAWER, (2,))
    with team_database.as_person(2) as session:
        assert session.execute("DELETE FROM team.drawer").rowcount == 0


def test_a_reader_cannot_write_primary_data(team_database: TeamDatabase) -> None:
    with team_database.as_server() as session:
        session.execute(ROWS)
        session.execute(DEVICE)
    head = "INSERT INTO team.head VALUES (%s, decode(repeat('01', 16), 'hex'), 1, 1, '')"
    with team_database.as_person(2) as session:
        session.execute(head, (2,))
    with pytest.raises(DatabaseUnusable), team_database.as_person(2) as session:
        session.execute(head, (1,))


def test_servers_that_start_together_migrate_once(new_database: Callable[[], str]) -> None:
    url = new_database()
    counts: list[int] = []

    def start() -> None:
        with TeamDatabase(url) as database:
            counts.append(database.prepare())

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(counts) == [0, 0, 0, len(team_schema.MIGRATIONS)]


def test_the_first_version_is_migrated_with_what_it_has(
    new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_database()
    with monkeypatch.context() as patch:
        patch.setattr(team_schema, "MIGRATIONS", team_schema.MIGRATIONS[:1])
        with filled(url):
            pass
    with TeamDatabase(url) as database:
        assert [check.name for check in team_doctor.examine(database) if not check.is_ok] == ["tables"]
        assert database.prepare() == len(team_schema.MIGRATIONS) - 1
        assert all(check.is_ok for check in team_doctor.examine(database))
        with database.as_person(2) as session:
            assert session.execute("SELECT count(*) FROM team.drawer").fetchone() == (2,)


def test_a_role_that_row_security_does_not_bind_is_refused(cluster: Cluster, new_database: Callable[[], str]) -> None:
    name = new_database().rpartition("=")[2]
    with TeamDatabase(cluster.url(name, OWNER)) as database, pytest.raises(DatabaseUnusable, match="superuser"):
        database.prepare()
    with psycopg.connect(cluster.url(name, OWNER), autocommit=True) as connection:
        connection.execute("CREATE ROLE bypassing LOGIN BYPASSRLS")
    with TeamDatabase(cluster.url(name, "bypassing")) as database, pytest.raises(DatabaseUnusable, match="BYPASSRLS"):
        database.prepare()


def test_the_doctor_names_what_is_wrong_and_changes_nothing(cluster: Cluster, new_database: Callable[[], str]) -> None:
    url = new_database()
    name = url.rpartition("=")[2]

    def wrong(address: str) -> list[str]:
        with TeamDatabase(address) as database:
            return [check.name for check in team_doctor.examine(database) if not check.is_ok]

    assert wrong(url) == ["tables"]
    assert wrong(cluster.url(name, OWNER)) == ["role", "tables"]
    with TeamDatabase(url) as database:
        database.prepare()
    assert wrong(url) == []
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE team.drawer NO FORCE ROW LEVEL SECURITY")
    assert wrong(url) == ["row-level security"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO team.migration(n, name) VALUES (999, 'later')")
    assert wrong(url) == ["tables"]


def test_a_schema_of_a_newer_palazzo_is_left_alone(team_database: TeamDatabase) -> None:
    with team_database.as_server() as session:
        session.execute("INSERT INTO team.migration(n, name) VALUES (999, 'later')")
    with pytest.raises(Exception, match="newer Palazzo"):
        team_database.prepare()


@pytest.mark.parametrize(("url", "reason"), [("host={} user=x", "does not answer"), ("no address", "not the address")])
def test_no_postgresql_is_one_clear_sentence(tmp_path: Path, url: str, reason: str) -> None:
    with TeamDatabase(url.format(tmp_path)) as database, pytest.raises(DatabaseUnusable, match=reason):
        database.prepare()
