"""search as a person sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import Command, spawn


def test_a_hit_shows_rank_score_date_place_role_title_id_and_exact_words(palazzo: Command, shop: Path) -> None:
    ran = palazzo("search", "which", "port", "does", "deploy", "use")
    head, uid, *rest = ran.out.splitlines()
    assert head.startswith("1  0.")
    for part in ("shop/docs", "author", "Deploying"):
        assert part in head
    assert uid.strip() == palazzo.json("search", "deploy port")["hits"][0]["id"]
    assert "    The deploy service listens on port 8443." in rest
    assert rest[-2].startswith("1 hit, ") or "hits, " in ran.out


def test_a_long_hit_is_cut_and_says_how_long_the_whole_is(palazzo: Command, home: Path) -> None:
    note = "\n".join(f"line {n} about zebras" for n in range(60))
    palazzo("remember", note)
    ran = palazzo("search", "zebras")
    uid = palazzo.json("search", "zebras")["hits"][0]["id"]
    assert "line 11 about zebras" in ran.out
    assert "line 12 about zebras" not in ran.out
    assert f"characters; palazzo show {uid}" in ran.out


def test_a_long_hit_is_shown_where_it_says_what_was_asked(palazzo: Command, home: Path) -> None:
    palazzo("remember", "\n".join(f"line {n} about {'zebras' if n == 40 else 'grass'}" for n in range(60)))
    out = palazzo("search", "zebras").out
    assert "line 40 about zebras" in out
    assert "line 0 about grass" not in out
    assert "… from character" in out


def test_explain_says_why(palazzo: Command, shop: Path) -> None:
    assert "bm25" in palazzo("search", "port", "--explain").out
    assert "bm25" not in palazzo("search", "port").out


def test_times_are_dates_ages_and_names(palazzo: Command, shop: Path) -> None:
    assert palazzo.json("search", "port", "--since", "1h")["hits"]
    assert palazzo.json("search", "port", "--until", "1h")["hits"] == []
    assert palazzo.json("search", "port", "--since", "2020-01-01", "--until", "tomorrow")["hits"]


def test_a_kind_and_a_room_narrow(palazzo: Command, shop: Path) -> None:
    assert (
        palazzo.json("search", "SQLite router port", "--kind", "note", "--room", "animals")["hits"][0]["room"]
        == "animals"
    )
    assert palazzo.json("search", "SQLite", "--kind", "section")["hits"] == []


@pytest.mark.parametrize("query", ["--limit", "-x", "-"])
def test_words_that_begin_with_a_dash_come_after_two(palazzo: Command, shop: Path, query: str) -> None:
    assert palazzo("search", "--json", "--", query, "port").json["query"] == f"{query} port"


@pytest.mark.parametrize("query", ['"', "a OR (b", "NEAR(", "*", "col:port", "'; DROP TABLE item; --", "the and of"])
def test_no_query_is_an_error_of_the_index(palazzo: Command, shop: Path, query: str) -> None:
    assert palazzo("search", "--", query).code == 0


def test_nothing_is_coloured_where_nobody_sees_it(shop: Path) -> None:
    assert "\x1b" not in spawn("search", "port", NO_COLOR="").out


def test_vectors_take_part_once_they_are_made(palazzo: Command, shop: Path, home: Path) -> None:
    palazzo.json("mine", "docs", "--wait")
    assert palazzo.json("status")["embedder"]["state"] == "ready"
    found = palazzo.json("search", "undo a bad release")
    assert found["index"] == "ready"
    assert any(reason.startswith("vector") for reason in found["hits"][0]["why"])
    assert "Rollback" in found["hits"][0]["title"]
