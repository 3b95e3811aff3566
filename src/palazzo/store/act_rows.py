"""Acts: what a person or agent did to the palace, addressed to spans of items so that they survive a rebuild."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import change_groups, change_log
from palazzo.store.database import Connection

ActKind = Literal["forget", "move", "tag", "untag", "leave-out", "take-in", "approve", "feedback"]
"""`leave-out` concerns a document that the rules now exclude; `take-in` reverts that, or says that it was named
explicitly. `approve` is a person's statement that untrusted content, or content written under its influence, may be
trusted. `feedback` is a verdict (`store/feedback_rows`).
"""


@frozen
class ActSpan:
    """A span that an act concerns, as part of drawer `drawer_uid`."""

    item_uid: bytes
    start: int
    end: int
    drawer_uid: bytes


@frozen
class Act:
    """One act; `detail` holds the data of its kind (`wing` and `room`, `tag`, `reason`).

    Acts are ordered by their time and then by their ids; row ids give the order in which they arrived here.
    """

    row: int
    uid: bytes
    kind: ActKind
    actor: str
    at: Micros
    detail: Mapping[str, str]


def file_act(
    connection: Connection,
    uid: bytes,
    kind: ActKind,
    actor: str,
    at: Micros,
    detail: Mapping[str, str],
    spans: Iterable[ActSpan],
    group: int | None = None,
) -> int:
    """Record an act on spans; return its row id. `group` is its change group, if any."""
    (row,) = next(
        connection.execute(
            "INSERT INTO act(uid, kind, actor, at, detail, grp) VALUES(?,?,?,?,?,?) RETURNING id",
            (uid, kind, actor, at, json.dumps(dict(detail)), group),
        )
    )
    connection.executemany(
        "INSERT INTO act_span(act, n, item_uid, start, end, drawer_uid) VALUES(?,?,?,?,?,?)",
        ((row, n, span.item_uid, span.start, span.end, span.drawer_uid) for n, span in enumerate(spans)),
    )
    if group is not None:
        change_groups.add(connection, group, "act", [int(row)])
    change_log.append(connection, "act", [int(row)])
    return int(row)


def acts_on(connection: Connection, item_uids: Iterable[bytes]) -> list[tuple[Act, ActSpan]]:
    """Return the acts on any of the items, oldest first, with the affected spans in their order.

    Acts that were undone are excluded.
    """
    if not any(True for _ in connection.execute("SELECT 1 FROM act LIMIT 1")):
        return []
    uids = list(item_uids)
    entries: list[tuple[int, Act, ActSpan]] = []
    for start in range(0, len(uids), 500):
        part = uids[start : start + 500]
        rows = connection.execute(
            "SELECT act.id, act.uid, n, kind, actor, at, detail, item_uid, start, end, drawer_uid FROM act_span"
            f" JOIN act ON act.id = act_span.act WHERE item_uid IN ({','.join('?' * len(part))})"
            " AND (grp IS NULL OR grp NOT IN (SELECT undoes FROM change_group WHERE undoes IS NOT NULL))",
            part,
        )
        for row, own, n, kind, actor, at, detail, uid, begin, end, drawer in rows:
            act = Act(int(row), bytes(own), kind, actor, Micros(at), json.loads(detail))
            entries.append((int(n), act, ActSpan(bytes(uid), int(begin), int(end), bytes(drawer))))
    entries.sort(key=lambda one: (one[1].at, one[1].uid, one[0]))
    return [(act, span) for _, act, span in entries]


def history_on(connection: Connection, item_uids: Iterable[bytes]) -> list[tuple[Act, ActSpan, Micros | None]]:
    """Return all acts ever made on any of the items, oldest first, each with its undo time, if it was undone."""
    entries: list[tuple[int, Act, ActSpan, Micros | None]] = []
    for item_uid in set(item_uids):
        rows = connection.execute(
            "SELECT act.id, act.uid, n, kind, actor, at, detail, start, end, drawer_uid,"
            " (SELECT min(later.at) FROM change_group later WHERE later.undoes = act.grp) FROM act_span"
            " JOIN act ON act.id = act_span.act WHERE item_uid = ?",
            (item_uid,),
        )
        for row, own, n, kind, actor, at, detail, begin, end, drawer, undone in rows:
            act = Act(int(row), bytes(own), kind, actor, Micros(at), json.loads(detail))
            entries.append((int(n), act, ActSpan(item_uid, int(begin), int(end), bytes(drawer)), undone))
    entries.sort(key=lambda one: (one[1].at, one[1].uid, one[0]))
    return [(act, span, undone) for _, act, span, undone in entries]


def items_of_act(connection: Connection, row: int) -> list[int]:
    """Return the row ids of an act's items."""
    rows = connection.execute(
        "SELECT DISTINCT item.id FROM act_span JOIN item ON item.uid = act_span.item_uid WHERE act = ?",
        (row,),
    )
    return [int(item) for (item,) in rows]
