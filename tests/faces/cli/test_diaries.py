"""diary write, read and handoff, list-agents, as they are typed."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, spawn

ENTRY = "  Began the retries.\r\n\r\n\tDecided:  exponential backoff — with jitter.\nOpen: the dashboards.\n"


def contents(found: dict[str, list[dict[str, str]]]) -> list[str]:
    return [entry["content"] for entry in found["entries"]]


def test_an_entry_is_kept_whole_and_to_the_word(palazzo: Command, home: Path) -> None:
    written = palazzo.json("diary", "write", "Codex", ENTRY, "--topic", "retries")
    assert (written["agent"], written["wing"], written["project"]) == ("Codex", "wing_codex", "shop")
    (entry,) = palazzo.json("diary", "read", "Codex")["entries"]
    assert (entry["id"], entry["content"], entry["topic"], entry["project"]) == (
        written["id"], ENTRY, "retries", "shop",
    )  # fmt: skip
    long = "\n\n".join(f"Paragraph {n}: " + "words and words " * 40 for n in range(40))
    assert len(palazzo.json("diary", "write", "Codex", long)["drawers"]) > 1
    assert contents(palazzo.json("diary", "read", "Codex"))[0] == long


def test_two_spellings_are_one_agent_shown_as_it_was_first_spelled(palazzo: Command, home: Path) -> None:
    palazzo.json("diary", "write", "Claude Code", "one")
    assert palazzo.json("diary", "write", "CLAUDE code", "two")["agent"] == "Claude Code"
    found = palazzo.json("diary", "read", "claude code")
    assert (found["agent"], contents(found)) == ("Claude Code", ["two", "one"])
    (agent,) = palazzo.json("list-agents")["agents"]
    assert (agent["name"], agent["wing"], agent["entries"]) == ("Claude Code", "wing_claude-code", 2)


def test_a_diary_that_a_hosts_agent_wrote_under_a_former_name_is_its_diary(palazzo: Command, home: Path) -> None:
    palazzo.json("diary", "write", "elder", "one")
    with contextlib.closing(sqlite3.connect(home / ".local/share/palazzo/palace.db")) as palace, palace:
        for statement in (
            "UPDATE drawer SET author = 'palazzo-pi'",
            "UPDATE item SET author = 'palazzo-pi'",
            "UPDATE wing SET name = 'wing_palazzo-pi' WHERE name = 'wing_elder'",
        ):
            palace.execute(statement)
    assert palazzo.json("diary", "write", "pi", "two")["wing"] == "wing_pi"
    for name in ("pi", "palazzo-pi"):
        diary = palazzo.json("diary", "read", name)
        assert (diary["agent"], contents(diary)) == ("pi", ["two", "one"])
    (agent,) = palazzo.json("list-agents")["agents"]
    assert (agent["name"], agent["entries"]) == ("pi", 2)
    wings = palazzo.json("proactive-context", "What is one?", "--agent", "pi")["wings"]
    assert {"wing_pi", "wing_palazzo-pi"} <= {*wings}


@pytest.mark.parametrize("name", ["a/b", "../x", "a" * 300, "", "  ", "...", "a\nb/c", "x:y", "\0", "ag\u200bent"])
def test_what_is_no_name_is_one_sentence(palazzo: Command, home: Path, name: str) -> None:
    for arguments in (("write", name, "text"), ("read", name)):
        ran = palazzo("diary", *arguments)
        assert (ran.code, ran.error.count("\n")) == (2, 1), ran.error
        assert "agent" in ran.error
    assert not list(home.rglob("palace.db")) or palazzo.json("list-agents")["agents"] == []


@pytest.mark.parametrize("name", ["a" * 64, "gpt-4.1_mini", "Åsa's"[:3], "克劳德", "R2 D2"])
def test_names_of_any_script_keep_a_diary(palazzo: Command, home: Path, name: str) -> None:
    assert palazzo.json("diary", "write", name, "hello")["agent"] == name
    assert contents(palazzo.json("diary", "read", name.upper())) == ["hello"]


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_entry_is_refused_and_nothing_is_filed(palazzo: Command, home: Path, text: str) -> None:
    ran = palazzo("diary", "write", "codex", text)
    assert (ran.code, ran.error.count("\n")) == (2, 1)
    assert "empty" in ran.error


def test_an_empty_diary_is_a_sentence_and_names_who_is_near(palazzo: Command, home: Path) -> None:
    palazzo.json("diary", "write", "Codex", "one")
    ran = palazzo("diary", "read", "codx")
    assert (ran.code, ran.out.count("\n")) == (0, 1)
    assert "Codex" in ran.out
    assert palazzo.json("diary", "read", "codx") == {
        "agent": "codx", "entries": [], "total": 0, "showing": 0, "near": ["Codex"],
    }  # fmt: skip
    assert "elsewhere" in palazzo("diary", "read", "codex", "--topic", "gardens").out


def test_entries_are_read_by_day_project_and_topic(
    palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    palazzo.json("diary", "write", "codex", "one", "--topic", "Retries")
    palazzo.json("diary", "write", "codex", "two", "--project", "api")
    palazzo.json("diary", "write", "codex", "three", "--topic", "retries")
    read = ("diary", "read", "codex")
    assert contents(palazzo.json(*read, "--topic", "retries")) == ["three", "one"]
    assert contents(palazzo.json(*read, "--project", "api")) == ["two"]
    assert contents(palazzo.json(*read, "--day", "today")) == ["three", "two", "one"]
    assert contents(palazzo.json(*read, "--day", "yesterday")) == []
    newest = palazzo.json(*read, "--limit", "1")
    assert (contents(newest), newest["total"], newest["showing"]) == (["three"], 3, 1)
    assert palazzo(*read, "--day", "someday").code == 2
    assert palazzo(*read, "--limit", "0").code == 2


def test_what_is_written_about_a_project_follows_it_through_renames_and_undo(palazzo: Command, home: Path) -> None:
    def about(project: str) -> list[str]:
        return contents(palazzo.json("diary", "read", "codex", "--project", project))

    for wing in ("shop", "api"):
        palazzo.json("remember", "words", "--wing", wing)
    palazzo.json("diary", "write", "codex", "one", "--project", "shop")
    palazzo.json("wing", "rename", "shop", "store")
    palazzo.json("diary", "write", "codex", "two", "--project", "store")
    assert about("store") == about("shop") == ["two", "one"]
    palazzo.json("wing", "rename", "api", "shop")  # the name is another's now
    palazzo.json("diary", "write", "codex", "three", "--project", "shop")
    assert (about("store"), about("shop")) == (["two", "one"], ["three"])
    renames = [one["id"] for one in palazzo.json("undo", "--list")["changes"] if one["verb"] == "wing rename"]
    for one in renames:
        palazzo.json("undo", one)
    assert (about("shop"), about("api")) == (["two", "one"], ["three"])


def test_a_day_is_that_of_the_clock_here(palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    palazzo.json("diary", "write", "codex", "one")
    dates = {}
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):  # 25 hours apart: never the same day
        monkeypatch.setenv("TZ", zone)
        (entry,) = palazzo.json("diary", "read", "codex", "--day", "today")["entries"]
        dates[zone] = entry["date"]
        assert contents(palazzo.json("diary", "read", "codex", "--day", entry["date"])) == ["one"]
    assert len(set(dates.values())) == 2


def test_an_entry_that_is_taken_back_or_forgotten_is_read_no_more(palazzo: Command, home: Path) -> None:
    palazzo.json("diary", "write", "codex", "one")
    written = palazzo.json("diary", "write", "codex", "two")
    palazzo.json("undo")
    assert contents(palazzo.json("diary", "read", "codex")) == ["one"]
    third = palazzo.json("diary", "write", "codex", "three")
    palazzo.json("forget", third["id"], "--yes")
    assert contents(palazzo.json("diary", "read", "codex")) == ["one"]
    assert palazzo.json("show", written["id"])["entries"][0]["text"] == "two"


def test_an_entry_is_found_by_search_among_diaries_alone(palazzo: Command, shop: Path) -> None:
    palazzo.json("diary", "write", "codex", "The retries double after each failure now.", "--topic", "backoff")
    kinds = {hit["kind"] for hit in palazzo.json("search", "retries double")["hits"]}
    assert {"diary", "section"} <= kinds
    (hit,) = palazzo.json("search", "retries double", "--kind", "diary")["hits"]
    assert (hit["wing"], hit["author"], hit["trust"], hit["title"]) == ("wing_codex", "codex", "agent", "backoff")


def test_secrets_leave_an_entry_at_the_door(palazzo: Command, home: Path) -> None:
    palazzo.json("diary", "write", "codex", "It works with <private>the blue key</private> now.")
    (entry,) = palazzo.json("diary", "read", "codex")["entries"]
    assert "blue key" not in entry["content"]
    assert entry["content"].startswith("It works with ")


def test_processes_that_write_in_one_diary_lose_nothing(palazzo: Command, home: Path) -> None:
    names = ["Codex", "codex"]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: spawn("diary", "write", name, "-", stdin=f"entry of {name}".encode()).code, names))
    assert sorted(contents(palazzo.json("diary", "read", "codex"))) == sorted(f"entry of {name}" for name in names)
    (agent,) = palazzo.json("list-agents")["agents"]
    assert agent["entries"] == 2
    assert palazzo.json("verify")["ok"]


def test_a_hand_over_tells_what_is_open_and_what_changed_since(palazzo: Command, shop: Path) -> None:
    palazzo.json("todo", "add", "Add jitter to the retries", "--by", "Codex", "--wing", "api")
    palazzo.json("todo", "add", "Write the docs")
    palazzo.json("todo", "add", "Not here", "--wing", "garden")
    entry = palazzo.json("diary", "write", "Codex", "Backoff is in.\nOpen: jitter.", "--topic", "retries")
    fact = palazzo.json("kg", "add", "retry limit", "is", "5")
    other = palazzo.json("diary", "write", "Pi", "Looked at the dashboards.")
    told = palazzo.json("diary", "handoff", "codex", "Claude")
    assert (told["giver"], told["receiver"], told["projects"]) == ("Codex", "Claude", ["shop"])
    assert [todo["text"] for todo in told["todos"]] == ["Write the docs", "Add jitter to the retries"]
    assert [one["id"] for one in told["entries"]] == [entry["id"]]
    assert [one["id"] for one in told["later_facts"]] == [fact["id"]]
    assert [one["id"] for one in told["later_entries"]] == [other["id"]]
    ids = [entry["id"], fact["id"], other["id"], *(todo["id"] for todo in told["todos"])]
    assert all(one in told["text"] for one in ids)
    assert "  Backoff is in.\n  Open: jitter." in told["text"]
    assert palazzo("diary", "handoff", "codex", "Claude").out.startswith("Hand-over about shop from Codex to Claude")


def test_a_hand_over_tells_what_sessions_left_open_in_their_own_words(palazzo: Command, home: Path) -> None:
    said = [
        "Please add retries to the payment client.",
        "Done: retries double after each failure. Still to do: the dashboards do not show retries yet.",
        "Fine. We decided to use jitter. The load test is still open, let's do it tomorrow.",
    ]
    rows = [
        {
            "type": role, "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, "sessionId": "5e55",
            "cwd": str(home / "shop"), "version": "2", "timestamp": f"2026-03-04T10:0{n}:00Z",
            "message": {"role": role, "content": text},
        }
        for n, (role, text) in enumerate(zip(("user", "assistant", "user"), said, strict=True))
    ]  # fmt: skip
    (home / "session.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    palazzo.json("mine", str(home / "session.jsonl"))
    palazzo.json("diary", "write", "codex", "Looked at the retries.")
    told = palazzo.json("diary", "handoff", "codex", "pi")
    assert told["left_open"]
    for line in told["left_open"]:
        assert line["session"] == "5e55"
        assert any(line["text"] in text for text in said)
        assert f"{line['text']} [{line['id']}]" in told["text"]


def test_a_hand_over_keeps_to_its_budget_and_says_what_it_cuts(palazzo: Command, home: Path) -> None:
    palazzo.json("diary", "write", "codex", "A long entry. " * 400)
    told = palazzo.json("diary", "handoff", "codex", "pi", "--budget", "300")
    assert told["tokens"] <= 300
    assert "(continues: palazzo show ID)" in told["text"]


def test_a_hand_over_needs_two_agents_of_whom_one_wrote(palazzo: Command, home: Path) -> None:
    palazzo.json("diary", "write", "Codex", "one")
    for names, said in (
        (("codx", "pi"), "Near it: Codex"),
        (("codex", "CODEX"), "the same agent"),
        (("codex", "a/b"), "a/b"),
    ):
        ran = palazzo("diary", "handoff", *names)
        assert (ran.code, ran.error.count("\n")) == (2, 1)
        assert said in ran.error


def test_a_diary_of_a_day_is_read_as_it_was(palazzo: Command, home: Path) -> None:
    palazzo.json("diary", "write", "codex", "one")
    assert contents(palazzo.json("diary", "read", "codex", "--as-of", "1h")) == []
    assert contents(palazzo.json("diary", "read", "codex", "--as-of", "now")) == ["one"]
