"""Requests, results and operations of `service`: what faces know of the feature, without its engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation

Unit = Literal["systemd", "launchd"]

PrintUnit = Annotated[
    Unit | None,
    About("Only print a unit file with which systemd or launchd runs the service from login on.", metavar="SYSTEM"),
]


@frozen
class ServiceState:
    """The service of a palace; all fields but `address` are empty if none runs. `calls` counts its processed calls.

    `viewer_trouble` says why open pages of the viewer do not go on, if so.
    """

    running: bool
    address: str
    pid: int | None = None
    version: str = ""
    since: Micros | None = None
    clients: int = 0
    busy: int = 0
    calls: int = 0
    memory_mb: int = 0
    watching: bool = False
    viewer_trouble: str = ""


@frozen
class ServiceStartRequest:
    """Start the background service of this palace, unless it is running. Clients that need it also start it."""

    print_unit: PrintUnit = None


@frozen
class ServiceStartResult:
    """The service, whether it was started now, and the unit file if requested."""

    started: bool
    service: ServiceState
    unit: str = ""


SERVICE_START = Operation(
    "service_start",
    ServiceStartRequest,
    ServiceStartResult,
    scope="admin",
    examples=("palazzo service start", "palazzo service start --print-unit systemd"),
)


@frozen
class ServiceStopRequest:
    """Stop the background service of this palace after it has finished its current work.

    Clients that need a service start the next one, unless PALAZZO_SERVICE=off or the setting `service` prevents it.
    """


@frozen
class ServiceStopResult:
    """Whether a service was running, and its process ID; the process IDs of earlier versions at other addresses."""

    stopped: bool
    pid: int | None
    former_pids: tuple[int, ...] = ()


SERVICE_STOP = Operation(
    "service_stop",
    ServiceStopRequest,
    ServiceStopResult,
    scope="admin",
    examples=("palazzo service stop",),
)


@frozen
class ServiceStatusRequest:
    """Show whether the background service of this palace runs, and its state."""

    print_unit: PrintUnit = None


@frozen
class ServiceStatusResult:
    """The service, whether the settings allow one, the path of its log, and the unit file if requested.

    `former_services` are services of earlier versions that run for this palace at other addresses. `trouble` says why
    no service answers although one should.
    """

    service: ServiceState
    wanted: bool
    log: Path
    unit: str = ""
    former_services: tuple[ServiceState, ...] = ()
    trouble: str = ""


SERVICE_STATUS = Operation(
    "service_status",
    ServiceStatusRequest,
    ServiceStatusResult,
    scope="admin",
    examples=("palazzo service status --json",),
)
