"""kg, as it is typed, shown to a person, and written as JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, spawn

FACT = {
    "id", "subject", "predicate", "object", "scope", "valid_from", "valid_to", "current", "confidence", "recorded_at",
    "retired_at", "superseded_by", "trust", "provenance",
}  # fmt: skip


@pytest.fixture
def known(palazzo: Command, home: Path) -> str:
    """Three facts about an API; returns the id of the first."""
    added = palazzo.json("kg", "add", "api", "uses", "Redis", "--from", "2026-03-01")
    palazzo.json("kg", "add", "api", "listens on", "8443", "--wing", "shop", "--confidence", "0.5")
    palazzo.json("kg", "add", "web", "calls", "api")
    return str(added["id"])


def test_the_fields_of_the_json(palazzo: Command, known: str) -> None:
    added = palazzo.json("kg", "add", "api", "uses", "Redis", "--by", "bob")
    assert set(added) == {"id", "new", "changed", "fact", "conflicts", "near"}
    assert (added["id"], added["new"], added["changed"]) == (known, False, ["provenance"])
    assert set(added["fact"]) == FACT
    nowhere = {"item": None, "start": None, "end": None}
    alone = {"trust": "user", "tainted_by": [], "branch": "", "commit": "", "anchors": []}
    assert added["fact"]["provenance"][1] == {"stated_by": "bob", **nowhere, **alone}
    found = palazzo.json("kg", "query", "api", "--as-of", "2026-03-01")
    assert set(found) == {
        "entity",
        "matched",
        "as_of",
        "known_at",
        "facts",
        "count",
        "truncated",
        "mentioned",
        "count_elsewhere",
    }
    assert set(found["facts"][0]) == FACT | {"direction", "hop", "freshness", "citations", "label"}
    assert (found["as_of"], found["known_at"], found["count"]) == ("2026-03-01T23:59:59.999Z", None, 3)
    done = palazzo.json("kg", "supersede", "api", "uses", "Redis", "Valkey", "--at", "2026-05-01")
    assert set(done) == {"at", "closed", "opened", "new", "conflicts"}
    ended = palazzo.json("kg", "end", "web", "calls", "api")
    assert set(ended) == {"at", "ended"}
    assert set(palazzo.json("kg", "timeline")) == {"entity", "matched", "known_at", "timeline", "count"}
    assert set(palazzo.json("kg", "stats")) == {
        "entities", "facts", "current", "ended", "planned", "aliases", "merges", "conflicts", "predicates",
    }  # fmt: skip
    shown = palazzo.json("show", known)
    assert (shown["kind"], shown["id"], shown["entries"]) == ("fact", known, [])
    assert [set(version) for version in shown["versions"]] == [FACT] * 3
    assert palazzo.json("status")["facts"] == 4
    assert palazzo.json("verify")["ok"]


EVERY = [
    ["kg", "add", "a", "b", "c"],
    ["kg", "query", "api", "--hops", "2"],
    ["kg", "query", "nobody"],
    ["kg", "end", "api", "uses", "Redis"],
    ["kg", "supersede", "api", "uses", "Redis", "Valkey"],
    ["kg", "timeline"],
    ["kg", "conflicts"],
    ["kg", "stats"],
    ["kg", "alias"],
    ["kg", "alias", "the api", "api"],
    ["kg", "merge"],
    ["kg", "merge", "web", "api"],
    ["kg", "predicate"],
    ["kg", "predicate", "uses", "--functional"],
]


def test_every_command_writes_one_document_or_something_for_a_person(palazzo: Command, known: str) -> None:
    for arguments in EVERY:
        before = palazzo.json("undo", "--list")["changes"]
        ran = palazzo(*arguments)
        assert (ran.code, ran.error) == (0, "")
        assert ran.out.strip()
        if palazzo.json("undo", "--list")["changes"] != before:
            palazzo("undo")
        ran = palazzo(*arguments, "--json")
        assert (ran.code, ran.error) == (0, ""), arguments
        assert isinstance(ran.json, dict)
        if palazzo.json("undo", "--list")["changes"] != before:
            palazzo("undo")


def test_what_a_person_sees_fits_the_screen(palazzo: Command, known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    palazzo("kg", "predicate", "listens on", "--functional")
    conflict = palazzo("kg", "add", "api", "listens on", "9000", "--wing", "shop")
    assert "This conflicts with existing records (1): palazzo kg conflicts" in conflict.out
    superseded = palazzo("kg", "supersede", "api", "uses", "Redis", "Valkey", "--at", "2026-05-01").out
    assert "Superseded at 2026-05-01T00:00:00Z" in superseded
    assert "2026-03-01 to 2026-04-30" in superseded
    assert "since 2026-05-01" in superseded
    shown = [
        palazzo(*arguments).out
        for arguments in (
            ["kg", "query", "Api"], ["kg", "timeline"], ["kg", "conflicts"], ["kg", "stats"], ["show", known],
        )
    ]  # fmt: skip
    assert "api  (in another spelling)" in shown[0]
    assert "wing shop, confidence 0.5" in shown[1]
    assert "by user, superseded" in shown[1]
    assert known in shown[1]
    assert "1 conflict" in shown[2]
    assert "listens on      2  one at a time" in shown[3]
    assert "superseded by" in shown[4]
    assert max(len(line) for text in shown for line in text.splitlines()) <= 80


@pytest.mark.parametrize("command", [("erase",), ("forget",), ("tag", "add", "x")])
def test_where_a_drawer_is_meant_the_id_of_a_fact_is_called_one(
    palazzo: Command, known: str, command: tuple[str, ...]
) -> None:
    ran = palazzo(*command, known)
    assert (ran.code, ran.out) == (2, "")
    assert f"'{known}' is the id of a fact, not of a drawer or item. 'palazzo kg end' ends a fact" in ran.error
    assert palazzo.json("show", known)["kind"] == "fact"


def test_a_fact_that_a_file_shows_says_which(palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "shop")
    (home / "shop" / "cart.py").write_text("TAX = 1\nROUNDING = 'half up'\n")
    added = palazzo.json("kg", "add", "cart", "rounds", "half up", "--anchor", "cart.py:1-2")
    assert added["fact"]["scope"] == "shop"
    assert "cart.py:1-2" in palazzo("show", added["id"]).out
    assert "has 2 lines" in palazzo("kg", "add", "cart", "rounds", "down", "--anchor", "cart.py:3").error


def test_facts_are_read_from_a_file_and_from_a_pipe(palazzo: Command, home: Path) -> None:
    lines = [json.dumps({"subject": "api", "predicate": "uses", "object": name}) for name in ("Redis", "Kafka")]
    (home / "facts.jsonl").write_text("\n".join([*lines, "no fact"]))
    ran = palazzo("kg", "add-many", str(home / "facts.jsonl"))
    assert ran.code == 1
    assert "2 facts: 2 new" in ran.out
    assert "line 3  This is not JSON: 'no fact'." in ran.out
    piped = spawn("kg", "add-many", "-", "--json", stdin=b"\xff\n" + lines[0].encode())
    assert piped.code == 1
    assert (piped.json["unchanged"], [one["line"] for one in piped.json["failed"]]) == (1, [1])
    missing = palazzo("kg", "add-many", "nowhere.jsonl")
    assert (missing.code, missing.out) == (2, "")
    assert "nowhere.jsonl cannot be read" in missing.error


def test_an_entity_may_be_named_like_a_flag(palazzo: Command, home: Path) -> None:
    assert palazzo("kg", "add", "--json", "--", "--help", "is", "a flag").json["fact"]["subject"] == "--help"
    assert palazzo("kg", "query", "--", "--help").out.startswith("--help\n--help is a flag")
    assert palazzo("kg", "end", "--", "--help", "is", "a flag").code == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["kg", "add", "api", "uses"], "OBJECT"),
        (["kg", "add", "api", "uses", "x", "--from", "2026-03-01", "--to", "2026-01-01"], "before it begins"),
        (["kg", "add", "api", "uses", "x", "--from", "2026-03-01 10:00 Mars/Olympus"], "is not a known time zone"),
        (["kg", "add", "api", "p" * 10_000, "x"], "has 10,000 characters"),
        (["kg", "end", "api", "uses", "Kafka"], 'Near it: "api uses Redis (in wing shop)"'),
        (["kg", "query", "api", "--as-of", "some day"], "--as-of: 'some day' is not a time"),
        (["kg", "query", "api", "--direction", "up"], "subject"),
        (["kg", "query", "api", "--as-of", "2026", "--all"], "not both"),
        (["kg", "nonsense"], "nonsense"),
    ],
    ids=lambda given: " ".join(given)[:40],
)
def test_what_is_wrong_is_said_in_a_sentence_and_is_usage(
    palazzo: Command, known: str, arguments: list[str], why: str
) -> None:
    ran = palazzo(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.error


def test_looking_makes_no_palace(palazzo: Command, home: Path) -> None:
    for arguments in (["query", "api"], ["timeline"], ["stats"], ["conflicts"], ["alias"], ["merge"], ["predicate"]):
        assert palazzo("kg", *arguments).code == 1
    assert palazzo("kg").code == 0
    assert not (home / ".local").exists()


def test_the_palace_may_be_named_before_and_behind_the_group(palazzo: Command, home: Path) -> None:
    other = str(home / "other.db")
    assert palazzo("kg", "--palace", other, "add", "a", "b", "c").code == 0
    assert palazzo("--palace", other, "kg", "query", "a").out.startswith("a\n")
    assert palazzo.json("kg", "stats", "--palace", other)["facts"] == 1


def test_the_list_of_changes_says_which_fact(palazzo: Command, home: Path) -> None:
    palazzo.json("kg", "add", "api", "runs_on_port", "8080")
    palazzo.json("kg", "end", "api", "runs_on_port", "8080")
    told = [(change["verb"], change["summary"]) for change in palazzo.json("undo", "--list")["changes"]]
    assert told == [(f"kg {verb}", "api runs_on_port 8080 (in wing shop)") for verb in ("end", "add")]


def test_a_query_says_in_how_many_drawers_and_rooms_an_entity_is_mentioned_by_any_name(palazzo: Command) -> None:
    palazzo.json("kg", "add", "auth-service", "uses", "retry_budget")
    palazzo.json("kg", "alias", "retries_left", "retry_budget")
    for room, text in (
        ("limits", "`retry_budget` is ten."),
        ("limits", "`retries_left`, too."),
        ("ops", "`retry_budget`!"),
    ):
        palazzo.json("remember", text, "--room", room)
    told = palazzo.json("kg", "query", "Retry Budget")
    assert told["mentioned"] == {"drawers": 3, "rooms": 2, "most": {"shop/limits": 2, "shop/ops": 1}}
    assert "Mentioned in 3 drawers: shop/limits 2, shop/ops 1" in palazzo("kg", "query", "retry_budget").out
    assert palazzo.json("kg", "query", "retry_budget", "--as-of", "yesterday")["mentioned"] is None
    unknown = palazzo.json("kg", "query", "lease_seconds")
    assert (unknown["matched"], unknown["mentioned"]["drawers"]) == (None, 0)
    stats = palazzo.json("graph-stats")["top_names"]
    assert stats[0] == {"name": "retry_budget", "kind": "identifier", "drawers": 2, "rooms": 2}
    assert "retries_left" in palazzo("graph-stats").out
    palazzo.json("settings", "set", "entities", "false")
    assert palazzo.json("kg", "query", "retry_budget")["mentioned"] is None


def test_status_counts_entities_and_mentions(palazzo: Command) -> None:
    palazzo.json("kg", "add", "auth-service", "uses", "retry_budget")
    palazzo.json("remember", "Priya set `retry_budget` to ten.")
    palazzo.json("kg", "query", "retry_budget")
    status = palazzo.json("status")
    assert (status["entities"], status["mentions"], status["connections"]) == (2, 2, 1)
    assert "1 fact about 2 entities" in palazzo("status").out
    assert "2 mentions of names" in palazzo("status").out
    past = palazzo.json("status", "--as-of", "2020-01-01")
    assert (past["entities"], past["mentions"]) == (0, None)


def test_authors_of_a_mined_project_are_known_and_an_erase_forgets_them(palazzo: Command, home: Path) -> None:
    shop = home / "shop"
    (shop / "docs" / "who.md").write_text("# Who\n\nThe rollout was Zdravko Mihaylov's idea, in every detail of it.\n")
    for arguments in (
        ["init", "-q"],
        ["-c", "user.name=Zdravko Mihaylov", "-c", "user.email=z@example.com", "commit", "-q", "--allow-empty", "-mx"],
    ):
        subprocess.run(["git", *arguments], cwd=shop, check=True)
    palazzo.json("mine", ".")
    assert palazzo.json("kg", "query", "zdravko mihaylov")["mentioned"]["drawers"] == 1
    palazzo.json("erase", "--match", "Mihaylov", "--even-most", "--yes")
    palazzo.json("mine", ".")
    palace = home / ".local" / "share" / "palazzo"
    assert not any(b"Mihaylov" in path.read_bytes() for path in palace.iterdir() if path.is_file())
