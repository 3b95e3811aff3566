"""Making the drawers that are there equal to those that the cutter makes.

Equal drawers stay as they are, missing ones are added, the others are retired; what was forgotten is kept as a
retired row, so that its id resolves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from palazzo.archive.reading import join_spans
from palazzo.derive.acting import ActsOnItems
from palazzo.derive.cutting import CutSpan, Draft, note_belief, note_kind
from palazzo.derive.indexing import index_new, reindex
from palazzo.derive.making import drawer_row, passage_rows
from palazzo.derive.material import load
from palazzo.store import changes, dead_letters, drawers, items, keywords, tags, vectors
from palazzo.store.acts import Act, ActSpan
from palazzo.store.database import Connection
from palazzo.store.drawers import FORGOTTEN, RECUT, REPLACED, DrawerRow, Known, PassageRow


class DraftedDrawer(NamedTuple):
    """The row of a drawer, and the draft from which it was made."""

    row: DrawerRow
    draft: Draft


class Comparison:
    """Makes the drawers of one stretch equal to what the cutter says they are."""

    def __init__(self, connection: Connection, source: int, on: ActsOnItems, there: dict[bytes, Known]) -> None:
        self._connection, self._source, self._on, self._there = connection, source, on, there
        self._kept: set[bytes] = set()
        self._new: list[tuple[DrawerRow, Draft]] = []

    def prepare(self, draft: Draft, locator: str, ended_at: int | None = None, why: str = REPLACED) -> DraftedDrawer:
        """Compute the drawer of `draft`, without writing. It is retired if it has `ended_at`, for the reason `why`."""
        return DraftedDrawer(drawer_row(self._connection, self._source, self._on, draft, locator, ended_at, why), draft)

    def keep(self, drawer: DraftedDrawer) -> None:
        """Add a drawer, or update the one with its id."""
        row, draft = drawer
        uid = row.uid
        if uid in self._kept:  # parts that overlap: the words are in a drawer already
            return
        self._kept.add(uid)
        known = self._there.pop(uid, None)
        if known is None:
            self._new.append((row, draft))
        else:
            self._update(known, row, draft)

    def finish(self, at: int) -> None:
        """Add what is new, retire what the cutter no longer makes, and keep what was forgotten as retired rows."""
        self._add_new()
        for uid, spans in self._on.forgotten().items():
            self._keep_forgotten(uid, spans)
        for known in self._there.values():
            if known.retired_at is None:
                self._retire(known.row, at, RECUT)
            elif known.retired_why != RECUT:
                self._retire(known.row, known.retired_at, RECUT)

    def _keep_forgotten(self, uid: bytes, spans: Sequence[tuple[Act, ActSpan]]) -> None:
        known = self._there.pop(uid, None)
        act = spans[0][0]
        if known is not None:
            if (known.retired_at, known.retired_why) != (act.at, FORGOTTEN):
                self._retire(known.row, act.at, FORGOTTEN)
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
        changes.append(self._connection, "drawer-", own)

    def _add_new(self) -> None:
        """Add the new drawers together: a statement for each of them and each part took most of filing's time."""
        lost = drawers.find_drawers_of(self._connection, [row.uid for row, _ in self._new])
        for row, draft in self._new:
            if row.uid in lost:  # one that its place did not lead to, because its spans were lost
                self._update(lost[row.uid], row, draft)
        new = [(row, draft) for row, draft in self._new if row.uid not in lost]
        ids = drawers.insert_drawers(self._connection, [row for row, _ in new])
        passages = (
            (own, passage) for own, (_, draft) in zip(ids, new, strict=True) for passage in passage_rows(draft.passages)
        )
        drawers.insert_passages(self._connection, passages)
        live = [(own, row, draft) for own, (row, draft) in zip(ids, new, strict=True) if row.retired_at is None]
        vectors.await_vectors(self._connection, (own for own, _, _ in live))
        texts = ((own, row, join_spans([span.text for span in draft.spans])) for own, row, draft in live)
        index_new(self._connection, texts)
        changes.append(self._connection, "drawer+", (own for own, _, _ in live))
        ended = (own for own, (row, _) in zip(ids, new, strict=True) if row.retired_at is not None)
        changes.append(self._connection, "drawer-", ended)

    def _update(self, known: Known, row: DrawerRow, draft: Draft) -> None:
        self._mend(known, row, passage_rows(draft.passages))
        self._adjust(known, row)

    def _adjust(self, known: Known, row: DrawerRow) -> None:
        """Bring a drawer that is there up to date: its room, tags, title, trust, and whether it is retired."""
        believed = known.trust != row.trust
        if believed:
            drawers.set_trust(self._connection, known.row, row.trust)
        tagged = known.tags != row.tags
        if tagged:
            tags.set_tags(self._connection, known.row, row.tags)
        if (known.turn, known.locator) != (row.turn, row.locator):
            drawers.renumber(self._connection, known.row, row.turn, row.locator)
        if row.retired_at is not None:
            if (known.retired_at, known.retired_why) != (row.retired_at, row.retired_why):
                self._retire(known.row, row.retired_at, row.retired_why or REPLACED)
            return
        moved = (known.room, known.title) != (row.room, row.title)
        if moved:
            drawers.refile(self._connection, known.row, row.room, row.title)
        told = (known.kind, known.role, known.author) != (row.kind, row.role, row.author)
        if told or known.retired_why is not None:
            drawers.tell_anew(self._connection, known.row, row)
        moved = moved or tagged or told
        if known.retired_why is not None:
            drawers.revive(self._connection, known.row)
            self._show(known.row)
            changes.append(self._connection, "drawer+", [known.row])
        elif moved or believed:
            if moved:
                self._show(known.row)
            changes.append(self._connection, "drawer~", [known.row])

    def _mend(self, known: Known, row: DrawerRow, passages: Sequence[PassageRow]) -> None:
        """Give a drawer that is there the spans and passages it should have, where they were lost or have changed."""
        if drawers.drawer_spans(self._connection, known.row) != list(row.spans):
            drawers.set_spans(self._connection, known.row, row.spans)
        if drawers.passages(self._connection, known.row) == passages:
            return
        vectors.forgo_vectors(self._connection, known.row)
        drawers.delete_passages(self._connection, known.row)
        drawers.insert_passages(self._connection, ((known.row, passage) for passage in passages))
        if known.retired_why is None:
            vectors.await_vectors(self._connection, [known.row])
            changes.append(self._connection, "drawer~", [known.row])

    def _show(self, drawer: int) -> None:
        """Put a drawer into the keyword index and its passages on the list for vectors."""
        vectors.await_vectors(self._connection, [drawer])
        reindex(self._connection, drawer)

    def _retire(self, drawer: int, at: int, why: str) -> None:
        drawers.retire(self._connection, drawer, at, why)
        keywords.remove(self._connection, drawer)
        vectors.forgo_vectors(self._connection, drawer)
        dead_letters.clear_drawers(self._connection, [drawer])
        changes.append(self._connection, "drawer-", [drawer])
