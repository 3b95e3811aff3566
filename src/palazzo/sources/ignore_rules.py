"""Ignore files as git reads them: nested, the deeper and the later pattern wins, `!` re-includes.

`.gitignore` files count up to the root of the repository. `.palazzoignore` has the same syntax and takes precedence in
its directory. `pathspec` does the matching. Git's other ignore file in the repository (`.git/info/exclude`) is read
too; a person's global ignore file is not, since other checkouts of the project would then differ.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec

from palazzo.frozen_class import frozen
from palazzo.sources.file_heads import read_whole

OWN = ".palazzoignore"
_LARGEST = 1024 * 1024
_DIRECTORY_MARK = "ps_d"


@frozen
class Layer:
    """The patterns of one ignore file; `base` is the directory to which they are relative."""

    base: str
    name: str
    spec: GitIgnoreSpec


Layers = tuple[Layer, ...]


def layers_above(directory: Path, root: Path, gitignore: bool) -> Layers:
    """Return the layers of `root` and of all directories from there down to `directory`, excluding `directory`.

    There are none if they would ignore `directory` itself: it was requested by name.
    """
    layers: Layers = ()
    if not directory.is_relative_to(root):
        return layers
    for above in [*reversed(directory.parents), directory]:
        if not above.is_relative_to(root):
            continue
        if above != root and find_ignore_file(layers, str(above), is_directory=True):
            return ()
        if above != directory:
            layers += layers_in(above, gitignore)
    return layers


def layers_in(directory: Path, gitignore: bool) -> Layers:
    """Return the layers of the ignore files in `directory`."""
    names = [".git/info/exclude", ".gitignore"] if gitignore else []
    specs = ((name, _spec(directory / name)) for name in [*names, OWN])
    return tuple(Layer(str(directory), name, spec) for name, spec in specs if spec is not None)


def find_ignore_file(layers: Sequence[Layer], path: str, *, is_directory: bool) -> str | None:
    """Return the name of the ignore file that excludes `path`, or None if it is not ignored."""
    for layer in reversed(layers):
        verdict = _verdict(layer.spec, _relative(path, layer.base, is_directory))
        if verdict is not None:
            return layer.name if verdict else None
    return None


def _verdict(spec: GitIgnoreSpec, path: str) -> bool | None:
    """Return whether the last pattern that applies to `path` itself excludes it; None if none applies.

    To pathspec a pattern for a directory applies to everything below it, to git it does not: git does not look below an
    excluded directory, and a re-included one (`!docs/`) says nothing about the files in it. pathspec's expressions mark
    where the directory ends, in a group. Nor does `docs/**` apply to `docs/`.
    """
    for pattern in reversed(spec.patterns):
        result = pattern.match_file(path) if pattern.include is not None else None
        if result is None:
            continue
        mark = result.match.start(_DIRECTORY_MARK) if _DIRECTORY_MARK in result.match.groupdict() else -1
        is_exact = mark == -1 and (not path.endswith("/") or pattern.match_file(path[:-1]) is not None)
        if is_exact or mark == len(path) - 1:
            return pattern.include
    return None


class Globs:
    """Patterns from the user, in the syntax of ignore files; a path matches relative to any of its bases."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._spec = _compile_patterns(list(patterns)) if patterns else None

    def __bool__(self) -> bool:
        return self._spec is not None

    def match(self, path: str, bases: Sequence[str], *, is_directory: bool) -> bool:
        """Whether any pattern matches `path`."""
        spec = self._spec
        return spec is not None and any(spec.match_file(_relative(path, base, is_directory)) for base in bases)


def _relative(path: str, base: str, is_directory: bool) -> str:
    inside = path[len(base) :].lstrip(os.sep) if path.startswith(base) else path
    inside = inside.replace(os.sep, "/") if os.sep != "/" else inside
    return inside + "/" if is_directory else inside


def _spec(path: Path) -> GitIgnoreSpec | None:
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return None
        text = read_whole(path, _LARGEST).decode("utf-8-sig", "surrogateescape")
    except OSError:
        return None
    return _compile_patterns([line.removesuffix("\r") for line in text.split("\n")])


def _compile_patterns(lines: list[str]) -> GitIgnoreSpec | None:
    """Return the valid patterns; an invalid one is ignored, as git does."""
    readable = [line for line in lines if _is_pattern(line)]
    return GitIgnoreSpec.from_lines(readable) if readable else None


def _is_pattern(line: str) -> bool:
    if not line.strip() or line.startswith("#"):
        return False
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
