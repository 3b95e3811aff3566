"""Wake-up as people and hosts call it: the same within a session, as of a day, without what is not to be told."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, spawn

from palazzo.archive.archive_reader import short_id
from palazzo.features.wakeup.contract import WakeUpRequest
from palazzo.features.wakeup.wake_up import wake_up
from palazzo.model import Micros
from palazzo.operations.context import Context
from palazzo.store import wake_blocks
from palazzo.store.database import Database

WORDS = "zebra-quartz-90417"


def sections(woken: dict[str, list[dict[str, str]]]) -> dict[str, list[str]]:
    """What is told, by section."""
    found: dict[str, list[str]] = {}
    for line in woken["lines"]:
        found.setdefault(line["section"], []).append(line["text"])
    return found


def session(home: Path, name: str, *said: tuple[str, str, str]) -> None:
    """A conversation of Claude Code about the project: (when, who, what)."""
    directory = home / ".claude" / "projects" / "-shop"
    directory.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "type": who,
            "uuid": f"{name}-{n}",
            "parentUuid": f"{name}-{n - 1}" if n else None,
            "sessionId": name,
            "cwd": str(home / "shop"),
            "timestamp": at,
            "message": {"role": who, "content": what},
        }
        for n, (at, who, what) in enumerate(said)
    ]
    (directory / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_it_tells_what_is_due_open_decided_known_and_written(palazzo: Command, shop: Path) -> None:
    palazzo.json("todo", "add", "Write the release notes", "--due", "tomorrow")
    palazzo.json("remind", "Renew the certificate", "--at", "in 1 hour")
    palazzo.json("kg", "add", "shop", "opens at", "nine")
    palazzo.json("diary", "write", "Codex", "Moved the cache out of the way.")
    woken = palazzo.json("wake-up", "--agent", "codex")
    assert woken["agent"] == "Codex"
    assert sections(woken) == {
        "todo": ["Write the release notes"],
        "decision": ["We chose SQLite because it needs no server."],
        "fact": ["shop opens at nine"],
        "diary": ["Moved the cache out of the way."],
        "note": ["The grey cat sleeps on the router."],
    }
    assert "diary" not in sections(palazzo.json("wake-up", "--agent", "somebody-else"))
    done = woken["lines"][0]["id"]
    palazzo.json("todo", "done", done)
    assert "todo" not in sections(palazzo.json("wake-up"))


def test_sessions_are_told_by_what_they_came_to_and_their_decisions_and_open_threads(
    palazzo: Command, home: Path
) -> None:
    session(
        home,
        "one",
        ("2026-03-04T10:00:00Z", "user", "Which database shall we take for the queue, Redis or SQLite?"),
        ("2026-03-04T10:01:00Z", "assistant", "Both would do. SQLite needs no server. Which shall it be?"),
        ("2026-03-04T10:02:00Z", "user", "Let's go with SQLite for the queue. We decided against Redis for good."),
        ("2026-03-04T10:03:00Z", "assistant", "Noted. The retention of old jobs is still open: nobody has said how."),
    )
    palazzo.json("feed", "--min-messages", "1")
    told = sections(palazzo.json("wake-up"))
    assert any("SQLite" in line for line in told["decision"])
    assert told["session"][0].startswith("Which database shall we take")


def test_a_reminder_that_is_due_comes_first_at_every_depth_until_it_is_done(palazzo: Command, shop: Path) -> None:
    one = palazzo.json("remind", "Renew the certificate", "--at", "now")["reminder"]["id"]
    palazzo.json("remind", "Not yet", "--at", "in 2 hours")
    palazzo.json("remind", "Not here", "--at", "now", "--wing", "other")
    for depth in ("shallow", "medium", "deep"):
        woken = palazzo.json("wake-up", "--depth", depth)
        assert (woken["lines"][0]["section"], woken["lines"][0]["id"]) == ("due", one)
        assert woken["text"].split("\n")[1] == "Due reminders:"
        assert sections(woken)["due"] == ["Renew the certificate"]
    palazzo.json("reminders", "done", one)
    assert "due" not in sections(palazzo.json("wake-up"))


def test_a_session_is_told_the_same_while_others_write_and_anew_in_its_next_epoch(palazzo: Command, shop: Path) -> None:
    first = palazzo("wake-up", "--session", "s1").out
    palazzo.json("remember", "A decision that came later.", "--kind", "decision")
    palazzo.json("todo", "add", "Something new")
    palazzo.json("settings", "set", "context_depth", "deep")
    assert palazzo("wake-up", "--session", "s1").out == first
    whole = palazzo.json("wake-up", "--session", "s1")
    assert whole["text"] == first.strip()
    assert all(f"[{line['id'][:12]}]" in first for line in whole["lines"])
    assert whole["frozen_at"]
    assert "came later" in palazzo("wake-up", "--session", "s2").out
    assert "came later" in palazzo("wake-up", "--session", "s1", "--depth", "medium").out
    assert palazzo.json("wake-up")["frozen_at"] is None
    with Context() as context:
        lost = wake_up(context, WakeUpRequest(session="s1", epoch=1))
        assert "came later" in lost.text
        palazzo.json("remember", "A decision that came last.", "--kind", "decision")
        assert wake_up(context, WakeUpRequest(session="s1", epoch=1)) == lost
    assert palazzo("wake-up", "--session", "s1").out == first


def test_ids_are_shown_as_short_as_they_name_one_thing_and_read_by_show(palazzo: Command, home: Path) -> None:
    uuid = "e643e6a1-cfa3-583e-8032-85bf7a7e49b8"
    session(home, uuid, ("2026-03-04T10:00:00Z", "user", "Please make the search quicker, it takes four seconds."))
    palazzo.json("feed", "--min-messages", "1")
    palazzo.json("remember", "The shop opens at nine.", "--kind", "decision")
    palazzo.json("kg", "add", "shop", "uses", "Redis")
    palazzo.json("todo", "add", "Write the release notes")
    palazzo.json("remind", "Renew the certificate", "--at", "now")
    woken = palazzo.json("wake-up")
    shown = re.findall(r" \[([0-9a-f-]+)\]$", woken["text"], re.MULTILINE)
    assert {line["section"] for line in woken["lines"]} == {"due", "todo", "decision", "fact", "session"}
    assert [line["id"][: len(short)] for line, short in zip(woken["lines"], shown, strict=True)] == shown
    assert {len(short) for short in shown} == {12, 13}
    for line, short in zip(woken["lines"], shown, strict=True):
        assert palazzo.json("show", short)["id"] in (line["id"], palazzo.json("show", line["id"])["id"])


def test_an_id_of_which_another_begins_alike_is_shown_longer(palazzo: Command, shop: Path) -> None:
    palazzo.json("kg", "add", "shop", "opens at", "nine")
    with Database(shop).transaction() as connection:
        for n in range(3):
            uid = bytes.fromhex("01a2027141df7" + "0" * 18 + str(n))
            connection.execute("UPDATE item SET uid = ? WHERE id = ?", (uid, n + 1))
        connection.execute("UPDATE item SET uid = ? WHERE id = 4", (bytes.fromhex("01a2027141df8" + "0" * 19),))
        assert short_id(connection, "01a2027141df8" + "0" * 19) == "01a2027141df8000"
        assert short_id(connection, "01a2027141df7" + "0" * 19) == "01a2027141df7" + "0" * 19
        assert short_id(connection, "some session") == "some session"


def test_processes_that_ask_at_once_for_one_session_are_told_the_same(palazzo: Command, shop: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        told = [pool.submit(spawn, "wake-up", "--session", "s1", "--json") for _ in range(2)]
        palazzo.json("remember", "A decision meanwhile.", "--kind", "decision")
    first, other = (one.result() for one in told)
    assert first.code == 0, first.error
    assert first.json == other.json
    assert palazzo("wake-up", "--session", "s1").out.strip() == first.json["text"]


def test_of_two_texts_made_at_once_the_first_that_is_kept_is_told_to_both(palazzo: Command, shop: Path) -> None:
    with Database(shop).transaction() as connection:
        assert wake_blocks.keep(connection, "s1", 0, "asked", "first", Micros(1)) == "first"
        assert wake_blocks.keep(connection, "s1", 0, "asked", "second", Micros(2)) == "first"
        assert wake_blocks.keep(connection, "s1", 1, "asked", "second", Micros(2)) == "second"
        assert (
            wake_blocks.keep(connection, "s1", 0, "asked", "third", Micros(wake_blocks.RETENTION_MICROS + 2)) == "third"
        )


def test_what_is_forgotten_is_told_to_no_session_that_has_not_been_told(palazzo: Command, shop: Path) -> None:
    told = palazzo.json("wake-up", "--session", "s1")
    decision = next(line["id"][:12] for line in told["lines"] if line["section"] == "decision")
    palazzo.json("forget", decision, "--yes")
    assert decision not in palazzo("wake-up").out
    assert decision in palazzo("wake-up", "--session", "s1").out
    palazzo.json("undo")
    assert decision in palazzo("wake-up").out


def test_what_is_erased_goes_from_what_sessions_were_told(palazzo: Command, shop: Path) -> None:
    palazzo.json("remember", f"The door opens with {WORDS}.", "--kind", "decision")
    assert WORDS in palazzo("wake-up", "--session", "s1").out
    palazzo.json("erase", "--match", WORDS, "--yes")
    assert WORDS not in palazzo("wake-up", "--session", "s1").out
    assert not any(WORDS.encode() in path.read_bytes() for path in shop.parent.iterdir() if path.is_file())


def test_words_that_are_trusted_less_than_the_settings_say_are_not_told(
    palazzo: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    palazzo.json("diary", "write", "Codex", "An agent wrote this.")
    assert "An agent wrote this." in palazzo("wake-up").out
    monkeypatch.setenv("PALAZZO_AUTO_INJECT_TRUST", "user")
    out = palazzo("wake-up").out
    assert "An agent wrote this." not in out
    assert "We chose SQLite" in out


def test_as_of_a_day_it_tells_what_was_known_then(palazzo: Command, home: Path) -> None:
    session(home, "old", ("2026-01-05T10:00:00Z", "user", "Please mend the login, it fails for everybody today."))
    session(home, "new", ("2026-02-05T10:00:00Z", "user", "Please make the search quicker, it takes four seconds."))
    palazzo.json("feed", "--min-messages", "1")
    palazzo.json("remember", "Known since today alone.", "--kind", "decision")
    then = palazzo.json("wake-up", "--as-of", "2026-01-20")
    assert "2026-01-20" in then["text"].split("\n")[0]
    assert sections(then) == {"session": ["Please mend the login, it fails for everybody today."]}
    assert "Known since today" in palazzo("wake-up").out


def test_a_fact_that_another_superseded_is_told_by_the_other_alone(palazzo: Command, shop: Path) -> None:
    palazzo.json("kg", "add", "shop", "uses", "Redis")
    palazzo.json("kg", "supersede", "shop", "uses", "Redis", "SQLite")
    told = sections(palazzo.json("wake-up"))["fact"]
    assert told == ["shop uses SQLite"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--budget", "0"), "at least 1"),
        (("--agent", "a/b"), "is not a valid agent name"),
        (("--agent", "x" * 300), "the limit is 64"),
        (("--session", ""), "--session"),
        (("--wing", "shpo"), "shop"),
    ],
)
def test_what_cannot_be_meant_is_said_in_a_sentence(
    palazzo: Command, shop: Path, arguments: tuple[str, ...], said: str
) -> None:
    ran = palazzo("wake-up", *arguments)
    assert ran.code in (1, 2)
    assert said in ran.error
    assert ran.error.count("\n") <= 2
