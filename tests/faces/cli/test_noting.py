"""What is said of a note besides its words, and what it is found by."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faces.cli.command import Command


def test_what_is_said_of_a_note_is_kept_and_shown(palazzo: Command, home: Path) -> None:
    noted = palazzo.json(
        *("remember", "The nightly job needs the eu-west replica.", "--kind", "Decision", "--tag", "jobs"),
        *("--by", "Codex", "--importance", "0.8", "--metadata", '{"ticket": "SHOP-12", "seen": [1, null]}'),
        *("--at", "2026-01-05T10:00:00Z"),
    )
    shown = palazzo.json("show", noted["drawers"][0])["entries"][0]
    assert (shown["filed_as"], shown["importance"], shown["author"]) == ("decision", 0.8, "Codex")
    assert shown["metadata"] == {"ticket": "SHOP-12", "seen": [1, None]}
    assert shown["created_at"] == "2026-01-05T10:00:00Z"
    assert palazzo.json("show", noted["id"])["entries"][0]["metadata"] == shown["metadata"]
    (hit,) = palazzo.json("search", "nightly replica")["hits"]
    assert (hit["filed_as"], hit["tags"], hit["importance"]) == ("decision", ["jobs"], 0.8)
    assert palazzo.json("verify")["ok"]


@pytest.mark.parametrize(
    "options",
    [
        ("--importance", "1.5"),
        ("--importance", "nan"),
        ("--metadata", "[1]"),
        ("--metadata", "{not json"),
        ("--metadata", '{"a": NaN}'),
        ("--metadata", '{"a": ' + "[" * 60 + "]" * 60 + "}"),
        ("--metadata", '{"a": "' + "x" * 20_000 + '"}'),
        ("--at", "2096-01-01"),
        ("--by", "x" * 300),
    ],
    ids=lambda options: " ".join(options)[:30],
)
def test_what_cannot_be_said_of_a_note_is_refused_before_anything_is_written(
    palazzo: Command, home: Path, options: tuple[str, ...]
) -> None:
    ran = palazzo("remember", "Words.", *options)
    assert (ran.code, options[0] in ran.error) == (2, True)
    assert not (home / ".local").exists()


def test_secrets_beside_a_note_are_taken_out_and_erased_words_too(palazzo: Command, home: Path) -> None:
    noted = palazzo.json("remember", "A key.", "--metadata", '{"login": "xoxb-123456789012-abcdefABCDEF123456"}')
    assert "abcdefABCDEF" not in str(palazzo.json("show", noted["id"]))
    noted = palazzo.json("remember", "A ticket.", "--metadata", '{"ticket": {"heron": "the grey heron"}}')
    palazzo.json("erase", "--match", "grey heron", "--yes")
    assert "grey heron" not in str(palazzo.json("show", noted["id"]))


def test_once_files_the_same_words_once(palazzo: Command, home: Path) -> None:
    first = palazzo.json("remember", "Invoices are in cents.", "--once")
    again = palazzo.json("remember", "Invoices are in cents.", "--once")
    assert (first["filed"], first["duplicate_of"]) == (True, None)
    assert (again["filed"], again["id"], again["drawers"]) == (False, first["id"], first["drawers"])
    assert again["duplicate_of"] == first["drawers"][0]
    assert palazzo.json("status")["items"] == 1
    assert palazzo.json("remember", "Invoices are in cents.", "--once", "--wing", "other")["filed"]
    assert "already" in palazzo("remember", "Invoices are in cents.", "--once").out


def test_what_is_nearly_there_is_filed_and_told_of(palazzo: Command, home: Path) -> None:
    words = "The gateway retries a failed call three times, one second apart, and then gives up for good."
    first = palazzo.json("remember", words)
    again = palazzo.json("remember", f"{words} ")
    assert (again["filed"], again["duplicate_of"]) == (True, first["drawers"][0])


def test_search_keeps_to_a_source_and_to_what_notes_were_filed_as(palazzo: Command, shop: Path) -> None:
    palazzo.json("remember", "SQLite locks are held briefly.", "--kind", "learning", "--importance", "0.2")
    found = palazzo.json("search", "SQLite server deploy retries", "--filed-as", "decision")["hits"]
    assert [hit["filed_as"] for hit in found] == ["decision"]
    several = palazzo.json("search", "SQLite", "--filed-as", "decision", "--filed-as", "learning")["hits"]
    assert {hit["filed_as"] for hit in several} == {"decision", "learning"}
    weighty = palazzo.json("search", "SQLite", "--min-importance", "0.4")["hits"]
    assert [hit["filed_as"] for hit in weighty] == ["decision"]  # it was given none, which is the middle
    of_file = palazzo.json("search", "deploy retries failure release", "--source", "docs/retries.md")["hits"]
    assert {hit["source"]["uri"].rpartition("/")[2] for hit in of_file} == {"retries.md"}
    assert palazzo("search", "x", "--source", "docs/none.md").code == 2
    assert palazzo("search", "x", "--min-importance", "2").code == 2


def test_search_as_of_a_day_keeps_to_what_notes_were_filed_as(palazzo: Command, home: Path) -> None:
    noted = palazzo.json("remember", "We chose SQLite.", "--kind", "decision", "--at", "2026-01-05T10:00:00Z")
    palazzo.json("forget", noted["id"], "--yes")
    asked = ("search", "SQLite", "--filed-as", "decision")
    assert palazzo.json(*asked)["hits"] == []
    assert len(palazzo.json(*asked, "--as-of", "2026-01-10")["hits"]) == 1


def test_forgetting_by_several_tags_forgets_what_has_any(palazzo: Command, home: Path) -> None:
    for text, tag in (("One.", "a"), ("Two.", "b"), ("Three.", "c")):
        palazzo.json("remember", text, "--tag", tag)
    forgotten = palazzo.json("forget", "--tag", "a", "--tag", "b", "--yes")["forgotten"]
    assert len(forgotten) == 2
    assert palazzo.json("status")["drawers"] == 1
    palazzo.json("undo")
    assert palazzo.json("status")["drawers"] == 3
    assert palazzo("forget", "--tag", "a", "--tag", "nothing", "--yes").code == 2


def test_status_says_when_something_was_filed_last(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "One.")
    palazzo.json("remember", "Two.")
    filed = palazzo.json("status")["filed"]
    assert filed["items"] == 2
    assert filed["at"] == palazzo.json("search", "Two")["hits"][0]["recorded_at"]
