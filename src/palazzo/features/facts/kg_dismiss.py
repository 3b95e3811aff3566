"""kg dismiss: dismiss a false conflict or an unwanted suggestion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive.archive_reader import id_bounds
from palazzo.errors import AmbiguousId, NotFound
from palazzo.features.facts.contract import KgDismissRequest, KgDismissResult
from palazzo.features.facts.fact_results import change
from palazzo.features.facts.kg_accept import choose
from palazzo.features.facts.kg_suggest import follow_claims
from palazzo.operations.taint_marks import marks_taint
from palazzo.store import claim_rows, conflict_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@marks_taint
def kg_dismiss(context: Context, request: KgDismissRequest) -> KgDismissResult:
    """Mark a conflict as no conflict, or reject a suggested fact. Neither is shown again."""
    palace = context.writing()
    follow_claims(context)
    with palace.database.snapshot() as connection:  # all claims are read for it: not while others wait
        ours = [prefix for prefix in request.ids if not _names_conflict(connection, prefix)]
        suggestions = choose(connection, tuple(ours))
    with palace.database.transaction() as connection:
        uids_by_row = dict(_resolve(connection, prefix) for prefix in request.ids if prefix not in ours)
        fact_change = change(context, connection, "kg dismiss")
        for suggestion in suggestions:
            fact_change.did("unwanted", claim_rows.reject(connection, bytes.fromhex(suggestion.id), fact_change.now))
        for row in uids_by_row:
            conflict_rows.dismiss(connection, row, fact_change.now)
            fact_change.did("dismissal", row)
        fact_change.count(len(uids_by_row) + len(suggestions))
    return KgDismissResult(tuple(uids_by_row.values()), tuple(suggestion.id for suggestion in suggestions))


def _names_conflict(connection: Connection, prefix: str) -> bool:
    return bool(conflict_rows.between(connection, *id_bounds(prefix), limit=1))


def _resolve(connection: Connection, prefix: str) -> tuple[int, str]:
    matches = conflict_rows.between(connection, *id_bounds(prefix), limit=9)
    if len(matches) > 1:
        raise AmbiguousId(prefix, [uid.hex() for _, uid in matches])
    if not matches:
        raise NotFound(f"No conflict has the id '{prefix}'. 'palazzo kg conflicts' prints ids.")
    return matches[0][0], matches[0][1].hex()
