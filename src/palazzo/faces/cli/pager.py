"""The pager: shows an answer that is longer than the terminal's screen, by `less` or by the person's own program.

`PALAZZO_PAGER` names it, else `PAGER`; an empty name or `cat` means none. Nothing is paged for an agent: its shell may
be a terminal on which nobody presses a key.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from palazzo.features.screen import Screen

_DEFAULT = "less"
_LESS_OPTIONS = "FRX"
"""Options of `less` if `LESS` is not set, as git sets them: quit if one screen is enough, show colours."""
_LESS_WITH_LINKS = 581
"""The version of `less` that first showed OSC 8 links."""


def find_pager(variables: Mapping[str, str]) -> list[str]:
    """Return the command of the pager, or an empty list if none is wanted."""
    from palazzo.security.note_taint import is_agents

    height = shutil.get_terminal_size((0, 0)).lines
    if not sys.stdout.isatty() or not height or variables.get("TERM", "dumb") == "dumb" or is_agents(variables):
        return []
    default = "" if os.name == "nt" else _DEFAULT
    command = next((variables[name] for name in ("PALAZZO_PAGER", "PAGER") if name in variables), default)
    try:
        words = shlex.split(command, posix=os.name != "nt")
    except ValueError:
        words = []
        _warn(f"The pager '{command}' has an open quotation mark, so it is not used.")
    return [] if words[:1] in ([], ["cat"]) else words


def show_paged(show: Callable[[Screen, Any], None], result: Any, command: Sequence[str]) -> None:
    """Show a result, in the pager if it is longer than the screen."""
    from palazzo.features.screen import Output, Screen

    links = _passes_links(command)
    buffer = io.StringIO()
    show(Screen(buffer, Output.of(sys.stdout), links), result)
    text = buffer.getvalue()
    if text.count("\n") < shutil.get_terminal_size().lines or not _page(command, text):
        sys.stdout.write(text)


def _page(command: Sequence[str], text: str) -> bool:
    """Show a text in the pager; return whether it could be started. Whoever leaves the pager early has seen enough."""
    options = ["-R"] if _is_less(command) and "LESS" in os.environ else []
    sys.stdout.flush()
    try:
        process = subprocess.Popen(  # noqa: S603 - the person's own choice of a program
            [*command, *options],
            stdin=subprocess.PIPE,
            env={"LESS": _LESS_OPTIONS, **os.environ},
            encoding=sys.stdout.encoding,
            errors="backslashreplace",
        )
    except OSError as error:
        _warn(f"The pager '{command[0]}' cannot be started ({error.strerror}).")
        return False
    with _ignored_interrupts():
        try:
            process.communicate(text)
        except BrokenPipeError:
            process.wait()
    return True


@contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Leave ^C to the pager, which uses it to stop a search."""
    previous_handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)


def _is_less(command: Sequence[str]) -> bool:
    return Path(command[0]).name == "less"


def _passes_links(command: Sequence[str]) -> bool:
    """Return whether the pager is known to pass OSC 8 links on to the terminal."""
    from palazzo.features.screen import shows_links

    if not _is_less(command) or not shows_links(os.environ):
        return False
    try:
        version = subprocess.run(  # noqa: S603 - the person's own choice of a program
            [command[0], "--version"], capture_output=True, text=True, timeout=1, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    number = re.match(r"less (\d+)", version.stdout)
    return number is not None and int(number[1]) >= _LESS_WITH_LINKS


def _warn(sentence: str) -> None:
    print(f"palazzo: {sentence}", file=sys.stderr)
