"""The spool: what hooks could not hand over, since no service ran. Pointers, never words.

One file for each palace in the state directory, one line for each pointer: `HOST<tab>SESSION<tab>PATH`, each part
escaped as in a URL. A hook appends a line (`palazzo.alone`); a service that begins takes the file
and reads what it names, as it reads a transcript that a hook tells of.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from palazzo import alone

_MOST = 10_000
"""Pointers that are read; each is to a transcript, and reading one twice costs nothing."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A transcript that is to be read."""

    host: str
    session: str
    path: str


def take(palace: Path, variables: dict[str, str]) -> list[Pointer]:
    """Return what is in the spool of a palace, each once, and empty it."""
    path = Path(alone.spool_file(str(palace), variables))
    aside = path.with_name(f"{path.name}.taken")
    lines: list[bytes] = []
    for one in (aside, path):  # what a process that died took comes first
        with contextlib.suppress(OSError):
            if one == path:
                path.replace(aside)
            lines += aside.read_bytes().splitlines()
    with contextlib.suppress(OSError):
        aside.unlink()
    return list(dict.fromkeys(_pointers(lines[-_MOST:])))


def _pointers(lines: list[bytes]) -> Iterator[Pointer]:
    for line in lines:
        parts = [unquote(part) for part in line.decode("ascii", "replace").split("\t")]
        if len(parts) == 3 and parts[2]:
            yield Pointer(*parts)
