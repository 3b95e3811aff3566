"""checkpoint, as it is typed: all of it or none, and what was there already is told of."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.faces.cli.command import Command, spawn

from palazzo.features.diary.checkpoint import checkpoint
from palazzo.features.diary.contract import CheckpointRequest
from palazzo.operations.context import Context

RETRIES = "We retry five times, with jitter, because the payment API answers 503 for a minute at a time."
LIMIT = "The rate limit of the payment API is 20 a second."
ENTRY = "Jitter is in.\nOpen: the dashboards."
FACT = {"subject": "retry limit", "predicate": "is", "object": "5", "from": "2026-01-01"}
WHOLE: dict[str, Any] = {
    "items": [
        {"content": RETRIES, "kind": "decision", "room": "retries", "tags": ["Limits"]},
        {"content": LIMIT, "wing": "api"},
    ],
    "diary": {"agent": "Codex", "entry": ENTRY, "topic": "retries"},
    "facts": [FACT],
}


def save(palazzo: Command, document: object) -> dict[str, Any]:
    saved: dict[str, Any] = palazzo.json("checkpoint", json.dumps(document))
    return saved


def held(palazzo: Command) -> tuple[int, int, int]:
    """(items, live drawers, facts)"""
    status = palazzo.json("status")
    return status["items"], status["drawers"], status["facts"]


def test_notes_an_entry_and_facts_are_saved_in_one_change(palazzo: Command, home: Path) -> None:
    saved = save(palazzo, WHOLE)
    assert [(one["part"], one["number"], one["wing"], one["room"]) for one in saved["added"]] == [
        ("item", 1, "shop", "retries"), ("item", 2, "api", "notes"), ("diary", 1, "wing_codex", "diary"),
    ]  # fmt: skip
    (hit,) = palazzo.json("search", "jitter", "--kind", "note")["hits"]
    assert (hit["text"], hit["author"], hit["trust"]) == (RETRIES, "Codex", "agent")
    assert palazzo.json("search", "jitter", "--tag", "limits")["hits"]
    assert palazzo.json("diary", "read", "codex")["entries"][0]["content"] == ENTRY
    (fact,) = palazzo.json("kg", "query", "retry limit")["facts"]
    assert (fact["id"], fact["provenance"][0]["stated_by"]) == (saved["facts"][0]["id"], "Codex")
    (change,) = palazzo.json("undo", "--list")["changes"]
    assert (change["id"], change["verb"], change["size"]) == (saved["change"], "checkpoint", 4)
    assert palazzo.json("verify")["ok"]


def test_undo_takes_back_all_of_it(palazzo: Command, home: Path) -> None:
    save(palazzo, WHOLE)
    palazzo.json("undo")
    assert held(palazzo)[1] == 0
    assert palazzo.json("kg", "query", "retry limit")["facts"] == []
    assert palazzo.json("diary", "read", "codex")["entries"] == []
    assert len(save(palazzo, WHOLE)["added"]) == 3, "what was taken back is no duplicate"


def test_it_is_read_from_standard_input(palazzo: Command, home: Path) -> None:
    ran = spawn("checkpoint", "-", "--json", stdin=json.dumps(WHOLE).encode())
    assert len(ran.json["added"]) == 3


def test_saving_it_again_files_nothing_and_names_what_is_there(palazzo: Command, home: Path) -> None:
    first = save(palazzo, WHOLE)
    before = held(palazzo)
    again = save(palazzo, WHOLE)
    drawers = [drawer for one in first["added"] for drawer in one["drawers"]]
    assert [(one["id"], one["similarity"], one["filed"]) for one in again["duplicates"]] == [
        (drawer, 1.0, False) for drawer in drawers
    ]
    assert (again["added"], again["change"], again["facts"][0]["new"]) == ([], None, False)
    assert held(palazzo) == before
    assert "nothing was saved" in palazzo("checkpoint", json.dumps(WHOLE)).out


def test_a_part_that_repeats_an_earlier_one_is_filed_once(palazzo: Command, home: Path) -> None:
    saved = save(palazzo, {"items": [{"content": LIMIT}, {"content": LIMIT}, {"content": LIMIT, "wing": "api"}]})
    assert [one["number"] for one in saved["added"]] == [1, 3]
    (copy,) = saved["duplicates"]
    assert (copy["number"], copy["id"], copy["filed"]) == (2, saved["added"][0]["id"], False)


def test_what_is_nearly_there_is_filed_and_told_of(palazzo: Command, home: Path) -> None:
    there = save(palazzo, {"items": [{"content": RETRIES}]})["added"][0]["drawers"][0]
    nearly = RETRIES.replace("five", "5").replace(".", " and more words that were never said before here")
    for text, near in ((RETRIES.upper().rstrip("."), [there]), (nearly, [])):
        saved = save(palazzo, {"items": [{"content": text}]})
        assert [one["id"] for one in saved["duplicates"] if one["id"] == there] == near
        assert len(saved["added"]) == 1
        assert all(one["filed"] and one["similarity"] >= 0.9 for one in saved["duplicates"])


def test_the_same_words_in_another_wing_are_no_duplicate(palazzo: Command, home: Path) -> None:
    save(palazzo, {"items": [{"content": LIMIT, "wing": "api"}]})
    assert save(palazzo, {"items": [{"content": LIMIT}]})["duplicates"] == []
    assert save(palazzo, {"diary": {"agent": "api", "entry": LIMIT}})["duplicates"] == []


def bad(n: int, value: object) -> dict[str, Any]:
    """Nine items of which one is bad."""
    items: list[object] = [{"content": f"note number {number}"} for number in range(9)]
    items[n - 1] = value
    return {**WHOLE, "items": items}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"content": ""}, "empty"),
        ({"content": " \n"}, "empty"),
        ({"wing": "api"}, "missing"),
        ({"content": 3}, "in quotes"),
        ({"content": "x", "tags": "one"}, "list of strings"),
        ({"content": "x", "tags": ["a" * 100]}, "tag"),
        ({"content": "x", "wing": "///"}, "is not a valid name"),
        ({"content": "x", "room": "…"}, "is not a valid name"),
        ({"content": "x", "kind": "\n"}, "kind"),
        ({"content": "x", "colour": "red"}, "'colour'"),
        ({"content": "x" * 1_000_001}, "1,000,000"),
        ("just words", "JSON object"),
        (None, "JSON object"),
    ],
)
def test_one_bad_item_of_nine_is_named_and_nothing_is_saved(
    palazzo: Command, home: Path, value: object, why: str
) -> None:
    palazzo.json("remember", "one")
    before = held(palazzo)
    ran = palazzo("checkpoint", json.dumps(bad(5, value)))
    assert (ran.code, ran.error.count("\n")) == (2, 1)
    assert "Nothing was saved. Item 5 of 9: " in ran.error
    assert why in ran.error
    assert held(palazzo) == before


@pytest.mark.parametrize(
    ("part", "value", "named"),
    [
        ("diary", {"agent": "a/b", "entry": "x"}, "The diary entry: "),
        ("diary", {"agent": "codex", "entry": ""}, "The diary entry: "),
        ("diary", {"entry": "x"}, "The diary entry: "),
        ("diary", ["x"], "The diary entry: "),
        ("facts", [FACT, {"subject": "a", "predicate": "b"}], "Fact 2 of 2: "),
        ("facts", [FACT, {**FACT, "from": "soonish"}], "Fact 2 of 2: "),
        ("facts", [FACT, {**FACT, "confidence": 2}], "Fact 2 of 2: "),
        ("facts", [{**FACT, "sources": ["ffffffff"]}, FACT], "Fact 1 of 2: "),
        ("facts", [FACT, {**FACT, "subject": "x" * 1001}], "Fact 2 of 2: "),
    ],
)
def test_a_bad_entry_or_fact_costs_all_the_others_too(
    palazzo: Command, home: Path, part: str, value: object, named: str
) -> None:
    palazzo.json("remember", "one")
    before = held(palazzo)
    ran = palazzo("checkpoint", json.dumps({**WHOLE, part: value}))
    assert (ran.code, ran.error.count("\n")) == (2, 1)
    assert f"Nothing was saved. {named}" in ran.error
    assert held(palazzo) == before
    assert palazzo.json("diary", "read", "codex")["entries"] == []


def test_what_fails_in_the_midst_of_saving_leaves_nothing_behind(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "one")
    before = held(palazzo)
    (path,) = home.rglob("palace.db")
    with contextlib.closing(sqlite3.connect(path)) as foreign:
        foreign.execute("CREATE TRIGGER refuse BEFORE INSERT ON fact BEGIN SELECT RAISE(ABORT, 'refused'); END")
        foreign.commit()
        assert palazzo("checkpoint", json.dumps(WHOLE)).code != 0
        foreign.execute("DROP TRIGGER refuse")
        foreign.commit()
    assert held(palazzo) == before
    assert len(save(palazzo, WHOLE)["added"]) == 3


def test_all_that_is_wrong_is_said_at_once(palazzo: Command, home: Path) -> None:
    ran = palazzo("checkpoint", json.dumps({"items": [{}, {"content": "x"}, {"content": ""}], "facts": [{}]}))
    assert all(part in ran.error for part in ("Item 1 of 3", "item 3 of 3", "fact 1 of 1"))


@pytest.mark.parametrize(
    "document",
    ["", "nope", "[]", "{}", '{"items": []}', '{"items": {}}', '{"itmes": []}', "[" * 100_000, '{"items": null}', "3"],
)
def test_what_is_no_checkpoint_is_one_sentence(palazzo: Command, home: Path, document: str) -> None:
    ran = palazzo("checkpoint", document)
    assert (ran.code, ran.error.count("\n")) == (2, 1)


def test_more_than_a_transaction_should_hold_is_refused(palazzo: Command, home: Path) -> None:
    ran = palazzo("checkpoint", json.dumps({"items": [{"content": f"note {n}"} for n in range(51)]}))
    assert ran.code == 2
    assert "several steps" in ran.error


def test_secrets_leave_a_checkpoint_at_the_door_and_its_copy_is_known(palazzo: Command, home: Path) -> None:
    document = {"items": [{"content": "It works with <private>the blue key</private> now."}]}
    save(palazzo, document)
    assert "blue" not in palazzo.json("search", "works now")["hits"][0]["text"]
    assert save(palazzo, document)["added"] == []


def test_one_checkpoint_that_is_saved_by_many_at_once_is_filed_once(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "one")
    before = held(palazzo)

    def once(_: int) -> int:
        with Context() as context:
            return len(checkpoint(context, CheckpointRequest(json.dumps(WHOLE))).added)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(once, range(4))) == [0, 0, 0, 3]
    assert held(palazzo) == (before[0] + 3, before[1] + 3, before[2] + 1)


def test_who_names_a_file_is_told_how_it_is_read(palazzo: Command, home: Path) -> None:
    ran = palazzo("checkpoint", "week.json")
    assert (ran.code, ran.error.count("\n")) == (2, 1)
    assert "palazzo checkpoint - < week.json" in ran.error
    assert "standard input" not in palazzo("checkpoint", "{,}").error
