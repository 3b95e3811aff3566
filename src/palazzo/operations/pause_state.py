"""Pause state: a file beside the palace, valid for everyone who uses the palace, in any process.

The file's first line is the moment at which the pause ends, in microseconds, or empty; the second line is the moment at
which it began. An unreadable file counts as a pause without an end, because the person who paused wants nothing
recorded. A finished pause becomes a line of another file: text from that time is in transcripts that are read later,
and must not be captured then either.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo import paths
from palazzo.errors import PalazzoError
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@frozen
class Pause:
    """A pause that is in effect. It ends at `until`, or when the palace is resumed."""

    until: Micros | None

    def __str__(self) -> str:
        """Return the pause in words: `paused until 2026-03-04T10:22:31Z`."""
        return "paused" if self.until is None else f"paused until {to_iso(self.until)}"


_NO_END = Micros((1 << 63) - 1)
_MOST = 1_000
"""The most pauses that are remembered; the oldest are dropped."""


def pause_file(palace: Path) -> Path:
    """Return the path of the file that exists while a palace is paused."""
    return palace.with_name(palace.name + ".paused")


def pauses_file(palace: Path) -> Path:
    """Return the path of the file that stores past pauses: `FROM UP-TO` on each line."""
    return palace.with_name(palace.name + ".pauses")


def pauses(context: Context) -> tuple[tuple[Micros, Micros], ...]:
    """Return the start and end of each pause; an active pause without a set end is unlimited."""
    current_pause = _read_current_pause(context.palace_path)
    return (*_over(context.palace_path), *((current_pause,) if current_pause else ()))


def pause_of(context: Context) -> Pause | None:
    """Return the active pause; None if there is none, or it has ended."""
    try:
        content = pause_file(context.palace_path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return Pause(None)
    first = content.split(b"\n")[0].strip()
    until = int(first) if first.isdigit() else None
    return None if until is not None and until <= context.now else Pause(None if until is None else Micros(until))


def format_pauses(context: Context) -> str:
    """Return all pauses in the file's format; the active one is written as ended now."""
    return _lines((begins, Micros(min(ends, context.now))) for begins, ends in pauses(context))


def merge_pauses(context: Context, lines: bytes) -> None:
    """Add the pauses that `format_pauses` wrote elsewhere to the stored ones. Raises OSError."""
    own = _over(context.palace_path)
    if more := set(_read(lines)) - set(own):
        pauses_file(context.palace_path).write_text(_lines(sorted({*own, *more})[-_MOST:]), encoding="ascii")


def begin(context: Context, until: Micros | None) -> None:
    """Begin a pause, or change an active one. Raises PalazzoError if the file cannot be written."""
    file = pause_file(context.palace_path)
    try:
        paths.make_private_directory(file.parent)
        began = context.now
        if pause_of(context) is None:
            _remember(context)
        elif current_pause := _read_current_pause(context.palace_path):
            began = current_pause[0]
        file.write_text(f"{'' if until is None else until}\n{began}\n", encoding="ascii")
    except OSError as error:
        raise PalazzoError(
            f"{file} cannot be written ({error.strerror or error}); instead, set PALAZZO_OFF=1 where your agents run."
        ) from error


def end(context: Context) -> bool:
    """End the pause; return whether one was active. Raises PalazzoError if the file cannot be removed."""
    had_pause = pause_of(context) is not None
    file = pause_file(context.palace_path)
    try:
        _remember(context)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            file.unlink()
    except OSError as error:
        raise PalazzoError(
            f"{file} cannot be removed ({error.strerror or error}); delete it by hand to resume."
        ) from error
    return had_pause


def _read_current_pause(palace: Path) -> tuple[Micros, Micros] | None:
    """Return the start and end of the pause in the file; None if the file does not state the start."""
    try:
        lines = pause_file(palace).read_bytes().split(b"\n")
    except OSError:
        return None
    until, began, *_ = (*(line.strip() for line in lines), b"", b"")
    if not began.isdigit():
        return None
    return Micros(int(began)), Micros(int(until)) if until.isdigit() else _NO_END


def _over(palace: Path) -> list[tuple[Micros, Micros]]:
    try:
        return _read(pauses_file(palace).read_bytes())
    except OSError:
        return []


def _read(lines: bytes) -> list[tuple[Micros, Micros]]:
    times = (line.split() for line in lines.splitlines()[-_MOST:])
    return [
        (Micros(int(pair[0])), Micros(int(pair[1]))) for pair in times if len(pair) == 2 and b"".join(pair).isdigit()
    ]


def _lines(times: Iterable[tuple[Micros, Micros]]) -> str:
    return "".join(f"{begins} {ends}\n" for begins, ends in times)


def _remember(context: Context) -> None:
    """Store the pause in the file as a past pause."""
    current_pause = _read_current_pause(context.palace_path)
    if current_pause is None:
        return
    past_pauses = [*_over(context.palace_path), (current_pause[0], Micros(min(current_pause[1], context.now)))][-_MOST:]
    pauses_file(context.palace_path).write_text(_lines(past_pauses), encoding="ascii")
