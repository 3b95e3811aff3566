"""The service-log entry of a hook that finds no service and whose input is invalid.

The entry describes the error and contains nothing of the input. If it cannot be written, it is dropped. Standard
library only.
"""

from __future__ import annotations

import os
import time

from palazzo import host_names, paths
from palazzo.client import rpc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_UNKNOWN_NAME = ": not known"
"""The end of a log line about a call with an unknown host or event."""
_REPORT_SECONDS = 7 * 86_400.0
"""Maximum age at which `unknown_hooks` reports such a call."""
_FULL = 1_000_000
"""Size of the log in bytes from which no line is added: only a service rotates a full log."""


def log_file(palace: str, variables: Mapping[str, str]) -> str:
    """Return the log of a palace's service: one for the default palace, a separate one for each other."""
    address = rpc.address(palace, variables)
    own = address.palace != os.path.realpath(os.path.join(paths.data_place(variables), "palace.db"))
    name = os.path.splitext(os.path.basename(address.lock))[0][:8]
    return os.path.join(paths.state_place(variables), f"service-{name}.log" if own else "service.log")


def note(host: str, event: str, wrong: str, palace: str, variables: Mapping[str, str]) -> None:
    """Add the line, as the service would have done."""
    if host_names.event_of(host, event):
        line = f"hook {host} {event}: {wrong}"
    else:
        line = f"hook {host[:40]!r} {event[:40]!r}{_UNKNOWN_NAME}"
    add_line(line, palace, variables)


def unknown_hooks(palace: str, variables: Mapping[str, str]) -> list[str]:
    """Return the calls of the last week with an unknown host or event, each with its last time."""
    try:
        with open(log_file(palace, variables), encoding="utf-8", errors="replace") as file:
            lines = [line for line in file if _UNKNOWN_NAME in line]
    except OSError:
        return []
    since = time.strftime("%Y-%m-%d", time.localtime(time.time() - _REPORT_SECONDS))
    names = {
        line.partition(" hook ")[2].strip().removesuffix(_UNKNOWN_NAME): line[:19] for line in lines if line >= since
    }
    return [f"hook {name}, last at {at}" for name, at in names.items()]


def add_line(line: str, palace: str, variables: Mapping[str, str]) -> None:
    """Add a line to the log, with the time and this process."""
    now = time.time()
    stamp = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(now))},{int(now * 1_000) % 1_000:03}"
    try:
        _append(log_file(palace, variables), f"{stamp} {os.getpid()} {line}\n")
    except OSError:
        return  # the log cannot be written, and the agent must not stop because of that


def _append(file: str, line: str) -> None:
    os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        if os.fstat(handle).st_size < _FULL:
            os.write(handle, line.encode("utf-8", "replace"))
    finally:
        os.close(handle)
