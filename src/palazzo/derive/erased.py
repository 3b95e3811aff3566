"""What is derived from items of which words went: made anew, so that nothing remembers them.

All their drawers are touched, the retired ones too: the hashes of passages (an old one would confirm a guess), the
keyword indexes, vectors. The cutter then looks whether the drawers are still cut as they were.
"""

from __future__ import annotations

from collections.abc import Iterable

from palazzo.derive import retired
from palazzo.derive.indexing import reindex
from palazzo.derive.making import text_hash
from palazzo.store import anchors, changes, claims, dead_letters, drawers, items, keywords, mendings, mentions, vectors
from palazzo.store.database import Connection


def refresh(connection: Connection, rows: Iterable[int]) -> None:
    """Make what is derived from these items anew, in the caller's transaction."""
    items_touched = list(rows)
    drawer_rows = drawers.drawers_of_items(connection, items_touched)
    for drawer in drawer_rows:
        is_live = drawers.is_live(connection, drawer)
        if _rehash(connection, drawer) and is_live:
            vectors.await_vectors(connection, [drawer])
        keywords.remove(connection, drawer)
        if is_live:
            reindex(connection, drawer)
    if retired.is_followed(connection):
        retired.redo(connection, drawer_rows)
    dead_letters.clear_drawers(connection, drawer_rows)
    claims.drop(connection, drawer_rows)
    mentions.drop(connection, drawer_rows)
    anchors.drop_beside(connection, drawer_rows)
    mendings.drop(connection, items_touched)
    changes.append(connection, "drawer~", drawer_rows)
    vectors.delete_orphans(connection)


def _rehash(connection: Connection, drawer: int) -> bool:
    """Give a drawer's passages the hashes of their texts as they are now; return whether any changed."""
    passages = drawers.passages(connection, drawer)
    texts = items.read_texts(connection, (passage.item for passage in passages))
    hashes = [text_hash(texts[passage.item][passage.start : passage.end]) for passage in passages]
    if hashes == [passage.hash for passage in passages]:
        return False
    drawers.rehash_passages(connection, drawer, hashes)
    return True
