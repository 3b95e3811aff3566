"""Taking over another memory's store, whatever store it is: told by a reader that says what these tests say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palazzo.errors import SourceUnreadable
from palazzo.importers import DiaryEntry, Fact, Note, SkippedRecord, StoreRecord, Task, Tunnel
from palazzo.importers.store_import import Count, Migration, MigrationOptions, migrate
from palazzo.model import Micros
from palazzo.operations import registry
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.text.times import parse_when

NOW = parse_when("2026-06-15T12:00:00Z", Micros(0))
THEN = parse_when("2025-03-01T08:30:00Z", Micros(0))
PASSWORD = "password: hunter2hunter2"

NOTES: tuple[StoreRecord, ...] = (
    Note("n1", "The retry budget is five attempts.", "Shop API", "billing", THEN, "Decision", ("Retries", "api")),
    Note("n2", "Ships on Tuesdays, never on Fridays.", "Shop API", "ops", THEN, author="kim", origin="/home/kim/a.md"),
    DiaryEntry("d1", "Reviewer", "Found the leak in the pool.", "leaks", "Shop API", THEN),
    Task("t1", "todo", "Rotate the keys.", "done", "Shop API", created_at=THEN),
    Task("t2", "reminder", "Renew the certificate.", wing="Shop API", due_at=Micros(NOW + 1), created_at=THEN),
    Fact("f1", "checkout", "uses", "Postgres", valid_from=THEN, confidence=0.8, cites="n1", stated_at=THEN),
    Fact("f2", "checkout", "used", "MySQL", valid_from=Micros(THEN - 10), valid_to=THEN),
    Tunnel("x1", "Shop API", "billing", "Shop API", "ops", "both are about money", "n1", "n2"),
    SkippedRecord("vectors", "they are made anew", count=3),
)


class Told:
    """A store that holds what it is given. `fails_at` is where it turns out to be unreadable."""

    name, title = "elephant", "Elephant"

    def __init__(self, things: Sequence[StoreRecord] = NOTES, fails_at: int | None = None) -> None:
        self.things, self.fails_at = things, fails_at

    def recognises(self, path: Path) -> bool:
        return True

    def read(self, path: Path) -> Iterator[StoreRecord]:
        for n, one in enumerate(self.things):
            if n == self.fails_at:
                raise SourceUnreadable("The elephant forgot.")
            yield one


def take(palace: Palace, told: Told, **given: Any) -> Migration:
    return migrate(palace.database, told, Path("elephant"), lambda: NOW, MigrationOptions(**given))


def counts(done: Migration) -> dict[str, tuple[int, int, int, int]]:
    return {one.kind: (one.new, one.existing, one.changed, one.merged) for one in done.counts}


ALL_NEW = {
    "notes": (2, 0, 0, 0),
    "diary entries": (1, 0, 0, 0),
    "to-dos": (1, 0, 0, 0),
    "reminders": (1, 0, 0, 0),
    "facts": (2, 0, 0, 0),
    "tunnels": (1, 0, 0, 0),
}
ALL_THERE = {what: (0, new, 0, 0) for what, (new, *_) in ALL_NEW.items()}


class Palazzo:
    """The operations on the palace that a store was brought to."""

    def __init__(self, palace: Path) -> None:
        self.context = Context(
            palace, palace.parent, {"HOME": str(palace.parent), "PALAZZO_SERVICE": "off"}, clock=lambda: NOW
        )

    def __call__(self, name: str, *given: Any, **named: Any) -> Any:
        operation = registry.operation(name)
        return operation.run(self.context, operation.request(*given, **named))


@pytest.fixture
def palazzo(palace: Palace, palace_path: Path) -> Iterator[Palazzo]:
    with Palazzo(palace_path).context as context:
        opened = Palazzo(palace_path)
        opened.context = context
        yield opened


PLACES = "SELECT DISTINCT wing.name FROM {} JOIN room ON room.id = {}.room JOIN wing ON wing.id = room.wing ORDER BY 1"


def rows(palace: Palace, sql: str) -> list[tuple[Any, ...]]:
    with palace.database.snapshot() as connection:
        return list(connection.execute(sql))


def test_what_a_store_holds_is_filed_with_its_times_its_places_and_what_stood_beside_it(
    palace: Palace, palazzo: Palazzo
) -> None:
    done = take(palace, Told())
    assert counts(done) == ALL_NEW
    assert [(one.kind, one.reason, one.count) for one in done.omissions] == [("vectors", "they are made anew", 3)]
    assert [(one.kind, one.was, one.new_name) for one in done.name_changes] == [("wing", "Shop API", "shop-api")]
    notes = palazzo("list_drawers", kind="note").drawers
    assert {one.text for one in notes} == {one.text for one in NOTES if isinstance(one, Note)}
    (drawer,) = palazzo("search", "retry budget", wing="shop-api", filed_as=("decision",)).hits
    assert (drawer.created_at, drawer.trust, set(drawer.tags)) == (THEN, "agent", {"retries", "api"})
    (meta,) = [json.loads(row[0]) for row in rows(palace, "SELECT meta FROM item WHERE author = 'kim'")]
    assert meta == {"origin": "/home/kim/a.md", "brought": {"from": "elephant", "id": "n2"}}


def test_diaries_tasks_facts_and_tunnels_are_what_they_were(palace: Palace, palazzo: Palazzo) -> None:
    take(palace, Told())
    (entry,) = palazzo("diary_read", "reviewer").entries
    assert (entry.content, entry.topic, entry.project) == ("Found the leak in the pool.", "leaks", "shop-api")
    assert [one.text for one in palazzo("todo_list", everywhere=True, all=True).todos] == ["Rotate the keys."]
    (fact,) = palazzo("kg_query", "Postgres").facts
    assert (fact.valid_from, fact.confidence) == ("2025-03-01T08:30:00Z", 0.8)
    (said,) = fact.provenance
    assert said.stated_by == "Elephant"
    assert said.item == rows(palace, "SELECT lower(hex(uid)) FROM item WHERE meta LIKE '%\"n1\"%'")[0][0]
    (tunnel,) = palazzo("tunnel_list").tunnels
    assert tunnel.label == "both are about money"


def test_a_second_time_adds_nothing(palace: Palace) -> None:
    take(palace, Told())
    before = rows(
        palace, "SELECT (SELECT count(*) FROM item), (SELECT count(*) FROM fact_version), max(seq) FROM change"
    )
    again = take(palace, Told())
    assert (counts(again), again.change) == (ALL_THERE, None)
    assert (
        rows(palace, "SELECT (SELECT count(*) FROM item), (SELECT count(*) FROM fact_version), max(seq) FROM change")
        == before
    )


def test_a_dry_run_says_what_would_come_and_writes_nothing(palace: Palace) -> None:
    assert counts(take(palace, Told(), dry_run=True)) == ALL_NEW
    assert rows(palace, "SELECT count(*) FROM item") == [(0,)]
    take(palace, Told())
    assert counts(take(palace, Told(), dry_run=True)) == ALL_THERE


def test_a_store_that_turns_out_to_be_unreadable_leaves_nothing_behind(palace: Palace) -> None:
    with pytest.raises(SourceUnreadable, match="The elephant forgot"):
        take(palace, Told(fails_at=len(NOTES) - 1))
    assert rows(palace, "SELECT (SELECT count(*) FROM item), (SELECT count(*) FROM fact)") == [(0, 0)]


def test_what_was_said_otherwise_since_takes_the_place_of_what_was_said(palace: Palace, palazzo: Palazzo) -> None:
    first = Note("n1", "Five attempts.", "shop", created_at=THEN)
    take(palace, Told([first]))
    assert counts(take(palace, Told([replace(first, text="Six attempts.")])))["notes"] == (0, 0, 1, 0)
    assert [one.text for one in palazzo("list_drawers").drawers] == ["Six attempts."]
    assert counts(take(palace, Told([replace(first, text="Seven attempts.")])))["notes"] == (0, 0, 1, 0)
    assert counts(take(palace, Told([first])))["notes"] == (0, 1, 0, 0), "an older copy of the store changes nothing"
    assert [one.text for one in palazzo("list_drawers").drawers] == ["Seven attempts."]


def test_a_task_that_its_store_has_closed_since_is_closed_once(palace: Palace, palazzo: Palazzo) -> None:
    task = Task("t", "todo", "Rotate the keys.", wing="shop", created_at=THEN)
    take(palace, Told([task]))
    assert [one.state for one in palazzo("todo_list", everywhere=True, all=True).todos] == ["open"]
    closed = Told([replace(task, state="done")])
    assert counts(take(palace, closed, dry_run=True)) == {"to-dos": (0, 0, 1, 0)}
    done = take(palace, closed)
    assert counts(done) == {"to-dos": (0, 0, 1, 0)}
    assert [one.state for one in palazzo("todo_list", everywhere=True, all=True).todos] == ["done"]
    palazzo("undo", done.change)
    assert counts(take(palace, closed)) == {"to-dos": (0, 1, 0, 0)}
    assert [one.state for one in palazzo("todo_list", everywhere=True, all=True).todos] == ["open"]


def test_undoing_takes_all_of_it_back_and_it_can_be_brought_again(palace: Palace, palazzo: Palazzo) -> None:
    done = take(palace, Told())
    palazzo("undo", done.change)
    assert palazzo("list_drawers").drawers == ()
    assert palazzo("kg_query", "Postgres").facts == ()
    assert palazzo("tunnel_list").tunnels == ()
    assert counts(take(palace, Told())) == ALL_NEW
    assert len(palazzo("list_drawers", kind="note").drawers) == 2
    assert counts(take(palace, Told())) == ALL_THERE


def test_what_was_forgotten_ended_or_erased_here_stays_so(palace: Palace, palazzo: Palazzo) -> None:
    take(palace, Told())
    (drawer,) = palazzo("search", "never on Fridays").hits[:1]
    palazzo("forget", (drawer.id,))
    palazzo("erase", (palazzo("search", "retry budget").hits[0].id,))
    palazzo("kg_end", "checkout", "uses", "Postgres")
    palazzo("tunnel_remove", palazzo("tunnel_list").tunnels[0].id)
    assert counts(take(palace, Told())) == ALL_THERE
    assert palazzo("list_drawers", kind="note").drawers == ()
    assert palazzo("kg_query", "Postgres").facts == ()
    assert palazzo("tunnel_list").tunnels == ()


def test_a_note_that_its_store_forgot_is_filed_and_forgotten(palace: Palace, palazzo: Palazzo) -> None:
    take(palace, Told([Note("n1", "Five attempts.", "shop", created_at=THEN, is_gone=True)]))
    assert palazzo("list_drawers").drawers == ()
    assert rows(palace, "SELECT count(*) FROM item") == [(1,)]
    assert counts(take(palace, Told([Note("n1", "Five attempts.", "shop", created_at=THEN, is_gone=True)])))[
        "notes"
    ] == (*(0, 1, 0, 0),)


def test_secrets_stay_outside_and_the_redacted_note_is_known_again(palace: Palace, palazzo: Palazzo) -> None:
    told = Told([Note("n1", f"The {PASSWORD} of staging.", "shop", created_at=THEN)])
    take(palace, told)
    (drawer,) = palazzo("list_drawers").drawers
    assert "hunter2" not in drawer.text
    assert counts(take(palace, told))["notes"] == (0, 1, 0, 0)


def test_what_has_no_place_is_told_with_why_and_costs_nothing_else(palace: Palace) -> None:
    things: list[StoreRecord] = [
        Note("empty", " \n", "shop", created_at=THEN),
        Note("tagged", "Tagged.", "shop", created_at=THEN, tags=("x" * 65, "ok")),
        Note("timeless", "Timeless."),
        Note("timeless", "Timeless."),
        Fact("inverted", "a", "is", "b", valid_from=NOW, valid_to=THEN),
        Fact("endless", "a" * 1_001, "is", "b"),
        Tunnel("loop", "shop", "notes", "shop", "notes"),
    ]
    done = take(palace, Told(things))
    assert {(one.kind, one.count, one.keys) for one in done.omissions} == {
        ("notes", 1, ("empty",)),
        ("tags", 1, ()),
        ("times", 1, ("timeless",)),
        ("facts", 1, ("inverted",)),
        ("facts", 1, ("endless",)),
        ("tunnels", 1, ("loop",)),
    }
    assert done.counts == (Count("notes", 2, 0, 0, 1),)
    assert rows(palace, PLACES.format("item", "item")) == [("elephant",), ("shop",)]


def test_a_report_says_names_of_a_store_so_that_a_terminal_shows_them_and_does_nothing(palace: Palace) -> None:
    wild = "\x1b[2J" + "x" * 200
    done = take(palace, Told([Note(wild, " "), Note("n", "Words.", f"A{wild}", created_at=THEN)]))
    (left,), (renamed,) = done.omissions, done.name_changes
    assert left.keys == (f"?[2J{'x' * 96}…",)
    assert renamed.was == f"A?[2J{'x' * 95}…"


def test_what_stands_beside_a_note_is_json_that_everybody_reads(palace: Palace) -> None:
    beside = {"size": float("inf"), "share": 0.5, "deep": {"nan": [float("nan")]}}
    take(palace, Told([Note("n", "Words.", "shop", created_at=THEN, about=beside)]))
    ((meta,),) = rows(palace, "SELECT meta FROM item")
    assert json.loads(meta, parse_constant=pytest.fail) == {"share": 0.5, "brought": {"from": "elephant", "id": "n"}}


def test_two_things_of_one_id_are_both_kept_and_known_again(palace: Palace, palazzo: Palazzo) -> None:
    told = Told([Note("n", "One.", "shop", created_at=THEN), Note("n", "Other.", "shop", created_at=THEN)])
    assert counts(take(palace, told))["notes"] == (2, 0, 0, 0)
    assert counts(take(palace, told))["notes"] == (0, 2, 0, 0)
    assert {one.text for one in palazzo("list_drawers").drawers} == {"One.", "Other."}


def test_all_goes_into_one_wing_where_one_is_named_and_diaries_into_their_own(palace: Palace) -> None:
    take(palace, Told(), wing="attic")
    wings = rows(palace, PLACES.format("drawer", "drawer"))
    assert wings == [("attic",), ("wing_reviewer",)]


def test_one_fact_that_two_state_is_one_with_both_behind_it(palace: Palace, palazzo: Palazzo) -> None:
    palazzo("kg_add", "checkout", "uses", "Postgres", everywhere=True)
    done = take(palace, Told([Fact("f", "Checkout", "uses", "Postgres")]))
    assert counts(done) == {"facts": (0, 0, 0, 1)}
    (fact,) = palazzo("kg_query", "Postgres").facts
    assert {one.stated_by for one in fact.provenance} == {"user", "Elephant"}


def test_a_migration_that_was_interrupted_is_finished_by_the_next(palace: Palace) -> None:
    things = [*(Note(f"many{n}", f"Note number {n}.", "shop", created_at=THEN) for n in range(250)), *NOTES]

    def stop(what: str, done: int, _size: int) -> None:
        if what == "taking over" and done >= 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take(palace, Told(things), progress=stop)
    done = take(palace, Told(things))
    assert counts(done)["notes"] == (52, 200, 0, 0)
    assert rows(palace, "SELECT count(*) FROM item") == [(255,)]


def test_one_fact_that_a_store_has_twice_is_one_and_stays_ended(palace: Palace, palazzo: Palazzo) -> None:
    told = Told([Fact("f1", "a", "is", "b", valid_from=THEN), Fact("f2", "A", "is", "b", valid_from=Micros(THEN + 9))])
    assert counts(take(palace, told)) == {"facts": (1, 0, 0, 1)}
    palazzo("kg_end", "a", "is", "b")
    assert counts(take(palace, told)) == {"facts": (0, 1, 0, 1)}
    assert palazzo("kg_query", "a").facts == ()


def test_more_than_a_transaction_holds_is_one_change(palace: Palace, palazzo: Palazzo) -> None:
    many = [Note(f"n{n}", f"Note number {n}.", "shop", created_at=THEN, tags=("many",)) for n in range(250)]
    told: list[tuple[str, int, int]] = []
    done = take(palace, Told(many), progress=lambda *one: told.append(one))
    assert counts(done)["notes"] == (250, 0, 0, 0)
    assert told[-1] == ("taking over", 250, 250)
    palazzo("undo", done.change)
    assert palazzo("list_drawers").drawers == ()
