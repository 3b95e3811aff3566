"""Whether a palace is paused: a file beside it, that holds for everybody who uses it, whichever process they are.

The file's first line is the moment at which the pause ends, in microseconds, or nothing; the second when it began. What
cannot be read is a pause without an end: whoever paused wants nothing kept. A pause that is over is a line of another
file: what was said meanwhile stands in transcripts that are read later, and is not captured then either.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo import paths
from palazzo.errors import PalazzoError
from palazzo.model import Micros
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause that holds now. It ends by itself at `until`, or when somebody resumes."""

    until: Micros | None

    def __str__(self) -> str:
        """Return it in words: `paused until 2026-03-04T10:22:31Z`."""
        return "paused" if self.until is None else f"paused until {to_iso(self.until)}"


_NO_END = Micros((1 << 63) - 1)
_MOST = 1_000
"""Pauses that are remembered: the last ones."""


def pause_file(palace: Path) -> Path:
    """Return the file that is there while a palace is paused."""
    return palace.with_name(palace.name + ".paused")


def pauses_file(palace: Path) -> Path:
    """Return the file that remembers pauses: `FROM UP-TO` on each line."""
    return palace.with_name(palace.name + ".pauses")


def pauses(context: Context) -> tuple[tuple[Micros, Micros], ...]:
    """Return when it was paused, from and up to, the pause that holds now without an end."""
    current_pause = _read_current_pause(context.palace_path)
    return (*_over(context.palace_path), *((current_pause,) if current_pause else ()))


def pause_of(context: Context) -> Pause | None:
    """Return the pause that holds now; None where there is none, or it has ended."""
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
    """Return the pauses that there were as a file keeps them; the one that holds now has ended for whoever reads it."""
    return _lines((begins, Micros(min(ends, context.now))) for begins, ends in pauses(context))


def merge_pauses(context: Context, lines: bytes) -> None:
    """Remember, besides its own, the pauses that `written` wrote elsewhere. Raises OSError."""
    own = _over(context.palace_path)
    if more := set(_read(lines)) - set(own):
        pauses_file(context.palace_path).write_text(_lines(sorted({*own, *more})[-_MOST:]), encoding="ascii")


def begin(context: Context, until: Micros | None) -> None:
    """Pause, also where a pause holds already. Raises PalazzoError where the file cannot be written."""
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
            f"{file} cannot be written ({error.strerror or error}); set PALAZZO_OFF=1 where your agents run instead."
        ) from error


def end(context: Context) -> bool:
    """End the pause; return whether one held. Raises PalazzoError where the file cannot be removed."""
    had_pause = pause_of(context) is not None
    file = pause_file(context.palace_path)
    try:
        _remember(context)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            file.unlink()
    except OSError as error:
        raise PalazzoError(f"{file} cannot be removed ({error.strerror or error}); remove it to resume.") from error
    return had_pause


def _read_current_pause(palace: Path) -> tuple[Micros, Micros] | None:
    """The times of the pause that the file tells of; None where it does not say when it began."""
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
    """Note the pause that the file tells of as one that is over."""
    current_pause = _read_current_pause(context.palace_path)
    if current_pause is None:
        return
    past_pauses = [*_over(context.palace_path), (current_pause[0], Micros(min(current_pause[1], context.now)))][-_MOST:]
    pauses_file(context.palace_path).write_text(_lines(past_pauses), encoding="ascii")
