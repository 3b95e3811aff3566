"""The files that a dry run of mining lists: what an actual run would do with each, and why it skips some."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from palazzo.frozen_class import frozen
from palazzo.sources.discovery import PART_OF_DIRECTORY
from palazzo.sources.formats.chat_messages import ChatMessages
from palazzo.sources.formats.chatgpt import ChatGPT
from palazzo.sources.formats.claude_ai import ClaudeAI
from palazzo.sources.formats.document_rows import Documents
from palazzo.sources.formats.slack import Slack
from palazzo.sources.mining_report import FileGroup, ListedFile
from palazzo.sources.walk import Skip

_EXPORTS = frozenset(reader.kind for reader in (ClaudeAI(), ChatGPT(), Slack(), ChatMessages()))
"""Kinds of files that a service wrote when a person requested their conversations."""


@frozen
class SourceCounts:
    """Numbers of sources: a file is one source, and each conversation of a file that contains many."""

    new: int = 0
    grown: int = 0
    unchanged: int = 0
    failed: int = 0

    def __sub__(self, earlier: SourceCounts) -> SourceCounts:
        """Return what was added since `earlier`."""
        return SourceCounts(
            self.new - earlier.new,
            self.grown - earlier.grown,
            self.unchanged - earlier.unchanged,
            self.failed - earlier.failed,
        )

    @property
    def readable(self) -> int:
        """Return the number of sources that can be read."""
        return self.new + self.grown + self.unchanged


class FileListing:
    """Collects the files of a dry run."""

    def __init__(self) -> None:
        self.files: list[ListedFile] = []

    def add_skip(self, skip: Skip) -> None:
        """Add a path that discovery skipped."""
        if skip.reason != PART_OF_DIRECTORY:
            self.files.append(ListedFile(skip.uri, "skipped", _size(skip.path), reason=skip.reason))

    def add_file(self, path: Path, kind: str, counts: SourceCounts, reasons: Sequence[str]) -> None:
        """Add a file of that format, with its sources; `reasons` say why some of them are skipped or failed."""
        group: FileGroup = _group_of(kind)
        if not counts.readable:
            group = "failed" if counts.failed else "skipped"
        reason = next(iter(reasons), "" if counts.readable else "it contains no conversation that matches the request")
        size = sum(filter(None, map(_size, path.rglob("*")))) if path.is_dir() else _size(path)
        self.files.append(ListedFile(path.as_uri(), group, size, counts.new, counts.grown, counts.unchanged, reason))


def _group_of(kind: str) -> FileGroup:
    if kind == Documents.kind:
        return "document"
    return "export" if kind in _EXPORTS else "transcript"


def _size(path: Path) -> int | None:
    try:
        return None if path.is_dir() else path.lstat().st_size
    except OSError:  # deleted meanwhile, or unreadable: the reason of the skip says so
        return None
