"""Former states of drawers: the consumer that keeps `past` and its keyword index in line with acts and versions.

It is asynchronous: it does nothing until somebody first asks for a past state, and then it follows the log in short
transactions. The states of a drawer are a function of the primary data: when its words were said, when its document had
which version, which acts touched it, and when they were undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from palazzo.index import rule_tags, visible_text
from palazzo.index.act_overlay import ActsOnItems
from palazzo.index.cut_rules import CutItem, CutSpan, ItemContext
from palazzo.index.failure_isolation import process_text, set_drawer_aside
from palazzo.model import Micros
from palazzo.store import (
    act_rows,
    change_log,
    dead_letters,
    drawer_history,
    keyword_columns,
    keyword_table,
    place_rows,
    retired_keywords,
    source_rows,
    tag_rows,
)
from palazzo.store.act_rows import Act, ActSpan
from palazzo.store.change_log import Change, ChangeKind
from palazzo.store.database import Connection, Database
from palazzo.store.drawer_history import State
from palazzo.store.drawers import RECUT

NAME, VERSION = "retired", 1
KINDS: tuple[ChangeKind, ...] = ("drawer-", "act", "revision", "reset")
AT_ONCE = 100
"""Drawers whose states are made in one transaction: the write lock is held for about 30 ms."""
_CHANGES_AT_ONCE = 5000
_FAR = 20_000
"""Number of changes of other kinds after which the cursor is moved past them: reading past them took 3 ms."""
Progress = Callable[[int, int], None]


def count_pending(connection: Connection) -> int:
    """Return how many changes have not been processed yet; at most a few thousand are counted."""
    version, seq = change_log.cursor(connection, NAME)
    return len(change_log.since(connection, seq if version == VERSION else 0, KINDS, _CHANGES_AT_ONCE))


def is_followed(connection: Connection) -> bool:
    """Return whether a past state was ever requested, so that histories are kept."""
    return change_log.cursor(connection, NAME)[1] > 0


def follow_retired(database: Database, progress: Progress | None = None) -> None:
    """Process the changes since the last call; write nothing if there are none."""
    while True:
        with database.snapshot() as connection:
            version, seq = change_log.cursor(connection, NAME)
            log = change_log.since(connection, seq, KINDS, _CHANGES_AT_ONCE) if version == VERSION else []
            is_rebuild = version != VERSION or any(change.kind == "reset" for change in log)
            drawer_rows = candidates(connection) if is_rebuild else _find_affected_drawers(connection, log)
            head = change_log.head(connection)
            last_seq = head if is_rebuild or (not log and head - seq > _FAR) else log[-1].seq if log else seq
        if last_seq == seq:
            return
        _remake(database, drawer_rows, progress)
        with database.transaction() as connection:
            if is_rebuild:
                _drop_others(connection, drawer_rows)
            change_log.advance(connection, NAME, VERSION, last_seq)


def make_anew(database: Database, progress: Progress | None = None) -> None:
    """Rebuild all histories, if a past state was ever requested."""
    with database.transaction() as connection:
        if not is_followed(connection):
            return
        if [str(row) for (row,) in connection.execute("PRAGMA integrity_check('keyword_retired')")] != ["ok"]:
            retired_keywords.clear(connection)
        change_log.advance(connection, NAME, 0, change_log.cursor(connection, NAME)[1])
    follow_retired(database, progress)


def redo(connection: Connection, rows: Iterable[int]) -> None:
    """Rebuild the stored history of these drawers, in the caller's transaction: their words or acts changed."""
    for row in rows:
        history = process_text(partial(_drawer_history, connection, row))
        if isinstance(history, Exception):
            retired_keywords.remove(connection, drawer_history.drop_states(connection, row))
            set_drawer_aside(connection, NAME, row, VERSION, history)
        else:
            _replace_history(connection, row, history)


def candidates(connection: Connection) -> list[int]:
    """Return the drawers that may have had other states: retired ones, those of acts, those put back."""
    rows = connection.execute(
        "SELECT id FROM drawer WHERE retired_at IS NOT NULL AND retired_why <> ?"
        " UNION SELECT s.drawer FROM act_span a JOIN item ON item.uid = a.item_uid"
        " JOIN drawer_span s ON s.item = item.id"
        " UNION SELECT s.drawer FROM revision later JOIN revision earlier ON earlier.source = later.source"
        " AND earlier.id <> later.id AND earlier.at <= later.at JOIN drawer_span s ON s.item = later.item ORDER BY 1",
        (RECUT,),
    )
    return [int(row) for (row,) in rows]


def states(connection: Connection, row: int) -> list[State]:
    """Return a drawer's past states, oldest first; nothing if it always had its current state."""
    spans = _spans(connection, row)
    rows = connection.execute("SELECT source, created_at, retired_at, retired_why FROM drawer WHERE id = ?", (row,))
    for source, created, retired_at, why in rows:
        if why == RECUT or not spans:
            return []
        history = act_rows.history_on(connection, [span.item.uid for span in spans])
        told_by = _StateBuilder(connection, row, spans, history)
        drawer_states = _merge_states(
            state
            for since, until in _current(connection, source, spans[0].item.row, created)
            for state in told_by.between(since, until)
        )
        if retired_at is not None:
            drawer_states = [state for state in drawer_states if state.until is not None]
        elif len(drawer_states) == 1 and drawer_states[0].since <= created and drawer_states[0].until is None:
            return []
        return drawer_states
    return []


class _StateBuilder:
    """Computes the states of one drawer from the acts on its items."""

    def __init__(
        self,
        connection: Connection,
        row: int,
        spans: Sequence[CutSpan],
        history: Sequence[tuple[Act, ActSpan, Micros | None]],
    ) -> None:
        self._connection, self._spans, self._history = connection, spans, history
        self._filed = int(next(connection.execute("SELECT room FROM item WHERE id = ?", (spans[0].item.row,)))[0])
        self._by_rule = tuple(name for name in tag_rows.tags_of(connection, row) if rule_tags.by_rule(name))

    def between(self, since: int, until: int | None) -> list[State]:
        """Return the states within [since, until)."""
        times = {int(at) for act, _, undone in self._history for at in (act.at, undone) if at is not None}
        times.update(span.item.context.created_at for span in self._spans)
        inside = sorted(at for at in times if at > since and (until is None or at < until))
        starts = [since, *inside]
        drawer_states = []
        for start, end in zip(starts, [*inside, until], strict=True):
            placement = self._at(start)
            if placement is not None:
                drawer_states.append(State(start, end, *placement))
        return drawer_states

    def _at(self, at: int) -> tuple[int, tuple[int, ...]] | None:
        """Return the room and the tags at a time; None if no text of the drawer was searchable then."""
        active_acts = [(act, span) for act, span, undone in self._history if act.at <= at < (undone or at + 1)]
        on = ActsOnItems(active_acts)
        present_spans = [span for span in self._spans if span.item.context.created_at <= at]
        visible_ranges = [
            visible_range
            for span in present_spans
            for visible_range in visible_text.subtract_ranges(span.start, span.end, on.holes(span.item.uid))
        ]
        if not visible_ranges or on.left_out(self._spans[0].item.uid) is not None:
            return None
        move = on.move(self._spans)
        room = place_rows.room_of_move(self._connection, move) if move else self._filed
        names = sorted({*on.tags(self._spans), *self._by_rule})
        return room, tuple(sorted(tag_rows.tag_id(self._connection, name) for name in names))


def _spans(connection: Connection, row: int) -> list[CutSpan]:
    rows = connection.execute(
        "SELECT item.id, item.uid, item.created_at, start, end FROM drawer_span JOIN item ON item.id = drawer_span.item"
        " WHERE drawer = ? ORDER BY n",
        (row,),
    )
    return [
        CutSpan(
            CutItem(int(item), bytes(uid), "", "", "", (), "user", 0, context=ItemContext(created_at=created)),
            int(start),
            int(end),
        )
        for item, uid, created, start, end in rows
    ]


def _current(connection: Connection, source: int, item: int, created: int) -> list[tuple[int, int | None]]:
    """Return when an item was its document's current version; for any other item, since its time.

    A version is current since it was written, if that time is known and lies between the previous version and its
    filing.
    """
    history = source_rows.revisions(connection, source)
    if not history:
        return [(created, None)]
    begins: list[int] = []
    for version, at in history:
        (created_at,) = next(connection.execute("SELECT created_at FROM item WHERE id = ?", (version,)))
        if not begins:
            begins.append(int(created_at))
        else:
            begins.append(int(created_at) if begins[-1] < created_at <= at else max(int(at), begins[-1]))
    ends = [*begins[1:], None]
    return [(begin, end) for (version, _), begin, end in zip(history, begins, ends, strict=True) if version == item]


def _merge_states(states: Iterable[State]) -> list[State]:
    """Join equal states that follow each other without a gap."""
    merged_states: list[State] = []
    for state in states:
        last = merged_states[-1] if merged_states else None
        if last and (last.until, last.room, last.tags) == (state.since, state.room, state.tags):
            merged_states[-1] = last._replace(until=state.until)
        elif state.until is None or state.since < state.until:
            merged_states.append(state)
    return merged_states


def _find_affected_drawers(connection: Connection, log: Sequence[Change]) -> list[int]:
    drawer_rows: set[int] = set()
    for change in log:
        if change.kind == "drawer-":
            drawer_rows.add(change.ref)
            continue
        if change.kind == "act":
            items = act_rows.items_of_act(connection, change.ref)
        else:
            items = source_rows.last_versions(connection, change.ref, 2)
            items = items if len(items) > 1 else []
        for item in items:
            rows = connection.execute("SELECT drawer FROM drawer_span WHERE item = ?", (item,))
            drawer_rows.update(int(row) for (row,) in rows)
    return sorted(drawer_rows)


def _remake(database: Database, rows: Sequence[int], progress: Progress | None) -> None:
    for start in range(0, len(rows), AT_ONCE):
        with database.transaction() as connection:
            redo(connection, rows[start : start + AT_ONCE])
        if progress:
            progress(min(start + AT_ONCE, len(rows)), len(rows))


class _DrawerHistory(NamedTuple):
    """A drawer's states, and the index columns of its past states: one body, and each state's context and scope."""

    states: list[State]
    body: str
    columns: list[tuple[str, str]]


def _drawer_history(connection: Connection, row: int) -> _DrawerHistory:
    """Compute a drawer's history, without writing."""
    all_states = states(connection, row)
    over = [state for state in all_states if state.until is not None]
    if not over:
        return _DrawerHistory(all_states, "", [])
    (kind,) = next(connection.execute("SELECT kind FROM drawer WHERE id = ?", (row,)))
    columns = []
    for state in over:
        wing, _ = place_rows.first_place(connection, state.room)
        context = keyword_columns.context_of(connection, row, state.room)
        columns.append((context, keyword_table.scope_tokens(wing, state.room, kind, state.tags)))
    return _DrawerHistory(all_states, keyword_columns.body_of(connection, row), columns)


def _replace_history(connection: Connection, row: int, history: _DrawerHistory) -> None:
    """Store a drawer's states, and index the past ones."""
    retired_keywords.remove(connection, drawer_history.drop_states(connection, row))
    dead_letters.clear(connection, NAME, [row])
    state_rows = drawer_history.insert_states(connection, row, history.states)
    over = [own for own, state in zip(state_rows, history.states, strict=True) if state.until is not None]
    index_rows = ((own, history.body, *columns) for own, columns in zip(over, history.columns, strict=True))
    retired_keywords.index(connection, index_rows)


def _drop_others(connection: Connection, drawer_rows: Sequence[int]) -> None:
    """Remove the states of drawers with no other states, and index entries without a state."""
    for row in set(drawer_history.drawers_with_states(connection)) - set(drawer_rows):
        retired_keywords.remove(connection, drawer_history.drop_states(connection, row))
    retired_keywords.remove(connection, retired_keywords.strays(connection))
