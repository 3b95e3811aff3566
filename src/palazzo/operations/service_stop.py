"""service stop: end the background process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError, ServiceUnavailable
from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_ENDS_WITHIN = 60.0
"""Seconds in which a service finishes what it is doing: a write waits for the lock that long."""


@dataclass(frozen=True, slots=True)
class ServiceStopRequest:
    """Nothing to say."""


@dataclass(frozen=True, slots=True)
class ServiceStopResult:
    """Whether one ran, and its process."""

    stopped: bool
    pid: int | None


def service_stop(context: Context, request: ServiceStopRequest) -> ServiceStopResult:
    """End the background service of this palace when it has finished what it is doing.

    Whoever needs one starts the next; PALAZZO_SERVICE=off or the setting `service` keeps them from it.
    """
    from palazzo import client
    from palazzo.operations.service_state import address_of

    try:
        stream, told = client.greet(address_of(context), {"want": "stop"}, _ENDS_WITHIN)
    except ServiceUnavailable:
        return ServiceStopResult(False, None)
    with stream:
        try:
            stream.read_line()  # the connection is held until the process has ended
        except TimeoutError:
            raise PalazzoError(
                f"The service (process {told['pid']}) is still finishing a call, and takes no other. Look again later."
            ) from None
        except OSError:
            pass  # it has ended
    return ServiceStopResult(True, int(told["pid"]))


OPERATION = Operation("service_stop", ServiceStopRequest, ServiceStopResult, service_stop)
