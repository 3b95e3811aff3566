"""Answers that hooks gave without a service: the next service enters them in the ledger.

Hooks append one line each to a file of the state directory (`palazzo.client.offline_hook`): `HOST SESSION AT TOKENS
TOOK IDS`, separated by tabs, each part escaped as in a URL. The lines contain no recorded words.
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
    """One injection of a hook that answered without the service: its session, time, size and drawers."""

    host: str
    session: str
    at: Micros
    tokens: int
    took: int
    parts: tuple[Part, ...]


def enter(context: Context) -> int:
    """Record offline injections in the ledger, each once, and delete the file; return how many were new."""
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
