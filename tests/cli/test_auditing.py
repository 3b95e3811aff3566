"""audit: what could be tidied up, and that the command it names does it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Command

WORDS = "The gateway retries a failed call three times, one second apart, and then it gives up and says so in its log."


def audited(palazzo: Command, *options: str) -> dict[str, dict[str, Any]]:
    """The findings by name."""
    found = palazzo.json("audit", *options)
    assert found["ok"] == all(one["ok"] for one in found["findings"])
    assert all(bool(one["mend"]) == (not one["ok"]) == bool(one["count"]) for one in found["findings"])
    return {one["name"]: one for one in found["findings"]}


def mend(palazzo: Command, finding: dict[str, Any], *options: str) -> None:
    """Do what a finding says, in earnest."""
    program, *arguments = shlex.split(finding["mend"])
    assert program == "palazzo"
    palazzo.json(*(one for one in arguments if one != "--dry-run"), *options)


def test_a_tidy_palace_is_tidy(palazzo: Command, shop: Path) -> None:
    palazzo.json("remember", "The brown cat sleeps beside the router.", "--room", "animals")
    found = audited(palazzo)
    assert set(found) == {"noise", "copies", "sources", "lone rooms", "wings", "conflicts"}
    assert all(one["ok"] for one in found.values())


def test_notes_that_say_little_or_the_same_are_named_and_mended(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "ok")
    palazzo.json("remember", WORDS)
    copy = palazzo.json("remember", WORDS)["drawers"][0]
    found = audited(palazzo)
    assert (found["noise"]["count"], found["copies"]["examples"]) == (1, [copy])
    mend(palazzo, found["noise"], "--yes")
    mend(palazzo, found["copies"], "--yes")
    assert palazzo.json("status")["drawers"] == 1
    assert audited(palazzo)["copies"]["ok"]


def test_documents_that_are_gone_are_named_by_project_and_mended(palazzo: Command, shop: Path, home: Path) -> None:
    (home / "shop" / "docs" / "retries.md").unlink()
    finding = audited(palazzo)["sources"]
    assert finding["count"] == 1
    assert finding["examples"][0].endswith("/docs/retries.md")
    mend(palazzo, finding, "--apply")
    assert audited(palazzo)["sources"]["ok"]


def test_a_room_with_one_drawer_is_named_where_another_has_more(palazzo: Command, home: Path) -> None:
    for text in (WORDS, "Herons count their eggs at dawn."):
        palazzo.json("remember", text, "--room", "gateway")
    palazzo.json("remember", "Newts keep the ledger of the pond.", "--room", "newts")
    palazzo.json("remember", "Alone, but in a wing of its own.", "--wing", "api", "--room", "alone")
    finding = audited(palazzo)["lone rooms"]
    assert finding["examples"] == ["shop/newts"]
    mend(palazzo, finding)
    assert palazzo.json("status")["wings"]["shop"]["rooms"] == {"gateway": 3}


def test_wings_that_look_alike_are_named_unless_both_are_projects(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", WORDS)
    palazzo.json("remember", "Herons count their eggs at dawn.", "--wing", "shops")
    palazzo.json("remember", "Newts keep the ledger of the pond.", "--wing", "api")
    finding = audited(palazzo)["wings"]
    assert finding["mend"] == "palazzo wing merge shops shop"
    assert audited(palazzo, "--threshold", "0.95")["wings"]["ok"]
    mend(palazzo, finding)
    assert audited(palazzo)["wings"]["ok"]


def test_facts_that_cannot_both_hold_are_named(palazzo: Command, home: Path) -> None:
    palazzo.json("kg", "predicate", "runs on", "--functional")
    palazzo.json("kg", "add", "gateway", "runs on", "port 8443")
    palazzo.json("kg", "add", "gateway", "runs on", "port 9000")
    finding = audited(palazzo)["conflicts"]
    assert (finding["count"], finding["mend"]) == (1, "palazzo kg conflicts")


def test_an_audit_changes_nothing_and_tells_a_person_what_to_do(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "ok")
    before = palazzo.json("undo", "--list")
    assert "palazzo cleanup" in palazzo("audit").out
    assert palazzo.json("undo", "--list") == before


@pytest.mark.parametrize("threshold", ["0", "1.5"])
def test_a_threshold_that_says_nothing_is_refused(palazzo: Command, shop: Path, threshold: str) -> None:
    assert palazzo("audit", "--threshold", threshold).code == 2
