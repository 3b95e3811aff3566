"""derivation_backlog: which derived data is not complete yet; the background process is started for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.derived import backlog
from palazzo.features.service.background_process import start_deriving
from palazzo.features.viewer.contract import DerivationBacklogRequest, DerivationBacklogResult

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def derivation_backlog(context: Context, request: DerivationBacklogRequest) -> DerivationBacklogResult:
    """Return which consumers have changes to process, and let the background process do that."""
    pending = backlog.pending_consumers(context.reading().database, request.consumers)
    if pending:
        start_deriving(context, pending)
    return DerivationBacklogResult(tuple(pending))
