"""The palaces that have existed on this machine, so that a moved or deleted one is not silently created again.

A file in the state directory, outside every palace, has one path a line. A path is added when a palace there is opened.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from palazzo.errors import PalaceGone
from palazzo.paths import make_private_directory, state_directory

_NAME = "palaces.txt"
_LARGEST = 1 << 20
"""The most bytes of the file that are read. No more paths are added to a larger file."""


def remember(palace: Path, variables: Mapping[str, str]) -> None:
    """Record a palace at this path. If the state directory cannot be written, nothing is recorded."""
    line = _line(palace)
    if line in _lines(variables):
        return
    file = _file(variables)
    with contextlib.suppress(OSError):
        make_private_directory(file.parent)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(handle).st_size < _LARGEST:
                os.write(handle, f"{line}\n".encode("ascii"))
        finally:
            os.close(handle)


def forget(palace: Path, variables: Mapping[str, str]) -> None:
    """Allow a new palace at this path. Raises OSError."""
    file, line = _file(variables), _line(palace)
    new = file.with_name(f"{_NAME}.new")
    new.touch(0o600)
    new.write_text("".join(f"{stored_line}\n" for stored_line in _lines(variables) if stored_line != line), "ascii")
    new.replace(file)


def refuse_gone(palace: Path, variables: Mapping[str, str]) -> None:
    """Raise PalaceGone if the palace previously at this path no longer exists."""
    if is_known(palace, variables) and not palace.exists():  # in this order: another process may be making it
        raise PalaceGone.at(palace)


def is_known(palace: Path, variables: Mapping[str, str]) -> bool:
    """Return whether a palace was at this path before, so that none is created there now."""
    return _line(palace) in _lines(variables)


def _file(variables: Mapping[str, str]) -> Path:
    return state_directory(variables) / _NAME


def _lines(variables: Mapping[str, str]) -> list[str]:
    try:
        with _file(variables).open("rb") as file:
            return file.read(_LARGEST).decode("ascii", "replace").splitlines()
    except OSError:
        return []


def _line(palace: Path) -> str:
    """Return the line to write for a path: JSON, so that every path is one line of ASCII."""
    return json.dumps(os.path.realpath(palace))
