"""quarantine list: list what agents wrote after reading untrusted content, and why it is not trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive import archive_reader
from palazzo.errors import UsageError
from palazzo.features.trust.contract import (
    OriginView,
    QuarantinedView,
    QuarantineKind,
    QuarantineListRequest,
    QuarantineListResult,
)
from palazzo.features.trust.quarantine_rows import causes, origin_of
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.store import drawers, fact_rows, taint_queries

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_LOOKED_AT = 5_000
"""The most untrusted drawers, newest first, whose origins are listed."""


def quarantine_list(context: Context, request: QuarantineListRequest) -> QuarantineListResult:
    """Show what agents wrote after reading untrusted content: pages, answers of MCP servers, files of dependencies."""
    if request.limit < 1:
        raise UsageError(f"--limit is {request.limit}; it must be at least 1.")
    with context.reading().database.snapshot() as connection:
        entries = [*_read_entries(connection, request.limit), *_facts(connection, request.limit)]
        counts = taint_queries.count_written(connection), taint_queries.count_facts(connection)
        origins = _origins(connection) if request.all else None
    return QuarantineListResult(tuple(sorted(entries, key=lambda one: -one.at)), *counts, origins)


def _read_entries(connection: Connection, limit: int) -> list[QuarantinedView]:
    rows = taint_queries.find_authored_drawers(connection, limit)
    why = causes(connection, (uid for row in rows for uid in row.tainted_by))
    views_by_item: dict[str, QuarantinedView] = {}
    for row in rows:
        drawer = archive_reader.read_drawer(connection, archive_reader.resolve_drawer(connection, row.drawer))
        kind: QuarantineKind = drawer.kind if drawer.kind in ("note", "diary", "todo", "reminder") else "note"
        own = tuple(why[uid] for uid in row.tainted_by if uid in why)
        earlier_view = views_by_item.get(row.item)
        text = (
            drawer.text if earlier_view is None else f"{drawer.text}\n{earlier_view.text}"
        )  # the last part came first
        place = drawer.place.wing
        views_by_item[row.item] = QuarantinedView(row.item, kind, text, drawer.author, place, drawer.created_at, own)
    return list(views_by_item.values())


def _facts(connection: Connection, limit: int) -> list[QuarantinedView]:
    fact_list = Beliefs(connection).tell(fact_rows.external_versions(connection, limit))
    why = causes(connection, (uid for fact in fact_list for source in fact.provenance for uid in source.tainted_by))
    return [
        QuarantinedView(
            fact.id,
            "fact",
            f"{fact.subject} {fact.predicate} {fact.object}",
            ", ".join(dict.fromkeys(source.stated_by for source in fact.provenance)),
            fact.wing,
            fact.recorded_at,
            tuple(
                why[uid]
                for uid in dict.fromkeys(uid for source in fact.provenance for uid in source.tainted_by)
                if uid in why
            ),
        )
        for fact in fact_list
    ]


def _origins(connection: Connection) -> tuple[OriginView, ...]:
    views_by_origin: dict[str, OriginView] = {}
    for row in taint_queries.find_unauthored_drawers(connection, _LOOKED_AT):
        origin, at = origin_of(connection, row)
        view = views_by_origin.get(origin)
        if view is None:
            (uid,) = drawers.uids_of(connection, [row])
            view = OriginView(origin, 0, at, uid.hex())
        views_by_origin[origin] = OriginView(origin, view.drawers + 1, max(view.last_at, at), view.id)
    return tuple(sorted(views_by_origin.values(), key=lambda one: -one.last_at))
