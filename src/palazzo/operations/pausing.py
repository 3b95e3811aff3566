"""Whether a palace is paused: a file beside it, that holds for everybody who uses it, whichever process they are.

The file holds the moment at which the pause ends, in microseconds, or nothing. What cannot be read is a pause without
an end: whoever paused wants nothing kept.
"""

from __future__ import annotations

import contextlib
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


def pause_file(palace: Path) -> Path:
    """Return the file that is there while a palace is paused."""
    return palace.with_name(palace.name + ".paused")


def pause_of(context: Context) -> Pause | None:
    """Return the pause that holds now; None where there is none, or it has ended."""
    try:
        said = pause_file(context.palace_path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return Pause(None)
    until = int(said) if said.strip().isdigit() else None
    return None if until is not None and until <= context.now else Pause(None if until is None else Micros(until))


def begin(context: Context, until: Micros | None) -> None:
    """Pause, also where a pause holds already. Raises PalazzoError where the file cannot be written."""
    file = pause_file(context.palace_path)
    try:
        paths.make_private_directory(file.parent)
        file.write_text("" if until is None else f"{until}\n", encoding="ascii")
    except OSError as error:
        raise PalazzoError(
            f"{file} cannot be written ({error.strerror or error}); set PALAZZO_OFF=1 where your agents run instead."
        ) from error


def end(context: Context) -> bool:
    """End the pause; return whether one held. Raises PalazzoError where the file cannot be removed."""
    held = pause_of(context) is not None
    file = pause_file(context.palace_path)
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            file.unlink()
    except OSError as error:
        raise PalazzoError(f"{file} cannot be removed ({error.strerror or error}); remove it to resume.") from error
    return held
