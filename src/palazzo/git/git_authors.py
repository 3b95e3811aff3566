"""Who works on a project: the names of the authors of its newest commits, as git tells them."""

from __future__ import annotations

from pathlib import Path

from palazzo.git import git_process
from palazzo.git.git_files import repository_of

_COMMITS = 2_000
"""The newest commits that are looked at: who wrote none of them is not spoken of much."""
_SECONDS = 2.0
"""How long git may take. It told of 2,000 commits in 0.02 s."""
_LONGEST = 60


def commit_authors(directory: Path) -> list[str]:
    """Return the names of who wrote the newest commits of a directory's repository, who wrote last first.

    Empty where there is no repository or commit, or git is not there, fails, or takes too long.
    """
    repository = repository_of(directory)
    if repository is None:
        return []
    log_output = (
        git_process.run(repository.root, "log", f"--max-count={_COMMITS}", "--format=%aN", timeout=_SECONDS) or b""
    )
    names = dict.fromkeys(" ".join(line.split()) for line in log_output.decode("utf-8", "surrogateescape").split("\n"))
    return [name for name in names if name and len(name) <= _LONGEST and name.isprintable()]
