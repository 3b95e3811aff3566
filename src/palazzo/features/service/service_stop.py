"""service stop: stop the background process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from palazzo.client import rpc
from palazzo.client.service_address import former_addresses
from palazzo.errors import PalazzoError, ServiceUnavailable
from palazzo.features.service.contract import ServiceStopRequest, ServiceStopResult
from palazzo.features.service.service_state import address_of

if TYPE_CHECKING:
    from palazzo.client.rpc import Address
    from palazzo.operations.context import Context

_ENDS_WITHIN = 60.0
"""Seconds that a service may take to finish its current work: a write waits that long for the lock."""


def service_stop(context: Context, request: ServiceStopRequest) -> ServiceStopResult:
    """Stop the background service of this palace after it has finished its current work."""
    pid = stop_at(address_of(context))
    former_pids = tuple(stop_former(str(context.palace_path), context.variables))
    return ServiceStopResult(pid is not None or bool(former_pids), pid, former_pids)


def stop_former(palace: str, variables: Mapping[str, str]) -> Iterator[int]:
    """Stop the services of earlier versions that run for a palace at other addresses; yield their process IDs."""
    for address in former_addresses(palace, variables):
        pid = stop_at(address)
        if pid is not None:
            yield pid


def stop_at(address: Address) -> int | None:
    """Stop the service at an address, and wait until it has ended; return its process ID, or None if none runs."""
    try:
        stream, answer = rpc.greet(address, {"want": "stop"}, _ENDS_WITHIN)
    except ServiceUnavailable:
        return None
    with stream:
        try:
            stream.read_line()  # the connection is held until the process has ended
        except TimeoutError:
            raise PalazzoError(
                f"The service (process {answer['pid']}) is still finishing a call, and accepts no other. Check again "
                "later."
            ) from None
        except OSError:
            pass  # it has ended
    return int(answer["pid"])
