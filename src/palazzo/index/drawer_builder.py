"""Drawer builder: makes a drawer from a draft: its id, the values that it takes over from its items, its passages."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.archive.identity import drawer_uid
from palazzo.index import rule_tags
from palazzo.index.act_overlay import ActsOnItems
from palazzo.index.cut_rules import CutSpan, Draft
from palazzo.index.vector_keys import text_hash
from palazzo.model import Trust
from palazzo.store import place_rows
from palazzo.store.database import Connection
from palazzo.store.drawers import REPLACED, DrawerRow, PassageRow
from palazzo.text.questions import marks


def uid_of(draft: Draft) -> bytes:
    """Return the id of the drawer of `draft`."""
    return drawer_uid([(span.item.uid, span.start, span.end) for span in draft.spans])


def drawer_row(
    connection: Connection,
    source: int,
    on: ActsOnItems,
    draft: Draft,
    locator: str,
    retired_at: int | None,
    why: str = REPLACED,
) -> DrawerRow:
    """Return the drawer of `draft`; retired since `retired_at` for the reason `why`, unless `retired_at` is None."""
    lead = draft.spans[0].item
    move = on.move(draft.spans)
    return DrawerRow(
        uid=uid_of(draft),
        kind=draft.kind,
        source=source,
        thread=lead.context.thread,
        ordinal=lead.ordinal,
        turn=draft.number,
        room=place_rows.room_of_move(connection, move) if move else lead.context.room,
        role=draft.role,
        author=draft.author,
        title=draft.title,
        created_at=lead.context.created_at,
        recorded_at=max(span.item.context.recorded_at for span in draft.spans),
        trust=_trust(on, draft),
        branch=lead.context.branch,
        commit=lead.context.commit,
        locator=locator,
        size=sum(span.end - span.start for span in draft.spans),
        marks=0 if draft.is_plain else int(marks("\n".join(span.text for span in draft.spans))),
        spans=tuple((span.item.row, span.start, span.end) for span in draft.spans),
        tags=tuple(sorted({*on.tags(draft.spans), *draft.tags, *rule_tags.of_branch(lead.context.branch)})),
        retired_at=retired_at,
        retired_why=why if retired_at is not None else None,
    )


def _trust(on: ActsOnItems, draft: Draft) -> Trust:
    belief = draft.belief
    return belief.trust_if_approved if belief.is_outside and on.approves(draft.spans) else belief.trust


def passage_rows(passages: Sequence[CutSpan]) -> list[PassageRow]:
    """Return the passages of a drawer, each with the hash of its text."""
    return [PassageRow(span.item.row, span.start, span.end, text_hash(span.text)) for span in passages]


def line_locator(draft: Draft) -> str:
    """Return the lines of the document that a draft covers."""
    span = draft.spans[0]
    first = span.item.text.count("\n", 0, span.start) + 1
    last = first + span.item.text.count("\n", span.start, span.end)
    return f"line {first}" if first == last else f"lines {first}-{last}"
