"""Authors of a project: the names of the authors of its newest commits, as git reports them."""

from __future__ import annotations

from pathlib import Path

from palazzo.git import git_process
from palazzo.git.git_files import repository_of

_COMMITS = 2_000
"""The number of latest commits that are examined: an author of none of them is rarely mentioned."""
_SECONDS = 2.0
"""Seconds that git may take. It listed 2,000 commits in 0.02 s."""
_LONGEST = 60


def commit_authors(directory: Path) -> list[str]:
    """Return the authors of the newest commits of a directory's repository, the latest first.

    Empty if there is no repository or commit, or git is missing, fails, or takes too long.
    """
    repository = repository_of(directory)
    if repository is None:
        return []
    log_output = (
        git_process.run(repository.root, "log", f"--max-count={_COMMITS}", "--format=%aN", timeout=_SECONDS) or b""
    )
    names = dict.fromkeys(" ".join(line.split()) for line in log_output.decode("utf-8", "surrogateescape").split("\n"))
    return [name for name in names if name and len(name) <= _LONGEST and name.isprintable()]
