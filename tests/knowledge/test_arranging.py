"""Renaming, merging and moving wings and rooms: nothing is rewritten, names lead on, and undo brings them back."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.archive.conversations import fresh_palace
from tests.derived.state import complaints, derived
from tests.examples import examples as enough
from tests.index.hashed_words import HashedWords

from palazzo.derived.integrity_checks import verify
from palazzo.errors import NotFound, UsageError
from palazzo.index.query import Query
from palazzo.knowledge import place_names, reorganize
from palazzo.knowledge.fact_change import Change
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine
from palazzo.store import arrangements, place_rows
from palazzo.store.database import Connection

NOTES = {
    Place("api", "auth"): "the heron guards the tokens",
    Place("api", "ops"): "the heron deploys on monday",
    Place("web", "auth"): "the heron keeps its cookies",
    Place("web", "look"): "the heron paints the buttons",
}


def filled(palace: Palace) -> dict[str, Place]:
    """File the notes; return by drawer where each is."""
    return {palace.remember(text, place).drawers[0]: place for place, text in NOTES.items()}


def change(palace: Palace, verb: str, *said: str) -> object:
    """Rename, merge or move as a person does."""
    with palace.database.transaction() as connection:
        doing = Change(connection, "user", verb, palace.clock())
        found = _VERBS[verb](connection, doing, *said)
        doing.count(1)
        return found


_VERBS: dict[str, Callable[..., object]] = {
    "rename wing": lambda c, doing, one, to: reorganize.rename_wing(doing, place_names.wing(c, one), to),
    "merge wing": lambda c, doing, one, to: reorganize.merge_wings(
        doing, place_names.wing(c, one), place_names.wing(c, to)
    ),
    "rename room": lambda c, doing, one, to: reorganize.rename_room(doing, place_names.room(c, one), to),
    "move room": lambda c, doing, one, to: reorganize.move_room(
        doing, place_names.room(c, one), place_names.wing(c, to)
    ),
    "merge room": lambda c, doing, one, to: reorganize.merge_rooms(
        doing, place_names.room(c, one), place_names.room(c, to)
    ),
}


def found(palace: Palace, wing: str | None = None, room: str | None = None) -> set[str]:
    """What is shown of where the heron is, in a scope."""
    hits = palace.search(Query("heron", wing=wing, room=room, limit=50, budget=9_000)).hits
    return {f"{hit.drawer.place.wing}/{hit.drawer.place.room}: {hit.drawer.text.split()[2]}" for hit in hits}


def where(palace: Palace) -> dict[str, Place]:
    with palace.database.snapshot() as connection:
        rows = list(connection.execute("SELECT uid, room FROM drawer WHERE retired_at IS NULL"))
        return {bytes(uid).hex(): place_rows.place_of(connection, room) for uid, room in rows}


def names(palace: Palace) -> list[str]:
    with palace.database.snapshot() as connection:
        return place_rows.wing_names(connection)


def test_a_renamed_wing_is_found_by_its_new_name_and_by_its_old_one() -> None:
    with fresh_palace() as palace:
        before = filled(palace)
        change(palace, "rename wing", "api", "backend")
        assert found(palace, "backend") == {"backend/auth: guards", "backend/ops: deploys"} == found(palace, "api")
        assert set(where(palace)) == set(before)
        assert palace.undo().verb == "rename wing"
        assert where(palace) == before
        assert found(palace, "api") == {"api/auth: guards", "api/ops: deploys"}
        assert found(palace, "backend") == set()


def test_what_is_filed_by_an_old_name_goes_where_it_leads() -> None:
    with fresh_palace() as palace:
        filled(palace)
        change(palace, "rename wing", "api", "backend")
        change(palace, "rename room", "backend/auth", "login")
        change(palace, "move room", "backend/login", "web")
        palace.remember("the heron files late", Place("api", "auth"))
        assert (
            found(palace, "api", "auth") == {"web/login: guards", "web/login: files"} == found(palace, "web", "login")
        )
        assert names(palace) == ["backend", "web"]


def test_a_name_that_is_in_use_again_leads_nowhere_else() -> None:
    with fresh_palace() as palace:
        filled(palace)
        change(palace, "rename wing", "api", "backend")
        change(palace, "rename wing", "web", "api")
        assert found(palace, "api") == {"api/auth: keeps", "api/look: paints"}
        assert found(palace, "web") == found(palace, "api")
        change(palace, "rename wing", "api", "front")  # nothing is called api now: the last that was
        assert found(palace, "api") == {"front/auth: keeps", "front/look: paints"}


def test_merged_wings_are_one_and_rooms_of_one_name_too() -> None:
    with fresh_palace() as palace:
        before = filled(palace)
        assert change(palace, "merge wing", "api", "web") == ("auth",)
        assert found(palace, "web", "auth") == {"web/auth: guards", "web/auth: keeps"}
        assert found(palace, "web") == found(palace, "api") == found(palace)
        change(palace, "rename room", "web/auth", "login")  # both of them
        assert found(palace, "web", "login") == {"web/login: guards", "web/login: keeps"}
        palace.remember("the heron files late", Place("api", "auth"))
        assert found(palace, "web", "login") >= {"web/login: files"}
        for verb in ("remember", "rename room", "merge wing"):
            assert palace.undo().verb == verb
        assert where(palace) == before


def test_a_room_that_was_moved_out_is_no_more_found_in_its_wing() -> None:
    """Its wing is one word of the keyword index for all of its rooms; the room is left out."""
    with fresh_palace() as palace:
        filled(palace)
        change(palace, "move room", "api/ops", "web")
        assert found(palace, "api") == {"api/auth: guards"}
        assert found(palace, "web") == {"web/auth: keeps", "web/look: paints", "web/ops: deploys"}
        change(palace, "merge room", "api/auth", "web/auth")
        assert found(palace, "api") == set()
        assert found(palace, room="auth") == {"web/auth: keeps", "web/auth: guards"}


@pytest.mark.parametrize(
    ("verb", "said", "sentence"),
    [
        ("merge wing", ("api", "api"), "cannot be merged into itself"),
        ("merge room", ("api/auth", "api/auth"), "cannot be merged into itself"),
        ("rename wing", ("api", "web"), "'palazzo wing merge api web' merges the two"),
        ("rename wing", ("api", "Api"), "already has that name"),
        ("rename wing", ("api", "!?"), "is not a valid name"),
        ("rename wing", ("api", "--"), "is not a valid name"),
        ("rename room", ("api/auth", "ops"), "'palazzo room merge api/auth api/ops' merges the two"),
        ("move room", ("api/auth", "web"), "'palazzo room merge api/auth web/auth' merges the two"),
        ("move room", ("api/auth", "api"), "is already in the wing 'api'"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(verb: str, said: tuple[str, str], sentence: str) -> None:
    with fresh_palace() as palace:
        before = filled(palace)
        with pytest.raises(UsageError, match=sentence):
            change(palace, verb, *said)
        assert where(palace) == before
        assert palace.undo().verb == "remember"


def test_a_circle_is_refused_since_a_former_name_is_not_taken_for_the_thing() -> None:
    with fresh_palace() as palace:
        filled(palace)
        change(palace, "merge wing", "api", "web")
        for said in (("web", "api"), ("api", "web")):
            with pytest.raises(UsageError, match="The wing 'api' is now called 'web'"):
                change(palace, "merge wing", *said)
        change(palace, "merge room", "web/look", "web/ops")
        with pytest.raises(UsageError, match="The room 'web/look' is now 'web/ops'"):
            change(palace, "merge room", "web/ops", "web/look")


def test_a_place_that_does_not_exist_is_answered_with_what_is_near() -> None:
    with fresh_palace() as palace:
        filled(palace)
        for said, hint in (
            ("api/atuh", "Near it: api/auth"),
            ("wbe/look", "Near it: web/look"),
            ("x/yzzy", "There are"),
        ):
            with pytest.raises(NotFound, match=hint):
                change(palace, "rename room", said, "other")
        with pytest.raises(NotFound, match="Near it: web"):
            change(palace, "rename wing", "webb", "other")
        with pytest.raises(UsageError, match="Several wings have a room 'auth': specify one of api/auth, web/auth"):
            change(palace, "rename room", "auth", "login")


def test_names_are_kept_as_wings_and_rooms_are_named() -> None:
    with fresh_palace() as palace:
        filled(palace)
        assert change(palace, "rename wing", "API", "The Back End!") == "the-back-end"
        assert change(palace, "rename wing", "The Back End", "--yes") == "yes"
        assert change(palace, "rename room", "yes/Auth", "Überblick") == Place("yes", "überblick")


def test_an_undo_that_would_need_a_name_that_is_taken_says_what_to_rename_first() -> None:
    with fresh_palace() as palace:
        before = filled(palace)
        change(palace, "rename wing", "api", "backend")
        with palace.database.snapshot() as connection:
            (first,) = next(connection.execute("SELECT uid FROM change_group ORDER BY id DESC LIMIT 1"))
        change(palace, "rename wing", "web", "api")
        with pytest.raises(UsageError, match="'palazzo wing rename api NAME'"):
            palace.undo(prefix=bytes(first).hex())
        assert names(palace) == ["api", "backend"]
        palace.undo()
        palace.undo(prefix=bytes(first).hex())
        assert where(palace) == before


def test_a_merge_of_many_rooms_of_one_name_is_undone_in_steps_and_never_claims_a_name_twice() -> None:
    with fresh_palace() as palace:
        with palace.database.transaction() as connection:
            for wing, n in itertools.product(("api", "web"), range(500)):
                place_rows.room_id(connection, Place(wing, f"room-{n}"))
        change(palace, "merge wing", "api", "web")
        assert names(palace) == ["web"]
        seen: list[list[str]] = []
        palace.undo(progress=lambda done, size: seen.append(names(palace)))
        assert len(seen) > 1
        with palace.database.snapshot() as connection:
            assert len(place_rows.rooms(connection)) == 1000
            assert not any("-2" in row.place.wing for row in place_rows.rooms(connection))
            assert arrangements.count_differences(connection) == (0, 0)


def test_a_move_of_drawers_holds_when_their_room_is_renamed_and_its_name_given_away() -> None:
    with fresh_palace() as palace:
        filed = filled(palace)
        drawer = next(iter(filed))
        palace.move([drawer], Place("web", "look"))
        change(palace, "rename room", "web/look", "paint")
        change(palace, "rename room", "web/auth", "look")
        palace.rebuild("all")
        assert where(palace)[drawer] == Place("web", "paint")
        assert complaints(palace) == []


def test_a_rebuild_keeps_the_arrangement_and_verify_says_so(tmp_path: Path) -> None:
    with Palace.open(tmp_path / "palace.db") as palace:
        filled(palace)
        change(palace, "merge wing", "api", "web")
        change(palace, "rename room", "web/look", "paint")
        before, state = where(palace), derived(palace)
        with palace.database.transaction() as connection:  # as a bug or a flipped bit would leave it
            connection.execute("UPDATE room SET name = 'lost' WHERE name = 'paint'")
        assert [one.name for one in verify(palace.database, HashedWords) if not one.ok] == ["places"]
        palace.rebuild("all")
        assert where(palace) == before
        assert derived(palace) == state
        assert [one for one in verify(palace.database, HashedWords) if not one.ok] == []


def test_mining_goes_on_in_the_wing_and_the_rooms_that_a_person_named(tmp_path: Path) -> None:
    project = tmp_path / "api"
    (project / "auth").mkdir(parents=True)
    (project / "palazzo.toml").write_text('wing = "api"\n')
    (project / "auth" / "one.md").write_text("the heron guards the tokens\n")
    with Palace.open(tmp_path / "palace.db") as palace:
        request = MineRequest((project,))
        mine(palace.database, palace.clock, request)
        change(palace, "rename wing", "api", "backend")
        change(palace, "rename room", "backend/auth", "login")
        (project / "auth" / "two.md").write_text("the heron renews the certificates\n")
        mine(palace.database, palace.clock, request)
        assert found(palace, "backend") == {"backend/login: guards", "backend/login: renews"}
        other = tmp_path / "elsewhere" / "api"
        other.mkdir(parents=True)
        (other / "three.md").write_text("the heron belongs to somebody else\n")
        mine(palace.database, palace.clock, MineRequest((other,)))  # the old name leads to another project's wing
        assert names(palace) == ["api-2", "backend"]


class Model:
    """What a person expects: the drawers' places, changed by hand."""

    def __init__(self, at: dict[str, Place]) -> None:
        self.at = at

    def apply(self, verb: str, one: str, to: str) -> None:
        wing, _, room = one.partition("/")
        for drawer, place in self.at.items():
            if "wing" in verb and place.wing == wing:
                self.at[drawer] = Place(to, place.room)
            elif "room" in verb and place == Place(wing, room):
                into = {"rename room": Place(wing, to), "move room": Place(to, room)}
                self.at[drawer] = into.get(verb) or Place(*to.split("/"))


WINGS, ROOMS = ("api", "web", "ops"), ("auth", "look", "keys")
_wing, _room = st.sampled_from(WINGS), st.builds("/".join, st.tuples(st.sampled_from(WINGS), st.sampled_from(ROOMS)))
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("rename wing"), _wing, _wing),
        st.tuples(st.just("merge wing"), _wing, _wing),
        st.tuples(st.just("rename room"), _room, st.sampled_from(ROOMS)),
        st.tuples(st.just("move room"), _room, _wing),
        st.tuples(st.just("merge room"), _room, _room),
    ),
    min_size=1,
    max_size=8,
)


@enough(60)
@given(steps=_steps)
def test_whatever_is_done_stands_as_expected_and_is_undone_step_by_step(steps: list[tuple[str, str, str]]) -> None:
    with fresh_palace() as palace:
        model = Model(filled(palace))
        history = [dict(model.at)]
        for verb, one, to in steps:
            try:
                change(palace, verb, one, to)
            except (UsageError, NotFound):
                continue
            model.apply(verb, one, to)
            history.append(dict(model.at))
            assert where(palace) == model.at
            _check(palace, model)
        for expected in reversed(history[:-1]):
            palace.undo()
            assert where(palace) == expected


def _check(palace: Palace, model: Model) -> None:
    with palace.database.snapshot() as connection:
        assert arrangements.count_differences(connection) == (0, 0)
        _check_names(connection)
    for wing in {place.wing for place in model.at.values()}:
        expected = {f"{p.wing}/{p.room}" for p in model.at.values() if p.wing == wing}
        assert {one.partition(":")[0] for one in found(palace, wing)} == expected


def _check_names(connection: Connection) -> None:
    rows = place_rows.rooms(connection)
    assert len({row.place for row in rows}) == len(rows)
    assert not any("-2" in row.place.wing or "-2" in row.place.room for row in rows)


def test_another_process_that_holds_vectors_finds_by_meaning_where_things_are_now(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    with Palace.open(path, embedder=HashedWords) as one, Palace.open(path, embedder=HashedWords) as other:
        filled(one)
        one.embed_pending()
        near = Query("heron", wing="web", limit=50, budget=9_000, disabled_stages=frozenset(["keywords"]))
        assert len(other.search(near).hits) == 2  # its index is in memory now
        change(one, "move room", "api/ops", "web")
        assert {hit.drawer.place.room for hit in other.search(near).hits} == {"auth", "look", "ops"}
        change(one, "rename wing", "web", "front")
        answer = other.search(near)
        assert {hit.drawer.place.wing for hit in answer.hits} == {"front"}
        assert answer.index == "ready"
        one.undo()
        one.undo()
        assert {hit.drawer.place.room for hit in other.search(near).hits} == {"auth", "look"}


def test_as_of_a_day_shows_what_was_in_a_room_then_under_the_names_of_today() -> None:
    with fresh_palace() as palace:
        filed = filled(palace)
        drawer, then = next(iter(filed)), palace.clock()
        palace.move([drawer], Place("web", "look"))
        change(palace, "rename room", "api/auth", "login")
        query = Query("heron", wing="api", room="login", limit=50)
        assert [hit.drawer.id for hit in palace.search(query).hits] == []
        (hit,) = palace.search(replace(query, as_of=then)).hits
        assert (hit.drawer.id, hit.drawer.place) == (drawer, Place("api", "login"))
