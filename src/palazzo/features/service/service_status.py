"""service status: show whether the background process runs, and its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.client import rpc
from palazzo.errors import ServiceUnavailable
from palazzo.features.service.contract import ServiceStatusRequest, ServiceStatusResult
from palazzo.features.service.service_state import address_of, former_states, log_file, state_of, unit

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def service_status(context: Context, request: ServiceStatusRequest) -> ServiceStatusResult:
    """Show whether the background service of this palace runs, and its state."""
    unit_text = unit(context, request.print_unit) if request.print_unit is not None else ""
    log = log_file(context.palace_path, context.variables)
    state = state_of(context)
    trouble = "" if state.running else _trouble(context)
    is_allowed = context.settings.flag("service")
    return ServiceStatusResult(state, is_allowed, log, unit_text, former_states(context), trouble)


def _trouble(context: Context) -> str:
    """Return why no service answers; empty if none runs and nothing prevents a start."""
    address = address_of(context)
    try:
        rpc.check_directory(address)
    except FileNotFoundError:
        return ""
    except (ServiceUnavailable, OSError) as error:
        return str(error)
    if not rpc.is_starting(address):
        return ""
    return (
        f"A process holds {address.lock}, but no service answers: it is starting, or it hangs. If this persists, end "
        "that process; 'fuser' with this file shows which process it is."
    )
