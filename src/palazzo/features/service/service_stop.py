"""service stop: stop the background process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError, ServiceUnavailable
from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.client.rpc import Address
    from palazzo.operations.context import Context

_ENDS_WITHIN = 60.0
"""Seconds that a service may take to finish its current work: a write waits that long for the lock."""


@dataclass(frozen=True, slots=True)
class ServiceStopRequest:
    """No arguments."""


@dataclass(frozen=True, slots=True)
class ServiceStopResult:
    """Whether a service was running, and its process ID; the process IDs of earlier versions at other addresses."""

    stopped: bool
    pid: int | None
    former_pids: tuple[int, ...] = ()


def service_stop(context: Context, request: ServiceStopRequest) -> ServiceStopResult:
    """Stop the background service of this palace after it has finished its current work.

    Clients that need a service start the next one, unless PALAZZO_SERVICE=off or the setting `service` prevents it.
    """
    from palazzo.features.service.service_state import address_of

    pid = stop_at(address_of(context))
    former_pids = tuple(stop_former(str(context.palace_path), context.variables))
    return ServiceStopResult(pid is not None or bool(former_pids), pid, former_pids)


def stop_former(palace: str, variables: Mapping[str, str]) -> Iterator[int]:
    """Stop the services of earlier versions that run for a palace at other addresses; yield their process IDs."""
    from palazzo.client.service_address import former_addresses

    for address in former_addresses(palace, variables):
        pid = stop_at(address)
        if pid is not None:
            yield pid


def stop_at(address: Address) -> int | None:
    """Stop the service at an address, and wait until it has ended; return its process ID, or None if none runs."""
    from palazzo.client import rpc

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


OPERATION = Operation(
    "service_stop",
    ServiceStopRequest,
    ServiceStopResult,
    service_stop,
    scope="admin",
    examples=("palazzo service stop",),
)
