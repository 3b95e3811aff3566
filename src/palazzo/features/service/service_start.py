"""service start: start the background process that keeps the model and the vectors in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.client import rpc
from palazzo.features.service.contract import ServiceStartRequest, ServiceStartResult
from palazzo.features.service.service_state import address_of, state_of, unit

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def service_start(context: Context, request: ServiceStartRequest) -> ServiceStartResult:
    """Start the background service of this palace, unless it is running. Clients that need it also start it."""
    old_state = state_of(context)
    if request.print_unit is not None:
        return ServiceStartResult(False, old_state, unit(context, request.print_unit))
    rpc.ensure_service(address_of(context), context.variables, {"want": "calls"}).close()
    new_state = state_of(context)
    return ServiceStartResult(new_state.pid != old_state.pid, new_state)
