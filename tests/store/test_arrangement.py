"""What follows from rows of an arrangement, also from such as no command would record together; and many rooms."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.archive.conversations import fresh_palace

from palazzo.index.query import Query
from palazzo.model import Micros, Place
from palazzo.palace import Palace
from palazzo.store import arrangements, place_rows
from palazzo.store.arrangements import ArrangementKind
from palazzo.store.database import Connection


@pytest.fixture
def palace() -> Iterator[Palace]:
    with fresh_palace() as opened:
        yield opened


def record(
    connection: Connection,
    kind: ArrangementKind,
    *,
    wing: int | None = None,
    room: int | None = None,
    name: str = "",
    target: int | None = None,
) -> int:
    (rows,) = next(connection.execute("SELECT count(*) FROM arrangement"))
    at = Micros(1 + rows)
    return arrangements.record(connection, os.urandom(16), kind, at, wing=wing, room=room, name=name, target=target)


def test_a_merge_that_would_close_a_circle_does_not_count(palace: Palace) -> None:
    with palace.database.transaction() as connection:
        a, b, c = (place_rows.wing_id(connection, name) for name in "abc")
        record(connection, "merge", wing=a, target=b)
        record(connection, "merge", wing=b, target=c)
        circle = record(connection, "merge", wing=c, target=a)
        assert arrangements.settle(connection) == []
        assert place_rows.wing_names(connection) == ["c"]
        assert {place_rows.wing_name(connection, wing) for wing in (a, b, c)} == {"c"}
        rooms = [place_rows.room_id(connection, Place("c", name)) for name in ("x", "y")]
        record(connection, "merge", room=rooms[0], target=rooms[1])
        record(connection, "merge", room=rooms[1], target=rooms[0])
        arrangements.settle(connection)
        assert place_rows.room_names(connection) == ["y"]
        arrangements.retire(connection, circle, Micros(2))
        arrangements.settle(connection)
        assert arrangements.count_differences(connection) == (0, 0)


def test_of_those_that_claim_one_name_the_first_keeps_it(palace: Palace) -> None:
    """As when two machines that were apart give one name away."""
    with palace.database.transaction() as connection:
        a, b = (place_rows.wing_id(connection, name) for name in ("api", "web"))
        place_rows.wing_id(connection, "core-2")
        record(connection, "name", wing=b, name="core")
        record(connection, "name", wing=a, name="core")
        assert arrangements.settle(connection) == [(a, None, "core")]
        assert [place_rows.wing_name(connection, wing) for wing in (a, b)] == ["core-3", "core"]
        rooms = [place_rows.room_id(connection, Place(wing, "auth")) for wing in ("core", "core-3")]
        record(connection, "merge", wing=a, target=b)
        assert arrangements.settle(connection) == [(b, rooms[1], "auth")]
        assert [place_rows.place_of(connection, room) for room in rooms] == [
            Place("core", "auth"),
            Place("core", "auth-2"),
        ]


def test_what_no_row_counts_of_is_called_as_it_was_created(palace: Palace) -> None:
    with palace.database.transaction() as connection:
        room = place_rows.room_id(connection, Place("api", "auth"))
        row = record(connection, "name", room=room, name="login", target=1)
        arrangements.settle(connection)
        assert place_rows.place_of(connection, room) == Place("api", "login")
        arrangements.retire(connection, row, Micros(2))
        assert arrangements.count_differences(connection) == (0, 1)
        arrangements.settle(connection)
        assert (place_rows.place_of(connection, room), arrangements.count_differences(connection)) == (
            Place("api", "auth"),
            (0, 0),
        )


@pytest.mark.parametrize("moved", [1, 6_000])
def test_a_wing_of_ten_thousand_rooms_is_searched_when_some_of_them_moved_out(palace: Palace, moved: int) -> None:
    with palace.database.transaction() as connection:
        rooms = [place_rows.room_id(connection, Place("api", f"room-{n}")) for n in range(10_000)]
        away = place_rows.wing_id(connection, "web")
    for n in (0, 3_999, 5_999, 9_999):
        palace.remember(f"the heron stands in room {n}", Place("api", f"room-{n}"))
    with palace.database.transaction() as connection:
        for n in range(moved):
            record(connection, "move", room=rooms[n], name=f"room-{n}", target=away)
        arrangements.settle(connection)
    where = {
        hit.drawer.place
        for wing in ("api", "web")
        for hit in palace.search(Query("heron", wing=wing, limit=10)).hits
        if hit.drawer.place.wing == wing
    }
    expected = {n: "web" if n < moved else "api" for n in (0, 3_999, 5_999, 9_999)}
    assert where == {Place(wing, f"room-{n}") for n, wing in expected.items()}
    with palace.database.snapshot() as connection:
        assert len(place_rows.rooms(connection)) == 10_000
        assert len(place_rows.former_room_places(connection)) == moved


def test_rows_count_in_the_order_in_which_they_were_recorded_wherever_they_came_from(palace: Palace) -> None:
    with palace.database.transaction() as connection:
        a, b, c = (place_rows.wing_id(connection, name) for name in ("api", "web", "shop"))
        arrangements.record(connection, b"\3" * 16, "name", Micros(30), wing=a, name="late")
        arrangements.record(connection, b"\2" * 16, "name", Micros(20), wing=b, name="core")
        arrangements.record(connection, b"\1" * 16, "name", Micros(10), wing=a, name="early")
        arrangements.record(connection, b"\5" * 16, "name", Micros(20), wing=c, name="core")
        arrangements.settle(connection)
        assert [place_rows.wing_name(connection, row) for row in (a, b, c)] == ["late", "core", "core-2"]
        assert place_rows.wing_led_to(connection, "early") == a
        assert arrangements.settle(connection) == []
        assert arrangements.count_differences(connection) == (0, 0)


def test_of_two_that_were_created_under_one_name_on_two_devices_one_gets_a_number(palace: Palace) -> None:
    """As a merge brings them: of one wing, or room, the renaming was taken back elsewhere."""
    with palace.database.transaction() as connection:
        wing = place_rows.wing_id(connection, "api")
        room = place_rows.room_id(connection, Place("api", "plans"))
        (uid,) = next(connection.execute("SELECT uid FROM wing WHERE id = ?", (wing,)))
        other = max(bytes(uid), b"\xf0" * 16)[:1] + b"\xff" * 15
        connection.execute(
            "INSERT INTO wing(id, uid, first_name, name, merged_into) VALUES(9, ?, 'api', 'api', 9)", (other,)
        )
        connection.execute(
            "INSERT INTO room(id, uid, first_wing, first_name, wing, name, merged_into)"
            " VALUES(9, ?, ?, 'plans', ?, 'plans', 9)",
            (b"\xff" * 16, wing, wing),
        )
        arrangements.settle(connection)
        assert [place_rows.wing_name(connection, row) for row in (wing, 9)] == ["api", "api-2"]
        assert [place_rows.place_of(connection, row).room for row in (room, 9)] == ["plans", "plans-2"]
        assert arrangements.count_differences(connection) == (0, 0)
