"""view: open the viewer in a browser."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING

from palazzo.client import rpc
from palazzo.errors import PalazzoError, UsageError
from palazzo.features.service.service_state import address_of
from palazzo.features.viewer.contract import ViewRequest, ViewResult

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_HIGHEST_PORT = 65_535
_OPENS_WITHIN = 30.0
"""Seconds within which a service on a busy machine has loaded the web server."""

_EXPORTS_WITHIN = 600.0
"""Seconds within which pages are exported: each takes some tens of milliseconds."""


def view(context: Context, request: ViewRequest) -> ViewResult:
    """Ask the service for a link and start a browser with it, or have pages exported."""
    if request.port is not None and not 0 < request.port <= _HIGHEST_PORT:
        raise UsageError(f"Port {request.port} does not exist; choose one from 1 to {_HIGHEST_PORT:,}.")
    if request.export is None and (request.sessions or request.wing or request.facts):
        raise UsageError("--session, --wing and --facts say what to export: name a directory or a file with --export.")
    if request.export is not None and not (request.sessions or request.wing or request.facts):
        raise UsageError("Name what to export: --session ID, --wing WING or --facts.")
    endpoint = address_of(context)
    rpc.ensure_service(endpoint, context.variables, {"want": "calls"}).close()
    hello = {
        "want": "viewer",
        "port": request.port,
        "read_only": request.read_only,
        "surroundings": rpc.surroundings(str(context.cwd), context.variables),
    }
    if request.export is not None:
        hello["export"] = {
            "out": str(context.led_to(request.export)),
            "sessions": list(request.sessions),
            "wing": request.wing,
            "facts": request.facts,
        }
    seconds = _OPENS_WITHIN if request.export is None else _EXPORTS_WITHIN
    stream, answer = rpc.greet(endpoint, hello, seconds)
    stream.close()
    if "refused" in answer:
        raise PalazzoError(str(answer["refused"]))
    if request.export is not None:
        return ViewResult("", 0, True, False, tuple(map(str, answer["files"])), int(answer["redacted"]))
    has_browser = not request.no_browser and _start_browser(str(answer["file"]))
    notice = str(answer["notice"])
    return ViewResult(str(answer["link"]), int(answer["port"]), request.read_only, has_browser, notice=notice)


def _start_browser(address: str) -> bool:
    """Start a browser with an address; return False if there is none.

    The address is that of a file that only this user can read, and not the link: other users see the arguments of
    programs.
    """

    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
