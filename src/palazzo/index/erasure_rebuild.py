"""Rebuild after an erasure: data derived from items that lost words is made again, so that it keeps no trace of them.

It covers all drawers of these items, including retired ones: the hashes of passages (an old hash would confirm a
guess), the keyword indexes, vectors. The cutter then checks whether the drawers are still cut in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable

from palazzo.index import retired_drawers
from palazzo.index.indexed_text import reindex
from palazzo.index.vector_keys import heading_hash, text_hash
from palazzo.store import (
    anchors,
    change_log,
    claim_rows,
    dead_letters,
    drawers,
    failure_fixes,
    items,
    keyword_table,
    mention_rows,
    source_headings,
    vector_rows,
)
from palazzo.store.database import Connection


def refresh(connection: Connection, rows: Iterable[int]) -> None:
    """Rebuild the data derived from these items, in the caller's transaction."""
    items_touched = list(rows)
    drawer_rows = drawers.drawers_of_items(connection, items_touched)
    for drawer in drawer_rows:
        is_live = drawers.is_live(connection, drawer)
        if _rehash(connection, drawer) and is_live:
            vector_rows.await_vectors(connection, [drawer])
        keyword_table.remove(connection, drawer)
        if is_live:
            reindex(connection, drawer)
    if retired_drawers.is_followed(connection):
        retired_drawers.redo(connection, drawer_rows)
    dead_letters.clear_drawers(connection, drawer_rows)
    claim_rows.drop(connection, drawer_rows)
    mention_rows.drop(connection, drawer_rows)
    anchors.drop_beside(connection, drawer_rows)
    failure_fixes.drop(connection, items_touched)
    for source in source_headings.sources_of(connection, drawer_rows):
        _rehash_heading(connection, source)
    change_log.append(connection, "drawer~", drawer_rows)
    vector_rows.delete_orphans(connection)


def _rehash(connection: Connection, drawer: int) -> bool:
    """Set the hashes of a drawer's passages to those of their current texts; return whether any changed."""
    passages = drawers.passages(connection, drawer)
    texts = items.read_texts(connection, (passage.item for passage in passages))
    hashes = [text_hash(texts[passage.item][passage.start : passage.end]) for passage in passages]
    if hashes == [passage.hash for passage in passages]:
        return False
    drawers.rehash_passages(connection, drawer, hashes)
    return True


def _rehash_heading(connection: Connection, source: int) -> None:
    """Set the hash of a source's title to that of its current words."""
    drawer, former = source_headings.read_heading(connection, source)
    digest = heading_hash(connection, source, drawer)
    if digest != former:
        source_headings.store(connection, source, drawer, digest)
