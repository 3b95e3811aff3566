"""Freshness: whether cited lines are still in the current checkout. Reads files, and cached answers of git.

    fresh     the file is unchanged, or the cited lines are at the same place
    moved     the lines are elsewhere in the file, or the file has another name now
    changed   the file exists, and the lines are not as they were
    gone      the file does not exist, and is not known under another name
    unknown   the cited lines were never seen, are not distinctive, or could not be read, or not in time

In case of doubt the result is `unknown`: a citation is fresh only if its words were compared. Lines that are too common
to be distinctive (a lone brace) are fresh only if the whole file is unchanged. No path leads out of the checkout,
neither by `..` nor by a symbolic link.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.git.git_files import repository_of
from palazzo.git.tracked_files import CheckoutFiles, Listing
from palazzo.model import UNKNOWN_LINE, Anchor, Freshness
from palazzo.store.raw_database import refuse_open
from palazzo.text.cited_lines import Finder, lines_of, says_enough, says_plenty

TIMEOUT_SECONDS = 0.025
"""Seconds that all citations of an answer may take together."""
LARGEST, LARGEST_SEARCHED = 2 * 1024 * 1024, 384 * 1024
"""The largest file, in bytes, that is hashed completely, and the largest in which lines are searched: so a citation
takes at most 5 ms (`benchmarks/freshness.py`).
"""
_MOST_PLACES, _MOST_LIKE_IT = 50, 8
"""The most occurrences of the same lines in a file, and the most similar files, that are examined."""
_UNTRACKED_LIMIT = 200
"""The most untracked files that are examined, in case a file was moved without git."""
_ORDER: tuple[Freshness, ...] = ("gone", "changed", "moved", "fresh")


@frozen
class CitationStatus:
    """The state of a citation. `path`, `first` and `last` are its current place, if known.

    `is_checked` is false if there was something to compare, but not enough time or no way to do so.
    """

    freshness: Freshness
    path: str = ""
    first: int = 0
    last: int = 0
    is_checked: bool = True


_UNDETERMINED_STATUS = CitationStatus("unknown")
_SKIPPED_STATUS = CitationStatus("unknown", is_checked=False)
Missing = Literal["missing", "unreadable"]


def worst(standings: Iterable[CitationStatus]) -> Freshness:
    """Return the state of all citations of one memory: the worst known one.

    The result is not fresh if something else that could have been compared was not compared.
    """
    status_list = list(standings)
    states = {status.freshness for status in status_list}
    if not all(status.is_checked for status in status_list):
        states.discard("fresh")
    return next((state for state in _ORDER if state in states), "unknown")


class Checkout:
    """A project's files at one moment: each file is read only once. Create one instance per answer.

    `root` is the project's directory, `key` the palace's own key (`store/redaction_state`), `within` the time limit in
    seconds.
    """

    def __init__(self, root: Path, key: bytes, timeout: float = TIMEOUT_SECONDS) -> None:
        self._root, self._key = _resolve_path(root), key
        self.until = time.monotonic() + timeout
        """The deadline of the answer."""
        self._files: dict[str, _File | Missing] = {}

    def check(self, anchors: Sequence[Anchor]) -> list[CitationStatus]:
        """Return the states of citations, in their order. If time runs out, the last ones are unknown."""
        if not self._root.is_dir():
            return [_SKIPPED_STATUS] * len(anchors)
        statuses = [self._at_its_place(anchor) for anchor in anchors]
        relocator = None
        for n, anchor in enumerate(anchors):
            if statuses[n].freshness == "gone":
                relocator = relocator or _FileRelocator(self, self._checkout_files)
                statuses[n] = relocator.find(anchor)
        return statuses

    def compare(self, anchor: Anchor, path: str) -> CitationStatus:
        """Return a citation's state if the file is `path` now; "gone" if there is no such file."""
        if not _names_a_file(path):
            return _UNDETERMINED_STATUS
        file = self._file(path)
        if isinstance(file, str):
            return CitationStatus("gone") if file == "missing" else _SKIPPED_STATUS
        return replace(_compare_file(anchor, file), path=path)

    def read_lines(self, path: str) -> Sequence[str]:
        """Return the current lines of a file; none if it is missing, unreadable or too large to be searched."""
        file = self._file(path) if _names_a_file(path) else "missing"
        return file.lines if isinstance(file, _File) and file.is_searched else ()

    def says_plenty(self, status: CitationStatus) -> bool:
        """Return whether a citation's current lines are too distinctive to be in another file by chance."""
        file = self._file(status.path)
        return isinstance(file, _File) and says_plenty(file.lines[max(status.first - 1, 0) : status.last or None])

    @cached_property
    def _checkout_files(self) -> CheckoutFiles | Missing:
        repository = repository_of(self._root)
        if repository is not None and repository.root == self._root:
            return CheckoutFiles(repository)
        return "unreadable" if (self._root / ".git").exists() else "missing"

    def _at_its_place(self, anchor: Anchor) -> CitationStatus:
        return _SKIPPED_STATUS if time.monotonic() >= self.until else self.compare(anchor, anchor.path)

    def _file(self, path: str) -> _File | Missing:
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: str) -> _File | Missing:
        try:
            real = self._root.joinpath(*path.split("/")).resolve()
            if not real.is_relative_to(self._root):
                return "unreadable"
            about = real.stat()
            if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
                return "unreadable"
            refuse_open(real)
            with real.open("rb") as file:
                return _File(file.read(LARGEST + 1), self._key)
        except (FileNotFoundError, NotADirectoryError):
            return "missing"
        except (OSError, RuntimeError, ValueError):  # links in a circle; a name that the system cannot have
            return "unreadable"


def _resolve_path(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path


def _names_a_file(path: str) -> bool:
    """Return whether a path leads from a project's root to below it, judged by the path alone."""
    windows = os.name == "nt" and any(mark in path for mark in '\\:*?"<>|')
    return bool(path) and not windows and "\0" not in path and not {"", ".", ".."}.intersection(path.split("/"))


# --- in a file ---------------------------------------------------------------------------------------------


class _File:
    """A file's content, and data derived from it."""

    def __init__(self, data: bytes, key: bytes) -> None:
        self._data, self._key = data, key
        self._blobs: dict[str, str] = {}

    @property
    def is_searched(self) -> bool:
        return len(self._data) <= LARGEST_SEARCHED

    def is_blob(self, blob: str) -> bool:
        """Return whether that is the file's git object ID, by either of git's hash functions."""
        kind = "sha256" if len(blob) == _SHA256 else "sha1"
        if kind not in self._blobs:
            whole = b"blob %d\0" % len(self._data) + self._data
            self._blobs[kind] = hashlib.new(kind, whole, usedforsecurity=False).hexdigest()
        return self._blobs[kind] == blob

    @cached_property
    def lines(self) -> list[str]:
        return lines_of(self._data)

    @cached_property
    def finder(self) -> Finder:
        return Finder(self._key, self.lines)


def _compare_file(anchor: Anchor, file: _File) -> CitationStatus:
    """Return the state of a citation in an existing file."""
    if anchor.blob and file.is_blob(anchor.blob):
        return CitationStatus("fresh", "", max(anchor.first, 0), max(anchor.last, 0))
    if not anchor.digest:
        return CitationStatus("changed") if anchor.blob and not anchor.first else _UNDETERMINED_STATUS
    if not file.is_searched:
        return _SKIPPED_STATUS
    if anchor.first == 0:
        same = len(file.lines) == anchor.lines and file.finder.stands_at(0, anchor.digest, anchor.lines)
        return CitationStatus("fresh" if same else "changed")
    return _stretch(anchor, file)


def _stretch(anchor: Anchor, file: _File) -> CitationStatus:
    """Return the state of cited lines in an existing file."""
    count, place = anchor.lines, anchor.first - 1
    stays = anchor.first != UNKNOWN_LINE and file.finder.stands_at(place, anchor.digest, count)
    if stays and says_plenty(file.lines[place : place + count]):
        return _at("fresh", place, count)
    places = file.finder.places(anchor.digest, count, _MOST_PLACES)
    if places is None:
        return _SKIPPED_STATUS
    if not places:
        return CitationStatus("changed")
    words = file.lines[places[0] : places[0] + count]
    if not says_enough(words) or (len(places) > 1 and not says_plenty(words)):
        return _UNDETERMINED_STATUS
    if stays or anchor.first == UNKNOWN_LINE:
        return _at("fresh", place if stays else places[0], count)
    return _at("moved", min(places, key=lambda at: abs(at - place)), count)


def _at(freshness: Freshness, place: int, count: int) -> CitationStatus:
    return CitationStatus(freshness, "", place + 1, place + count)


# --- elsewhere ---------------------------------------------------------------------------------------------


class _FileRelocator:
    """Searches for files that are no longer at their old path."""

    def __init__(self, checkout: Checkout, checkout_files: CheckoutFiles | Missing) -> None:
        self._checkout, self._tracked = checkout, checkout_files

    def find(self, anchor: Anchor) -> CitationStatus:
        """Return the state of a citation of a missing file."""
        if isinstance(self._tracked, str):
            return CitationStatus("gone") if self._tracked == "missing" else _SKIPPED_STATUS
        until = self._checkout.until
        listing = self._tracked.listing(until)
        if listing is None:
            return _SKIPPED_STATUS
        status = self._left_out(listing, anchor) or self._same_content(listing, anchor)
        if status is not None:
            return status
        new_path = self._tracked.find_new_path(anchor.path, until)
        if new_path:
            return self._follow_rename(anchor, new_path)
        if new_path is None:
            return _SKIPPED_STATUS
        namesake = self._find_matching_file(anchor, listing.find_by_name(_name(anchor.path), _MOST_LIKE_IT))
        return namesake or self._search_untracked_files(anchor, self._tracked.list_untracked_files(until))

    def _left_out(self, listing: Listing, anchor: Anchor) -> CitationStatus | None:
        """Return what git tracks and has not checked out: a sparse checkout, an uninitialized submodule."""
        entry = listing.entry(anchor.path)
        if entry is not None and entry[0] == "S":
            return CitationStatus("fresh", anchor.path) if anchor.blob == entry[1] else _UNDETERMINED_STATUS
        return _UNDETERMINED_STATUS if entry is None and listing.is_in_submodule(anchor.path) else None

    def _same_content(self, listing: Listing, anchor: Anchor) -> CitationStatus | None:
        """Return the only file with the same content, or the only one of those with the same name."""
        if not anchor.blob or anchor.blob in _EMPTY:
            return None
        statuses = (self._checkout.compare(anchor, path) for path in listing.with_blob(anchor.blob, _MOST_LIKE_IT))
        matches = [status for status in statuses if status.freshness in _HAS]
        namesakes = [status for status in matches if _name(status.path) == _name(anchor.path)]
        sole_match = next((group[0] for group in (namesakes, matches) if len(group) == 1), None)
        return None if sole_match is None else replace(sole_match, freshness="moved")

    def _follow_rename(self, anchor: Anchor, path: str) -> CitationStatus:
        """Return the state in a renamed file. A citation of unseen content counts as moved with the file."""
        status = self._checkout.compare(anchor, path)
        is_unverified = status == replace(_UNDETERMINED_STATUS, path=path) and not anchor.digest
        return replace(status, freshness="moved", path=path) if status.freshness in _HAS or is_unverified else status

    def _find_matching_file(self, anchor: Anchor, paths: Iterable[str]) -> CitationStatus | None:
        """Return the only one of these files with the cited words, if they are too distinctive for many files."""
        statuses = (self._checkout.compare(anchor, path) for path in paths)
        matches = [status for status in statuses if status.freshness in _HAS and self._checkout.says_plenty(status)]
        return replace(matches[0], freshness="moved") if len(matches) == 1 else None

    def _search_untracked_files(self, anchor: Anchor, untracked_paths: Sequence[str] | None) -> CitationStatus:
        """Return an untracked file with the cited words, those of the same name first; else gone."""
        if untracked_paths is None:
            return _SKIPPED_STATUS
        for path in sorted(untracked_paths, key=lambda path: (_name(path) != _name(anchor.path), path))[
            :_UNTRACKED_LIMIT
        ]:
            if time.monotonic() >= self._checkout.until:
                return _SKIPPED_STATUS
            status = self._find_matching_file(anchor, [path])
            if status is not None:
                return status
        return CitationStatus("gone")


_HAS = ("fresh", "moved")
_SHA256 = 64
"""Digits of a SHA-256 object id."""
_EMPTY = (
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)
"""git's ids of an empty file."""


def _name(path: str) -> str:
    return PurePosixPath(path).name
