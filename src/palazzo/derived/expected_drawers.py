"""Expected drawers: computed from the primary data without writing any; `verify` compares the live ones with them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from palazzo.derived import taint_consumer
from palazzo.derived.cutter import SEGMENT, Cutter, note_rules, section_rules
from palazzo.derived.rebuild import SEGMENTS_AT_ONCE
from palazzo.index import cut_material, cut_rules
from palazzo.index.act_overlay import ActsOnItems
from palazzo.index.cut_rules import Draft
from palazzo.index.drawer_builder import drawer_row, passage_rows
from palazzo.index.fallback_cut import cut_with
from palazzo.index.forget_propagation import load_version
from palazzo.store import dead_letters, drawers, source_rows, tag_rows
from palazzo.store.database import Connection
from palazzo.store.drawers import DrawerRow, PassageRow
from palazzo.store.taint_rows import Thread

Facts = tuple[object, ...]
"""The values that must be equal: everything that a drawer takes from source data, including its spans, tags and
passages.
"""


def expected(connection: Connection, source: int) -> dict[bytes, Facts]:
    """Return the drawers of a source that should be live, by id, as the cutter makes them."""
    work = _DrawerCollector(connection, source)
    source_record = source_rows.read_source(connection, source)
    plain = dead_letters.things(connection, Cutter.name)
    current = source_rows.current_revision(connection, source)
    if current is not None:
        item, work.on = load_version(connection, source, current[0])
        if work.on.left_out(item.uid) is None:
            for draft in cut_with([item], section_rules(source_record), plain):
                work.keep(draft)
    rows = connection.execute("SELECT id FROM item WHERE source = ? AND kind = 'note'", (source,))
    for (row,) in list(rows):
        notes, work.on = cut_material.load(connection, [int(row)])
        for draft in cut_with(notes, note_rules(source_record), plain):
            work.keep(draft)
    for segment in _segments(connection, source, work):
        for draft in cut_with(segment, SEGMENT, plain):
            work.keep(draft)
    return work.found


def live(connection: Connection, source: int) -> dict[bytes, Facts]:
    """Return the live drawers of a source, by id, as they are stored."""
    facts_by_uid = {}
    rows = connection.execute(
        "SELECT id, uid, kind, thread, ordinal, room, role, author, title, created_at, trust, branch, commit_id"
        " FROM drawer WHERE source = ? AND retired_at IS NULL",
        (source,),
    )
    for row, uid, *columns in list(rows):
        passages = connection.execute(
            "SELECT item, start, end, hash FROM passage WHERE drawer = ? ORDER BY item, start, end", (row,)
        )
        facts_by_uid[bytes(uid)] = (
            *columns,
            tuple(drawers.drawer_spans(connection, row)),
            tag_rows.tags_of(connection, row),
            tuple((item, start, end, bytes(digest)) for item, start, end, digest in passages),
        )
    return facts_by_uid


class _DrawerCollector:
    """Collects the drawers of drafts. `on` are the acts on the given items."""

    def __init__(self, connection: Connection, source: int) -> None:
        self._connection, self._source = connection, source
        self.on = ActsOnItems([])
        self.found: dict[bytes, Facts] = {}

    def keep(self, draft: Draft) -> None:
        """Record the drawer of `draft`."""
        row = drawer_row(self._connection, self._source, self.on, draft, "", None)
        if row.uid not in self.found:
            self.found[row.uid] = _facts(row, passage_rows(draft.passages))


def _facts(row: DrawerRow, passages: list[PassageRow]) -> Facts:
    return (
        row.kind,
        row.thread,
        row.ordinal,
        row.room,
        row.role,
        row.author,
        row.title,
        row.created_at,
        row.trust,
        row.branch,
        row.commit,
        row.spans,
        tuple(sorted(row.tags)),
        tuple(sorted((p.item, p.start, p.end, p.hash) for p in passages)),
    )


def marks_that_differ(connection: Connection, source: int) -> int:
    """Return how many stored taint marks of a source differ from those that its rows require (`taint_consumer`)."""
    wrong = 0
    for thread, rows, until in _stretches(connection, source):
        cut_items, _ = cut_material.load_unmarked(connection, rows)
        wrong += taint_consumer.count_wrong_marks(connection, Thread(source, thread), cut_items, until)
    return wrong


def _segments(connection: Connection, source: int, work: _DrawerCollector) -> Iterator[list[cut_rules.CutItem]]:
    """Yield the segments of every thread; a few are read at a time."""
    for _, rows, _ in _stretches(connection, source):
        cut_items, work.on = cut_material.load(connection, rows)
        yield from (list(segment) for segment in cut_rules.segments(cut_items))


def _stretches(connection: Connection, source: int) -> Iterator[tuple[str, list[int], int | None]]:
    """Yield (thread, rows, ordinal of the next) of a few segments at a time."""
    threads = connection.execute(
        "SELECT DISTINCT thread FROM item WHERE source = ? AND kind = 'message' ORDER BY thread", (source,)
    )
    for (thread,) in list(threads):
        starts: list[int | None] = [
            *cut_material.segment_ordinals(connection, source, thread)[::SEGMENTS_AT_ONCE],
            None,
        ]
        for start, until in itertools.pairwise(starts):
            rows = cut_material.thread_rows(connection, source, thread, start or 0, until)
            if rows:
                yield thread, [row for row, _, _ in rows], until
