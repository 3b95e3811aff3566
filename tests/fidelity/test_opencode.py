"""opencode's database, made from its own schema in WAL mode: read while opencode is closed, open, and writing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.sources.opencode_samples import Writer

from palazzo.errors import SourceUnreadable
from palazzo.hosts.opencode.opencode_database import Opencode
from palazzo.model import Micros
from palazzo.sources.formats import Message

from .kept import opencode_part
from .told import EVERY_DAY, SLOW, START, Turn, heard, hold, spoken

LATER = Micros((START + 86_400_000_000) * 1000)
WRAP = (1 << 48) // 4096 * ((START * 4096 >> 48) + 1)
"""The millisecond at which ids begin anew, the next time after the start."""


def write(writer: Writer, session: str, told: list[Turn], shift: int = 0) -> None:
    """Write a conversation as opencode does, a message with one part for each turn."""
    writer.connection.execute("BEGIN")
    writer.session(session, START + shift)
    for n, one in enumerate(told):
        role = "user" if one.role == "user" else "assistant"
        writer.message(session, role, one.at + shift, [opencode_part(Turn(one.role, one.text, one.at + shift), n)])
    writer.connection.execute("COMMIT")


def fit(told: list[Turn]) -> list[Turn]:
    """Without what a pair of quotes around a prompt would do, which is the host's."""
    return [one for one in told if not (one.role == "user" and '"' in one.text)]


def round_trips(path: Path, examples: int) -> None:
    writer = Writer(path)
    sessions = 0

    def check(told: list[Turn], directory: Path, way: int) -> None:
        nonlocal sessions
        sessions += 1
        shift = WRAP - START - 150_000 if way % 2 else 0  # every second conversation goes on while ids begin anew
        write(writer, f"ses_{sessions}", fit(told), shift)
        [session] = [
            one for one in Opencode(lambda: LATER).sessions(path) if one.identity.session_id == f"ses_{sessions}"
        ]
        expected = [Turn(one.role, one.text, one.at + shift) for one in fit(told)]
        assert heard(session.rows()) == spoken(expected)
        if sessions % 50 == 0:
            writer.connection.execute("DELETE FROM session")

    hold(check, path.parent, examples)
    writer.close()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    round_trips(tmp_path / "opencode.db", EVERY_DAY)


@pytest.mark.slow
def test_what_is_written_is_read_back_a_thousand_times(tmp_path: Path) -> None:
    round_trips(tmp_path / "opencode.db", SLOW)


def test_a_writer_that_goes_on_writing_is_read_without_a_gap(tmp_path: Path) -> None:
    """Every read is a beginning of what was written in the end, no shorter than the read before, and no lock fails."""
    path = tmp_path / "opencode.db"
    writer = Writer(path)
    writer.session("ses_1")
    told = [Turn(("user", "assistant")[n % 2], f"word {n}", START + n) for n in range(300)]
    done = threading.Event()

    def go_on() -> None:
        for n, one in enumerate(told):
            writer.message("ses_1", one.role, one.at, [opencode_part(one, n)])
            if n % 60 == 59:
                writer.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        done.set()

    thread = threading.Thread(target=go_on)
    thread.start()
    before: list[str] = []
    while True:
        ended = done.is_set()
        [session] = Opencode(lambda: LATER).sessions(path)
        said = [row.content.text for row in session.rows() if isinstance(row.content, Message)]
        assert said[: len(before)] == before
        assert said == [one.text for one in told[: len(said)]]
        before = said
        if ended:
            break
    thread.join()
    assert len(before) == len(told)
    writer.close()


@pytest.mark.parametrize(
    ("damage", "missing"),
    [
        ("DROP TABLE part", "has no table 'part'"),
        ("ALTER TABLE message RENAME COLUMN data TO content", "has no column 'data' in 'message'"),
        ("ALTER TABLE session RENAME TO sessions", "has no table 'session'"),
    ],
)
def test_a_half_migrated_database_says_what_is_missing(damage: str, missing: str, tmp_path: Path) -> None:
    writer = Writer(tmp_path / "opencode.db")
    writer.connection.execute("PRAGMA legacy_alter_table=ON").fetchall()
    writer.connection.execute(damage)
    with pytest.raises(SourceUnreadable, match=missing):
        list(Opencode().sessions(writer.path))
    writer.close()
