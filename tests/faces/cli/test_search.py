"""search as a person sees it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, spawn

from palazzo.features.screen import Screen, shows_links
from palazzo.features.search.strength import strengths_of


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


def test_a_hit_shows_its_place_id_heading_age_strength_and_the_lines_that_answer(palazzo: Command, shop: Path) -> None:
    lines = palazzo("search", "deploy", "port").out.splitlines()
    hit = palazzo.json("search", "deploy port")["hits"][0]
    assert lines[0] == f"docs/deploy.md:3  {hit['short_id']}"
    assert lines[1] == f"    Deploying · just now · {hit['strength']}"
    assert lines[2].startswith("    The deploy service listens on port 8443.")
    assert "0." not in "".join(lines[:2])
    assert (hit["location"], hit["path"], hit["line"]) == ("docs/deploy.md:3", "docs/deploy.md", 3)
    assert hit["quoted"] == "The deploy service listens on port 8443."
    assert hit["id"].startswith(hit["short_id"])
    assert palazzo.json("show", hit["short_id"])["id"] == hit["id"]


def test_a_long_hit_shows_the_few_lines_that_say_what_was_asked(palazzo: Command, home: Path) -> None:
    palazzo("remember", "\n".join(f"line {n} about {'zebras' if n == 40 else 'grass'}" for n in range(60)))
    out = palazzo("search", "zebra").out
    assert "    line 40 about zebras\n" in out
    assert "line 0 about grass" not in out
    assert len(out.splitlines()) < 9


def test_strengths_never_increase_down_the_list_and_are_not_weaker_than_the_scores_allow() -> None:
    assert strengths_of([0.9, 0.2, 0.01]) == ["strong", "likely", "weak"]
    assert strengths_of([0.14, 0.6, 0.05]) == ["likely", "likely", "weak"]
    assert strengths_of([0.1, 0.2, 0.9]) == ["likely"] * 3
    assert strengths_of([]) == []


def test_a_weak_hit_is_one_line(palazzo: Command, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palazzo.features.search.strength.STRONG", 2.0)
    monkeypatch.setattr("palazzo.features.search.strength.LIKELY", 2.0)
    heading, line, *_ = palazzo("search", "deploy port").out.splitlines()
    assert heading == "Weak matches:"
    assert line.startswith("docs/deploy.md:3  ")
    assert line.endswith("  The deploy service listens on port 8443.")


def test_a_session_s_hit_names_host_session_and_turn(palazzo: Command, home: Path) -> None:
    session = "0f3b12aa-1111-4222-8333-444455556666"
    transcript(home / f"{session}.jsonl", ("user", "shall we keep the zebra queue?"), ("assistant", "Yes, keep it."))
    palazzo.json("mine", str(home / f"{session}.jsonl"), "--mode", "convos")
    hit = palazzo.json("search", "zebra queue")["hits"][0]
    assert (hit["location"], hit["path"], hit["line"]) == ("claude-code · 0f3b12aa · turn 1", "", None)
    assert palazzo.json("show", "0f3b12aa")["id"] == session
    out = palazzo("search", "zebra queue").out
    assert out.startswith("claude-code · 0f3b12aa · turn 1  ")
    assert " ago · user · " in out.splitlines()[1]


def test_a_label_is_shown_only_where_it_matters(palazzo: Command, shop: Path) -> None:
    out = palazzo("search", "deploy port").out
    for word in ("merged", "branch", "untrusted", "superseded", "trust"):
        assert word not in out


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
    first, second = palazzo.json("search", "zebra queue", "--drawers")["hits"]
    terse = first if first["text"].startswith("zebra") else second
    (before,) = terse["context"]
    other = second if terse is first else first
    assert (before["id"], before["position"], before["text"]) == (other["id"], -1, "")
    assert before["hit"] == (2 if terse is first else 1)
    assert f"↑ before it: see {other['short_id']}" in palazzo("search", "zebra queue", "--drawers", "--explain").out
    (alone,) = palazzo.json("search", "zebra queue", "--drawers", "--limit", "1")["hits"]
    if alone["id"] == terse["id"]:
        assert alone["context"][0]["text"] == other["text"]


def test_two_drawers_of_a_session_are_one_hit_that_names_both(palazzo: Command, home: Path) -> None:
    told = [("user", "we moved the zebra queue to Redis because the old one lost every third message at night")]
    transcript(home / "s1.jsonl", *told, ("assistant", "Noted."), ("user", "zebra queue: ok"), ("assistant", "Fine."))
    palazzo.json("mine", str(home / "s1.jsonl"), "--mode", "convos")
    (hit,) = palazzo.json("search", "zebra queue")["hits"]
    single = palazzo.json("search", "zebra queue", "--drawers")["hits"]
    assert {part["id"] for part in hit["parts"]} == {each["id"] for each in single}
    texts = [hit["text"][part["start"] : part["end"]] for part in hit["parts"]]
    assert sorted(texts) == sorted(each["text"] for each in single)
    other = next(each for each in single if each["text"] not in hit["text"][: len(each["text"])])
    out = palazzo("search", "zebra queue").out
    assert "+ same session " in out
    assert "lost every third message" in out
    assert other["text"].split("\n")[0][:15] in out


def test_a_document_s_hit_quotes_the_section_that_its_heading_names(palazzo: Command, home: Path) -> None:
    page = home / "queue" / "guide.md"
    page.parent.mkdir()
    words = "The zebra queue has a lock, a journal, a budget and an owner who answers for it. "
    page.write_text(
        f"# Guide\n\n## Limits of the queue\n\n{words * 4}\n\nA zebra queue of the night shift keeps its messages.\n\n"
        f"## Where messages go\n\n{words.replace('zebra', 'heron') * 4}\n\n"
        "Where do messages of the zebra queue go at night?\n"
    )
    palazzo.json("mine", str(page.parent))
    hits = palazzo.json("search", "where do the messages of the zebra queue go at night")["hits"]
    (hit,) = (hit for hit in hits if hit["parts"])
    first, last = re.findall(r"\d+", hit["source"]["locator"])
    assert int(first) <= hit["line"] <= int(last)
    (own,) = (part for part in hit["parts"] if part["id"] == hit["id"])
    assert hit["quoted"] in hit["text"][own["start"] : own["end"]]
    (other,) = (part for part in hit["parts"] if part["id"] != hit["id"])
    assert f"+ same document {other['id'][:8]} › " in palazzo("search", hit["title"]).out


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
    assert "No candidate is likely to answer: try a name" in ran.out
    assert "or see the nearest ones with --explain." in ran.out
    assert palazzo.json("search", "deploy port")["below"] == []
    nearest = palazzo.json("search", "deploy port", "--explain")
    assert nearest["hits"] == []
    assert "port 8443" in nearest["below"][0]["text"]
    explained = palazzo("search", "deploy port", "--explain", "--wing", "shop").out
    assert explained.startswith("Nearest matches, unlikely to answer the query:")
    assert "The deploy service listens on port 8443." in explained
    assert "the best must reach 0.99" in explained
    assert ", minimum 0.4): try without --wing." in explained


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


def test_a_line_is_cut_at_the_edge_of_a_terminal_and_not_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    piped, shown = io.StringIO(), Terminal()
    for output in (piped, shown):
        Screen(output).trim("word " * 20)
    assert len(piped.getvalue()) > 90
    assert len(shown.getvalue().rstrip("\n")) <= 40
    assert shown.getvalue().endswith("…\n")


def test_an_output_without_utf_8_gets_signs_that_it_has() -> None:
    written = io.BytesIO()
    output = io.TextIOWrapper(written, "ascii")
    Screen(output).say("a.md:3 · yesterday › b …")
    output.flush()
    assert written.getvalue() == b"a.md:3 - yesterday > b ...\n"


@pytest.mark.parametrize(
    ("variables", "shows"),
    [
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4205"}, False),
        ({"TERM": "screen-256color", "TMUX": "/tmp/x", "VTE_VERSION": "7600"}, False),
        ({"TERM": "dumb", "WT_SESSION": "1"}, False),
    ],
)
def test_links_are_written_where_the_terminal_is_known_to_show_them(variables: dict[str, str], shows: bool) -> None:
    assert shows_links(variables) == shows


def test_only_a_plain_address_of_a_local_file_is_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TERM", "xterm-kitty"), ("COLORTERM", "truecolor")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = Terminal()
    screen = Screen(shown)
    screen.say(("docs/a.md:3", screen.link("file:///docs/a.md")))
    assert "file:///docs/a.md" in shown.getvalue()
    for address in ("https://x.example/", "file://host/a", "file:///a b", "file:///a\x1b]8;;"):
        assert screen.link(address) == ""
    assert Screen(io.StringIO()).link("file:///docs/a.md") == ""
    monkeypatch.setenv("NO_COLOR", "1")
    assert Screen(Terminal()).link("file:///docs/a.md") == ""


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
