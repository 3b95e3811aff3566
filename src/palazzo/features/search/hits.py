"""Drawers as faces show them: the fields of a search hit. `show` returns the same fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.features.search.contract import SupersededView
from palazzo.model import Drawer, Micros
from palazzo.operations.shared_views import HitSource
from palazzo.security.clean_titles import is_of_host
from palazzo.store import claim_rows

if TYPE_CHECKING:
    from palazzo.store.database import Connection


def find_supersessions(connection: Connection, ids: Sequence[str], by: Micros) -> dict[str, SupersededView]:
    """Return, by drawer id, what had superseded text of these drawers by the time `by`."""
    supersessions = claim_rows.find_successors(connection, ids, by) if ids else {}
    return {uid: SupersededView(claim.by, claim.value, claim.at) for uid, claim in supersessions.items()}


def source_of(drawer: Drawer) -> HitSource:
    """Return the source of a drawer's text."""
    return HitSource(drawer.source.uri, drawer.source.kind, drawer.source.session_id, drawer.locator)


def title_of(drawer: Drawer) -> str:
    """Return a section's headings, else the title of the session or file, followed by a tool's name if it has one."""
    whole = "" if is_of_host(drawer.source.title) else drawer.source.title
    if drawer.kind in ("tool", "attachment"):
        return " › ".join(part for part in (whole, drawer.title) if part)
    return drawer.title or whole
