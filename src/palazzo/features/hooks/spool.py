"""The spool: what hooks could not hand over, since no service ran. Pointers, never words.

One file for each palace in the state directory, one line for each pointer: `HOST<tab>SESSION<tab>PATH<tab>ENDED`,
each part escaped as in a URL; the last is empty while the session goes on. A hook appends a line (`palazzo.client.offline_hook`). A
service that begins takes the file aside, reads what it names as it reads a transcript that a hook tells of, does what
is done when a session has ended, and then forgets it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from palazzo.client import offline_hook

if TYPE_CHECKING:
    from palazzo.features.hooks.hook import HookRequest

CAPTURES = offline_hook.CAPTURES
"""Events after which there is something to read, by our names and by the hosts'."""
_CLAIM_SUFFIX = ".taken"
_MOST = 10_000
"""Pointers that are read; each is to a transcript, and reading one twice costs nothing."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A transcript that is to be read, and whether its session has ended."""

    host: str
    session: str
    path: str
    has_ended: bool = False


def leave(palace: Path, request: HookRequest, variables: Mapping[str, str]) -> None:
    """Add a pointer to the transcript that the hook of a request could not capture."""
    if request.event in CAPTURES:
        fields: dict[str, object] = {"session": request.session, "transcript": request.transcript}
        offline_hook.leave_pointer(str(palace), request.host, request.event, fields, variables)


class PointerBatch(list[Pointer]):
    """Pointers from the spool, and the files that hold them."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[Path] = []


def take(palace: Path, variables: dict[str, str]) -> PointerBatch:
    """Return what is in the spool of a palace, each once, with what was taken before and not forgotten yet."""
    path = Path(offline_hook.spool_file(str(palace), variables))
    with contextlib.suppress(OSError):
        path.replace(path.with_name(f"{path.name}.{time.time_ns()}{_CLAIM_SUFFIX}"))
    pointers, lines = PointerBatch(), dict[bytes, None]()
    for aside in _list_claimed_files(path):
        with contextlib.suppress(OSError):
            lines |= dict.fromkeys(aside.read_bytes().splitlines())
            pointers.files.append(aside)
    pointers += dict.fromkeys(_pointers(list(lines)[-_MOST:]))
    return pointers


def forget(batch: PointerBatch) -> None:
    """Delete the files of a batch that has been read. Files that another process has taken since are left to it."""
    for aside in batch.files:
        with contextlib.suppress(OSError):
            aside.unlink()


def _list_claimed_files(path: Path) -> list[Path]:
    try:
        return sorted(
            candidate
            for candidate in path.parent.iterdir()
            if candidate.name.startswith(path.name) and candidate.suffix == _CLAIM_SUFFIX
        )
    except OSError:
        return []


def _pointers(lines: list[bytes]) -> Iterator[Pointer]:
    for line in lines:
        parts = [unquote(part) for part in line.decode("ascii", "replace").split("\t")]
        if len(parts) == 4 and parts[2]:
            host, session, path, end_mark = parts
            yield Pointer(host, session, path, end_mark == "ended")
