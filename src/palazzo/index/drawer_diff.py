"""Drawer diff: brings the existing drawers into line with those that the cutter makes.

Equal drawers stay as they are, missing ones are added, the others are retired. A forgotten drawer is kept as a retired
row, so that its id resolves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from palazzo.archive.archive_reader import join_spans
from palazzo.index.act_overlay import ActsOnItems
from palazzo.index.cut_material import load
from palazzo.index.cut_rules import CutSpan, Draft, note_belief, note_kind
from palazzo.index.drawer_builder import drawer_row, passage_rows
from palazzo.index.indexed_text import index_new, reindex
from palazzo.index.vector_keys import heading_hash
from palazzo.store import (
    change_log,
    dead_letters,
    drawers,
    items,
    keyword_table,
    source_headings,
    tag_rows,
    vector_rows,
)
from palazzo.store.act_rows import Act, ActSpan
from palazzo.store.database import Connection
from palazzo.store.drawers import FORGOTTEN, RECUT, REPLACED, DrawerRow, PassageRow, StoredDrawer


class DraftedDrawer(NamedTuple):
    """The row of a drawer, and the draft from which it was made."""

    row: DrawerRow
    draft: Draft


class Comparison:
    """Updates the drawers of one range to match the cutter's result."""

    def __init__(
        self, connection: Connection, source: int, on: ActsOnItems, stored_drawers: dict[bytes, StoredDrawer]
    ) -> None:
        self._connection, self._source, self._on, self._there = connection, source, on, stored_drawers
        self._kept: set[bytes] = set()
        self._new: list[tuple[DrawerRow, Draft]] = []

    def prepare(self, draft: Draft, locator: str, ended_at: int | None = None, why: str = REPLACED) -> DraftedDrawer:
        """Compute the drawer of `draft`, without writing. If it has `ended_at`, it is retired for the reason `why`."""
        return DraftedDrawer(drawer_row(self._connection, self._source, self._on, draft, locator, ended_at, why), draft)

    def keep(self, drawer: DraftedDrawer) -> None:
        """Add a drawer, or update the one with its id."""
        row, draft = drawer
        uid = row.uid
        if uid in self._kept:  # parts that overlap: the words are in a drawer already
            return
        self._kept.add(uid)
        stored_drawer = self._there.pop(uid, None)
        if stored_drawer is None:
            self._new.append((row, draft))
        else:
            self._update(stored_drawer, row, draft)

    def finish(self, at: int) -> None:
        """Add new drawers, retire those the cutter no longer makes, and keep forgotten ones as retired rows."""
        self._add_new()
        for uid, spans in self._on.find_forgotten_drawers().items():
            self._keep_forgotten(uid, spans)
        for stored_drawer in self._there.values():
            if stored_drawer.retired_at is None:
                self._retire(stored_drawer.row, at, RECUT)
            elif stored_drawer.retired_why != RECUT:
                self._retire(stored_drawer.row, stored_drawer.retired_at, RECUT)

    def _keep_forgotten(self, uid: bytes, spans: Sequence[tuple[Act, ActSpan]]) -> None:
        stored_drawer = self._there.pop(uid, None)
        act = spans[0][0]
        if stored_drawer is not None:
            if (stored_drawer.retired_at, stored_drawer.retired_why) != (act.at, FORGOTTEN):
                self._retire(stored_drawer.row, act.at, FORGOTTEN)
            return
        if drawers.find_drawer(self._connection, uid) is not None:
            return
        self._insert_forgotten(uid, act, [span for _, span in spans])

    def _insert_forgotten(self, uid: bytes, act: Act, spans: Sequence[ActSpan]) -> None:
        rows = items.known_items(self._connection, [span.item_uid for span in spans])
        if len(rows) < len({span.item_uid for span in spans}):
            return
        lead = rows[spans[0].item_uid]
        (item,), _ = load(self._connection, [lead])
        span = CutSpan(item, spans[0].start, spans[0].end)
        bare = Draft(note_kind(item), (span,), (), item.role, note_belief(item), author=item.author)
        row = replace(
            drawer_row(self._connection, self._source, self._on, bare, "forgotten", act.at),
            uid=uid,
            retired_why=FORGOTTEN,
            spans=tuple((rows[span.item_uid], span.start, span.end) for span in spans),
        )
        own = drawers.insert_drawers(self._connection, [row])
        change_log.append(self._connection, "drawer-", own)

    def _add_new(self) -> None:
        """Add the new drawers together: one statement for each drawer and each part took most of the filing time."""
        misplaced_drawers = drawers.find_drawers_of(self._connection, [row.uid for row, _ in self._new])
        for row, draft in self._new:
            if row.uid in misplaced_drawers:  # one that its place did not lead to, because its spans were lost
                self._update(misplaced_drawers[row.uid], row, draft)
        new = [(row, draft) for row, draft in self._new if row.uid not in misplaced_drawers]
        ids = drawers.insert_drawers(self._connection, [row for row, _ in new])
        passages = (
            (own, passage) for own, (_, draft) in zip(ids, new, strict=True) for passage in passage_rows(draft.passages)
        )
        drawers.insert_passages(self._connection, passages)
        live = [(own, row, draft) for own, (row, draft) in zip(ids, new, strict=True) if row.retired_at is None]
        vector_rows.await_vectors(self._connection, (own for own, _, _ in live))
        texts = ((own, row, join_spans([span.text for span in draft.spans])) for own, row, draft in live)
        heading = source_headings.find_new(self._connection, self._source, {own: row.kind for own, row, _ in live})
        if heading is not None:
            digest = heading_hash(self._connection, self._source, heading)
            source_headings.store(self._connection, self._source, heading, digest)
        index_new(self._connection, texts, heading)
        change_log.append(self._connection, "drawer+", (own for own, _, _ in live))
        retired_ids = (own for own, (row, _) in zip(ids, new, strict=True) if row.retired_at is not None)
        change_log.append(self._connection, "drawer-", retired_ids)

    def _update(self, stored_drawer: StoredDrawer, row: DrawerRow, draft: Draft) -> None:
        self._mend(stored_drawer, row, passage_rows(draft.passages))
        self._adjust(stored_drawer, row)

    def _adjust(self, stored_drawer: StoredDrawer, row: DrawerRow) -> None:
        """Update an existing drawer: its room, tags, title, trust, and whether it is retired."""
        has_new_trust = stored_drawer.trust != row.trust
        if has_new_trust:
            drawers.set_trust(self._connection, stored_drawer.row, row.trust)
        has_new_tags = stored_drawer.tags != row.tags
        if has_new_tags:
            tag_rows.set_tags(self._connection, stored_drawer.row, row.tags)
        if (stored_drawer.turn, stored_drawer.locator) != (row.turn, row.locator):
            drawers.renumber(self._connection, stored_drawer.row, row.turn, row.locator)
        if row.retired_at is not None:
            if (stored_drawer.retired_at, stored_drawer.retired_why) != (row.retired_at, row.retired_why):
                self._retire(stored_drawer.row, row.retired_at, row.retired_why or REPLACED)
            return
        needs_reindex = (stored_drawer.room, stored_drawer.title) != (row.room, row.title)
        if needs_reindex:
            drawers.refile(self._connection, stored_drawer.row, row.room, row.title)
        has_new_details = (stored_drawer.kind, stored_drawer.role, stored_drawer.author) != (
            row.kind,
            row.role,
            row.author,
        )
        if has_new_details or stored_drawer.retired_why is not None:
            drawers.tell_anew(self._connection, stored_drawer.row, row)
        needs_reindex = needs_reindex or has_new_tags or has_new_details
        if stored_drawer.retired_why is not None:
            drawers.revive(self._connection, stored_drawer.row)
            self._show(stored_drawer.row)
            change_log.append(self._connection, "drawer+", [stored_drawer.row])
        elif needs_reindex or has_new_trust:
            if needs_reindex:
                self._show(stored_drawer.row)
            change_log.append(self._connection, "drawer~", [stored_drawer.row])

    def _mend(self, stored_drawer: StoredDrawer, row: DrawerRow, passages: Sequence[PassageRow]) -> None:
        """Restore an existing drawer's spans and passages if they were lost or have changed."""
        if drawers.drawer_spans(self._connection, stored_drawer.row) != list(row.spans):
            drawers.set_spans(self._connection, stored_drawer.row, row.spans)
        if drawers.passages(self._connection, stored_drawer.row) == passages:
            return
        vector_rows.forgo_vectors(self._connection, stored_drawer.row)
        drawers.delete_passages(self._connection, stored_drawer.row)
        drawers.insert_passages(self._connection, ((stored_drawer.row, passage) for passage in passages))
        if stored_drawer.retired_why is None:
            vector_rows.await_vectors(self._connection, [stored_drawer.row])
            change_log.append(self._connection, "drawer~", [stored_drawer.row])

    def _show(self, drawer: int) -> None:
        """Add a drawer to the keyword index, and its passages to the list for vectors."""
        vector_rows.await_vectors(self._connection, [drawer])
        reindex(self._connection, drawer)

    def _retire(self, drawer: int, at: int, why: str) -> None:
        drawers.retire(self._connection, drawer, at, why)
        keyword_table.remove(self._connection, drawer)
        vector_rows.forgo_vectors(self._connection, drawer)
        dead_letters.clear_drawers(self._connection, [drawer])
        change_log.append(self._connection, "drawer-", [drawer])
