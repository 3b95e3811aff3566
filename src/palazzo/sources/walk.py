"""A walk over one directory tree: regular files in order, each with its project."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from palazzo.frozen_class import frozen
from palazzo.git.project_identity import project_root
from palazzo.sources import build_output
from palazzo.sources.file_heads import kind_of, trouble
from palazzo.sources.ignore_rules import Globs, Layers, find_ignore_file, layers_above, layers_in
from palazzo.sources.ignored_paths import refusal_by_contents, refusal_of_directory


@frozen
class Entry:
    """A regular file that the walk found; `root` is the directory of its project."""

    path: Path
    status: os.stat_result
    root: Path


@frozen
class Skip:
    """A path that is not read. `expected` marks paths that every project has and that need no report.

    `by_error` marks those that could not be read: the next run may read them, though nothing changes there.
    """

    path: Path
    reason: str
    expected: bool = False
    by_error: bool = False

    @property
    def uri(self) -> str:
        """Return its location, as a `file:` URI that can hold any name."""
        return self.path.as_uri()


@frozen
class _Directory:
    path: Path
    root: Path
    layers: Layers
    tracked_files: frozenset[str] | None = None
    """In build output, the files that git tracks: only they are read. None outside build output."""


def walk(
    top: Path,
    exclude: Globs,
    gitignore: bool,
    skip_directories: frozenset[str] = frozenset(),
    visit: Callable[[Path, Path, set[str]], None] = lambda directory, root, names: None,
    root: Path | None = None,
    outputs: frozenset[str] = build_output.NAMES,
) -> Iterator[Entry | Skip]:
    """Yield the files below `top`, which is absolute and no link, and what is passed over.

    Directories that are `skip_directories` are not entered. `visit` is called with each directory that is entered, its
    project's root, and the names in it. `root` is that of the project of `top`, if known. In directories whose names
    are in `outputs` only files that git tracks are read.
    """
    root = project_root(top) if root is None else root
    stack = [_Directory(top, root, layers_above(top, root, gitignore))]
    inodes: set[tuple[int, int]] = set()
    while stack:
        directory = stack.pop()
        entries = _list_directory(directory.path)
        if isinstance(entries, Skip):
            yield entries
            continue
        contents = refusal_by_contents({entry.name for entry in entries}) if directory.path != top else None
        if contents or not _first_visit(directory.path, inodes):
            yield Skip(directory.path, contents or "met already", expected=True)
            continue
        names = {entry.name for entry in entries}
        directory = _enter_directory(directory, names, gitignore)
        visit(directory.path, directory.root, names)
        deeper: list[_Directory] = []
        for entry in entries:
            verdict = _meet(entry, directory, str(top), exclude, skip_directories, outputs)
            if isinstance(verdict, _Directory):
                deeper.append(verdict)
            else:
                yield verdict
        stack.extend(reversed(deeper))


def _list_directory(path: Path) -> list[os.DirEntry[str]] | Skip:
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        return Skip(path, trouble(error), by_error=True)


def _first_visit(path: Path, inodes: set[tuple[int, int]]) -> bool:
    """Return whether a directory is seen first: one mounted into itself has the same identity everywhere."""
    try:
        status = path.stat()
    except OSError:
        return False
    identity = (status.st_dev, status.st_ino)
    if identity in inodes and status.st_ino:
        return False
    inodes.add(identity)
    return True


def _enter_directory(directory: _Directory, names: set[str], gitignore: bool) -> _Directory:
    """Return the directory with its own ignore files; a nested repository starts without layers."""
    path, root, layers = directory.path, directory.root, directory.layers
    if ".git" in names and path != root:
        root, layers = path, ()
        directory = replace(directory, tracked_files=None)
    if names & {".git", ".gitignore", ".palazzoignore"}:
        layers += layers_in(path, gitignore)
    return replace(directory, root=root, layers=layers)


def _meet(
    entry: os.DirEntry[str],
    directory: _Directory,
    top: str,
    exclude: Globs,
    skip_directories: frozenset[str],
    outputs: frozenset[str],
) -> Entry | Skip | _Directory:
    path = Path(entry.path)
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Skip(path, trouble(error), by_error=True)
    is_directory = stat.S_ISDIR(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return Skip(path, _about_link(path, top), expected=True)
    bases = (top, str(directory.root))
    if entry.path in skip_directories or exclude.match(entry.path, bases, is_directory=is_directory):
        return Skip(path, "excluded", expected=True)
    ignore_file = find_ignore_file(directory.layers, entry.path, is_directory=is_directory)
    if ignore_file:
        return Skip(path, f"ignored by {ignore_file}", expected=True)
    if is_directory:
        refusal = refusal_of_directory(entry.name)
        return Skip(path, refusal, expected=True) if refusal else _below(path, directory, outputs)
    if directory.tracked_files is not None and entry.path not in directory.tracked_files:
        return Skip(path, build_output.REASON, expected=True)
    if not stat.S_ISREG(status.st_mode):
        return Skip(path, kind_of(status.st_mode))
    return Entry(path, status, directory.root)


def _below(path: Path, parent: _Directory, outputs: frozenset[str]) -> _Directory | Skip:
    """Return the directory at `path` for entering, or a skip for build output where git tracks nothing."""
    files = parent.tracked_files
    if files is None and path.name in outputs and not (path / ".git").exists():
        files = build_output.tracked_files(path, parent.root)
        if not files:
            return Skip(path, build_output.REASON)
    return replace(parent, path=path, tracked_files=files)


def _about_link(path: Path, top: str) -> str:
    try:
        inside = path.resolve(strict=True).is_relative_to(top)
    except (OSError, RuntimeError):
        return "a broken symbolic link"
    if inside:
        return "a symbolic link; its target is read in its own place"
    return "a symbolic link to a place outside"
