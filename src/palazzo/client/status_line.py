"""`palazzo statusline`: prints one short line about the session, for a host to show below its prompt. It never fails.

    palazzo: api · 1,204 drawers · 3 told · saved 14:02

A host starts it whenever something changes, so it queries a running service, and starts none: hooks do that. Standard
library only.
"""

from __future__ import annotations

import os
import time

from palazzo import paths
from palazzo.client import hook_client, rpc
from palazzo.errors import ServiceUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_TIMEOUT_SECONDS = 1.0
"""Seconds to wait for a service: a later status line is of no use."""
_DAY = 86_400


def main(arguments: list[str]) -> int:
    """Read the host's session data on standard input, and print the status line: `statusline [--palace PATH]`."""
    try:
        os.write(1, f"{current_line(arguments)}\n".encode("utf-8", "replace"))
    except OSError:
        return 0  # the host has gone: there is nobody to tell
    return 0


def current_line(arguments: list[str]) -> str:
    """Return the line for the host's data on standard input; empty if none can be made."""
    payload = _object(b"" if os.isatty(0) else hook_client.read_all())
    _, _, palace = hook_client.parse_arguments(arguments)
    try:
        return line(payload, palace, os.environ)
    except Exception:  # noqa: BLE001 - whatever it is, it is nothing that a status line could say
        return ""


def line(payload: Mapping[str, Any], palace: str | None, variables: Mapping[str, str]) -> str:
    """Return the line for a host's data: its session id, and its working directories."""
    if hook_client.is_off(variables):
        return "palazzo: off"
    cwd = _directory(payload)
    if not rpc.is_wanted(variables):
        return "palazzo: service disabled in the settings"
    address = rpc.address(rpc.chosen_palace(palace, variables, cwd), variables)
    session = payload.get("session_id")
    try:
        answer = _fetch_status(address, session if isinstance(session, str) else "", cwd, variables)
    except (OSError, ValueError, ServiceUnavailable):
        return "palazzo: asleep until the next prompt"
    return render_line(answer, time.time())


def render_line(answer: Mapping[str, Any], now: float) -> str:
    """Return the line for the service's answer (`features/ledger/status_figures`)."""
    if answer.get("paused"):
        until = answer.get("paused_until")
        return f"palazzo: paused until {_clock(until, now)}" if isinstance(until, int) else "palazzo: paused"
    wing, drawers, injected_count = answer.get("wing"), int(answer.get("drawers") or 0), int(answer.get("told") or 0)
    if not wing:
        return "palazzo: nothing filed yet"
    parts = [_plain(str(wing)), f"{drawers:,} drawer{'' if drawers == 1 else 's'}"]
    parts += [f"{injected_count:,} told"] if injected_count else []
    saved_at = answer.get("saved_at")
    parts += [f"saved {_clock(saved_at, now)}"] if isinstance(saved_at, int) else []
    return f"palazzo: {' · '.join(parts)}"


def _fetch_status(address: rpc.Address, session: str, cwd: str, variables: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the service's answer; any version is accepted, since a status line is no reason to start another."""
    stream, _ = rpc.greet(address, {"want": "calls", "any": True}, _TIMEOUT_SECONDS)
    try:
        around = rpc.surroundings(cwd, variables)
        request = {"session": session}
        stream.send({"id": 1, "operation": "status_line", "request": request, "surroundings": around})
        while (answer := stream.read()) is not None:
            if "result" in answer:
                result: Mapping[str, Any] = answer["result"]
                return result
            if "error" in answer:
                raise ServiceUnavailable("The service has no status line to show.")
    finally:
        stream.close()
    raise ServiceUnavailable("The service has just ended.")


def _directory(payload: Mapping[str, Any]) -> str:
    """Return the project's directory as the host states it, else the current directory."""
    workspace = payload.get("workspace")
    places = workspace if isinstance(workspace, dict) else {}
    for candidate in (places.get("project_dir"), payload.get("cwd"), places.get("current_dir")):
        if isinstance(candidate, str) and os.path.isabs(candidate) and "\0" not in candidate:
            return candidate
    return paths.working_directory()


def _object(payload: bytes) -> dict[str, Any]:
    from palazzo.client.jsonl import loads

    try:
        read = loads(payload)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _clock(at: int, now: float) -> str:
    """Format a time: today's as a time of day, others as a date; it stays correct however long the line is shown."""
    seconds = at / 1_000_000
    form = "%H:%M" if abs(now - seconds) < _DAY else "%d %b"
    return time.strftime(form, time.localtime(seconds))


def _plain(text: str) -> str:
    """Return a name shortened and without characters that would move a terminal's cursor."""
    printable_text = "".join(letter for letter in text if letter.isprintable())
    return printable_text if len(printable_text) <= 24 else f"{printable_text[:23]}…"
