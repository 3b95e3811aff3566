"""Merging does not depend on what came first: two palaces that know the same are the same, to the byte."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.archive.conversations import (
    PLACE,
    SESSION,
    conversations,
    documents,
    file_rows,
    file_version,
    fresh_palace,
    said,
    small_cuts,
)
from tests.derived.state import complaints, live_ids
from tests.examples import examples as enough
from tests.index.hashed_words import HashedWords
from tests.sync.model import converge
from tests.sync.replicas import Replica, told_apart

from palazzo.archive.ingest import NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.model import Place, Source
from palazzo.palace import Palace
from palazzo.store import redaction_state
from palazzo.sync import record_lines, record_reader, remote_erasures
from palazzo.sync.merge import Report, merge, merge_into
from palazzo.sync.merge_state import Version, merge_end_states, retirements
from palazzo.sync.records.chain_records import Link
from palazzo.sync.records.item_records import Item
from palazzo.sync.records.record_kind import Record

KEY = b"k" * 32


def told(palace: Palace) -> list[Record]:
    with palace.database.snapshot() as connection:
        return list(record_reader.records(connection, tombstones=True, addresses=False))


def canonical(palace: Palace) -> bytes:
    return b"".join(map(record_lines.to_line, told(palace)))


def hear(palace: Palace, records: Sequence[Record], *, dry_run: bool = False, vouch: bool = False) -> Report:
    return merge(palace.database, records, palace.clock, dry_run=dry_run, vouch=vouch)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Callable[..., Replica]]:
    """Makes machines of one palace."""
    made: list[Replica] = []

    def make(seed: int = 0) -> Replica:
        number = len(made)
        made.append(Replica(tmp_path / str(number), number, KEY, Random(f"{seed} {number}")))
        return made[-1]

    yield make
    for one in made:
        one.close()


# --- the same records, the same bytes ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_an_export_that_is_imported_into_an_empty_palace_is_the_same_export(
    seed: int, machine: Callable[..., Replica], palace: Palace
) -> None:
    one = machine(seed)
    for _ in range(40):
        one.write()
    first = hear(palace, one.records())
    assert not first.missing
    assert told_apart(canonical(palace), one.canonical()) == ""
    again = hear(palace, one.records())
    assert (again.added, again.changed) == ({}, {})
    assert canonical(palace) == one.canonical()
    assert complaints(palace) == []


@enough(8)
@given(rows=st.data())
def test_words_of_every_kind_come_over_to_the_byte(rows: st.DataObject) -> None:
    with small_cuts(), fresh_palace() as one, fresh_palace() as other:
        file_rows(one, rows.draw(conversations()), batch=3)
        for text in rows.draw(st.lists(documents, max_size=3)):
            file_version(one, text)
        hear(other, told(one))
        assert canonical(other) == canonical(one)
        assert live_ids(other) == live_ids(one)
        assert complaints(other) == []


def test_the_order_and_the_grouping_of_merges_do_not_matter(machine: Callable[..., Replica]) -> None:
    writers = [machine(7), machine(7), machine(7)]
    for writer in writers:
        for _ in range(18):
            writer.write()
    records = [writer.records() for writer in writers]
    made: list[bytes] = []
    for order in itertools.permutations(range(3)):
        with fresh_palace(HashedWords) as palace:  # type: ignore[arg-type]
            with palace.database.transaction() as connection:
                redaction_state.adopt_fingerprint_key(connection, KEY)
            for n in order:
                hear(palace, records[n])
                remote_erasures.seek(palace.database, palace.clock)
            made.append(canonical(palace))
    for other in made[1:]:
        assert told_apart(made[0], other) == ""
    assert len(set(made)) == 1


def test_a_batch_may_come_in_any_order_within_one_transaction(machine: Callable[..., Replica]) -> None:
    one, other = machine(3), machine(3)
    for _ in range(30):
        one.write()
    records = one.records()[1:]
    Random(1).shuffle(records)
    report = Report()
    with other.palace.database.transaction() as connection:
        merge_into(connection, records, Guard.at(connection, True), other.clock(), report)
    assert not report.missing
    assert told_apart(one.canonical(), other.canonical()) == ""


def test_three_machines_that_write_apart_and_tell_each_other_end_alike(machine: Callable[..., Replica]) -> None:
    machines = [machine(11), machine(11), machine(11)]
    converge(machines, Random(11), steps=40)


# --- what is kept of what two have -------------------------------------------------------------------------


def test_an_item_that_two_archived_apart_is_the_one_that_was_recorded_first() -> None:
    rows = [said(n, "user", f"the heron stood on pier {n}") for n in range(3)]
    other_source = Source(("session", "fork"), "test", "file:///fork.jsonl", "fork", "A fork")
    with fresh_palace() as one, fresh_palace() as other:
        file_rows(one, rows)
        other.clock()
        file_rows(other, rows, source=other_source, place=Place("web", "birds"))
        mine, theirs = told(one), told(other)
        hear(one, theirs)
        report = hear(other, mine)
        assert report.changed["item"] == 3
        assert canonical(one) == canonical(other)
        merged = {record.absent for record in told(one) if isinstance(record, Link)}
        assert merged == {None, "merged"}
        for palace in (one, other):
            assert complaints(palace) == []
            with palace.database.snapshot() as connection:
                assert list(connection.execute("SELECT count(*) FROM repetition")) == [(3,)]
                assert {place for (place,) in connection.execute("SELECT source.session_id FROM drawer"
                        " JOIN source ON source.id = drawer.source WHERE retired_at IS NULL")} == {"s1"}  # fmt: skip


def test_what_was_erased_stays_erased_whoever_still_has_it(machine: Callable[..., Replica]) -> None:
    one, other = machine(), machine()
    one.palace.remember("the code of the till is waterloo sunset", PLACE)
    other.hear(one.records())
    late = other.records()
    other.palace.remember("somebody wrote waterloo sunset on the wall", PLACE)
    one.run("erase", match="waterloo sunset", even_most=True)
    one.palace.remember("a lamp", PLACE)
    other.hear(one.records())
    one.hear(late)
    one.hear(other.records())
    assert one.canonical() == other.canonical()
    assert b"waterloo" not in one.canonical()
    assert one.complaints() == other.complaints() == []


def test_two_undoings_of_one_command_undo_it_once(machine: Callable[..., Replica]) -> None:
    one, other = machine(), machine()
    note = one.palace.remember("the heron stands on the pier", PLACE)
    one.palace.forget(note.drawers)
    other.hear(one.records())
    one.palace.undo()
    other.palace.undo()
    mine, theirs = one.records(), other.records()
    one.hear(theirs)
    other.hear(mine)
    assert one.canonical() == other.canonical()
    assert live_ids(one.palace) == live_ids(other.palace) == set(note.drawers)


def test_facts_that_disagree_stand_side_by_side_and_both_machines_show_the_conflict(
    machine: Callable[..., Replica],
) -> None:
    one, other = machine(), machine()
    one.run("kg_predicate", name="listens on", functional=True)
    other.hear(one.records())
    one.run("kg_add", subject="api", predicate="listens on", object="8443")
    other.run("kg_add", subject="api", predicate="listens on", object="9000")
    mine, theirs = one.records(), other.records()
    assert len(one.hear(theirs).conflicts) == len(other.hear(mine).conflicts) == 1
    shown = [it.run("kg_conflicts").conflicts for it in (one, other)]
    assert shown[0] == shown[1]
    assert {one.earlier.fact.object for one in shown[0]} | {one.later.fact.object for one in shown[0]} == {
        "8443",
        "9000",
    }
    one.run("kg_dismiss", ids=(shown[0][0].id,))
    other.hear(one.records())
    assert other.run("kg_conflicts").conflicts == ()
    one.palace.undo()
    other.hear(one.records())
    assert len(other.run("kg_conflicts").conflicts) == 1
    assert one.canonical() == other.canonical()


def test_a_later_version_ends_each_earlier_one_whatever_became_of_it() -> None:
    first, second, third = Version(1, b"a", 10, None), Version(2, b"b", 20, 25), Version(3, b"c", 30, None)
    assert retirements([first]) == {1: None}
    assert retirements([first, second]) == {1: 20, 2: 25}
    assert retirements([third, second, first]) == {1: 20, 2: 25, 3: None}
    assert retirements([first, Version(4, b"d", 10, None)]) == {1: 10, 4: None}
    assert retirements([first, Version(4, b"d", 10, 10)]) == {1: None, 4: 10}


@pytest.mark.parametrize(
    "states", list(itertools.permutations([(5, None), (7, None), (None, 6), (9, 6), (None, None)], 3))
)
def test_what_was_taken_back_later_counts_in_any_grouping(states: tuple[tuple[int | None, int | None], ...]) -> None:
    a, b, c = states
    assert (
        merge_end_states(merge_end_states(a, b), c)
        == merge_end_states(a, merge_end_states(b, c))
        == merge_end_states(merge_end_states(c, a), b)
    )


# --- what comes in -----------------------------------------------------------------------------------------


def test_secrets_of_another_palace_are_redacted_and_their_item_is_vouched_for_here() -> None:
    key = "ghp_" + "k3J9xQ2vLm8ZtR4wYb7NcP1sHd6FgA0eUi5o"
    with fresh_palace() as one, fresh_palace() as other:
        one.database.redacts = False
        file_rows(one, [said(1, "user", f"the key is {key}, keep it")])
        assert key.encode() in canonical(one)
        hear(other, told(one), vouch=True)
        assert key.encode() not in canonical(other)
        assert complaints(other) == []
        before = canonical(other)
        hear(other, told(one), vouch=True)
        assert canonical(other) == before


def test_items_that_no_link_tells_of_get_a_link_of_this_device() -> None:
    with fresh_palace() as one, fresh_palace() as other:
        file_rows(one, [said(1, "user", "the heron")])
        bare = [record for record in told(one) if not isinstance(record, Link)]
        hear(other, bare)
        assert complaints(other)
        hear(other, bare, vouch=True)
        assert complaints(other) == []


def test_a_copied_palace_is_named_and_its_items_come_in() -> None:
    with fresh_palace() as one, fresh_palace() as other:
        file_rows(one, [said(1, "user", "the heron")])
        hear(other, told(one))
        with other.database.transaction() as connection:
            ((device,),) = connection.execute("SELECT uid FROM device WHERE id <> 1")
        file_rows(one, [said(2, "user", "the curlew")])
        file_rows(other, [said(3, "user", "the plover")])
        forged = [
            Link(bytes(device).hex(), 2, one_link.item, one_link.digest, one_link.hash)
            if isinstance(one_link, Link) and one_link.device != bytes(device).hex()
            else one_link
            for one_link in told(other)
        ]
        report = hear(one, forged, vouch=True)
        assert report.forks == {bytes(device).hex()}
        assert complaints(one) == []
        assert len(live_ids(one)) == 3


def test_a_dry_run_tells_what_a_merge_does_and_changes_nothing(machine: Callable[..., Replica], palace: Palace) -> None:
    one = machine(5)
    for _ in range(12):
        one.write()
    before = canonical(palace)
    foretold = hear(palace, one.records(), dry_run=True)
    assert canonical(palace) == before
    done = hear(palace, one.records())
    assert (foretold.added, foretold.same) == (done.added, done.same)


def test_what_refers_to_nothing_is_left_out_and_counted_and_comes_in_once_that_is_there() -> None:
    with fresh_palace() as one, fresh_palace() as other:
        file_rows(one, [said(1, "user", "the heron")])
        one.remember("a note", PLACE)
        records = told(one)
        without = [record for record in records if not isinstance(record, Item)]
        report = hear(other, without)
        assert report.missing["member"] == 1
        assert not live_ids(other)
        assert {it.absent for it in told(other) if isinstance(it, Link)} == {"withheld"}
        assert not hear(other, records).missing
        assert canonical(other) == canonical(one)
        assert complaints(other) == []


def test_an_interrupted_merge_is_finished_by_merging_again() -> None:
    class Stop(Exception):
        pass

    def stops(records: Sequence[Record]) -> Iterator[Record]:
        yield from records[: len(records) // 2]
        raise Stop

    with fresh_palace() as one, fresh_palace() as other:
        rows: list[NewItem] = [said(n, "user", f"sentence {n}") for n in range(900)]
        file_rows(one, rows)
        with pytest.raises(Stop):
            merge(other.database, stops(told(one)), other.clock)
        assert canonical(other) != canonical(one)
        hear(other, told(one))
        assert canonical(other) == canonical(one)
        assert complaints(other) == []


def test_a_machine_s_own_address_of_a_source_stays() -> None:
    with fresh_palace() as one, fresh_palace() as other:
        file_rows(one, [said(1, "user", "the heron")])
        file_rows(other, [said(2, "user", "the curlew")], source=replace(SESSION, uri="file:///other.jsonl"))
        with one.database.snapshot() as connection:
            records = list(record_reader.records(connection))
        hear(other, records)
        with other.database.snapshot() as connection:
            assert [uri for (uri,) in connection.execute("SELECT uri FROM source")] == ["file:///other.jsonl"]
        with fresh_palace() as new:
            hear(new, records)
            with new.database.snapshot() as connection:
                assert [uri for (uri,) in connection.execute("SELECT uri FROM source")] == ["file:///s1.jsonl"]
