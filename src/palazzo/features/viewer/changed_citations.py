"""changed_citations: list what cites files that have moved, changed or gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.facts.fact_results import views
from palazzo.features.viewer.contract import ChangedCitation, ChangedCitationsRequest, ChangedCitationsResult
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.model import Anchor
from palazzo.operations.cited_files import check_project
from palazzo.store import drawers, fact_rows, keyword_columns
from palazzo.store.anchors import name_of

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_CHANGED = ("moved", "changed", "gone")


def changed_citations(context: Context, request: ChangedCitationsRequest) -> ChangedCitationsResult:
    """List the citations of the current project whose lines are not where or what they were."""
    with context.reading().database.snapshot() as connection:
        citations = tuple(
            ChangedCitation(
                id=uid,
                text=_read_fact(context, connection, uid) if is_fact else _read_note(connection, uid),
                path=anchor.path,
                cited=name_of(anchor),
                freshness=status.freshness,
                now=name_of(Anchor(status.path, status.first, status.last)) if status.path else "",
            )
            for uid, is_fact, checked in check_project(context, connection)
            for anchor, status in checked
            if status.freshness in _CHANGED
        )
    return ChangedCitationsResult(context.home, citations)


def _read_note(connection: Connection, uid: str) -> str:
    row = drawers.find_drawer(connection, bytes.fromhex(uid))
    return "" if row is None else keyword_columns.words_of(connection, row)


def _read_fact(context: Context, connection: Connection, uid: str) -> str:
    (row,) = (row for row, _ in fact_rows.facts_between(connection, bytes.fromhex(uid), bytes.fromhex(uid), 1))
    (fact,) = views(Beliefs(connection), fact_rows.versions_of(connection, row)[-1:], context.now)
    return f"{fact.subject} · {fact.predicate} · {fact.object}"
