"""Directories that builds fill: what git does not track in them is not read, unless somebody names it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from palazzo.scope import git

NAMES = frozenset({"build", "dist", "target", "out", "coverage", "htmlcov", "vendor", "obj", "_build"})
"""What build tools, test runners and package managers call such a directory. People call source code so, too: a package
`build`, vendored documents. So git decides, by whether it tracks anything there."""
REASON = "build output that git does not track; name it to read it"
_PATIENCE = 5.0
"""Seconds that git has to list one directory; of 100,000 files it takes about a tenth of one."""


def tracked_files(directory: Path, root: Path) -> frozenset[str]:
    """Return the paths of the files below `directory` that git tracks in the checkout at `root`; none without one."""
    if not (root / ".git").exists():
        return frozenset()
    listed = git.run(root, "ls-files", "-z", "--", directory.relative_to(root).as_posix(), within=_PATIENCE)
    names = (os.fsdecode(name) for name in (listed or b"").split(b"\0") if name)
    return frozenset(str(root / name) for name in names)


def unnamed(patterns: Iterable[str]) -> frozenset[str]:
    """Return the names of directories that count as build output beside patterns that name what is to be read."""
    return NAMES - {part for pattern in patterns for part in pattern.split("/")}
