"""A palace as records: all that is true and nothing else, in one order, whole or limited."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.archive.conversations import Ticking

from palazzo.operations import registry
from palazzo.operations.context import Context
from palazzo.store import place_rows, redaction_state
from palazzo.store.drawer_listing import Listing
from palazzo.sync import derived_records, export_check, record_reader
from palazzo.sync.record_lines import from_line, key_of, kind_of, to_line
from palazzo.sync.record_reader import Scope
from palazzo.sync.records.act_records import Act
from palazzo.sync.records.chain_records import Link
from palazzo.sync.records.conflict_records import Conflict
from palazzo.sync.records.erasure_records import Erasure
from palazzo.sync.records.fact_records import Fact, UnwantedFact
from palazzo.sync.records.group_records import Group, Member
from palazzo.sync.records.header_record import Header
from palazzo.sync.records.item_records import Item, read_items
from palazzo.sync.records.kind_registry import RECORD_KINDS
from palazzo.sync.records.place_records import Arrangement, Wing
from palazzo.sync.records.record_kind import Record
from palazzo.sync.records.source_records import Source

BY_SOURCE = ("item", "repetition", "revision")
"""Kinds that stand by source."""


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    project = tmp_path / "shop-project"
    project.mkdir()
    (project / "notes.md").write_text("# Plans\n\nWe ship on Fridays.\n", encoding="utf-8")
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "TZ": "UTC"}
    with Context(tmp_path / "palace.db", project, variables, clock=Ticking()) as opened:
        yield opened


def run(context: Context, name: str, /, **request: Any) -> Any:
    operation = registry.operation(name)
    return operation.run(context, operation.request(**request))


def furnish(context: Context) -> None:
    """Put one of everything into the palace."""
    run(context, "mine", paths=(context.cwd,))
    (context.cwd / "notes.md").write_text("# Plans\n\nWe ship on Mondays.\n", encoding="utf-8")
    run(context, "mine", paths=(context.cwd,))
    heron = run(context, "remember", text="The heron stands in the api.", wing="api", room="birds").drawers
    run(context, "remember", text="A kingfisher dives.", wing="api", room="ponds", tags=("blue",))
    gone = run(context, "remember", text="What nobody wants to know.", wing="api", room="birds").drawers
    run(context, "forget", ids=gone)
    moved = run(context, "remember", text="The owl moves out.", wing="api", room="birds").drawers
    run(context, "update_drawer", id=moved[0], wing="web", room="attic")
    run(context, "tag", action="add", tag="seen", ids=heron)
    run(context, "undo")
    run(context, "diary_write", agent="ada", text="A day of herons.")
    todo = run(context, "todo_add", text="Feed the heron.", wing="api").todo.id
    run(context, "todo_done", ids=(todo,))
    run(context, "remind", text="Look at the pond.", topic="pond", wing="api")
    run(context, "kg_predicate", name="lives in", functional=True)
    run(context, "kg_add", subject="heron", predicate="lives in", object="api", wing="api", sources=heron)
    run(context, "kg_add", subject="heron", predicate="lives in", object="web", wing="api")
    conflict = run(context, "kg_conflicts").conflicts[0].id
    run(context, "kg_dismiss", ids=(conflict,))
    run(context, "kg_alias", name="ardea", entity="heron")
    run(context, "kg_supersede", subject="heron", predicate="lives in", old="web", new="pond", wing="api")
    run(context, "wing_rename", wing="web", name="site")
    run(context, "room_merge", room="api/ponds", into="api/birds")
    run(context, "tunnel_add", source="api/birds", target="site/attic", label="flies to")


def told(context: Context, scope: Scope | None = None, **given: bool) -> list[Record]:
    with context.reading().database.snapshot() as connection:
        return list(record_reader.records(connection, scope, **given))


def of_wing(context: Context, wing: str) -> Scope:
    with context.reading().database.snapshot() as connection:
        return Scope(Listing(rooms=place_rows.scope(connection, wing, None).rooms), {"wing": wing})


def of(records: list[Record], kind: type) -> list[Any]:
    return [one for one in records if isinstance(one, kind)]


def checked(records: list[Record], tmp_path: Path) -> None:
    """What is told refers to what was told before, in the order of the kinds."""
    path = tmp_path / "export.jsonl"
    path.write_bytes(b"".join(map(to_line, records)) + derived_records.to_line(derived_records.End(len(records))))
    export_check.check(path)


def test_all_that_is_true_is_told_once_in_order_and_refers_to_what_came_before(
    context: Context, tmp_path: Path
) -> None:
    furnish(context)
    records = told(context, tombstones=True)
    kinds = [kind_of(one) for one in records]
    assert set(kinds) == {*RECORD_KINDS} - {"erasure", "unwanted_fact", "repetition"}
    assert kinds == sorted(kinds, key=[*RECORD_KINDS].index)
    keys = [key_of(one) for one in records]
    assert len(set(keys)) == len(keys)
    for kind in {*kinds} - {*BY_SOURCE, "link", "member"}:
        own = [key for key in keys if key[0] == kind]
        assert own == sorted(own)
    for kind in BY_SOURCE:
        sources = [one.source for one in records if kind_of(one) == kind]  # type: ignore[attr-defined]
        assert sources == sorted(sources)
    assert all(from_line(to_line(one)) == one for one in records)
    checked(records, tmp_path)


def test_how_many_lines_an_export_will_have_is_known_before_but_for_those_there_are_few_of(
    context: Context, tmp_path: Path
) -> None:
    furnish(context)
    with context.reading().database.snapshot() as connection:
        expected = record_reader.count(connection)
    counts = run(context, "export", out=tmp_path / "all.jsonl").counts
    many = ("source", "item", "revision", "link", "repetition", "act", "fact", "fact_version", "member", "drawer")
    assert expected == sum(counts.get(kind, 0) for kind in many)


def test_two_readings_are_the_same_bytes(context: Context) -> None:
    furnish(context)
    one, other = ([to_line(record) for record in told(context)] for _ in range(2))
    assert one == other


def test_a_link_is_of_the_item_that_is_told(context: Context) -> None:
    """Its digest can be computed from what the export holds, and from nothing else."""
    furnish(context)
    records = told(context)
    items = {one.id: one for one in of(records, Item)}
    links = of(records, Link)
    assert {one.item for one in links} == {*items}
    for link in links:
        assert digest_of(items[link.item]) == link.digest


def digest_of(item: Item) -> bytes:
    header = "\x1f".join(
        (
            *(item.type, item.role, item.standing, item.author, item.thread, str(item.ordinal)),
            *(str(item.created_at), str(item.recorded_at), item.trust, item.branch, item.commit),
            *(item.parts, item.meta, str(item.decoder)),
        )
    ).encode("utf-8", "surrogatepass")
    state = hashlib.blake2b(digest_size=32)
    text = item.text.encode("utf-8", "surrogatepass")
    for part in (item.salt, bytes.fromhex(item.source), header, item.raw or b"", text):
        state.update(len(part).to_bytes(8) + part)
    return state.digest()


def test_what_is_private_to_a_palace_or_a_machine_is_not_told(context: Context) -> None:
    furnish(context)
    run(context, "token_add", name="phone")
    with context.reading().database.snapshot() as connection:
        key = redaction_state.fingerprint_key(connection)
        (palace,) = next(connection.execute("SELECT value FROM meta WHERE key = 'palace'"))
    lines = b"".join(to_line(one) for one in told(context, addresses=False))
    for secret in (key.hex(), palace, "phone", str(context.cwd), "shop-project/"):
        assert secret.encode() not in lines
    assert any(one.uri for one in of(told(context), Source))
    assert {one.uri.partition(":")[0] for one in of(told(context, addresses=False), Source)} <= {"", "palazzo"}


def test_a_move_tells_the_rooms_id_and_no_row(context: Context) -> None:
    furnish(context)
    records = told(context)
    (move,) = (one for one in of(records, Act) if one.type == "move")
    assert "row" not in move.detail
    assert move.room in {one.id for one in records if kind_of(one) == "room"}  # type: ignore[attr-defined]


def test_what_was_erased_is_not_told_but_that_it_was(context: Context) -> None:
    furnish(context)
    run(context, "remember", text="The password of the pond is swordfish-90417.", wing="api", room="birds")
    run(context, "erase", match="swordfish-90417")
    records = told(context)
    assert not any(b"swordfish" in to_line(one) for one in records)
    (erasure,) = of(records, Erasure)
    assert len(erasure.items) == 1
    assert [one.absent for one in of(records, Link) if one.item in erasure.items] == ["erased"]
    assert erasure.tombstones == ()
    (with_hashes,) = of(told(context, tombstones=True), Erasure)
    assert with_hashes.tombstones


def test_devices_of_one_palace_tell_each_other_all_but_items_and_links(context: Context) -> None:
    furnish(context)
    with context.reading().database.snapshot() as connection:
        found = list(record_reader.small(connection))
        chosen = [one.id for one in of(told(context), Item)][:3]
        items = list(read_items(connection, [*chosen, "f" * 32]))
    everything = told(context, tombstones=True, addresses=False)
    assert found == [one for one in everything if not isinstance(one, Header | Item | Link)]
    assert {one.id for one in items} == {*chosen}
    assert all(one in everything for one in items)


# --- limited -----------------------------------------------------------------------------------------------


def test_a_limited_export_holds_what_was_chosen_and_what_it_needs(context: Context, tmp_path: Path) -> None:
    furnish(context)
    everything, records = told(context), told(context, of_wing(context, "site"))
    checked(records, tmp_path)
    (header,) = of(records, Header)
    assert header.filter == {"wing": "site"}
    assert [one.text for one in of(records, Item)] == ["The owl moves out."]
    assert {one.item for one in of(records, Link)} == {one.id for one in of(records, Item)}
    assert {one.type for one in of(records, Act)} == {"move"}
    assert {one.first_name for one in of(records, Wing)} == {"api", "web"}
    assert [one.name for one in of(records, Arrangement) if one.wing] == ["site"]
    assert of(records, Fact) == []
    assert not any(b"heron" in to_line(one) for one in records)
    assert all(one in everything for one in records if not isinstance(one, Header))


def test_facts_come_with_the_words_that_state_them_or_with_their_wing(context: Context, tmp_path: Path) -> None:
    furnish(context)
    whole = told(context, of_wing(context, "api"))
    checked(whole, tmp_path)
    assert len(of(whole, Fact)) == 3
    with context.reading().database.snapshot() as connection:
        rooms = place_rows.scope(connection, "api", None).rooms
    narrowed = told(context, Scope(Listing(rooms=rooms, kind="note"), {"wing": "api", "kind": "note"}))
    checked(narrowed, tmp_path)
    assert len(of(narrowed, Fact)) == 1  # the others are written nowhere, and may say anything


def test_an_act_comes_with_what_took_it_back(context: Context) -> None:
    furnish(context)
    records = told(context, of_wing(context, "api"))
    groups = {one.id: one for one in of(records, Group)}
    (tagging,) = (one for one in of(records, Act) if one.type == "tag" and one.detail["tag"] == "seen")
    assert tagging.group is not None
    (undoing,) = (one for one in groups.values() if one.undoes == tagging.group)
    assert any(one.type == "undone" for one in of(records, Member) if one.group == undoing.id)


def test_an_act_on_what_was_not_chosen_as_well_is_not_told(context: Context) -> None:
    one = run(context, "remember", text="A heron in the api.", wing="api", room="birds").drawers
    other = run(context, "remember", text="A heron in the web.", wing="web", room="birds").drawers
    run(context, "tag", action="add", tag="grey", ids=(*one, *other))
    assert of(told(context, of_wing(context, "api")), Act) == []


def test_a_conflict_that_nobody_said_anything_about_follows_from_its_facts_and_is_not_told(context: Context) -> None:
    run(context, "kg_predicate", name="lives in", functional=True)
    for place in ("api", "web"):
        run(context, "kg_add", subject="heron", predicate="lives in", object=place)
    conflict = run(context, "kg_conflicts").conflicts[0].id
    assert of(told(context), Conflict) == []
    run(context, "kg_dismiss", ids=(conflict,))
    (dismissed,) = of(told(context), Conflict)
    run(context, "undo")
    (restored,) = of(told(context), Conflict)
    assert (dismissed.id, dismissed.restored_at) == (restored.id, None) == (conflict, None)
    assert (dismissed.dismissed_at is None, restored.dismissed_at) == (False, None)
    assert restored.restored_at is not None


def test_what_nobody_wants_is_told_to_devices_of_the_palace_alone(context: Context) -> None:
    run(context, "remember", text="A heron.", wing="api", room="birds")
    with context.writing().database.transaction() as connection:
        connection.execute("INSERT INTO unwanted_fact(uid, at) VALUES(?, 7)", (b"\1" * 16,))
    assert of(told(context), UnwantedFact) == []
    assert of(told(context, tombstones=True), UnwantedFact) == [UnwantedFact("01" * 16, 7)]
