"""Listing drawers, asking whether a text is there, and saying something better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.faces.cli.command import Command

ROW = {
    "id", "kind", "filed_as", "wing", "room", "title", "created_at", "recorded_at", "role", "author", "trust", "tags",
    "importance", "source", "text", "truncated", "length", "visibility", "label",
    "short_id",
}  # fmt: skip


def texts(listed: dict[str, Any]) -> list[str]:
    return [row["text"] for row in listed["drawers"]]


# --- list_drawers ------------------------------------------------------------------------------------------


@pytest.fixture
def noted(palazzo: Command, home: Path) -> dict[str, str]:
    """Four notes of different days, wings, kinds and tags; returns their ids by their words."""
    given = [
        ("oldest", "--at", "2026-01-01", "--kind", "decision", "--tag", "a", "--room", "keys"),
        ("older", "--at", "2026-01-02", "--kind", "learning", "--tag", "a", "--tag", "b", "--importance", "0.9"),
        ("newer", "--at", "2026-01-03", "--wing", "api"),
        ("newest", "--at", "2026-01-04", "--importance", "0.1"),
    ]
    return {text: palazzo.json("remember", text, *options)["drawers"][0] for text, *options in given}


LISTS: list[tuple[tuple[str, ...], list[str]]] = [
    ((), ["newest", "newer", "older", "oldest"]),
    (("--wing", "api"), ["newer"]),
    (("--room", "keys"), ["oldest"]),
    (("--wing", "shop", "--room", "keys"), ["oldest"]),
    (("--filed-as", "decision"), ["oldest"]),
    (("--filed-as", "Decision", "--filed-as", "learning"), ["older", "oldest"]),
    (("--filed-as", "nothing"), []),
    (("--tag", "a"), ["older", "oldest"]),
    (("--tag", "a", "--tag", "b"), ["older"]),
    (("--since", "2026-01-02"), ["newest", "newer", "older"]),
    (("--before", "2026-01-02"), ["oldest"]),
    (("--since", "2026-01-02", "--before", "2026-01-03", "--tag", "b"), ["older"]),
    (("--min-importance", "0.5"), ["newer", "older", "oldest"]),
    (("--min-importance", "0.5", "--filed-as", "learning", "--kind", "note"), ["older"]),
    (("--kind", "section"), []),
]


def test_drawers_are_listed_newest_first_by_what_is_asked_for(palazzo: Command, noted: dict[str, str]) -> None:
    for options, wanted in LISTS:
        listed = palazzo.json("list-drawers", *options)
        assert (texts(listed), listed["total"]) == (wanted, len(wanted)), options


def test_a_page_follows_the_other_and_the_total_stays(palazzo: Command, noted: dict[str, str]) -> None:
    pages = [palazzo.json("list-drawers", "--limit", "3", "--offset", str(offset)) for offset in (0, 3, 6)]
    assert [texts(page) for page in pages] == [["newest", "newer", "older"], ["oldest"], []]
    assert {page["total"] for page in pages} == {4}
    assert "--offset 3" in palazzo("list-drawers", "--limit", "3").out


def test_a_row_says_what_there_is_to_know(palazzo: Command, noted: dict[str, str]) -> None:
    row = palazzo.json("list-drawers", "--tag", "b")["drawers"][0]
    assert set(row) == ROW
    assert (row["id"], row["kind"], row["filed_as"], row["tags"]) == (noted["older"], "note", "learning", ["a", "b"])
    assert (row["wing"], row["importance"], row["length"], row["truncated"]) == ("shop", 0.9, 5, False)


def test_a_long_drawer_shows_how_it_begins(palazzo: Command, home: Path) -> None:
    words = " ".join(["Every heron counts its eggs at dawn."] * 20)
    palazzo.json("remember", words)
    row = palazzo.json("list-drawers")["drawers"][0]
    assert (row["truncated"], row["length"]) == (True, len(words))
    assert words.startswith(row["text"])
    assert 100 < len(row["text"]) <= 200


def test_what_was_forgotten_or_moved_is_not_where_it_was(palazzo: Command, noted: dict[str, str]) -> None:
    palazzo.json("forget", noted["newest"], "--yes")
    palazzo.json("room", "move", "shop/keys", "api")
    assert texts(palazzo.json("list-drawers", "--wing", "shop")) == ["older"]
    assert texts(palazzo.json("list-drawers", "--wing", "api")) == ["newer", "oldest"]


WRONG = [
    ("--limit", "0"),
    ("--limit", "1001"),
    ("--offset", "-1"),
    ("--since", "2026-02-01", "--before", "2026-01-01"),
    ("--since", "soonish"),
    ("--wing", "apo"),
    ("--tag", "nothing"),
    ("--min-importance", "7"),
    ("--kind", "nothing"),
]


def test_a_list_that_cannot_be_is_refused(palazzo: Command, noted: dict[str, str]) -> None:
    for options in WRONG:
        assert palazzo("list-drawers", *options).code == 2, options


# --- check_duplicate ---------------------------------------------------------------------------------------

WORDS = "The gateway retries a failed call three times, one second apart, and then it gives up for good."


def test_a_text_that_is_there_is_found_to_the_word_and_nearly(palazzo: Command, home: Path) -> None:
    drawer = palazzo.json("remember", WORDS)["drawers"][0]
    same = palazzo.json("check-duplicate", WORDS)
    assert (same["is_duplicate"], same["matches"][0]["id"], same["matches"][0]["similarity"]) == (True, drawer, 1.0)
    other = WORDS.replace("for good", "for now")
    (match,) = palazzo.json("check-duplicate", other)["matches"]
    assert (match["id"], match["text"]) == (drawer, WORDS)
    assert 0.9 <= match["similarity"] < 0.99
    assert palazzo.json("check-duplicate", other, "--threshold", "0.99")["matches"] == []
    assert palazzo.json("check-duplicate", "Herons count eggs.")["is_duplicate"] is False
    assert palazzo.json("status")["items"] == 1


def test_a_text_is_looked_for_in_the_wing_that_is_named(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", WORDS)
    palazzo.json("remember", "Something else.", "--wing", "api")
    assert palazzo.json("check-duplicate", WORDS, "--wing", "api")["is_duplicate"] is False
    assert palazzo.json("check-duplicate", WORDS, "--wing", "shop")["is_duplicate"]


def test_a_secret_is_compared_as_it_would_be_kept(palazzo: Command, home: Path) -> None:
    words = "The bot logs in with xoxb-123456789012-abcdefABCDEF123456 on the build machine, and nowhere else."
    palazzo.json("remember", words)
    found = palazzo.json("check-duplicate", words)
    assert found["is_duplicate"]
    assert "abcdefABCDEF" not in str(found)


def test_a_text_that_cannot_be_looked_for_is_refused(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", WORDS)
    for arguments in (("  ",), (WORDS, "--threshold", "0"), (WORDS, "--threshold", "1.1")):
        assert palazzo("check-duplicate", *arguments).code == 2


# --- update_drawer -----------------------------------------------------------------------------------------


def test_new_words_are_a_note_of_their_own_and_the_old_are_found_no_more(palazzo: Command, home: Path) -> None:
    old = palazzo.json(
        *("remember", "Invoices are in cents.", "--kind", "decision", "--tag", "money", "--room", "prices"),
        *("--importance", "0.7", "--metadata", '{"ticket": "SHOP-12"}'),
    )
    new = palazzo.json("update-drawer", old["drawers"][0], "--text", "Invoices are in tenths of a cent.")
    assert (new["replaced"], new["wing"], new["room"]) == (old["drawers"], "shop", "prices")
    shown = palazzo.json("show", new["id"])["entries"][0]
    assert (shown["text"], shown["filed_as"], shown["tags"]) == (
        "Invoices are in tenths of a cent.",
        "decision",
        ["money"],
    )
    assert (shown["importance"], shown["metadata"], shown["replaces"]) == (0.7, {"ticket": "SHOP-12"}, old["drawers"])
    assert texts(palazzo.json("list-drawers")) == ["Invoices are in tenths of a cent."]
    assert palazzo.json("show", old["drawers"][0])["entries"][0]["text"] == "Invoices are in cents."
    assert palazzo.json("undo")["undone"]["id"] == new["change"]
    assert texts(palazzo.json("list-drawers")) == ["Invoices are in cents."]
    assert palazzo.json("verify")["ok"]


def test_a_section_of_a_document_is_said_better_as_a_note(palazzo: Command, shop: Path) -> None:
    section = palazzo.json("search", "Retries double")["hits"][0]["id"]
    palazzo.json("update-drawer", section, "--text", "Retries triple, up to an hour.")
    assert section not in [hit["id"] for hit in palazzo.json("search", "retries double triple")["hits"]]
    palazzo.json("mine", "docs")
    assert palazzo.json("show", section)["entries"][0]["retired_at"]


def test_a_drawer_that_is_filed_elsewhere_keeps_its_id(palazzo: Command, home: Path) -> None:
    old = palazzo.json("remember", "Invoices are in cents.")
    moved = palazzo.json("update-drawer", old["id"], "--wing", "api", "--room", "prices")
    assert (moved["id"], moved["replaced"], moved["item"]) == (old["drawers"][0], [], old["id"])
    shown = palazzo.json("show", moved["id"])["entries"][0]
    assert (shown["wing"], shown["room"], shown["retired_at"]) == ("api", "prices", None)
    again = palazzo.json("update-drawer", old["id"], "--wing", "api", "--text", "Invoices are in cents.")
    assert again["change"] is None
    palazzo.json("undo")
    assert palazzo.json("show", moved["id"])["entries"][0]["wing"] == "shop"


def test_what_is_more_than_its_words_is_not_changed_like_that(palazzo: Command, home: Path) -> None:
    todo = palazzo.json("todo", "add", "Look at the retries")["drawers"][0]
    entry = palazzo.json("diary", "write", "Codex", "A good day.")["drawers"][0]
    note = palazzo.json("remember", "Words.")["drawers"][0]
    for arguments, told in (
        ((todo, "--text", "x"), "todo drop"),
        ((entry, "--text", "x"), "diary write"),
        ((note,), "give the new text"),
        ((note, "--text", "  "), "empty"),
        ((note, "--wing", "///"), "--wing"),
        (("0" * 32, "--text", "x"), "0000"),
    ):
        ran = palazzo("update-drawer", *arguments)
        assert (ran.code, told in ran.error) == (2, True), ran.error
    assert palazzo.json("status")["items"] == 3
