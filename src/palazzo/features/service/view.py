"""Terminal output of the background service."""

from __future__ import annotations

from palazzo.features.screen import Screen
from palazzo.features.service.contract import ServiceStartResult, ServiceState, ServiceStatusResult, ServiceStopResult
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso


def service_start(screen: Screen, result: ServiceStartResult) -> None:
    """Show that it runs, or the requested unit file."""
    if result.unit:
        screen.bytes(result.unit.encode())
        return
    screen.say(f"The service {'was started' if result.started else 'runs already'}: process {result.service.pid}.")


def service_stop(screen: Screen, result: ServiceStopResult) -> None:
    """Show which service was stopped."""
    processes = [*([] if result.pid is None else [result.pid]), *result.former_pids]
    for pid in processes:
        screen.say(f"The service was stopped: process {pid}.")
    if not processes:
        screen.say("No service was running.")


def service_status(screen: Screen, result: ServiceStatusResult) -> None:
    """Show its state, or the requested unit file."""
    if result.unit:
        screen.bytes(result.unit.encode())
        return
    state = result.service
    for service in result.former_services:
        screen.say(
            f"Another service is running for this palace: process {service.pid}, version {service.version}, at "
            f"{service.address}. 'palazzo service stop' stops it."
        )
    if result.trouble:
        screen.say(result.trouble)
        return
    if not state.running:
        explanation = "it starts when needed" if result.wanted else "the settings disable it"
        screen.say(f"No service is running; {explanation}.")
        return
    rows = [
        ("process", f"{state.pid}, version {state.version}, since {to_iso(state.since) if state.since else '?'}"),
        ("memory", f"{state.memory_mb:,} MB"),
        ("calls", _calls(state)),
        ("watching", "yes" if state.watching else "no"),
        ("address", state.address),
        ("log", str(result.log)),
    ]
    screen.table(("", ""), [((name, "dim"), value) for name, value in rows])
    if state.viewer_trouble:
        screen.say(state.viewer_trouble)


def _calls(state: ServiceState) -> str:
    return f"{state.calls:,} completed, {state.busy:,} in progress, {count_noun(state.clients, 'client')} connected"
