"""The cutter: the consumer that keeps drawers, their passages and the keyword index in line with the archive.

It runs at the end of every write transaction, so an item and the drawers cut from it commit together. It cuts again
from the segment in which something changed, and compares the result with the existing drawers: equal drawers stay,
missing ones are added, the others are retired. Acts are applied by the spans that they address. An item that cannot be
cut is kept in plain drawers (`fallback_cut`), and is set aside until it can be cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from palazzo.derived import taint_consumer
from palazzo.derived.heading_consumer import reword, settle
from palazzo.index import cut_material, cut_rules, failure_isolation
from palazzo.index.consumer import CUTTER_KINDS, CUTTER_NAME
from palazzo.index.cut_material import ThreadRow
from palazzo.index.cut_rules import CutItem, Draft
from palazzo.index.drawer_builder import line_locator
from palazzo.index.drawer_diff import Comparison, DraftedDrawer
from palazzo.index.erasure_rebuild import refresh
from palazzo.index.fallback_cut import Rules, cut_safely, plain_message, plain_note, plain_section
from palazzo.index.forget_propagation import load_version
from palazzo.model import Source
from palazzo.store import act_rows, dead_letters, drawers, items, source_rows, taint_rows
from palazzo.store.change_log import Change
from palazzo.store.database import Connection
from palazzo.store.drawers import LEFT_OUT, REPLACED, StoredDrawer
from palazzo.store.taint_rows import Thread
from palazzo.text.document_formats import document_kind


class Cutter:
    """Cuts items into drawers; see the module."""

    name = CUTTER_NAME
    version = 9
    kinds = CUTTER_KINDS

    def apply_changes(self, connection: Connection, log: list[Change]) -> None:
        """Cut again the items that these changes concern."""
        plan = _RecutPlan(connection)
        item_rows = [change.ref for change in log if change.kind == "erased"]
        if item_rows:
            refresh(connection, item_rows)
            recut_items(connection, item_rows)
            settle(connection, {source for _, _, source, _, _ in items.whereabouts(connection, item_rows)})
        for change in log:
            plan.add(change)
        plan.add_items([change.ref for change in log if change.kind == "item"])
        for (source, thread), ordinal in plan.threads.items():
            recut_thread(connection, source, thread, ordinal)
        for source in plan.documents:
            recut_document(connection, source)
        for item in plan.notes:
            recut_note(connection, item)
        settle(connection, plan.sources())
        reword(connection, {change.ref for change in log if change.kind == "source"})


class _RecutPlan:
    """Everything that a list of changes affects: threads from an ordinal on, documents, notes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.threads: dict[tuple[int, str], int] = {}
        self.documents: dict[int, None] = {}
        self.notes: dict[int, None] = {}

    def add(self, change: Change) -> None:
        """Record the items of a revision or an act."""
        if change.kind == "revision":
            for (source,) in self._connection.execute("SELECT source FROM revision WHERE id = ?", (change.ref,)):
                self.documents[int(source)] = None
        elif change.kind == "act":
            self.add_items(act_rows.items_of_act(self._connection, change.ref))

    def sources(self) -> set[int]:
        """Return the sources of the threads and documents."""
        return {source for source, _ in self.threads} | set(self.documents)

    def add_items(self, rows: Sequence[int]) -> None:
        """Record these items for cutting; noise has nothing to cut."""
        for row, kind, source, thread, ordinal in items.whereabouts(self._connection, rows):
            if kind == "message":
                key = (source, thread)
                self.threads[key] = min(self.threads.get(key, ordinal), ordinal)
            elif kind == "document":
                self.documents[source] = None
            elif kind == "note":
                self.notes[row] = None


def recut_thread(connection: Connection, source: int, thread: str, ordinal: int) -> None:
    """Cut a thread again from the segment that holds `ordinal` to its end.

    New rows between existing ones may split a segment: then cutting starts at the segment that extended over them.
    """
    segment_start = drawers.first_reaching(connection, source, thread, ordinal, cut_rules.SEGMENT_ITEMS)
    rows = cut_material.from_segment(connection, source, thread, min(ordinal, segment_start))
    if rows:
        _recut_rows(connection, source, thread, rows, None)


def recut_items(connection: Connection, item_rows: Sequence[int]) -> None:
    """Cut again what holds these items: in a thread one segment, since its ends do not depend on the words."""
    segment_keys: set[tuple[int, str, int]] = set()
    plan = _RecutPlan(connection)
    for row, kind, source, thread, ordinal in items.whereabouts(connection, item_rows):
        if kind != "message":
            plan.add_items([row])
            continue
        rows, until = cut_material.segment(connection, source, thread, ordinal)
        if rows and (source, thread, rows[0][2]) not in segment_keys:
            segment_keys.add((source, thread, rows[0][2]))
            changed = _recut_rows(connection, source, thread, rows, until)
            own = Thread(source, thread)  # later words are compared with these
            has_echoes = taint_rows.has_met(connection, own) or taint_rows.has_snippet(connection, own, until or 0)
            if (changed or has_echoes) and until is not None:
                recut_thread(connection, source, thread, until)
    for source in plan.documents:
        recut_document(connection, source)
    for item in plan.notes:
        recut_note(connection, item)


def recut_between(connection: Connection, source: int, thread: str, start: int, until: int) -> None:
    """Cut the segments of a thread that begin at `start` or later, but before `until`."""
    rows = cut_material.thread_rows(connection, source, thread, start, until)
    if rows:
        _recut_rows(connection, source, thread, rows, until)


def _recut_rows(connection: Connection, source: int, thread: str, rows: Sequence[ThreadRow], until: int | None) -> bool:
    """Cut these rows again; return whether the trust of later rows changes."""
    start = rows[0][2]
    cut_items, on = cut_material.load_unmarked(connection, [row for row, _, _ in rows])
    exposure = taint_consumer.settle(connection, Thread(source, thread), cut_items, until)
    work = Comparison(connection, source, on, drawers.drawers_between(connection, source, thread, start, until))
    turn = drawers.last_turn_before(connection, source, thread, start)
    failed: dict[int, Exception] = {}
    for segment in cut_rules.segments(exposure.cut_items):
        turn += segment[0].role == "user"
        result = cut_safely(segment, SEGMENT, partial(_of_turn, work, turn))
        failed |= result.failed
        for drawer in result.drafts:
            work.keep(drawer)
    work.finish(cut_items[-1].context.recorded_at)
    _note_failures(connection, Cutter.name, [item.row for item in cut_items], failed)
    _note_failures(connection, taint_consumer.CONSUMER, exposure.rows, exposure.failed)
    for dependent_thread, ordinal in exposure.dependents:
        recut_thread(connection, *dependent_thread, ordinal)
    return exposure.changed


SEGMENT = Rules(cut_rules.cut_segment, plain_message)
"""The rules for a segment of a conversation."""


def section_rules(source: Source) -> Rules:
    """Return the rules for a version of a document."""
    path, title = source.key[-1], source.title

    def cut(items: Sequence[CutItem]) -> list[Draft]:
        return cut_rules.cut_section(items[0], document_kind(path, items[0].text), title, path)

    return Rules(cut, plain_section)


def note_rules(source: Source) -> Rules:
    """Return the rules for a note."""
    return Rules(lambda items: cut_rules.cut_note(items[0], source.title), plain_note)


def _of_turn(work: Comparison, turn: int, draft: Draft) -> DraftedDrawer:
    return work.prepare(replace(draft, number=turn), f"turn {turn}")


def _note_failures(connection: Connection, consumer: str, rows: Sequence[int], failed: Mapping[int, Exception]) -> None:
    """Set aside the items that failed, and remove the marks of the other rows."""
    if not failed and not dead_letters.count(connection, consumer):
        return
    dead_letters.clear(connection, consumer, rows)
    for row, error in failed.items():
        label = failure_isolation.item_label(connection, row)
        dead = failure_isolation.letter(consumer, row, label, Cutter.version, error)
        failure_isolation.set_aside(connection, dead, error)


def recut_document(connection: Connection, source: int, whole: bool = False) -> None:
    """Cut a document's versions: the current one is live unless the rules leave it out; earlier ones are retired.

    Only the last two can have changed, unless `whole` requests all.
    """
    history = source_rows.revisions(connection, source)
    source_record = source_rows.read_source(connection, source)
    for n, (item, _) in enumerate(history):
        ended_at = history[n + 1][1] if n + 1 < len(history) else None
        if whole or n >= len(history) - 2:
            _recut_version(connection, source, source_record, item, ended_at)


def _recut_version(connection: Connection, source: int, source_record: Source, item: int, ended_at: int | None) -> None:
    cut_item, on = load_version(connection, source, item)
    work = Comparison(connection, source, on, _drawers_of_item(connection, item))
    why = REPLACED if ended_at is not None else LEFT_OUT
    ended_at = on.left_out(cut_item.uid) if ended_at is None else ended_at
    result = cut_safely(
        [cut_item], section_rules(source_record), lambda draft: work.prepare(draft, line_locator(draft), ended_at, why)
    )
    for drawer in result.drafts:
        work.keep(drawer)
    work.finish(cut_item.context.recorded_at)
    # A version that is over is not shown, so a failure to cut it does not matter any more.
    _note_failures(connection, Cutter.name, [item], result.failed if ended_at is None else {})


def recut_note(connection: Connection, item: int) -> None:
    """Cut a note."""
    (cut_item,), on = cut_material.load(connection, [item])
    (source,) = next(connection.execute("SELECT source FROM item WHERE id = ?", (item,)))
    work = Comparison(connection, source, on, _drawers_of_item(connection, item))
    rules = note_rules(source_rows.read_source(connection, source))
    result = cut_safely([cut_item], rules, lambda draft: work.prepare(draft, "note"))
    for drawer in result.drafts:
        work.keep(drawer)
    work.finish(cut_item.context.recorded_at)
    _note_failures(connection, Cutter.name, [item], result.failed)


def _drawers_of_item(connection: Connection, item: int) -> dict[bytes, StoredDrawer]:
    mine = {int(row) for (row,) in connection.execute("SELECT drawer FROM drawer_span WHERE item = ?", (item,))}
    return drawers.known_drawers(connection, mine)
