"""Directories of build output: files in them that git does not track are not read, unless a person names them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from palazzo.git import git_process

NAMES = frozenset({"build", "dist", "target", "out", "coverage", "htmlcov", "vendor", "obj", "_build"})
"""Names that build tools, test runners and package managers give such a directory. Source code uses these names too (a
package `build`, vendored documents), so only files that git tracks there are read.
"""
REASON = "build output that git does not track; name it to read it"
_PATIENCE = 5.0
"""Maximum seconds for git to list one directory; 100,000 files take about 0.1 s."""


def tracked_files(directory: Path, root: Path) -> frozenset[str]:
    """Return the paths below `directory` that git tracks in `root`; none if that is not a checkout."""
    if not (root / ".git").exists():
        return frozenset()
    output = git_process.run(root, "ls-files", "-z", "--", directory.relative_to(root).as_posix(), timeout=_PATIENCE)
    names = (os.fsdecode(name) for name in (output or b"").split(b"\0") if name)
    return frozenset(str(root / name) for name in names)


def directory_names(include: Iterable[str]) -> frozenset[str]:
    """Return the names of directories that count as build output: those that no pattern of `include` contains."""
    return NAMES - {part for pattern in include for part in pattern.split("/")}
