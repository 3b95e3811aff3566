"""Asking a person: for a yes, and for text on standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from palazzo.errors import NotFound, PalazzoError, UsageError


class Declined(PalazzoError):
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
        raise Declined("Nothing was done.")


def text_of_file(named: str) -> str:
    """Return what a file holds; standard input to its end for `-`. What is no UTF-8 is kept as lone surrogates."""
    if named == "-":
        return text_or_stdin("file", named)
    try:
        return Path(named).expanduser().read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise NotFound(f"The file {named} cannot be read ({error.strerror}).") from None


def text_or_stdin(name: str, given: str | None) -> str:
    """Return the text that was given; standard input to its end for `-`, or if nothing was given and it is piped."""
    if given is not None and given != "-":
        return given
    if given is None and sys.stdin.isatty():
        raise UsageError(f"Give the {name}, or - to read it from standard input.")
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
