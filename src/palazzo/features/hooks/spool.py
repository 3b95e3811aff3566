"""The spool: pointers that hooks could not pass on because no service ran. It contains no words.

The state directory has one file for each palace, with one line for each pointer: `HOST<tab>SESSION<tab>PATH<tab>ENDED`,
each part escaped as in a URL; the last part is empty while the session goes on. A hook appends a line
(`palazzo.client.offline_hook`). A service that starts moves the file aside, reads the named transcripts as if a hook
had named them, does the work that follows the end of a session, and then deletes the file.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from palazzo.client import offline_hook
from palazzo.frozen_class import frozen

if TYPE_CHECKING:
    from palazzo.features.hooks.contract import HookRequest

CAPTURES = offline_hook.CAPTURES
"""Events after which a transcript has new content, by our names and by the hosts'."""
_CLAIM_SUFFIX = ".taken"
_MOST = 10_000
"""The most pointers that are read; each names a transcript, and reading one twice costs nothing."""


@frozen
class Pointer:
    """A transcript to read, and whether its session has ended."""

    host: str
    session: str
    path: str
    has_ended: bool = False


def leave(palace: Path, request: HookRequest, variables: Mapping[str, str]) -> None:
    """Note what a request's hook could not do: a pointer to the transcript to capture, or a session to orient."""
    if request.event == "session-start":
        beginning: dict[str, object] = {"session": request.session, "source": request.beginning}
        offline_hook.leave_beginning(str(palace), request.host, beginning, variables)
    if request.event in CAPTURES:
        fields: dict[str, object] = {"session": request.session, "transcript": request.transcript}
        offline_hook.leave_pointer(str(palace), request.host, request.event, fields, variables)


class PointerBatch(list[Pointer]):
    """Pointers from the spool, and the files that hold them."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[Path] = []


def take(palace: Path, variables: dict[str, str]) -> PointerBatch:
    """Return the pointers in a palace's spool, without duplicates, including those taken before and not yet deleted."""
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
    """Delete the files of a batch that has been read. Files that another process has taken since are kept for it."""
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
