"""Error messages and exit codes: one sentence, and a file to paste into a bug report.

With `--json` an error is one JSON document on one line of standard error, the last one there:
`{"error": {"kind", "message", "hint"}}`. `kind` is stable; `hint` says what to do, and is null if the message says it.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
import textwrap
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo import __version__
from palazzo.errors import PalazzoError, PathRefused, UsageError
from palazzo.faces.cli import standard_output
from palazzo.faces.cli.standard_output import OutputUnwritable

if TYPE_CHECKING:
    from palazzo.operations.context import Progress

FAILED, USAGE, BUG, INTERRUPT = 1, 2, 3, 130
_NARROWEST = 20
"""The fewest columns to which a message is broken."""


def expected(error: PalazzoError, debug: bool, as_json: bool = False) -> int:
    """Say what the user can do about `error`."""
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    message, hint = _split_hint(one_line(str(error)))
    _say(_kind(error), message, hint, as_json)
    return USAGE if isinstance(error, UsageError) else FAILED


def wrong_usage(message: str, hint: str, as_json: bool) -> int:
    """Say that a command line cannot be read, and where its help is."""
    sentence = one_line(message)
    _say("usage", sentence if sentence.endswith((".", "?", "!")) else f"{sentence}.", hint, as_json)
    return USAGE


def report_interrupt(last: Progress | None, note: str = "", as_json: bool = False) -> int:
    """Say that ^C was received, and what `note` says about the work."""
    far = f" at {last.done:,} of {last.total:,} ({last.what})" if last else ""
    if not as_json:
        print(file=sys.stderr)
    _say("interrupted", f"Stopped{far}.", note, as_json)
    return INTERRUPT


def unwritable_output(error: OutputUnwritable, is_work_done: bool, as_json: bool = False) -> int:
    """Say that the output is missing, and whether the command did its work nevertheless."""
    standard_output.discard(FAILED)
    _say("output_unwritable", error.sentence, "The command itself is done." if is_work_done else "", as_json)
    return FAILED


def unforeseen(error: BaseException, arguments: Sequence[str], debug: bool, as_json: bool = False) -> int:
    """Say what the system refused; anything else is a bug."""
    refusal = PathRefused.from_system(error)
    return bug(error, arguments, debug, as_json) if refusal is None else expected(refusal, debug, as_json)


def bug(error: BaseException, arguments: Sequence[str], debug: bool, as_json: bool = False) -> int:
    """Write a bug report and name its file."""
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    message = f"This is a bug in Palazzo ({type(error).__name__}); no acknowledged write is lost."
    try:
        path = _write_report(_report(error, arguments))
        hint = f"Please paste {path} into a bug report; it contains nothing from your palace."
    except OSError as trouble:
        hint = f"The report could not be written ({trouble.strerror}); --debug shows it."
    _say("bug", message, hint, as_json)
    return BUG


def warn(sentence: str, as_json: bool) -> None:
    """Say something that stops nothing: a line of text, or of JSON."""
    text = one_line(sentence)
    line = json.dumps({"warning": {"message": text}}, ensure_ascii=True) if as_json else _fit(f"palazzo: {text}")
    _write_line(line)


def _say(kind: str, message: str, hint: str, as_json: bool) -> None:
    if as_json:
        error = {"kind": kind, "message": message, "hint": hint or None}
        _write_line(json.dumps({"error": error}, ensure_ascii=True))
    else:
        _write_line(_fit(f"palazzo: {message} {hint}".rstrip()))


def _fit(line: str) -> str:
    """Return a line broken between words where a terminal shows it; ids and paths stay whole."""
    if not sys.stderr.isatty():
        return line
    width = max(shutil.get_terminal_size().columns, _NARROWEST)
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)


def _write_line(line: str) -> None:
    """Write a line to standard error; if that is impossible, the exit code has to say it."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        standard_output.discard(FAILED, sys.stderr)


def _split_hint(text: str) -> tuple[str, str]:
    """Return a message's first sentence, and the rest, which says what to do."""
    first, *rest = re.split(r"(?<=[.?!]) (?=[A-Z'])", text, maxsplit=1)
    return first, "".join(rest)


def _kind(error: PalazzoError) -> str:
    """Return an error's name for programs: `usage`, `not_found`, `ambiguous_id`, `palace_missing`, `failed`, …"""
    name = type(error).__name__
    if name == "PalazzoError":
        return "failed"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Error")).lower()


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
    from palazzo.faces.cli.command_table import LOCAL_COMMANDS
    from palazzo.operations.command_groups import ALIASES
    from palazzo.operations.registry import FEATURES, split_command_name

    local_words = (word for name in LOCAL_COMMANDS for word in name.split())
    commands = {*local_words, *ALIASES, *(word for name in FEATURES for word in split_command_name(name))}
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
