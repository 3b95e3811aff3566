"""Start-up of the service by hooks, and the notice to a person whose service does not start.

A note in the state directory says when a service was started, or failed to start; the service removes it as soon as it
serves. Of hooks that run at the same time, the one that creates the note starts the service. A file beside the note
lists the sessions in which the person was notified. Standard library only.
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
_START_AGAIN = 1.0
"""Seconds after which another service is started if none holds the lock: the previous one died."""
_LONGEST, _MOST_NOTIFIED = 64 * 1024, 200
_CRASHES = "it ends immediately after its start"


def begin(address: rpc.Address, variables: Mapping[str, str]) -> str:
    """Start a service if none is starting; return why none can start, or '' if no reason is known."""
    try:
        rpc.refuse_other_file(address)
    except ServiceUnavailable as error:
        return _sentence(str(error).rstrip("."))
    file = _note(address, variables)
    if rpc.is_starting(address):
        return ""
    state, at = _read(file)
    age = time.time() - at
    if state == "failed" and 0 <= age < _RETRY_SECONDS:
        return _sentence(_CRASHES)
    if not _claim(file, bool(state)):
        return ""
    try:
        rpc.start(address, variables)
    except ServiceUnavailable as error:
        _write(file, "failed", time.time())
        return _sentence(str(error).rstrip("."))
    if state and age >= _COMES_UP_WITHIN:
        _write(file, "failed", time.time())
        return _sentence(_CRASHES)
    return ""


def _claim(file: str, is_noted: bool) -> bool:
    """Return whether this hook is the one that starts a service: no other has, or that was a second ago."""
    try:
        if is_noted:
            is_old = not 0 <= time.time() - os.stat(file).st_mtime < _START_AGAIN
            if is_old:
                os.utime(file)
            return is_old
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(handle, f"started {int(time.time())}\n".encode())
        finally:
            os.close(handle)
    except FileExistsError:
        return False
    except OSError:
        return True  # nothing can be noted here, and the lock of the service decides
    return True


def is_news(address: rpc.Address, variables: Mapping[str, str], session: str) -> bool:
    """Record that a session's user is notified; return whether it is news. False if that cannot be recorded."""
    file = _notified(address, variables)
    name = "".join(letter for letter in session[:200] if letter.isprintable()) or "-"
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            sessions = stream.read(_LONGEST).split("\n")
    except OSError:
        sessions = []
    if name in sessions:
        return False
    return _replace(file, [*filter(None, sessions[-_MOST_NOTIFIED:]), name])


def failed_at(address: rpc.Address, variables: Mapping[str, str]) -> float | None:
    """Return when the last failed start of a service was, in seconds since 1970; None if no failure is recorded."""
    state, at = _read(_note(address, variables))
    return at if state == "failed" else None


def came_up(address: rpc.Address, variables: Mapping[str, str]) -> None:
    """Clear recorded failures: the service is up."""
    for file in (_note(address, variables), _notified(address, variables)):
        try:
            os.unlink(file)
        except OSError:
            continue  # there is none, or it is left to the next one


def _sentence(why: str) -> str:
    return (
        f"Palazzo's service does not run ({why}): nothing from memory is shown, and new messages are ingested later. "
        "'palazzo service start' says more; with PALAZZO_SERVICE=off none is started."
    )


def _note(address: rpc.Address, variables: Mapping[str, str]) -> str:
    return _file("starting", address, variables)


def _notified(address: rpc.Address, variables: Mapping[str, str]) -> str:
    return _file("notified", address, variables)


def _file(kind: str, address: rpc.Address, variables: Mapping[str, str]) -> str:
    name = os.path.splitext(os.path.basename(address.socket))[0]
    return os.path.join(paths.state_place(variables), f"{kind}-{name}.txt")


def _read(file: str) -> tuple[str, float]:
    """Return the note's state ('' if there is none), and when a service was started."""
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            first = stream.read(100).partition("\n")[0]
    except OSError:
        return "", 0.0
    state, _, at = first.partition(" ")
    return state, float(at) if at.isdigit() else 0.0


def _write(file: str, state: str, at: float) -> bool:
    return _replace(file, [f"{state} {int(at)}"])


def _replace(file: str, lines: list[str]) -> bool:
    """Write the lines; return whether that was possible."""
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        with open(file, "w", encoding="utf-8", errors="replace") as stream:
            stream.write("".join(f"{line}\n" for line in lines))
    except OSError:
        return False
    return True
