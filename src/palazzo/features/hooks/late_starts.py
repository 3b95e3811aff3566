"""Sessions that started without a service and got no orientation; their first prompt gets it instead.

Hooks append one line each to a file of the state directory (`palazzo.client.offline_hook`): `HOST SESSION SOURCE`,
separated by tabs, each part escaped as in a URL.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from palazzo.client import offline_hook
from palazzo.injection.hook_events import Beginning

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_MOST = 100
"""The most lines that are kept of sessions that have not sent a prompt yet."""
_BEGINNINGS: dict[str, Beginning] = {"clear": "clear", "compact": "compact"}


def take(context: Context, host: str, session: str) -> Beginning | None:
    """Return, once, how a session began if it got no orientation then; None otherwise."""
    file = Path(offline_hook.late_file(str(context.palace_path), context.variables))
    if not file.exists():
        return None
    aside = file.with_name(f"{file.name}.{os.getpid()}-{time.time_ns()}")
    try:
        file.replace(aside)  # what is left meanwhile goes to a file of its own, and neither is lost
        lines = [
            [unquote(part) for part in line.split("\t")] for line in aside.read_text("ascii", "replace").splitlines()
        ]
    except OSError:
        return None  # another prompt has it
    remaining_lines = [line for line in lines if line[:2] != [host, session]]
    for line in remaining_lines[-_MOST:]:
        offline_hook.append(str(file), tuple(line))
    with contextlib.suppress(OSError):
        aside.unlink()
    sources = [line[2] for line in lines if line[:2] == [host, session] and len(line) > 2]
    return _BEGINNINGS.get(sources[-1], "startup") if sources else None


def put_back(context: Context, host: str, session: str, beginning: Beginning) -> None:
    """Note again what `take` returned, since the prompt was not answered."""
    with contextlib.suppress(OSError):
        offline_hook.append(
            offline_hook.late_file(str(context.palace_path), context.variables), (host, session, beginning)
        )
