"""--as-of on a year of sessions that was fed today, and what was done to them since."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.faces.cli.command import Command

MONTHS = range(1, 13)
SAID = {month: f"Decision {month}: the retry budget is {month}0 seconds." for month in MONTHS}


@pytest.fixture
def year(palazzo: Command, home: Path) -> Path:
    """A year's sessions, one a month and one that goes on all year, fed today."""
    for month in MONTHS:
        transcript(home / f"month-{month:02}.jsonl", [(f"2025-{month:02}-10", "assistant", SAID[month])])
    grown = [(f"2025-{month:02}-20", "assistant", f"In month {month} the otter swam.") for month in MONTHS]
    transcript(home / "otters.jsonl", [("2025-01-20", "user", "What does the otter do?"), *grown])
    assert palazzo("mine", "--mode", "convos", str(home)).code == 0
    return home


def transcript(path: Path, said: list[tuple[str, str, str]]) -> None:
    rows = [
        {
            "parentUuid": f"{path.stem}-{n - 1}" if n else None, "isSidechain": False, "type": role,
            "uuid": f"{path.stem}-{n}", "sessionId": path.stem, "cwd": str(path.parent / "shop"),
            "timestamp": f"{day}T10:{n:02}:00Z", "message": {"role": role, "content": text},
        }
        for n, (day, role, text) in enumerate(said)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def texts(palazzo: Command, *arguments: str) -> set[str]:
    return {hit["text"] for hit in palazzo.json("search", *arguments, "--limit", "40", "--budget", "9000")["hits"]}


def test_each_month_is_searched_as_it_stood(palazzo: Command, year: Path) -> None:
    for month in MONTHS:
        there = {SAID[before] for before in range(1, month + 1)}
        assert texts(palazzo, "retry budget", "--as-of", f"2025-{month:02}-28") == there
        assert texts(palazzo, "retry budget", "--as-of", f"2025-{month:02}-09") == there - {SAID[month]}


def test_a_session_that_goes_on_is_shown_up_to_the_day(palazzo: Command, year: Path) -> None:
    (hit,) = palazzo.json("search", "otter", "--as-of", "2025-03-31")["hits"]
    assert hit["text"].split("\n\n") == [
        "What does the otter do?", *(f"In month {month} the otter swam." for month in (1, 2, 3))
    ]  # fmt: skip
    assert hit["truncated"]
    assert "'palazzo show " in palazzo("search", "otter", "--as-of", "2025-03-31").out
    (entry,) = palazzo.json("show", hit["id"], "--as-of", "2025-03-31")["entries"]
    assert (entry["text"], entry["truncated"]) == (hit["text"], True)
    assert "characters added later; palazzo show" in palazzo("show", hit["id"], "--as-of", "2025-03-31").out
    said = palazzo.json("show", "otters", "--as-of", "2025-03-31")
    assert [entry["text"] for entry in said["entries"]] == hit["text"].split("\n\n")


def test_status_counts_what_there_was(palazzo: Command, year: Path) -> None:
    assert [palazzo.json("status", "--as-of", f"2025-{month:02}-28")["drawers"] for month in MONTHS] == [
        month + 1 for month in MONTHS
    ]
    assert palazzo.json("status", "--as-of", "2024-12-31")["wings"] == {}
    assert palazzo.json("status", "--as-of", "2025-01-15")["items"] == 1
    assert (
        "drawers, facts and wings are as of 2025-03-31T23:59:59.999Z" in palazzo("status", "--as-of", "March 2025").out
    )


def test_the_answer_says_as_of_when(palazzo: Command, year: Path) -> None:
    assert palazzo.json("search", "otter", "--as-of", "2025-03-31")["scope"]["as_of"] == "2025-03-31T23:59:59.999Z"
    assert palazzo.json("search", "otter")["scope"]["as_of"] is None
    assert "as of 2025-03-31T23:59:59.999Z" in palazzo("search", "otter", "--as-of", "2025-03-31").out
    assert "without --as-of" in palazzo("search", "otter", "--as-of", "2024-01-01").out


@pytest.mark.parametrize("verb", [("search", "otter"), ("show", "otters"), ("status",)])
def test_a_day_that_has_not_come_is_today_and_says_so(palazzo: Command, year: Path, verb: tuple[str, ...]) -> None:
    ran = palazzo(*verb, "--as-of", "2999-01-01")
    assert ran.code == 0
    assert "is in the future: this is the current state" in " ".join(ran.out.split())


@pytest.mark.parametrize("time", ["2025-02-30", "2025-13-01", "someday", "2025-03-01 10:00 Mars/Olympus", ""])
@pytest.mark.parametrize("verb", [("search", "otter"), ("show", "otters"), ("status",)])
def test_a_time_that_is_none_is_refused_in_a_sentence(
    palazzo: Command, year: Path, verb: tuple[str, ...], time: str
) -> None:
    ran = palazzo(*verb, "--as-of", time)
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.error.splitlines()) == 1
    assert "--as-of" in ran.error


def test_what_was_said_later_is_not_there_yet(palazzo: Command, year: Path) -> None:
    (hit,) = palazzo.json("search", "Decision 7")["hits"][:1]
    for named in (hit["id"], "month-07"):
        ran = palazzo("show", named, "--as-of", "2025-06-30")
        assert (ran.code, "did not exist yet" in ran.error) == (2, True)
    assert "--raw" in palazzo("show", "month-07", "--raw", "--as-of", "2025-08-01").error
    assert palazzo("show", "feedfacefeed", "--as-of", "2025-06-30").code == 2


def test_what_is_forgotten_today_stands_as_of_before(palazzo: Command, year: Path) -> None:
    assert palazzo("forget", "--session", "month-02", "--yes").code == 0
    assert SAID[2] not in texts(palazzo, "retry budget")
    assert SAID[2] in texts(palazzo, "retry budget", "--as-of", "2025-02-28")
    assert palazzo("undo").code == 0
    assert SAID[2] in texts(palazzo, "retry budget")
    assert palazzo.json("verify")["ok"]


def test_forgetting_by_tag_is_one_change_that_undo_takes_back(palazzo: Command, year: Path) -> None:
    ids = [hit["id"] for hit in palazzo.json("search", "retry budget", "--limit", "4")["hits"]]
    assert palazzo.json("tag", "add", "Scratch", *ids)["drawers"] == ids
    assert {"tag": "scratch", "drawers": 4, "by_rule": False} in palazzo.json("tag", "list")["tags"]
    assert len(texts(palazzo, "retry budget", "--tag", "scratch")) == 4
    assert len(palazzo.json("forget", "--tag", "scratch", "--yes")["forgotten"]) == 4
    assert not texts(palazzo, "retry budget", "--tag", "scratch")
    assert palazzo("undo").code == 0
    assert len(texts(palazzo, "retry budget", "--tag", "scratch")) == 4


def test_a_tag_is_taken_off_and_one_by_rule_is_not(palazzo: Command, shop: Path) -> None:
    (hit,) = palazzo.json("search", "retries double")["hits"][:1]
    palazzo("tag", "add", "net", hit["id"])
    assert palazzo.json("tag", "remove", "net", hit["id"])["drawers"] == [hit["id"]]
    for arguments, message in (
        (("remove", "net", hit["id"]), "has the tag 'net'"),
        (("remove", "type:md", hit["id"]), "given by a rule"),
        (("add", "net"), "palazzo tag add TAG ID"),
        (("add", "two\nlines", hit["id"]), "on one line"),
        (("list", "nothing-has-it"), "There are: "),
    ):
        ran = palazzo("tag", *arguments)
        assert ran.code == 2
        assert message in ran.error
        assert len(ran.error.splitlines()) == 1


def test_a_search_keeps_to_all_tags(palazzo: Command, shop: Path) -> None:
    found = palazzo.json("search", "retries double", "--tag", "type:md")["hits"]
    assert found
    assert all(hit["kind"] == "section" for hit in found)
    assert not palazzo.json("search", "SQLite", "--tag", "type:md", "--tag", "storage")["hits"]
    assert palazzo("search", "SQLite", "--tag", "nix").code == 2
    assert "without --tag" in palazzo("search", "zeppelin", "--tag", "storage").out
