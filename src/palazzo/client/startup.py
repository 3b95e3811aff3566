"""Start-up check of the service that hooks start, and the notice to a person whose service does not start.

A hook starts a service without waiting for it, so only the next hook can see that the start failed. A note in the state
directory says when a service was started, or failed to start; the service removes it as soon as it serves. The note's
other lines are the sessions in which the person was notified. Standard library only.
"""

from __future__ import annotations

import os
import time

from palazzo import paths
from palazzo.client import rpc
from palazzo.errors import ServiceUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_COMES_UP_WITHIN = 10.0
"""Seconds after which a service start counts as failed: it takes one on an idle machine."""
_RETRY_SECONDS = 60.0
"""Seconds between two attempts to start a service after a failure. Each takes a second of one core, and there are many
hooks.
"""
_LONGEST, _MOST_TOLD = 64 * 1024, 200
_CRASHES = "it ends immediately after its start"


def begin(address: rpc.Address, variables: Mapping[str, str]) -> str:
    """Start a service if none is starting; return why none can start, or '' if no reason is known."""
    file = _note(address, variables)
    if rpc.is_starting(address):
        return ""
    state, at, sessions = _read(file)
    age = time.time() - at
    if state == "failed" and 0 <= age < _RETRY_SECONDS:
        return _sentence(_CRASHES)
    try:
        rpc.start(address, variables)
    except ServiceUnavailable as error:
        _write(file, "failed", time.time(), sessions)
        return _sentence(str(error).rstrip("."))
    if state and age >= _COMES_UP_WITHIN:
        _write(file, "failed", time.time(), sessions)
        return _sentence(_CRASHES)
    if not state:
        _write(file, "started", time.time(), sessions)
    return ""


def is_news(address: rpc.Address, variables: Mapping[str, str], session: str) -> bool:
    """Record that a session's user is notified; return whether it is news. False if that cannot be recorded."""
    file = _note(address, variables)
    state, at, sessions = _read(file)
    session_name = "".join(letter for letter in session[:200] if letter.isprintable()) or "-"
    return (
        bool(state)
        and session_name not in sessions
        and _write(file, state, at, [*sessions[-_MOST_TOLD:], session_name])
    )


def failed_at(address: rpc.Address, variables: Mapping[str, str]) -> float | None:
    """Return when the last failed start of a service was, in seconds since 1970; None if no failure is recorded."""
    state, at, _ = _read(_note(address, variables))
    return at if state == "failed" else None


def came_up(address: rpc.Address, variables: Mapping[str, str]) -> None:
    """Clear recorded failures: the service is up."""
    try:
        os.unlink(_note(address, variables))
    except OSError:
        return  # there is none, or it is left to the next one


def _sentence(why: str) -> str:
    return (
        f"Palazzo's service does not run ({why}): memory is searched by keyword only, and new messages are ingested "
        "later. 'palazzo service start' says more; with PALAZZO_SERVICE=off none is started."
    )


def _note(address: rpc.Address, variables: Mapping[str, str]) -> str:
    name = os.path.splitext(os.path.basename(address.socket))[0]
    return os.path.join(paths.state_place(variables), f"starting-{name}.txt")


def _read(file: str) -> tuple[str, float, list[str]]:
    """Return the note's state ('' if there is none), when a service was started, and the notified sessions."""
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            first, *sessions = [*stream.read(_LONGEST).split("\n")[:-1], ""]
    except OSError:
        return "", 0.0, []
    state, _, at = first.partition(" ")
    return state, float(at) if at.isdigit() else 0.0, [session for session in sessions if session]


def _write(file: str, state: str, at: float, sessions: list[str]) -> bool:
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        with open(file, "w", encoding="utf-8", errors="replace") as stream:
            stream.write("".join(f"{line}\n" for line in (f"{state} {int(at)}", *sessions)))
    except OSError:
        return False
    return True
