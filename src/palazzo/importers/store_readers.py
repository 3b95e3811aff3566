"""Store readers: the readers of other memories' stores, in the order in which they are tried. Add new ones here."""

from __future__ import annotations

from pathlib import Path

from palazzo.errors import UsageError
from palazzo.importers import StoreReader
from palazzo.importers.claude_mem import ClaudeMem
from palazzo.importers.claude_memory import ClaudeMemory
from palazzo.importers.mcp_memory import McpMemory
from palazzo.importers.mempalace import MemPalace
from palazzo.importers.mnemograph import Mnemograph
from palazzo.importers.shodh_export import Shodh
from palazzo.importers.wt_memory import WtMemory

READERS: tuple[StoreReader, ...] = (
    MemPalace(),
    ClaudeMem(),
    WtMemory(),
    Shodh(),
    Mnemograph(),
    McpMemory(),
    ClaudeMemory(),
)
"""The most specific readers are tried first."""


def find_reader(name: str) -> StoreReader:
    """Return the reader of that name; otherwise raises UsageError that lists all."""
    for reader in READERS:
        if reader.name == name:
            return reader
    reader_names = ", ".join(reader.name for reader in READERS)
    raise UsageError(f"'{name}' is not a supported store; supported stores: {reader_names}.")


def detect_reader(path: Path) -> StoreReader | None:
    """Return the reader for the store at a path, None if no reader knows it."""
    return next((reader for reader in READERS if reader.recognises(path)), None)
