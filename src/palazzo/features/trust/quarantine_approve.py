"""quarantine approve: a person allows untrusted content, or notes written after it, to be shown to agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive import acts, archive_reader
from palazzo.features.facts.contract import ACTOR
from palazzo.features.facts.fact_results import change
from palazzo.features.trust.contract import QuarantineApproveRequest, QuarantineApproveResult
from palazzo.features.trust.quarantine_rows import only_a_person, resolve_selection
from palazzo.operations.source_filter import AT_ONCE
from palazzo.store import change_groups, fact_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def quarantine_approve(context: Context, request: QuarantineApproveRequest) -> QuarantineApproveResult:
    """Approve quarantined content. Only a person can do this, not an agent; 'palazzo undo' reverts it."""
    only_a_person(context, "approves")
    with context.reading().database.snapshot() as connection:
        selection = resolve_selection(connection, request.ids)
    palace = context.writing()
    group = palace.begin_group(ACTOR, "quarantine approve")
    for start in range(0, len(selection.drawers), AT_ONCE):
        with palace.database.transaction() as connection:
            rows = [
                archive_reader.resolve_drawer(connection, entry) for entry in selection.drawers[start : start + AT_ONCE]
            ]
            acts.act_on_drawers(connection, "approve", rows, ACTOR, context.now, {}, group)
            change_groups.count(connection, group, len(rows))
    with palace.database.transaction() as connection:
        fact_change = change(context, connection, "quarantine approve", group)
        for entry in selection.facts:
            sources = fact_rows.sources_of(connection, [entry.row])[entry.row]
            fact_change.retire(entry)
            new_sources = (
                source._replace(trust="agent") if source.trust == "external" else source for source in sources
            )
            fact_change.record(
                entry.fact, entry.valid_from, entry.valid_to, entry.confidence, new_sources, entry.superseded_by
            )
        fact_change.count(len(selection.facts))
        uid = change_groups.read(connection, group).uid
    return QuarantineApproveResult(selection.drawers, tuple(entry.uid for entry in selection.facts), uid)
