"""Documents that are not where they were last seen: missing or unreachable.

A document is missing if its directory exists and is not empty. It is unreachable if it may come back by itself: its
volume is not mounted (the directory and all its parents up to the project's root do not exist, or the directory is
empty like a mount point), it cannot be accessed, or it was on a branch that still exists and is not checked out.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.git.git_files import commit_at, head_of, repository_of

Absence = Literal["", "missing", "unreachable"]


@frozen
class Presence:
    """Whether a document exists, and the reason if not."""

    absence: Absence
    reason: str = ""


DOCUMENT_PRESENT = Presence("")


class Looker:
    """Checks for documents at and below a directory; reads each directory once.

    `top` need not exist. No file is opened, and no link is followed except those that lead to `top`.
    """

    def __init__(self, top: Path) -> None:
        self._top = top
        self._repository = repository_of(top) if top.is_dir() else None
        self._branch = "" if self._repository is None else head_of(self._repository)[0]
        self._directories: dict[Path, Presence] = {}

    def look(self, path: Path, branch: str) -> Presence:
        """Return whether the document last seen at `path`, on `branch` ('' for none), is still there."""
        try:
            os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            return Presence("unreachable", f"it cannot be accessed: {error.strerror}")
        else:
            return DOCUMENT_PRESENT
        above = self._directory(path.parent)
        if above.absence:
            return above
        if branch and branch != self._branch and self._has_branch(branch):
            return Presence(
                "unreachable", f"it was on the branch {branch}, but {self._branch or 'another'} is checked out"
            )
        return Presence("missing", "it no longer exists")

    def _directory(self, path: Path) -> Presence:
        """Return what a missing file in that directory means: nothing, unless it may not be mounted."""
        if path not in self._directories:
            self._directories[path] = self._looked_into(path)
        return self._directories[path]

    def _looked_into(self, path: Path) -> Presence:
        try:
            with os.scandir(path) as entries:
                empty = next(entries, None) is None
        except (FileNotFoundError, NotADirectoryError):
            if path == self._top or not path.is_relative_to(self._top):
                return Presence("unreachable", f"{path} does not exist: it may not be mounted")
            return self._directory(path.parent)
        except OSError as error:
            return Presence("unreachable", f"{path} cannot be listed: {error.strerror}")
        return Presence("unreachable", f"{path} is empty: it may be an unmounted volume") if empty else DOCUMENT_PRESENT

    def _has_branch(self, branch: str) -> bool:
        return self._repository is not None and bool(commit_at(self._repository, f"refs/heads/{branch}"))
