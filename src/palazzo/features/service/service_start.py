"""service start: start the background process that keeps the model and the vectors in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.features.service.service_state import PrintUnit, ServiceState
from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class ServiceStartRequest:
    """Whether to start the service, or to print a unit file for it."""

    print_unit: PrintUnit = None


@dataclass(frozen=True, slots=True)
class ServiceStartResult:
    """The service, whether it was started now, and the unit file if requested."""

    started: bool
    service: ServiceState
    unit: str = ""


def service_start(context: Context, request: ServiceStartRequest) -> ServiceStartResult:
    """Start the background service of this palace, unless it is running. Clients that need it also start it."""
    from palazzo.client import rpc
    from palazzo.features.service.service_state import address_of, state_of, unit

    old_state = state_of(context)
    if request.print_unit is not None:
        return ServiceStartResult(False, old_state, unit(context, request.print_unit))
    rpc.ensure_service(address_of(context), context.variables, {"want": "calls"}).close()
    new_state = state_of(context)
    return ServiceStartResult(new_state.pid != old_state.pid, new_state)


OPERATION = Operation(
    "service_start",
    ServiceStartRequest,
    ServiceStartResult,
    service_start,
    scope="admin",
    examples=("palazzo service start", "palazzo service start --print-unit systemd"),
)
