"""Acts: forget, move, tag. An act addresses spans of drawers, so it survives every rebuild.

`group` is the change group of an act, by which the act can be undone. Acts of automatic rules have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from palazzo.archive import identity
from palazzo.model import Micros
from palazzo.store import act_rows, drawers, items, uids
from palazzo.store.act_rows import ActKind, ActSpan
from palazzo.store.database import Connection


def act_on_drawers(
    connection: Connection,
    kind: ActKind,
    rows: Sequence[int],
    actor: str,
    now: Micros,
    detail: Mapping[str, str],
    group: int | None = None,
) -> int:
    """Record one act on the drawers of these row ids; return the act's row id."""
    spans = [span for row in dict.fromkeys(rows) for span in _spans(connection, row)]
    return act_rows.file_act(connection, bytes.fromhex(identity.new_id(now)), kind, actor, now, detail, spans, group)


def act_on_item(
    connection: Connection,
    kind: ActKind,
    row: int,
    actor: str,
    now: Micros,
    detail: Mapping[str, str],
    group: int | None = None,
) -> int:
    """Record one act on an item's whole text, however it is cut into drawers; return the act's row id."""
    return act_on_items(connection, kind, [row], actor, now, detail, group)


def act_on_items(
    connection: Connection,
    kind: ActKind,
    rows: Sequence[int],
    actor: str,
    now: Micros,
    detail: Mapping[str, str],
    group: int | None = None,
) -> int:
    """Record one act on the whole text of these items; return the act's row id."""
    spans = [_whole(connection, row) for row in dict.fromkeys(rows)]
    return act_rows.file_act(connection, bytes.fromhex(identity.new_id(now)), kind, actor, now, detail, spans, group)


def forget_erased(connection: Connection, drawer: int, actor: str, at: Micros) -> None:
    """Record that a drawer is forgotten because its text was erased: the act has the same id on every device."""
    spans = _spans(connection, drawer)
    uid = uids.of_erased(spans[0].drawer_uid)
    if not any(True for _ in connection.execute("SELECT 1 FROM act WHERE uid = ?", (uid,))):
        act_rows.file_act(connection, uid, "forget", actor, at, {"reason": "erased"}, spans)


def _whole(connection: Connection, item: int) -> ActSpan:
    (uid,) = next(connection.execute("SELECT uid FROM item WHERE id = ?", (item,)))
    size = len(items.read_texts(connection, [item])[item])
    return ActSpan(bytes(uid), 0, max(size, 1), bytes(identity.ID_BYTES))


def _spans(connection: Connection, drawer: int) -> list[ActSpan]:
    (uid,) = next(connection.execute("SELECT uid FROM drawer WHERE id = ?", (drawer,)))
    spans = []
    for item, start, end in drawers.drawer_spans(connection, drawer):
        (item_uid,) = next(connection.execute("SELECT uid FROM item WHERE id = ?", (item,)))
        spans.append(ActSpan(bytes(item_uid), start, end, bytes(uid)))
    return spans
