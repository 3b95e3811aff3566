"""Confirmation and input: asks a person for a yes, and reads text from standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from palazzo.errors import NotFound, PalazzoError, UsageError


class ConfirmationError(PalazzoError):
    """The user answered no."""


def confirm(show: Callable[[], None], question: str = "") -> None:
    """Show what would be done and ask whether to do it. Raises unless the answer is yes.

    With a `question`, Enter also means yes; the end of the input never does.
    """
    if not sys.stdin.isatty():
        raise UsageError(
            "This command asks for confirmation, but the input is not interactive: give --yes to confirm, or "
            "--dry-run to preview."
        )
    show()
    print(f"{question} [Y/n] " if question else "Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    answers = ("y", "yes", "") if question and line else ("y", "yes")
    if line.strip().lower() not in answers:
        raise ConfirmationError("Nothing was done.")


def text_of_file(file_name: str) -> str:
    """Return a file's content; standard input to its end for `-`. Invalid UTF-8 is kept as lone surrogates."""
    if file_name == "-":
        return text_or_stdin("file", file_name)
    try:
        return Path(file_name).expanduser().read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise NotFound(f"The file {file_name} cannot be read ({error.strerror}).") from None


def require_utf8(name: str, text: str) -> None:
    """Raise UsageError for a text with bytes that are not UTF-8: one could only store something else."""
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        offset = len(text[: error.start].encode("utf-8")) + 1
        raise UsageError(
            f"The {name} is not valid UTF-8 from byte {offset:,} on: convert it first, for example with "
            "'iconv -f WINDOWS-1252 -t UTF-8'."
        ) from None


def text_or_stdin(name: str, text: str | None) -> str:
    """Return the given text; standard input to its end for `-`, or if no text was given and input is piped."""
    if text is not None and text != "-":
        return text
    if text is None and sys.stdin.isatty():
        raise UsageError(f"Give the {name}, or - to read it from standard input.")
    read_text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    if text is None and not read_text.strip():
        raise UsageError(f"Missing argument '{name.upper()}', and nothing was read from standard input.")
    return read_text
