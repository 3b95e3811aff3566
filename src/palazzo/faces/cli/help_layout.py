"""Layout of help: wrapped paragraphs and columns, at the width of the terminal. Imports next to nothing."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WIDEST, _NARROWEST = 100, 20
"""Columns: longer lines are hard to read, and narrower ones hold no words."""
_TWO_COLUMNS_FROM = 60
"""Columns from which a description stands beside its term, not below it."""
_LONGEST_TERM = 26
"""Characters of a term beside which its description begins on the same line."""


def output_width() -> int:
    """Return the columns to use: the terminal's or those of the variable COLUMNS, else 80."""
    stated = os.environ.get("COLUMNS", "")
    columns = int(stated) if stated.isdecimal() and stated.isascii() else 0
    if not columns:
        try:
            columns = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns
        except (OSError, ValueError):  # not a terminal
            columns = 80
    return max(min(columns or 80, _WIDEST), _NARROWEST)


def wrap(text: str, width: int, continued: str = "") -> list[str]:
    """Break a text into lines of at most `width` characters; `continued` ends every line but the last."""
    lines, line = [], ""
    room = max(width - len(continued), 1)
    for word in text.split():
        while len(word) > room:
            lines += [line] if line else []
            line, word = word[:room], word[room:]
        if line and len(line) + 1 + len(word) > room:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    lines += [line] if line or not lines else []
    return [f"{part}{continued}" for part in lines[:-1]] + lines[-1:]


def paragraphs(text: str, width: int) -> list[str]:
    """Return a docstring's paragraphs, wrapped, with an empty line between two."""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        lines += ["", *wrap(paragraph, width)] if lines else wrap(paragraph, width)
    return lines


def columns(rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return rows of a term and its description, the descriptions below one another."""
    if width < _TWO_COLUMNS_FROM:
        return [line for term, text in rows for line in (*indented([term], width), *indented([text], width, "      "))]
    short_terms = [len(term) for term, _ in rows if len(term) <= _LONGEST_TERM]
    begin = max(short_terms, default=_LONGEST_TERM) + 4
    lines = []
    for term, text in rows:
        first, *rest = wrap(text, width - begin)
        if len(term) + 4 > begin:
            lines += [f"  {term}", f"{' ' * begin}{first}"]
        else:
            lines.append(f"  {term}".ljust(begin) + first)
        lines += [f"{' ' * begin}{line}" for line in rest]
    return [line.rstrip() for line in lines]


def indented(texts: Iterable[str], width: int, indent: str = "  ", continued: str = "") -> list[str]:
    """Return texts, each wrapped and indented."""
    return [f"{indent}{line}" for text in texts for line in wrap(text, width - len(indent), continued)]


def heading(text: str) -> str:
    """Return a heading, bold on a terminal that shows colours."""
    variables = os.environ
    plain = not sys.stdout.isatty() or variables.get("NO_COLOR") or variables.get("TERM") == "dumb"
    return text if plain else f"\x1b[1m{text}\x1b[0m"


def write(lines: Iterable[str]) -> None:
    """Write lines on standard output; what a locale lacks is written as an escape. A lost reader is no error."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
