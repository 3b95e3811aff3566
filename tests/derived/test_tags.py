"""Tags by rule and stated tags; and that `verify` sees what is kept of the past."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.archive.conversations import DAY, EPOCH, PLACE, Ticking, answered, called, file_rows, file_version, said
from tests.derived.state import complaints, drawers

from palazzo.derived.integrity_checks import verify
from palazzo.index.query import Query
from palazzo.model import Micros, Part
from palazzo.palace import Palace, without_embedder
from palazzo.store.database import Connection


def tags(palace: Palace, kind: str) -> list[tuple[str, ...]]:
    return [drawer.tags for drawer in drawers(palace) if drawer.kind == kind]


def test_the_branch_and_the_type_of_a_file_are_tags(palace: Palace) -> None:
    file_rows(palace, [said(1, "user", "where is the heron?"), said(2, "user", "and here?", branch="")])
    file_version(palace, "# Guide\n\nHere.\n")
    assert tags(palace, "exchange") == [("branch:main",), ()]
    assert tags(palace, "section") == [("type:md",)]


def test_an_attached_file_has_its_type(palace: Palace) -> None:
    words = "rows and rows"
    file_rows(palace, [said(1, "user", words, [Part("attachment", 0, len(words), "sums.CSV")])])
    assert tags(palace, "attachment") == [("branch:main", "type:csv")]


@pytest.mark.parametrize(
    ("output", "failed", "error"),
    [
        ("all good\n", False, False),
        ("all good\n", True, True),
        ("Traceback (most recent call last):\n  File x\nValueError: no heron\n", False, True),
        ("an error may be told of in prose\n", False, False),
    ],
)
def test_what_a_tool_prints_is_tagged_when_it_reports_an_error(
    palace: Palace, output: str, failed: bool, error: bool
) -> None:
    answer = said(2, "tool", output, [Part("tool_result", 0, len(output), "", "c1", failed)])
    file_rows(palace, [called(1, "Bash", "make", "c1"), answer])
    assert tags(palace, "tool") == [("branch:main", "error")] if error else [("branch:main",)]


def test_only_the_piece_of_an_output_that_holds_the_error_has_its_tag(palace: Palace) -> None:
    output = "fine\n" * 1500 + "fatal: not a git repository\n"
    file_rows(palace, [called(1, "Bash", "make", "c1"), answered(2, output, "c1")])
    *before, last = tags(palace, "tool")
    assert before
    assert ("error" in last, any("error" in one for one in before)) == (True, False)


def test_tags_by_rule_and_stated_ones_are_found_together(palace: Palace) -> None:
    file_rows(palace, [said(1, "user", "where is the heron?"), said(2, "user", "the heron?", branch="wip")])
    (drawer,) = [drawer for drawer in drawers(palace) if "branch:wip" in drawer.tags]
    palace.tag([drawer.id], "bird")
    for asked in ({"bird"}, {"branch:wip"}, {"bird", "branch:wip"}):
        assert [hit.drawer.id for hit in palace.search(Query("heron", tags=frozenset(asked))).hits] == [drawer.id]
    assert palace.search(Query("heron", tags=frozenset({"bird", "branch:main"}))).hits == []
    assert palace.search(Query("heron", tags=frozenset({"unknown"}))).hits == []
    palace.rebuild("all")
    assert palace.search(Query("heron", tags=frozenset({"bird"}))).hits
    assert complaints(palace) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda connection: connection.execute("UPDATE past SET until = until + 1 WHERE until IS NOT NULL"),
        lambda connection: connection.execute("DELETE FROM past"),
        lambda connection: connection.execute("DELETE FROM keyword_retired WHERE rowid = 1"),
        lambda connection: connection.execute(
            "INSERT INTO past(drawer, since, until, room, tags) SELECT id, 0, 1, room, '[]' FROM drawer"
        ),
    ],
)
def test_verify_sees_what_is_wrong_with_the_past_and_repair_mends_it(
    palace: Palace, spoil: Callable[[Connection], object]
) -> None:
    note = palace.remember("the heron stands on the pier", PLACE)
    palace.remember("the otter swims", PLACE)
    palace.forget(note.drawers)
    palace.follow_past()
    assert _past(palace)
    with palace.database.transaction() as connection:
        spoil(connection)
    assert not _past(palace)
    palace.rebuild("fts")
    assert _past(palace)
    assert isinstance(palace.machine_clock, Ticking)
    palace.machine_clock.now = EPOCH + DAY
    assert [hit.text for hit in palace.search(Query("heron", as_of=Micros(EPOCH + 1_500_000))).hits] == [
        "the heron stands on the pier"
    ]


def _past(palace: Palace) -> bool:
    (check,) = [check for check in verify(palace.database, without_embedder) if check.name == "past"]
    return check.ok
