"""Registry of every file besides the palace itself into which Palazzo writes text: an erase processes all of them.

Code that writes text into another file registers the file here. Files that can be rebuilt or only report a failure are
overwritten and removed; a person's own files are listed, so that the person can correct them. Backups are palaces with
compressed text: they are erased in the same way as palaces (`features/erase/erased_backups`).
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from pathlib import Path

from palazzo.archive.erasure_filter import decode_spellings
from palazzo.frozen_class import frozen
from palazzo.store import vector_file_paths
from palazzo.text.hashed_words import Finder


@frozen
class Trace:
    """Files of one kind: their directory, their name pattern, and whether they can be deleted without loss."""

    directory: Path
    pattern: str
    is_expendable: bool


@frozen
class Places:
    """The directories to which Palazzo writes."""

    palace: Path
    state: Path
    cache: Path
    config: Path
    temporary: Path


@frozen
class TraceReport:
    """Files that contained erased words: those that were removed, and those that a person has to fix."""

    removed: tuple[str, ...]
    remaining: tuple[str, ...]


def traces(places: Places) -> Iterator[Trace]:
    """Yield all kinds of files that may hold archived words."""
    yield Trace(places.state, "bug-*.txt", is_expendable=True)
    yield Trace(places.state, "*-failed.txt", is_expendable=True)
    yield Trace(places.cache, "**/*", is_expendable=True)
    yield Trace(places.temporary, "palazzo-*/copy.db*", is_expendable=True)  # left by a process that was killed
    yield Trace(places.config, "config.toml", is_expendable=False)
    yield Trace(places.config, ".config.toml.*", is_expendable=True)


def clear_traces(places: Places, finder: Finder, extra_traces: Iterable[Trace] = ()) -> TraceReport:
    """Remove expendable files that hold words of the `finder`; return all files that held some.

    `extra_traces` are files in other places.
    """
    removed: list[str] = []
    remaining: list[str] = []
    if not finder:
        return TraceReport((), ())
    for trace in (*traces(places), *extra_traces):
        for path in _files(trace):
            if not path.is_file() or path.is_symlink() or not _holds(path, finder):
                continue
            if trace.is_expendable and _removed(path):
                removed.append(str(path))
            else:
                remaining.append(str(path))
    return TraceReport(tuple(removed), tuple(remaining))


def _files(trace: Trace) -> list[Path]:
    """Return the directory's entries; a directory that another process removes meanwhile holds none."""
    # `Path.glob` raises where one goes between being listed and being read.
    names = glob.glob(trace.pattern, root_dir=trace.directory, recursive=True, include_hidden=True)  # noqa: PTH207
    return sorted(trace.directory / name for name in names)


def _holds(path: Path, finder: Finder) -> bool:
    try:
        raw = path.read_bytes()
    except OSError:
        return False  # somebody else's, or gone
    return bool(finder.suspects(list(decode_spellings(raw))))


def _removed(path: Path) -> bool:
    """Overwrite a file with zeros and remove it; return False if that is not allowed."""
    try:
        vector_file_paths.overwrite_and_remove(path)
    except OSError:
        return False
    return True
