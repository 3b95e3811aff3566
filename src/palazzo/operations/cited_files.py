"""Files that are cited with `--anchor`: their names, and their state at that time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from palazzo.errors import NotFound, UsageError
from palazzo.git import freshness
from palazzo.knowledge.session_citations import blob_of
from palazzo.model import Anchor
from palazzo.operations.arguments import absolute, exists
from palazzo.store import anchors as anchor_rows
from palazzo.store.anchors import can_be_kept
from palazzo.store.raw_database import refuse_open
from palazzo.store.redaction_state import fingerprint_key
from palazzo.text.cited_lines import digest, lines_of
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from pathlib import Path

    from palazzo.git.freshness import CitationStatus
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

LONGEST_LOOK = 5.0
"""Seconds that a check of citations may take if it is the caller's only request."""
LARGEST = 2 * 1024 * 1024
"""The largest file, in bytes, whose text is compared; a larger file is cited by its name and lines alone."""
MOST = 32
"""The most files that one note or fact may cite."""
_LINES = re.compile(r":L?(\d{1,9})(?:-L?(\d{1,9}))?$")


def anchors(context: Context, citations: Sequence[str]) -> tuple[Anchor, ...]:
    """Return the citations of `PATH` or `PATH:L1-L2`, with the current content; raise NotFound or UsageError if
    invalid.

    Paths are stored relative to the project's root, wherever they were given from.
    """
    if len(citations) > MOST:
        raise UsageError(
            f"--anchor is given {len(citations)} times, but may be given {MOST} times: name the files that matter most."
        )
    return tuple(dict.fromkeys(_anchor(context, citation) for citation in citations))


class CheckedCitations(NamedTuple):
    """What a note (its first drawer) or a fact cites, and the state of each citation."""

    id: str
    is_fact: bool
    citations: tuple[tuple[Anchor, CitationStatus], ...]


def check_project(context: Context, connection: Connection) -> Iterator[CheckedCitations]:
    """Check the citations of the current project's notes and facts that hold, notes first, oldest first."""
    wing = context.home
    if wing is None:
        return
    notes = anchor_rows.given_in(connection, wing)
    facts = anchor_rows.of_facts(connection, anchor_rows.facts_in(connection, wing, context.now))
    files = freshness.Checkout(context.project_root, fingerprint_key(connection), LONGEST_LOOK)
    for is_fact, citations_by_id in ((False, notes), (True, facts)):
        for uid, citations in citations_by_id.items():
            yield CheckedCitations(uid, is_fact, tuple(zip(citations, files.check(citations), strict=True)))


def refresh_anchors(context: Context, old_anchors: Sequence[Anchor]) -> tuple[Anchor, ...]:
    """Return citations updated to the present: moved files at their new path, changed lines with their new content.

    Citations of missing files are left out; those of unreadable files are returned unchanged.
    """
    with context.reading().database.snapshot() as connection:
        key = fingerprint_key(connection)
    standings = freshness.Checkout(context.project_root, key, LONGEST_LOOK).check(old_anchors)
    new_anchors = (
        _refresh_anchor(context, anchor, status) for anchor, status in zip(old_anchors, standings, strict=True)
    )
    return tuple(dict.fromkeys(anchor for anchor in new_anchors if anchor is not None))


def _refresh_anchor(context: Context, anchor: Anchor, status: CitationStatus) -> Anchor | None:
    if status.freshness == "gone":
        return None
    if status.freshness not in ("moved", "changed"):
        return anchor
    path = str(context.project_root / (status.path or anchor.path))
    first, last = (status.first, status.last) if status.freshness == "moved" else (anchor.first, anchor.last)
    try:
        return _anchor(context, f"{path}:{first}-{last}" if first > 0 else path)
    except UsageError:  # it has no such lines any more: all of it, then
        return _anchor(context, path)


def _anchor(context: Context, citation: str) -> Anchor:
    lines = _LINES.search(citation)
    file_name = citation[: lines.start()] if lines else citation
    if lines and exists(context, citation):  # a file whose name ends so
        lines, file_name = None, citation
    if not can_be_kept(file_name):
        raise UsageError("--anchor: the file's name is not valid UTF-8, so it cannot be cited; rename the file.")
    path = absolute(context, file_name)
    if not file_name.strip() or not exists(context, file_name):
        raise NotFound(
            f"--anchor: {file_name or citation} does not exist; give an existing file, optionally with lines."
        )
    first, last = (int(lines[1]), int(lines[2] or lines[1])) if lines else (0, 0)
    if lines and not 0 < first <= last:
        raise UsageError(f"--anchor: the lines of '{citation}' must count from 1, with the first not after the last.")
    root = context.project_root
    stored_path = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    digest, count, blob = _words(context, path, file_name, first, last)
    return Anchor(stored_path, first, last, digest, count, blob)


def _words(context: Context, path: Path, file_name: str, first: int, last: int) -> tuple[bytes, int, str]:
    """Return the digest of the cited lines, their number and the file's blob; empty values for non-files and large
    files.
    """
    if not path.is_file():
        if first:
            raise UsageError(f"--anchor: {file_name} is not a file, so it has no lines; leave the lines out.")
        return b"", 0, ""
    try:
        refuse_open(path)
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise NotFound(f"--anchor: {file_name} cannot be read ({error.strerror}); name another file.") from None
    if len(data) > LARGEST:
        return b"", 0, ""
    lines = lines_of(data)
    if last > len(lines):
        raise UsageError(
            f"--anchor: {file_name} has {count_noun(len(lines), 'line')}, so line {last:,} does not exist; name "
            "existing lines."
        )
    excerpt = lines[first - 1 : last] if first else lines
    with context.writing().database.snapshot() as connection:
        key = fingerprint_key(connection)
    return digest(key, excerpt), len(excerpt), blob_of(data)
