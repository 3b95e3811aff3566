"""team erasures: certificates of what was withdrawn; and the removal of what teammates withdrew from this palace.

A palace stores no wing of a teammate. It has their words only where an agent was told them: in the ledger and in
wake-up texts, which are emptied here, and in the agent's own transcript, which belongs to its host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from palazzo.errors import UsageError
from palazzo.features.team.contract import (
    ClientNoticeView,
    ErasureView,
    ScratchCopyView,
    TeamErasuresRequest,
    TeamErasuresResult,
)
from palazzo.features.team.team_account import connect
from palazzo.store import ledger, wake_blocks
from palazzo.team.client.team_connection import INCOMPLETE, TeamUnreachable

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.team.client.team_connection import TeamConnection


def team_erasures(context: Context, request: TeamErasuresRequest) -> TeamErasuresResult:
    """Remove what teammates withdrew, and show the certificates."""
    if request.limit < 1:
        raise UsageError("--limit must be at least 1.")
    _, connection = connect(context)
    removed = remove_withdrawn(context, connection)
    try:
        views = tuple(_view(row) for row in connection.list_erasures()[: request.limit])
    except (KeyError, TypeError):
        raise TeamUnreachable(INCOMPLETE) from None
    return TeamErasuresResult(views, removed)


def remove_withdrawn(context: Context, connection: TeamConnection) -> int:
    """Remove what teammates withdrew from the ledger, and acknowledge it; return how many texts were removed."""
    notices = connection.list_notices()
    uids = [uid for drawers in notices.values() for uid in drawers]
    removed = 0
    if uids and context.has_palace:
        with context.writing().database.transaction() as transaction:
            removed = ledger.forget_quotes(transaction, uids)
            wake_blocks.drop_all(transaction)
    if notices:
        connection.acknowledge([*notices])
    return removed


def _view(row: dict[str, Any]) -> ErasureView:
    """Return a certificate to show. Raises KeyError or TypeError if the server sent something else."""
    scratch = tuple(ScratchCopyView(**copy) for copy in row["scratch"])
    clients = tuple(ClientNoticeView(**notice) for notice in row["clients"])
    is_complete = (
        row["heap_at"] is not None
        and bool(row["is_log_passed"])
        and all(copy.is_clean for copy in scratch)
        and all(notice.acknowledged_at is not None for notice in clients)
    )
    lists = {"segments": tuple(row["segments"]), "drawers": tuple(row["drawers"])}
    return ErasureView(**{**row, **lists, "scratch": scratch, "clients": clients, "is_complete": is_complete})
