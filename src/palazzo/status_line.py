"""`palazzo statusline`: one short line about the session, for a host to show below its prompt. It never fails.

    palazzo: api · 1,204 drawers · 3 told · saved 14:02

A host starts it whenever something changes, so it asks the service that runs, and starts none: hooks do that. Standard
library only.
"""

from __future__ import annotations

import os
import time

from palazzo import client, hooking
from palazzo.errors import ServiceUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_WITHIN = 1.0
"""Seconds for which a service is waited for: a line that comes later is of no use."""
_DAY = 86_400


def main(arguments: list[str]) -> int:
    """Read what the host says of its session on standard input, and print the line: `statusline [--palace PATH]`."""
    said = _object(b"" if os.isatty(0) else hooking.read_all())
    _, _, palace = hooking.asked(arguments)
    try:
        told = line(said, palace, os.environ)
    except Exception:  # noqa: BLE001 - whatever it is, it is nothing that a status line could say
        told = ""
    try:
        os.write(1, f"{told}\n".encode("utf-8", "replace"))
    except OSError:
        return 0  # the host has gone: there is nobody to tell
    return 0


def line(said: Mapping[str, Any], palace: str | None, variables: Mapping[str, str]) -> str:
    """Return the line for what a host says: its session's id, and the directories that it works in."""
    if hooking.is_off(variables):
        return "palazzo: off"
    here = _directory(said)
    if not client.is_wanted(variables):
        return "palazzo: no service, which the settings keep off"
    where = client.address(client.chosen_palace(palace, variables, here), variables)
    session = said.get("session_id")
    try:
        found = _asked(where, session if isinstance(session, str) else "", here, variables)
    except (OSError, ValueError, ServiceUnavailable):
        return "palazzo: asleep until the next prompt"
    return rendered(found, time.time())


def rendered(found: Mapping[str, Any], now: float) -> str:
    """Return the line for what a service answered (`operations/status_line`)."""
    if found.get("paused"):
        until = found.get("paused_until")
        return f"palazzo: paused until {_clock(until, now)}" if isinstance(until, int) else "palazzo: paused"
    wing, drawers, told = found.get("wing"), int(found.get("drawers") or 0), int(found.get("told") or 0)
    if not wing:
        return "palazzo: nothing kept yet"
    parts = [_plain(str(wing)), f"{drawers:,} drawer{'' if drawers == 1 else 's'}"]
    parts += [f"{told:,} told"] if told else []
    saved = found.get("saved_at")
    parts += [f"saved {_clock(saved, now)}"] if isinstance(saved, int) else []
    return f"palazzo: {' · '.join(parts)}"


def _asked(where: client.Address, session: str, here: str, variables: Mapping[str, str]) -> Mapping[str, Any]:
    """What the service answers; any version does, since a line is no reason to have another."""
    stream, _ = client.greet(where, {"want": "calls", "any": True}, _WITHIN)
    try:
        around = client.surroundings(here, variables)
        request = {"session": session}
        stream.send({"id": 1, "operation": "status_line", "request": request, "surroundings": around})
        while (answer := stream.read()) is not None:
            if "result" in answer:
                result: Mapping[str, Any] = answer["result"]
                return result
            if "error" in answer:
                raise ServiceUnavailable("The service has no line to show.")
    finally:
        stream.close()
    raise ServiceUnavailable("The service has just ended.")


def _directory(said: Mapping[str, Any]) -> str:
    """The project's directory, as the host names it, else the current one."""
    workspace = said.get("workspace")
    places = workspace if isinstance(workspace, dict) else {}
    for named in (places.get("project_dir"), said.get("cwd"), places.get("current_dir")):
        if isinstance(named, str) and os.path.isabs(named) and "\0" not in named:
            return named
    return os.getcwd()


def _object(payload: bytes) -> dict[str, Any]:
    from palazzo.lines import loads

    try:
        read = loads(payload)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _clock(at: int, now: float) -> str:
    """A time of today as one, another as its day; it stays true however long the line is shown."""
    seconds = at / 1_000_000
    form = "%H:%M" if abs(now - seconds) < _DAY else "%d %b"
    return time.strftime(form, time.localtime(seconds))


def _plain(text: str) -> str:
    """A name without what would move a terminal's cursor, and not too long."""
    shown = "".join(letter for letter in text if letter.isprintable())
    return shown if len(shown) <= 24 else f"{shown[:23]}…"
