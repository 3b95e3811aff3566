"""dedup and cleanup: notes that say the same, and notes that say little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.faces.cli.command import Command

from palazzo.features.notes import remember
from palazzo.features.notes.contract import RememberRequest
from palazzo.operations.context import Context

WORDS = (
    "The gateway retries a failed call three times, one second apart, and then it gives up for good and writes the"
    " call into the table of failures."
)
NEARLY = WORDS.replace("for good", "for ever")


def drawer(palazzo: Command, text: str, *options: str) -> str:
    noted: str = palazzo.json("remember", text, *options)["drawers"][0]
    return noted


def live(palazzo: Command) -> set[str]:
    return {row["id"] for row in palazzo.json("list-drawers")["drawers"]}


# --- dedup -------------------------------------------------------------------------------------------------


def test_notes_that_say_the_same_are_folded_into_the_oldest_and_undo_brings_them_back(
    palazzo: Command, home: Path
) -> None:
    first, same, near = (drawer(palazzo, text) for text in (WORDS, WORDS.upper(), NEARLY))
    other = drawer(palazzo, "Herons count their eggs at dawn.")
    would = palazzo.json("dedup", "--dry-run")
    (cluster,) = would["clusters"]
    assert (cluster["survivor"], cluster["copies"]) == (first, [same, near])
    assert 0.85 <= cluster["similarity"] < 1
    assert [origin["id"] for origin in cluster["origins"]] == [first, same, near]
    assert live(palazzo) == {first, same, near, other}
    folded = palazzo.json("dedup", "--yes")
    assert (folded["folded"], folded["dry_run"]) == ([same, near], False)
    assert live(palazzo) == {first, other}
    assert palazzo.json("verify")["ok"]
    assert palazzo.json("undo")["undone"]["id"] == folded["change"]
    assert live(palazzo) == {first, same, near, other}
    assert palazzo.json("dedup", "--dry-run")["clusters"] == would["clusters"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (WORDS, WORDS.replace("three", "3")),
        (f"{WORDS} The limit is 10.", f"{WORDS} The limit is 20."),
        (WORDS, WORDS.replace("it gives up", "it never gives up")),
        (WORDS, f"{WORDS} It does that for all calls, except for those of the billing service, which it hands on."),
        (f"{WORDS} Use v1.2.", f"{WORDS} Use v1.3."),
    ],
    ids=["a figure", "another figure", "a denial", "one says more", "a version"],
)
def test_notes_that_say_something_else_are_not_folded(palazzo: Command, home: Path, one: str, other: str) -> None:
    drawer(palazzo, one)
    drawer(palazzo, other)
    assert palazzo.json("dedup", "--dry-run", "--threshold", "0.75")["clusters"] == []


def test_notes_of_two_wings_are_not_folded_and_one_wing_can_be_named(palazzo: Command, home: Path) -> None:
    drawer(palazzo, WORDS)
    drawer(palazzo, WORDS, "--wing", "api")
    assert palazzo.json("dedup", "--dry-run")["clusters"] == []
    drawer(palazzo, WORDS, "--wing", "api")
    assert palazzo.json("dedup", "--dry-run", "--wing", "shop")["clusters"] == []
    assert [one["wing"] for one in palazzo.json("dedup", "--dry-run", "--wing", "api")["clusters"]] == ["api"]


def test_the_most_trusted_stays_with_the_tags_of_all(palazzo: Command, home: Path) -> None:
    with Context(trust="external") as context:
        remember.remember(context, RememberRequest(WORDS, tags=("old",)))
    said = drawer(palazzo, WORDS, "--tag", "mine")
    (cluster,) = palazzo.json("dedup", "--yes")["clusters"]
    assert (cluster["survivor"], [origin["trust"] for origin in cluster["origins"]]) == (said, ["user", "external"])
    assert palazzo.json("show", said)["entries"][0]["tags"] == ["mine", "old"]
    palazzo.json("undo")
    assert palazzo.json("show", said)["entries"][0]["tags"] == ["mine"]


def test_a_note_of_many_drawers_is_folded_whole(palazzo: Command, home: Path) -> None:
    text = "\n\n".join(f"{WORDS} Paragraph {n} says so too." for n in range(40))
    one, other = (palazzo.json("remember", text)["drawers"] for _ in range(2))
    assert len(one) > 1
    assert palazzo.json("dedup", "--yes")["folded"] == other
    assert live(palazzo) == set(one)


def test_documents_to_dos_and_diaries_are_left_alone(palazzo: Command, home: Path) -> None:
    for _ in range(2):
        palazzo.json("todo", "add", WORDS)
        palazzo.json("diary", "write", "Codex", WORDS)
    assert palazzo.json("dedup", "--dry-run")["clusters"] == []


def test_a_cluster_asks_before_it_is_folded(palazzo: Command, home: Path) -> None:
    drawer(palazzo, WORDS)
    drawer(palazzo, WORDS)
    ran = palazzo("dedup", "--dry-run")
    assert "keep " in ran.out
    assert palazzo("dedup", "--threshold", "0").code == 2


def folded(palazzo: Command, uid: str) -> list[tuple[str, str]]:
    """Who else said what a drawer says, and of what trust, as `show` tells it."""
    return [(one["author"], one["trust"]) for one in palazzo.json("show", uid)["entries"][0]["folded"]]


def test_what_stays_keeps_all_origins_also_of_what_was_folded_before(palazzo: Command, home: Path) -> None:
    by = [("Codex", WORDS), ("Claude", WORDS.upper()), ("Mira", NEARLY)]
    ids = [drawer(palazzo, text, "--by", who) for who, text in by[:2]]
    assert folded(palazzo, ids[0]) == []
    palazzo.json("dedup", "--yes")
    assert folded(palazzo, ids[0]) == [("Claude", "user")]
    before = palazzo.json("remember", NEARLY, "--by", "Mira", "--at", "3d")["drawers"][0]
    change = palazzo.json("dedup", "--yes")["change"]
    assert live(palazzo) == {before}
    assert folded(palazzo, before) == [("Codex", "user"), ("Claude", "user")]
    assert "by Codex" in palazzo("show", before).out
    assert palazzo.json("verify")["ok"]
    assert palazzo.json("undo")["undone"]["id"] == change
    assert folded(palazzo, before) == []
    assert folded(palazzo, ids[0]) == [("Claude", "user")]


# --- cleanup -----------------------------------------------------------------------------------------------


@pytest.fixture
def noted(palazzo: Command, home: Path) -> dict[str, str]:
    """Notes by what they are, as their drawers."""
    return {
        "short": drawer(palazzo, "ok then"),
        "short decision": drawer(palazzo, "use tabs", "--kind", "decision"),
        "short and tagged": drawer(palazzo, "port 8443", "--tag", "ports"),
        "few letters, many words": drawer(palazzo, "部署用八四四三端口,别改"),
        "long": drawer(palazzo, WORDS),
        "unimportant": drawer(palazzo, f"{WORDS} Or so.", "--importance", "0.1"),
        "important": drawer(palazzo, "herons!", "--importance", "0.9"),
    }


def reasons(found: dict[str, Any], noted: dict[str, str]) -> dict[str, str]:
    names = {uid: name for name, uid in noted.items()}
    return {names[one["id"]]: one["reason"] for one in found["candidates"]}


def test_notes_that_say_little_are_candidates(palazzo: Command, noted: dict[str, str]) -> None:
    found = palazzo.json("cleanup", "--dry-run")
    assert reasons(found, noted) == {"short": "short", "unimportant": "unimportant"}
    assert live(palazzo) == set(noted.values())
    assert reasons(palazzo.json("cleanup", "--dry-run", "--min-length", "0"), noted) == {"unimportant": "unimportant"}
    assert reasons(palazzo.json("cleanup", "--dry-run", "--threshold", "0"), noted) == {"short": "short"}
    assert palazzo.json("cleanup", "--dry-run", "--threshold", "1")["candidates"][-1]["importance"] == 0.9


def test_what_was_cleaned_up_is_found_no_more_until_undo(palazzo: Command, noted: dict[str, str]) -> None:
    done = palazzo.json("cleanup", "--yes")
    assert set(done["forgotten"]) == {noted["short"], noted["unimportant"]}
    assert live(palazzo) == set(noted.values()) - set(done["forgotten"])
    palazzo.json("undo")
    assert live(palazzo) == set(noted.values())
    assert palazzo.json("cleanup", "--yes", "--wing", "shop", "--min-length", "0", "--threshold", "0")["change"] is None


def test_what_a_fact_rests_on_stays(palazzo: Command, noted: dict[str, str]) -> None:
    palazzo.json("kg", "add", "Mira", "agrees to", "it", "--source", noted["short"])
    assert reasons(palazzo.json("cleanup", "--dry-run"), noted) == {"unimportant": "unimportant"}


def test_a_cleanup_that_cannot_be_is_refused(palazzo: Command, noted: dict[str, str]) -> None:
    for options in (("--threshold", "2"), ("--min-length", "-1"), ("--wing", "apo")):
        assert palazzo("cleanup", "--dry-run", *options).code == 2
    assert "would be forgotten" in palazzo("cleanup", "--dry-run").out


def test_nobody_is_asked_about_nothing(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "The deploy service listens on port 8443, since the proxy needs the lower ports itself.")
    for verb in ("cleanup", "dedup"):
        ran = palazzo(verb)  # the input is no terminal, so a question would be refused with exit code 2
        assert ran.code == 0, ran.error
        assert "0 drawers" in ran.out
        assert "would" not in ran.out
        assert palazzo.json(verb)["dry_run"] is False
