"""service stop: end the background process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError, ServiceUnavailable
from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.client import Address
    from palazzo.operations.context import Context

_ENDS_WITHIN = 60.0
"""Seconds in which a service finishes what it is doing: a write waits for the lock that long."""


@dataclass(frozen=True, slots=True)
class ServiceStopRequest:
    """Nothing to say."""


@dataclass(frozen=True, slots=True)
class ServiceStopResult:
    """Whether any ran, and its process; the processes of earlier versions that ran at other addresses."""

    stopped: bool
    pid: int | None
    others: tuple[int, ...] = ()


def service_stop(context: Context, request: ServiceStopRequest) -> ServiceStopResult:
    """End the background service of this palace when it has finished what it is doing.

    Whoever needs one starts the next; PALAZZO_SERVICE=off or the setting `service` keeps them from it.
    """
    from palazzo.operations.service_state import address_of

    pid = stop_at(address_of(context))
    others = tuple(stop_former(str(context.palace_path), context.variables))
    return ServiceStopResult(pid is not None or bool(others), pid, others)


def stop_former(palace: str, variables: Mapping[str, str]) -> Iterator[int]:
    """End the services of earlier versions that run for a palace at addresses of their own; yield their processes."""
    from palazzo.rendezvous import former_addresses

    for where in former_addresses(palace, variables):
        pid = stop_at(where)
        if pid is not None:
            yield pid


def stop_at(where: Address) -> int | None:
    """End the service that listens at an address, and wait for its end; return its process, None where none runs."""
    from palazzo import client

    try:
        stream, told = client.greet(where, {"want": "stop"}, _ENDS_WITHIN)
    except ServiceUnavailable:
        return None
    with stream:
        try:
            stream.read_line()  # the connection is held until the process has ended
        except TimeoutError:
            raise PalazzoError(
                f"The service (process {told['pid']}) is still finishing a call, and takes no other. Look again later."
            ) from None
        except OSError:
            pass  # it has ended
    return int(told["pid"])


OPERATION = Operation("service_stop", ServiceStopRequest, ServiceStopResult, service_stop)
