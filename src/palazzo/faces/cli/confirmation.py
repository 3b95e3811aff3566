"""Asking a person: for a yes, and for text on standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from palazzo.errors import NotFound, PalazzoError, UsageError


class ConfirmationError(PalazzoError):
    """The person said no."""


def confirm(show: Callable[[], None]) -> None:
    """Show what would be done and ask whether to do it. Raises unless the answer is yes."""
    if not sys.stdin.isatty():
        raise UsageError(
            "This asks before it goes on, and nobody is there to answer: give --yes, or --dry-run to look."
        )
    show()
    print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise ConfirmationError("Nothing was done.")


def text_of_file(file_name: str) -> str:
    """Return what a file holds; standard input to its end for `-`. What is no UTF-8 is kept as lone surrogates."""
    if file_name == "-":
        return text_or_stdin("file", file_name)
    try:
        return Path(file_name).expanduser().read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise NotFound(f"The file {file_name} cannot be read ({error.strerror}).") from None


def text_or_stdin(name: str, text: str | None) -> str:
    """Return the text that was given; standard input to its end for `-`, or if nothing was given and it is piped."""
    if text is not None and text != "-":
        return text
    if text is None and sys.stdin.isatty():
        raise UsageError(f"Give the {name}, or - to read it from standard input.")
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
