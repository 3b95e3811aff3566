"""Error messages and exit codes: one sentence, and a file to paste into a bug report."""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo import __version__
from palazzo.errors import PalazzoError, UsageError

if TYPE_CHECKING:
    from palazzo.operations.context import Progress

FAILED, USAGE, BUG, INTERRUPT = 1, 2, 3, 130


def expected(error: PalazzoError, debug: bool) -> int:
    """Say what the user can do about `error`."""
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    print(f"palazzo: {one_line(str(error))}", file=sys.stderr)
    return USAGE if isinstance(error, UsageError) else FAILED


def report_interrupt(last: Progress | None, writes: bool = True) -> int:
    """Say that ^C was received, and that results of a command that `writes` are kept."""
    far = f" at {last.done:,} of {last.total:,} ({last.what})" if last else ""
    note = " Completed work is kept; run the same command again to continue." if writes else ""
    print(f"\npalazzo: Stopped{far}.{note}", file=sys.stderr)
    return INTERRUPT


def bug(error: BaseException, arguments: Sequence[str], debug: bool) -> int:
    """Write a bug report and name its file."""
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    message = f"palazzo: This is a bug in Palazzo ({type(error).__name__}); no acknowledged write is lost."
    try:
        path = _write_report(_report(error, arguments))
    except OSError as trouble:
        print(f"{message} The report could not be written ({trouble.strerror}); --debug shows it.", file=sys.stderr)
        return BUG
    print(f"{message} Please paste {path} into a bug report; it contains nothing from your palace.", file=sys.stderr)
    return BUG


def one_line(text: str) -> str:
    """Return a message on one line, without terminal control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _write_report(report: str) -> Path:
    from palazzo.paths import make_private_directory, state_directory

    directory = state_directory()
    make_private_directory(directory)
    path = directory / f"bug-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(report)
    return path


def _report(error: BaseException, arguments: Sequence[str]) -> str:
    """Return version, platform, command and location. Values and messages may hold user text: they are left out."""
    from palazzo.store.palace_overview import sqlite_version

    lines = [
        "Palazzo bug report",
        "",
        f"palazzo   {__version__}",
        f"python    {platform.python_version()} ({platform.python_implementation()})",
        f"platform  {platform.platform()}",
        f"sqlite    {sqlite_version()}",
        f"command   palazzo {' '.join(_without_values(arguments))}",
        "",
        *_trace(error),
    ]
    return "\n".join(lines).replace(str(Path.home()), "~") + "\n"


def _without_values(arguments: Sequence[str]) -> list[str]:
    """Return the command and the names of its options; everything else may be user text."""
    from palazzo.operations.registry import MODULES, split_command_name

    commands = {word for name in MODULES for word in split_command_name(name)}
    return [
        argument.split("=")[0] if argument.startswith("--") else argument if argument in commands else "…"
        for argument in arguments
    ]


def _trace(error: BaseException) -> list[str]:
    lines = []
    cause: BaseException | None = error
    while cause is not None:
        lines.append(f"{type(cause).__module__}.{type(cause).__qualname__} (message omitted; --debug shows it)")
        for frame in traceback.extract_tb(cause.__traceback__):
            lines.append(f"  {frame.filename}:{frame.lineno} in {frame.name}")
            lines.append(f"    {frame.line}")
        cause = cause.__cause__ or cause.__context__
    return lines
