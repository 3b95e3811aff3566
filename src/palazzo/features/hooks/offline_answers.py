"""What hooks told that found no service and answered by themselves: entered in the ledger by the next service.

They leave a line each in a file of the state directory (`palazzo.client.offline_hook`): `HOST SESSION AT TOKENS TOOK IDS`, with tabs
between, each part escaped as in a URL. There are no words in it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from palazzo.client import offline_hook
from palazzo.model import Micros
from palazzo.store.ledger import Part

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class InjectionRecord:
    """What a session was told, and when."""

    host: str
    session: str
    at: Micros
    tokens: int
    took: int
    parts: tuple[Part, ...]


def enter(context: Context) -> int:
    """Enter in the ledger what was told, each once, and forget the file; return how many were new."""
    from palazzo.store import hook_sessions, ledger

    file = Path(offline_hook.told_file(str(context.palace_path), context.variables))
    aside = file.with_name(f"{file.name}.taken")
    new = 0
    for path in (aside, file):  # what a process took that died comes first
        with contextlib.suppress(OSError):
            if path == file:
                file.replace(aside)
            lines = aside.read_bytes().splitlines()
            with context.writing().database.transaction() as connection:
                for record in _read(lines):
                    session = hook_sessions.record_hook(connection, record.host, record.session, record.at)
                    row, epoch = session.row, session.epoch
                    new += ledger.record_unaided(
                        connection, row, epoch, record.parts, record.tokens, record.took, record.at
                    )
            aside.unlink()
    return new


def _read(lines: list[bytes]) -> Iterator[InjectionRecord]:
    for line in lines:
        parts = [unquote(part) for part in line.decode("ascii", "replace").split("\t")]
        with contextlib.suppress(ValueError):  # a line that was cut when a disk was full
            host, session, at, tokens, took, ids = parts
            drawers = tuple(Part("drawer", bytes.fromhex(uid).hex()) for uid in ids.split(","))
            yield InjectionRecord(host, session, Micros(int(at)), int(tokens), int(took), drawers)
