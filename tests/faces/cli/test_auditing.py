"""audit: what could be tidied up, and that the command it names does it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.faces.cli.command import Command

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
    palazzo.json(*arguments, *options)


def test_a_tidy_palace_is_tidy(palazzo: Command, shop: Path) -> None:
    palazzo.json("remember", "The brown cat sleeps beside the router.", "--room", "animals")
    found = audited(palazzo)
    assert set(found) == {"noise", "copies", "sources", "lone rooms", "wings", "conflicts", "anchors", "feedback"}
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
    mend(palazzo, finding)
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


def test_wings_that_differ_in_a_figure_are_two_for_a_reason(palazzo: Command, home: Path) -> None:
    for wing in ("release-1", "release-2", "release-12", "releases"):
        palazzo.json("remember", f"What was said of {wing}.", "--wing", wing)
    assert audited(palazzo)["wings"]["ok"]
    palazzo.json("remember", "What was said of another.", "--wing", "releases-2")
    finding = audited(palazzo)["wings"]
    assert finding["examples"] == ["release-2 and releases-2"]
    assert finding["detail"] == "1 pair of wings has similar names"


def test_each_of_several_lone_rooms_and_wings_has_its_command_whatever_they_are_called(
    palazzo: Command, home: Path
) -> None:
    for text in (WORDS, "Herons count their eggs at dawn.", "A third one of the gateway."):
        palazzo.json("remember", text, "--room", "the gateway")
    palazzo.json("remember", "Newts keep the ledger.", "--room", "newt's nest")
    palazzo.json("remember", "Otters keep nothing at all.", "--room", "otters & co")
    palazzo.json("remember", "Far away.", "--wing", "my second project")
    palazzo.json("remember", "Farther away.", "--wing", "my second projects")
    found = audited(palazzo)
    rooms, wings = found["lone rooms"], found["wings"]
    assert rooms["examples"] == ["shop/newt-s-nest", "shop/otters-co"]
    assert (len(rooms["mends"]), rooms["mend"]) == (2, rooms["mends"][0])
    assert len(wings["mends"]) == 1
    told = palazzo("audit").out
    for command in (*rooms["mends"], *wings["mends"]):
        assert command in " ".join(told.split())
        palazzo.json(*shlex.split(command)[1:])
    after = audited(palazzo)
    assert after["lone rooms"]["ok"]
    assert after["wings"]["ok"]


CART = "def total(cart):\n    rounded = half_up(cart.sum)\n    return rounded + shipping(cart)\n"


@pytest.fixture
def cart(home: Path, palazzo: Command) -> Path:
    """A file of the project that notes and a fact are about."""
    file = home / "shop" / "cart.py"
    file.write_text(CART)
    (home / "shop" / "README.md").write_text("# Shop\n")
    palazzo.json("mine", "README.md")
    return file


def test_a_note_whose_file_changed_is_named_and_can_be_said_to_hold_still(
    palazzo: Command, cart: Path, home: Path
) -> None:
    other = home / "shop" / "tax.py"
    other.write_text("RATE = 0.19 if country == 'DE' else 0.2\n")
    palazzo.json("remember", "Totals are rounded half up.", "--anchor", "cart.py:2-3", "--anchor", "tax.py")
    palazzo.json("remember", "This file says what a cart is.", "--anchor", "cart.py:1-1")
    assert audited(palazzo)["anchors"]["ok"]
    cart.write_text(CART.replace("half_up(cart.sum)", "bankers(cart.sum)"))
    other.unlink()
    finding = audited(palazzo)["anchors"]
    assert finding["count"] == 1
    assert finding["examples"][0].endswith(" cites cart.py:2-3, tax.py")
    mend(palazzo, finding)
    assert audited(palazzo)["anchors"]["ok"]
    (hit,) = palazzo.json("search", "rounded half up", "--limit", "1")["hits"]
    assert [(one["path"], one["first"], one["last"]) for one in hit["citations"]] == [("cart.py", 2, 3)]
    assert hit["freshness"] == "fresh"
    palazzo.json("undo")
    assert audited(palazzo)["anchors"]["count"] == 1


def test_a_note_whose_lines_are_no_more_cites_the_whole_file(palazzo: Command, cart: Path) -> None:
    palazzo.json("remember", "Totals are rounded half up.", "--anchor", "cart.py:2-3")
    cart.write_text("def total(cart): return bankers(cart.sum)\n")
    mend(palazzo, audited(palazzo)["anchors"])
    (hit,) = palazzo.json("search", "rounded half up", "--limit", "1")["hits"]
    assert [(one["path"], one["first"]) for one in hit["citations"]] == [("cart.py", 0)]


def test_a_fact_whose_file_changed_is_named_and_ended(palazzo: Command, cart: Path) -> None:
    palazzo.json("kg", "add", "cart total", "is rounded", "half up", "--wing", "shop", "--anchor", "cart.py:2-3")
    assert audited(palazzo)["anchors"]["ok"]
    cart.unlink()
    finding = audited(palazzo)["anchors"]
    assert shlex.split(finding["mend"])[1:3] == ["kg", "end"]
    mend(palazzo, finding)
    assert audited(palazzo)["anchors"]["ok"]


def test_a_note_without_a_file_cannot_be_said_to_hold_still(palazzo: Command, cart: Path) -> None:
    filed = palazzo.json("remember", "Totals are rounded half up.")
    ran = palazzo("update-drawer", filed["drawers"][0], "--still-holds")
    assert ran.code == 2
    assert "was filed without --anchor, so there is no citation to renew" in ran.error
    there = palazzo.json("remember", "Elsewhere.", "--wing", "api", "--anchor", "cart.py")["drawers"][0]
    assert "run this in that project" in palazzo("update-drawer", there, "--still-holds").error


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
