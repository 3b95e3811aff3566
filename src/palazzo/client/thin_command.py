"""Thin client of frequent commands: a running service parses, runs and formats them, and this process prints.

Standard library only, and little of it, so an answer is printed while the full program would still be importing. What
this client cannot do (no service, an unusual line, an error, a pager), it leaves to the full program: `run` then
returns None, and has printed nothing. The service's side is `palazzo.daemon.command_lines`.
"""

from __future__ import annotations

import errno
import os
import sys

from palazzo import paths
from palazzo.client import rpc
from palazzo.errors import ServiceUnavailable, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

COMMANDS = frozenset(["search", "show", "wake-up"])
"""The commands that a service runs for a terminal (`palazzo.daemon.command_lines`)."""
_PIPED_WIDTH = 200
"""Columns when the output is not a terminal, as `palazzo.features.screen` has them."""
OUTPUT_VARIABLES = (
    *("TERM", "COLORTERM", "TERM_PROGRAM", "VTE_VERSION", "WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION"),
    *("DOMTERM", "TMUX", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
)
"""Variables of a terminal that decide how a text is shown, besides those that `rpc.surroundings` sends."""
_OWN_ENCODING = ("PYTHONIOENCODING", "PYTHONUTF8")
"""Variables that an isolated Python ignores, and the full program follows."""
FAILED, INTERRUPT = 1, 130


def run(arguments: list[str], variables: Mapping[str, str]) -> int | None:
    """Print the answer of a running service and return the exit code; None if the full program must do the work."""
    if arguments[:1] == [] or arguments[0] not in COMMANDS or any(name in variables for name in _OWN_ENCODING):
        return None
    palace = _palace_option(arguments)
    if palace == "" or not rpc.is_wanted(variables):
        return None
    try:
        cwd = paths.working_directory()
        path = rpc.chosen_palace(palace, variables, cwd)
        if not os.path.exists(path):
            return None
        answer = _answer(rpc.address(path, variables), arguments, cwd, variables)
        return None if answer is None else _print(answer)
    except KeyboardInterrupt:
        os.write(2, b"\npalazzo: Stopped.\n")
        return INTERRUPT
    except (OSError, ValueError, ServiceUnavailable, UsageError):
        return None


def _palace_option(arguments: list[str]) -> str | None:
    """Return the value of `--palace`: None without it, an empty text for one that the full program must judge."""
    value = None
    for n, word in enumerate(arguments):
        if word == "--palace":
            value = "".join(arguments[n + 1 : n + 2])
        elif word.startswith("--palace="):
            value = word.partition("=")[2]
    return value


def _answer(
    endpoint: rpc.Address, arguments: list[str], cwd: str, variables: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return the service's answer; None if the line is for the full program."""
    output = {name: variables[name] for name in OUTPUT_VARIABLES if name in variables}
    description = {**describe_output(variables), "variables": output}
    with rpc.connect(endpoint, {"want": "calls"}) as stream:
        around = rpc.surroundings(cwd, variables)
        stream.send({"id": 1, "arguments": arguments, "output": description, "surroundings": around})
        notices = []
        while (message := stream.read()) is not None:
            if "notice" in message:
                notices.append(str(message["notice"]))
            elif isinstance(message.get("text"), str):
                return None if _needs_pager(message, variables) else {**message, "notices": notices}
            elif "progress" not in message:
                return None
    return None


def describe_output(variables: Mapping[str, str]) -> dict[str, Any]:
    """Return what receives the output: whether it is a terminal, its columns and its encoding."""
    is_terminal = os.isatty(1)
    columns = variables.get("COLUMNS", "")
    width: int | None = int(columns) if columns.isdecimal() and columns.isascii() and int(columns) else None
    if width is None:
        width = os.get_terminal_size(1).columns or 80 if is_terminal else _PIPED_WIDTH
    return {"terminal": is_terminal, "width": width, "encoding": sys.stdout.encoding or "utf-8"}


def _needs_pager(message: Mapping[str, Any], variables: Mapping[str, str]) -> bool:
    if not message.get("pages") or not os.isatty(1) or variables.get("TERM", "dumb") == "dumb":
        return False
    height = variables.get("LINES", "")
    lines = int(height) if height.isdecimal() and height.isascii() else os.get_terminal_size(1).lines
    return str(message["text"]).count("\n") >= lines


def _print(answer: Mapping[str, Any]) -> int:
    """Write the notices and the text."""
    for notice in answer["notices"]:
        line = "".join(letter if letter.isprintable() else " " for letter in notice)
        _write_error(f"palazzo: {line}\n")
    return print_text(answer["text"])


def print_text(text: str) -> int:
    """Write a text to standard output and return the exit code; a reader that has gone is no error."""
    rest = memoryview(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except BrokenPipeError:
        return 0
    except OSError as error:
        reason = "it is closed" if error.errno == errno.EBADF else error.strerror
        _write_error(f"palazzo: The output could not be written ({reason}).\n")
        return FAILED
    return 0


def _write_error(line: str) -> None:
    try:
        os.write(2, line.encode(sys.stderr.encoding or "utf-8", "backslashreplace"))
    except OSError:
        return  # standard error cannot be written either: the exit code says it
