"""The history of drawers: their former states, and a snapshot of the palace as it was on a day.

A drawer's *state* is its place and its tags. While it is forgotten, excluded, replaced or not yet said, it has no
state. `past` contains the former states and, for drawers that have some, the moment since which the present state
holds. `index/retired_drawers` builds them from acts, their undoings and the versions of documents.

A snapshot as of a day is a connection of its own on which `drawer`, `drawer_span`, `drawer_tag`, `passage` and `item`
are views over the tables of those names. Code that reads the current palace can read that of the past without changes,
and readers of the current palace pay nothing.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection, Database


class State(NamedTuple):
    """The state of a drawer from `since` on, until before `until` (None: still). `room` and `tags` are row ids."""

    since: int
    until: int | None
    room: int
    tags: tuple[int, ...]


def states_of(connection: Connection, drawer: int) -> list[State]:
    """Return the stored states of a drawer, oldest first."""
    rows = connection.execute("SELECT since, until, room, tags FROM past WHERE drawer = ? ORDER BY since", (drawer,))
    return [State(since, until, room, tuple(json.loads(tags))) for since, until, room, tags in rows]


def drop_states(connection: Connection, drawer: int) -> list[int]:
    """Delete the stored states of a drawer; return their row ids."""
    rows = connection.execute("DELETE FROM past WHERE drawer = ? RETURNING id", (drawer,))
    return [int(row) for (row,) in rows]


def insert_states(connection: Connection, drawer: int, states: Sequence[State]) -> list[int]:
    """Store a drawer's states; return their row ids in order."""
    state_rows: list[int] = []
    for since, until, room, tags in states:
        rows = connection.execute(
            "INSERT INTO past(drawer, since, until, room, tags) VALUES(?,?,?,?,?) RETURNING id",
            (drawer, since, until, room, json.dumps(tags)),
        )
        state_rows.extend(int(row) for (row,) in rows)
    return state_rows


def drawers_with_states(connection: Connection) -> list[int]:
    """Return the drawers with stored states, ascending."""
    return [int(row) for (row,) in connection.execute("SELECT DISTINCT drawer FROM past ORDER BY drawer")]


def ended_states(connection: Connection) -> int:
    """Return the number of stored states that have ended."""
    return int(next(connection.execute("SELECT count(*) FROM past WHERE until IS NOT NULL"))[0])


@contextlib.contextmanager
def as_of(database: Database, at: Micros) -> Iterator[Connection]:
    """Read the palace as of `at`: what had been said and was not retired, with its places and tags at that time.

    It excludes later text, and text that was forgotten at that time and restored since; text without a time is always
    included. Drawers that were already said but retired appear as retired. States that `derive` has not processed yet
    are missing.
    """
    with contextlib.closing(Database(database.path, "read")) as own, own.snapshot() as connection:
        for statement in _VIEW_STATEMENTS:
            connection.execute(statement.format(at=int(at)))
        connection.as_of = at
        yield connection


def left_out(connection: Connection, drawers: Sequence[int]) -> dict[int, int]:
    """Return how many characters this snapshot omits from each of the drawers that it shows in part."""
    rows = connection.execute(
        "SELECT s.drawer, sum(s.end - s.start) FROM main.drawer_span s"
        " WHERE s.drawer IN (SELECT value FROM json_each(?))"
        " AND NOT EXISTS (SELECT 1 FROM drawer_span seen WHERE seen.drawer = s.drawer AND seen.n = s.n)"
        " GROUP BY s.drawer",
        (json.dumps(list(drawers)),),
    )
    return {int(drawer): int(size) for drawer, size in rows}


_LIVE_THEN = (
    "(d.retired_at IS NULL AND d.id NOT IN (SELECT drawer FROM temp.absent_then)"
    " OR d.id IN (SELECT drawer FROM temp.state_then))"
)
_SAID_BY_THEN = (
    "JOIN main.item i ON i.id = s.item WHERE i.created_at <= {at} AND NOT EXISTS"
    " (SELECT 1 FROM temp.hole_then h WHERE h.item = s.item AND h.start < s.end AND h.end > s.start"
    " AND s.drawer NOT IN (SELECT drawer FROM temp.gone_then))"
)
_VIEW_STATEMENTS = (
    "CREATE TEMP TABLE state_then(past INTEGER PRIMARY KEY, drawer INTEGER UNIQUE, room INTEGER, tags TEXT)",
    "INSERT INTO state_then SELECT id, drawer, room, tags FROM main.past WHERE since <= {at} AND until > {at}",
    "CREATE TEMP TABLE tag_then(drawer INTEGER, tag INTEGER, PRIMARY KEY(drawer, tag)) WITHOUT ROWID",
    "INSERT INTO tag_then SELECT drawer, json_each.value FROM state_then, json_each(state_then.tags)",
    # Live today, but not yet, or not again, at the time.
    "CREATE TEMP TABLE absent_then(drawer INTEGER PRIMARY KEY)",
    "INSERT INTO absent_then SELECT drawer FROM main.past WHERE until IS NULL AND since > {at}",
    # What was forgotten at the time and was brought back since.
    "CREATE TEMP TABLE hole_then(item INTEGER, start INTEGER, end INTEGER)",
    "INSERT INTO hole_then SELECT item.id, s.start, s.end FROM main.change_group later"
    " JOIN main.act ON act.grp = later.undoes JOIN main.act_span s ON s.act = act.id"
    " JOIN main.item ON item.uid = s.item_uid"
    " WHERE later.undoes IS NOT NULL AND later.at > {at} AND act.kind = 'forget' AND act.at <= {at}",
    "CREATE INDEX temp.hole_then_item ON hole_then(item)",
    # What was wholly retired at the time: its id resolves, to its words.
    "CREATE TEMP TABLE gone_then(drawer INTEGER PRIMARY KEY)",
    "INSERT INTO gone_then SELECT DISTINCT drawer FROM main.past WHERE drawer NOT IN (SELECT drawer FROM state_then)"
    " AND drawer NOT IN (SELECT drawer FROM main.past WHERE until IS NULL AND since <= {at})",
    "CREATE TEMP VIEW item AS SELECT * FROM main.item WHERE created_at <= {at}",
    f"CREATE TEMP VIEW drawer_span AS SELECT s.drawer, s.n, s.item, s.start, s.end FROM main.drawer_span s"
    f" {_SAID_BY_THEN}",
    f"CREATE TEMP VIEW passage AS SELECT s.id, s.drawer, s.item, s.start, s.end, s.hash FROM main.passage s"
    f" {_SAID_BY_THEN}",
    "CREATE TEMP VIEW drawer_tag AS SELECT drawer, tag FROM main.drawer_tag"
    " WHERE drawer NOT IN (SELECT drawer FROM temp.state_then) UNION ALL SELECT drawer, tag FROM temp.tag_then",
    "CREATE TEMP VIEW drawer AS SELECT d.id, d.uid, d.kind, d.source, d.thread, d.ordinal, d.turn,"
    " coalesce((SELECT room FROM temp.state_then WHERE drawer = d.id), d.room) AS room, d.role, d.author, d.title,"
    " d.created_at, d.recorded_at,"
    f" CASE WHEN {_LIVE_THEN} THEN NULL ELSE coalesce((SELECT max(until) FROM main.past WHERE drawer = d.id"
    " AND until <= {at}), d.retired_at, {at}) END AS retired_at,"
    f" CASE WHEN {_LIVE_THEN} THEN NULL ELSE coalesce(d.retired_why, 'forgotten') END AS retired_why,"
    " d.trust, d.branch, d.commit_id, d.locator, d.size, d.marks FROM main.drawer d WHERE d.created_at <= {at}",
)
"""Statements that put the palace's past state in place of the present one, on a separate connection."""
