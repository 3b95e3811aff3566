"""Whether the service that hooks start comes up, and what a person is told whose service does not.

A hook starts a service and waits for nothing, so only the next one can see that none came of it. A note in the state
directory says when one was started, or failed to; the service removes it as soon as it serves. Its other lines are
sessions whose person was told. Standard library only.
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
"""Seconds after which a service that was started has failed to: it takes a second of an idle machine."""
_RETRY_SECONDS = 60.0
"""Seconds between two starts where one has failed. Each takes a second of one core, and hooks are many."""
_LONGEST, _MOST_TOLD = 64 * 1024, 200
_CRASHES = "it ends as soon as it is started"


def begin(address: rpc.Address, variables: Mapping[str, str]) -> str:
    """Start a service if none is about to serve; return why none can be, empty where nothing is known against it."""
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
    """Whether the person of a session was not told yet; from now on they were. False where that cannot be kept."""
    file = _note(address, variables)
    state, at, sessions = _read(file)
    session_name = "".join(letter for letter in session[:200] if letter.isprintable()) or "-"
    return (
        bool(state)
        and session_name not in sessions
        and _write(file, state, at, [*sessions[-_MOST_TOLD:], session_name])
    )


def failed_at(address: rpc.Address, variables: Mapping[str, str]) -> float | None:
    """Return when a service was last started of which nothing came, in seconds since 1970; None where none is known."""
    state, at, _ = _read(_note(address, variables))
    return at if state == "failed" else None


def came_up(address: rpc.Address, variables: Mapping[str, str]) -> None:
    """Forget what failed before: the service serves."""
    try:
        os.unlink(_note(address, variables))
    except OSError:
        return  # there is none, or it is left to the next one


def _sentence(why: str) -> str:
    return (
        f"Palazzo's service does not run ({why}): memory is searched by words alone, and what is said is taken in "
        "later. 'palazzo service start' says more; with PALAZZO_SERVICE=off none is started."
    )


def _note(address: rpc.Address, variables: Mapping[str, str]) -> str:
    name = os.path.splitext(os.path.basename(address.socket))[0]
    return os.path.join(paths.state_place(variables), f"starting-{name}.txt")


def _read(file: str) -> tuple[str, float, list[str]]:
    """Return the note's state (empty where there is none), when a service was started, and the sessions."""
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
