"""Workers and servers that die, and several at once: every acknowledged segment is found."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.index.hashed_words import HashedWords
from tests.team.members import Team
from tests.team.postgres import working

from palazzo.store import keyword_columns, keyword_tokens
from palazzo.store.database import Connection
from palazzo.team.server import scratch_palace, wing_rows
from palazzo.team.server.scratch_palace import IsApproved, ScratchPalace, TeamDrawer, TeamPosition
from palazzo.team.server.team_database import Session, TeamDatabase
from palazzo.team.server.worker import Worker

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("PALAZZO_TEAM_KILLS", "3"))
DECISION = "We retry payments twice, because the bank closes connections at midnight."


def test_one_worker_at_a_time_has_a_wing(team: Team, tmp_path: Path) -> None:
    ada = team.join("Ada")
    ada.say(DECISION)
    ada.share()
    other = Worker(team.database, tmp_path / "other", HashedWords)
    with team.database.hold_wing(1) as held:
        assert held is not None
        assert other.run() == 0
    assert other.run() == 1
    assert team.worker.run() == 0
    ada.say("Refunds need two approvals.")
    ada.share()
    assert team.worker.run() == 1  # without the other's scratch palace
    assert len(ada.find("refunds payments approvals retry")) == 2
    ada.say("Invoices are sent before refunds are approved.")
    ada.share()
    assert other.run() == 1  # its scratch palace is older than the rows
    assert len(ada.find("refunds payments approvals retry invoices")) == 3


def test_a_build_reads_and_writes_only_what_is_new(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = team.join("Ada")
    for number in range(5):
        ada.say(f"Decision {number}: the queue keeps payments for {number} days.")
    ada.share()
    assert team.worker.run() == 1
    ada.say(DECISION)
    ada.share()
    described: list[int] = []
    describe = scratch_palace.describe_drawers

    def record_rows(
        connection: Connection, rows: Sequence[int], owners: Mapping[bytes, int], is_approved: IsApproved
    ) -> Iterator[TeamDrawer]:
        described.extend(rows)
        return describe(connection, rows, owners, is_approved)

    with monkeypatch.context() as patch:
        patch.setattr(scratch_palace, "describe_drawers", record_rows)
        assert team.worker.run() == 1
    assert len(described) == 1
    assert ada.find("retry payments bank")[0].text == DECISION


class Details(NamedTuple):
    """What the rows of a wing need of a drawer's details."""

    uid: bytes
    created_at: int
    title: str
    kind: str = "note"
    role: str = "user"
    author: str = "Ada"
    room: str = "checkout"
    branch: str = ""


def make_drawer(number: int, words: Sequence[str], hidden: str) -> TeamDrawer:
    """A drawer with these words; its row does not tell that `hidden` is one of its terms."""
    body = " ".join(words)
    context = keyword_columns.context("title", "Ada", number, "checkout")
    terms = keyword_tokens.stems(f"{body}\n{context} {hidden}")
    details: Any = Details(number.to_bytes(16, "big"), number, "title")
    vectors = tuple((1.0, bytes([number, len(body) % 256])) for _ in range(len(words) % 3))
    position = TeamPosition(7, 8, number, 0, len(body), 0)
    return TeamDrawer(details.uid, 1, "teammate", details, body, tuple(terms), len(terms) + 3, position, vectors)


def read_rows(session: Session) -> list[dict[Any, Any]]:
    """The drawers, postings, lengths and passages of the wing 1, by the ids of drawers instead of slots."""
    uids = {slot: bytes(uid) for slot, uid in session.execute("SELECT slot, uid FROM team.drawer WHERE wing = 1")}
    bodies = dict(session.execute("SELECT slot, body FROM team.drawer WHERE wing = 1").fetchall())
    postings: dict[tuple[str, bytes], int] = {}
    for term, n, slots, counts in session.execute("SELECT term, n, slots, counts FROM team.posting WHERE wing = 1"):
        places = np.frombuffer(slots, "<u2").tolist()
        assert len(places) == len(set(places)) == len(counts) == n > 0
        postings |= {(term, uids[slot]): counts[i] for i, slot in enumerate(places)}
    (row,) = session.execute("SELECT lengths FROM team.length WHERE wing = 1").fetchall()
    lengths = np.frombuffer(row[0], "<u2").tolist()
    assert [slot for slot, length in enumerate(lengths) if length != wing_rows.FREE] == sorted(uids)
    passages = session.execute("SELECT slot, part, code FROM team.passage WHERE wing = 1").fetchall()
    return [
        {uid: bodies[slot] for slot, uid in uids.items()},
        postings,
        {uid: lengths[slot] for slot, uid in uids.items()},
        {(uids[slot], part): bytes(code) for slot, part, code in passages},
    ]


def test_rows_after_any_changes_are_those_of_the_drawers_that_are_left(team_database: TeamDatabase) -> None:
    chance, drawers = random.Random(5), dict[int, TeamDrawer]()
    words = ["payment", "refund", "invoice", "queue", "bank", "parseHTTPRequest", "Zürich", "retry\x00twice"]
    with working(team_database, 1) as session:
        for _ in range(25):
            touched = chance.sample(range(30), chance.randrange(1, 8))
            for number in touched:
                if chance.random() < 0.3:
                    drawers.pop(number, None)
                else:
                    hidden = chance.choice(["", "", "heading", "payment"])
                    drawers[number] = make_drawer(
                        number, chance.choices(words, k=chance.choice([1, 3, 8, 300])), hidden
                    )
            changed = [drawers[number] for number in touched if number in drawers]
            uids = [number.to_bytes(16, "big") for number in touched]
            wing_rows.update_wing(session, 1, changed, uids, "model")
        bodies, postings, lengths, passages = read_rows(session)
    assert bodies == {drawer.uid: drawer.body.replace("\x00", " ") for drawer in drawers.values()}
    assert lengths == {drawer.uid: len(drawer.terms) + 3 for drawer in drawers.values()}
    assert passages == {
        (drawer.uid, part): code for drawer in drawers.values() for part, (_, code) in enumerate(drawer.vectors)
    }
    assert postings == {
        (term, drawer.uid): min(number, 255)
        for drawer in drawers.values()
        for term, number in Counter(drawer.terms).items()
    }


def test_rows_of_an_earlier_version_are_written_again(team: Team) -> None:
    """As after the migration that added where drawers stand: rows without it are found meanwhile, too."""
    ada = team.join("Ada")
    ada.say(DECISION)
    ada.share()
    team.build()
    with working(team.database, 1) as session:
        session.execute("UPDATE team.drawer SET source = 0, thread = 0, size = 0, digest = ''")
    with team.database.as_server() as session:
        session.execute("UPDATE team.wing SET built = -1")
    assert [hit.text for hit in ada.find("retry payments")] == [DECISION]
    team.build()
    with working(team.database, 1) as session:
        assert session.execute("SELECT source <> 0, size FROM team.drawer").fetchall() == [(True, len(DECISION))]
    assert [hit.text for hit in ada.find("retry payments")] == [DECISION]


def test_a_worker_that_fails_when_it_writes_leaves_nothing(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = team.join("Ada")
    ada.say(DECISION)
    ada.share()

    def fail(*_: object) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(wing_rows, "_write_lengths", fail)
        with pytest.raises(OSError, match="disk full"):
            team.build()
    with working(team.database, 1) as session:
        assert session.execute("SELECT count(*) FROM team.drawer").fetchone() == (0,)
    team.build()
    assert [hit.text for hit in ada.find("retry payments")] == [DECISION]


def test_a_withdrawal_during_a_build_wins(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = team.join("Ada")
    ada.say(DECISION)
    ada.share()
    wing, connection = ada.wing(), ada.connection
    read_drawers = ScratchPalace.read_drawers

    def withdraw_first(*arguments: Any) -> Iterator[TeamDrawer]:
        connection.withdraw(wing)
        return read_drawers(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(ScratchPalace, "read_drawers", withdraw_first)
        assert team.worker.run() == 0
    team.build()
    assert ada.find("retry payments") == []


def start_server(url: str, home: Path) -> tuple[subprocess.Popen[str], str]:
    """Run `palazzo team serve`, as a person does; return it and its address."""
    variables = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "PALAZZO_TEAM_DATABASE": url}
    command = [sys.executable, "-P", "-m", "palazzo", "team", "serve", "127.0.0.1:0"]
    process = subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert "listens at" in line, line
    return process, line.split()[-1].rstrip(".")


def test_servers_that_are_killed_lose_no_acknowledged_segment(team: Team, database_url: str, tmp_path: Path) -> None:
    """Each round a server is killed at another moment of its work; another one, on another machine, goes on."""
    ada = team.join("Ada")
    for number in range(KILLS):
        ada.say(f"Decision {number}: the queue keeps payments for {number} days.")
        ada.share()
        process, _ = start_server(database_url, tmp_path / f"machine{number % 2}")
        time.sleep(2.0 + number * 0.37 % 2)  # a worker looks for changed wings every two seconds
        process.send_signal(signal.SIGKILL)
        process.communicate()
    team.build()
    decisions = [f"Decision {number}: the queue keeps payments for {number} days." for number in range(KILLS)]
    found = {hit.text for decision in decisions for hit in ada.find(decision)}
    assert found >= set(decisions)
