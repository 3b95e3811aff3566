"""The readers of other memories' stores, in the order in which they are asked. A new one is added here."""

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
"""What is most particular is asked first."""


def find_reader(name: str) -> StoreReader:
    """Return the reader of that name; UsageError, naming all, for another."""
    for reader in READERS:
        if reader.name == name:
            return reader
    reader_names = ", ".join(reader.name for reader in READERS)
    raise UsageError(f"'{name}' is no store that can be read; these are: {reader_names}.")


def detect_reader(path: Path) -> StoreReader | None:
    """Return the reader whose store a file or directory is, None where it is nobody's."""
    return next((reader for reader in READERS if reader.recognises(path)), None)
