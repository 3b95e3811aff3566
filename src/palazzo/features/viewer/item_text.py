"""item_text: read a stretch of an item's text, however long the item is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive import archive_reader
from palazzo.errors import UsageError
from palazzo.features.viewer.contract import LONGEST_STRETCH, ItemTextRequest, ItemTextResult
from palazzo.store import items

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def item_text(context: Context, request: ItemTextRequest) -> ItemTextResult:
    """Read a stretch of an item's text."""
    if request.start < 0 or not 1 <= request.length <= LONGEST_STRETCH:
        raise UsageError(f"A stretch has between 1 and {LONGEST_STRETCH:,} characters, and begins at 0 or later.")
    with context.reading().database.snapshot() as connection:
        kind, row = archive_reader.resolve(connection, request.id)
        if kind != "item":
            raise UsageError(f"'{request.id}' is the id of a drawer; its page shows it.")
        item = items.read_item(connection, row)
    text = item.text[request.start : request.start + request.length]
    return ItemTextResult(
        item.id,
        text,
        request.start,
        len(item.text),
        item.role,
        item.trust,
        item.source.title,
        item.source.session_id,
        item.created_at,
    )
