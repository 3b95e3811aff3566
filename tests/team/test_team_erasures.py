"""Certificates of what was withdrawn: they say "gone" only where the words are gone, and name who still has them."""

from __future__ import annotations

import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.index.hashed_words import HashedWords
from tests.team.members import METRICS_TOKEN, Person, Team
from tests.team.postgres import OWNER, Cluster

from palazzo.features.team.contract import TeamErasuresRequest, TeamErasuresResult, TeamHitView, TeamMemberRequest
from palazzo.model import Micros
from palazzo.palace import Palace
from palazzo.store import hook_sessions, ledger
from palazzo.store.ledger import Part
from palazzo.team.server.erasures import purge
from palazzo.team.server.worker import Worker

pytestmark = pytest.mark.slow
DECISION = "We retry payments twice, because the bank closes connections at midnight."
SECRET = "The merger with Quillfeather is announced on Thursday."
WORD = "Quillfeather"


def erasures(person: Person) -> TeamErasuresResult:
    result: TeamErasuresResult = person.run(TeamErasuresRequest())
    return result


def forget_last(person: Person) -> None:
    with Palace.open(person.palace) as palace:
        with palace.database.snapshot() as connection:
            rows = connection.execute("SELECT uid FROM drawer ORDER BY id DESC LIMIT 1")
            drawers = [bytes(uid).hex() for (uid,) in rows]
        palace.forget(drawers)


def files_with(word: str, cluster: Cluster, url: str) -> list[str]:
    """The files of a database in which a word stands, read from the disk after a checkpoint."""
    with psycopg.connect(cluster.url("postgres", OWNER), autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        name = url.rpartition("=")[2]
        row = connection.execute("SELECT oid FROM pg_database WHERE datname = %s", (name,)).fetchone()
    assert row is not None
    base = cluster.directory / "data" / "base" / str(row[0])
    outcome = subprocess.run(["grep", "-rlaiF", word, base], capture_output=True, text=True, check=False)
    return outcome.stdout.splitlines()


def find_secret(person: Person) -> TeamHitView:
    return next(hit for hit in person.find("merger") if WORD in hit.text)


@pytest.fixture
def pair(team: Team) -> tuple[Person, Person]:
    """Ada, who shares a decision and a secret with Ben; the secret was told to an agent of Ben's."""
    ada, ben = team.join("Ada"), team.join("Ben")
    ada.say(DECISION)
    ada.say(SECRET)
    ada.share()
    ada.run(TeamMemberRequest("shop", "Ben"))
    team.build()
    hit = find_secret(ben)
    with Palace.open(ben.palace) as palace, palace.database.transaction() as connection:
        session = hook_sessions.record_hook(connection, "claude-code", "s1", Micros(1)).row
        for text, uid in ((hit.text, hit.id), ("Ben's own", "ab" * 16)):
            ledger.record(connection, session, 1, "prompt", "asked", text, [Part("other", uid)], 9, 9, Micros(1))
    return ada, ben


def told(person: Person) -> list[str | None]:
    with Palace.open(person.palace) as palace, palace.database.snapshot() as connection:
        return [None if body is None else bytes(body).decode() for (body,) in connection.execute(
            "SELECT text FROM injection ORDER BY id"
        )]  # fmt: skip


def test_a_certificate_is_complete_only_when_every_place_is_clean(
    team: Team, pair: tuple[Person, Person], cluster: Cluster, database_url: str, tmp_path: Path
) -> None:
    ada, ben = pair
    other = Worker(team.database, tmp_path / "other machine", HashedWords)
    ada.share(with_past=True)
    hit = find_secret(ben)
    forget_last(ada)
    assert ada.share().withdrawn
    (asked,) = erasures(ada).erasures
    assert (asked.wing, asked.person, len(asked.segments), asked.rows_at) == ("shop", "Ada", 1, None)
    assert not asked.scratch[0].is_clean

    assert other.run() == 1  # another machine builds the wing; the first one still has its copy
    (built,) = erasures(ada).erasures
    assert (built.drawers, built.heap_at) == ((hit.id,), None)
    assert [copy.is_clean for copy in built.scratch].count(False) == 1
    team.build()
    assert files_with(WORD, cluster, database_url)  # a deleted row stays in the files

    with team.database.as_reader(1), psycopg.connect(database_url) as watching:
        watching.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        watching.execute("SELECT 1")  # it sees the database as it was
        assert purge(team.database, 30).erasures == 1  # younger than the withdrawal: it holds up nothing
    assert not files_with(WORD, cluster, database_url)
    assert files_with("midnight", cluster, database_url)

    assert told(ben) == [SECRET, "Ben's own"]
    (waiting,) = erasures(ada).erasures
    assert [notice.person for notice in waiting.clients if notice.acknowledged_at is None] == ["Ben"]
    assert not waiting.is_complete
    assert erasures(ben).removed_here == 1
    assert told(ben) == [None, "Ben's own"]
    (done,) = erasures(ada).erasures
    assert done.is_complete
    assert done.backups_until
    assert erasures(ben).erasures == ()  # of Ada's wing, which Ben only reads
    assert purge(team.database, 30).tables == 0


def test_an_old_transaction_that_still_sees_the_words_holds_up_the_certificate(
    team: Team, pair: tuple[Person, Person], cluster: Cluster, database_url: str
) -> None:
    ada, _ = pair
    with psycopg.connect(database_url) as watching:
        watching.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        watching.execute("SELECT 1")
        forget_last(ada)
        ada.share()
        team.build()
        assert purge(team.database, None).blocked
        assert erasures(ada).erasures[0].heap_at is None
    assert purge(team.database, None).erasures == 1
    assert not files_with(WORD, cluster, database_url)


def fetch(url: str, token: str = "") -> str:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=10) as response:
        content: bytes = response.read()
        return content.decode()


def read_samples(text: str) -> dict[str, Any]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_figures_need_their_token_and_have_no_name_in_them(team: Team, pair: tuple[Person, Person]) -> None:
    ada, _ = pair
    for token in ("", "wrong", ada.membership.token):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            fetch(f"{team.url}/metrics", token)
    text = fetch(f"{team.url}/metrics", METRICS_TOKEN)
    samples = read_samples(text)
    assert (samples["palazzo_team_people"], samples["palazzo_team_wings"]) == (2, 1)
    assert samples['palazzo_team_requests_total{verb="show_metrics",status="403"}'] == 3
    assert samples['palazzo_team_request_seconds_bucket{verb="find",le="+Inf"}'] == 1
    assert samples["palazzo_team_database_bytes"] > samples["palazzo_team_segment_bytes"] > 0
    assert not any(name in text for name in ("Ada", "Ben", "shop"))
