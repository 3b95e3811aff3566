"""search as a person sees it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from tests.cli.command import Command, spawn

from palazzo.features.screen import Screen


def transcript(path: Path, *said: tuple[str, str]) -> None:
    """Write a session as Claude Code does, a minute between rows."""
    rows = [
        {
            "parentUuid": f"{path.stem}-{n - 1}" if n else None, "isSidechain": False, "type": role,
            "uuid": f"{path.stem}-{n}", "sessionId": path.stem, "cwd": str(path.parent / "shop"),
            "timestamp": f"2026-03-04T10:{n:02}:00Z", "message": {"role": role, "content": text},
        }
        for n, (role, text) in enumerate(said)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_hit_shows_rank_score_date_place_role_title_id_and_exact_words(palazzo: Command, shop: Path) -> None:
    ran = palazzo("search", "which", "port", "does", "deploy", "use")
    head, facts, *rest = ran.out.splitlines()
    assert head.startswith("1  0.")
    for part in ("shop/docs", "Deploying"):
        assert part in head
    assert facts.split() == [palazzo.json("search", "deploy port")["hits"][0]["id"], "author", "lines", "1-13"]
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


def test_explain_is_a_table_of_what_each_stage_found_of_each_hit(palazzo: Command, shop: Path) -> None:
    out = palazzo("search", "deploy port", "--explain").out
    rows = {row.split()[0]: row.split()[1:] for row in out.splitlines() if row.strip()}
    found = palazzo.json("search", "deploy port")
    assert rows["score"] == [f"{hit['score']:.4f}" for hit in found["hits"]]
    assert float(rows["covered"][0]) > 0
    assert len(rows["rank"]) == len(found["hits"])
    assert "the best must reach 0.003" in out
    assert "bm25" not in palazzo("search", "deploy port").out


def test_why_is_the_same_in_words(palazzo: Command, shop: Path) -> None:
    why = palazzo.json("search", "deploy port")["hits"][0]["why"]
    assert re.fullmatch(r"bm25 \d+\.\d of \d+\.\d", why[0])
    assert any(re.fullmatch(r"covered 1\.00 × \d\.\d\d", reason) for reason in why)
    assert why[-1].startswith("rank ")


def test_who_speaks_is_said_and_what_stands_beside_is_shown(palazzo: Command, home: Path) -> None:
    transcript(home / "s1.jsonl", ("user", "shall we keep the zebra queue?"), ("assistant", "Yes: it is the fastest."))
    palazzo.json("mine", str(home / "s1.jsonl"), "--mode", "convos")
    out = palazzo("search", "zebra queue").out
    assert "    user › shall we keep the zebra queue?\n    assistant › Yes: it is the fastest.\n" in out


def test_a_neighbour_that_is_a_hit_is_referred_to(palazzo: Command, home: Path) -> None:
    told = [("user", "we moved the zebra queue to Redis because the old one lost every third message at night")]
    transcript(home / "s1.jsonl", *told, ("assistant", "Noted."), ("user", "zebra queue: ok"), ("assistant", "Fine."))
    palazzo.json("mine", str(home / "s1.jsonl"), "--mode", "convos")
    first, second = palazzo.json("search", "zebra queue")["hits"]
    terse = first if first["text"].startswith("zebra") else second
    (before,) = terse["context"]
    other = second if terse is first else first
    assert (before["id"], before["position"], before["text"]) == (other["id"], -1, "")
    assert before["hit"] == (2 if terse is first else 1)
    assert f"↑ before it: see hit {before['hit']}" in palazzo("search", "zebra queue").out
    (alone,) = palazzo.json("search", "zebra queue", "--limit", "1")["hits"]
    if alone["id"] == terse["id"]:
        assert alone["context"][0]["text"] == other["text"]


def test_nothing_found_says_what_to_try(palazzo: Command, shop: Path) -> None:
    assert "Nothing contains any of these words: try a name" in palazzo("search", "xylophone").out
    assert (
        "Nothing there contains any of these words: try without --room."
        in palazzo("search", "port", "--room", "animals").out
    )


def test_what_came_nearest_is_told_when_asked_to_explain(
    palazzo: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("palazzo.index.score.LENIENT_FLOOR", 0.99)
    ran = palazzo("search", "deploy port")
    assert "Nothing found" in ran.out
    assert ", minimum 0.4): try a name" in ran.out
    assert "or see the nearest candidates with --explain." in ran.out
    assert palazzo.json("search", "deploy port")["below"] == []
    nearest = palazzo.json("search", "deploy port", "--explain")
    assert nearest["hits"] == []
    assert "port 8443" in nearest["below"][0]["text"]
    explained = palazzo("search", "deploy port", "--explain", "--wing", "shop").out
    assert explained.startswith("Nearest matches, unlikely to answer the query:")
    assert "The deploy service listens on port 8443." in explained
    assert "the best must reach 0.99" in explained
    assert "try without --wing." in explained


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["  "], "The query is empty"),
        (["port", "--limit", "0"], "between 1 and 10,000"),
        (["port", "--since", "tomorrow", "--until", "yesterday"], "the time range is inverted"),
        (["port", "--since", "someday"], "'someday' is not a time"),
        (["port", "--wing", "nowhere"], "There are: shop"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(palazzo: Command, shop: Path, asked: list[str], says: str) -> None:
    ran = palazzo("search", *asked)
    assert ran.code in (1, 2)
    assert says.lower() in ran.error.lower()
    assert ran.error.count("\n") == 1
    assert ran.out == ""


@pytest.mark.parametrize("query", ["the", "(a+)+$ [^x]*", "🙂", "检索", "مرحبا", "deploy port " * 8_000])
def test_an_odd_query_is_answered(palazzo: Command, shop: Path, query: str) -> None:
    assert palazzo("search", query).code == 0
    assert palazzo.json("search", query, "--limit", "10000", "--explain")["query"] == query


def test_a_terminal_breaks_long_lines_between_words_and_a_pipe_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = " ".join(f"word{n}" for n in range(30))
    piped = io.StringIO()
    Screen(piped).read(f"  {words}", "user")
    assert piped.getvalue() == f"    user ›   {words}\n"
    shown = Terminal()
    Screen(shown).read(f"  {words}\nnext\x1b[2J \u202egnp.exe\u2069")
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line.startswith("      word") for line in lines[:-1])
    assert " ".join(lines[:-1]).split() == words.split()
    assert lines[-1] == "    next␛[2J \\u202egnp.exe\\u2069"
    exact = Terminal()
    Screen(exact).exact("a\u2066b")
    assert exact.getvalue() == "    a\\u2066b\n"


class Terminal(io.StringIO):
    """Eighty columns that say they are a terminal."""

    def isatty(self) -> bool:
        return True


def test_an_empty_palace_says_how_it_is_filled(palazzo: Command, home: Path) -> None:
    palazzo("remember", "a zebra")
    palazzo("forget", palazzo.json("search", "zebra")["hits"][0]["id"], "--yes")
    assert "'palazzo mine DIRECTORY'" in palazzo("search", "zebra").out


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


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_words_that_an_output_cannot_hold_are_shown_as_escapes(encoding: str) -> None:
    written = io.BytesIO()
    output = io.TextIOWrapper(written, encoding)
    Screen(output).exact("a lone \ud800 and \udcff")
    output.flush()
    assert written.getvalue() == b"    a lone \\ud800 and \\udcff\n"
