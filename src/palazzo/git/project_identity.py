"""Project identity: the project that a directory belongs to, wherever its checkouts are.

A git repository is identified by its first commit, which its clones and worktrees share and a repository of the same
name does not. The commit is the root of the first-parent history of the main line, so that merging another history or
checking out an orphan branch changes nothing. A shallow clone has no first commit, and is identified by its `origin`. A
directory without a repository is identified by its name alone. No identity contains a path of this machine. Bytes of a
name that are not UTF-8 stand as U+FFFD in it, as they do in the palace's tables: a project is found again by its
identity.
"""

from __future__ import annotations

import os
from pathlib import Path

from palazzo.frozen_class import frozen
from palazzo.git import git_process
from palazzo.git.git_files import (
    Repository,
    commit_at,
    first_commit_in_log,
    head_of,
    origin_of,
    read_line,
    repository_of,
)
from palazzo.text.surrogates import well_formed

GIT_SECONDS = 2.0
"""Seconds that git may take to find the first commit. It took 0.27 s for 100,000 commits without files."""

PROJECT_FILES = ("palazzo.toml", "mempalace.yaml")

_MAIN_LINES = ("refs/remotes/origin/main", "refs/heads/main", "refs/remotes/origin/master", "refs/heads/master")

_FIRST_COMMITS: dict[tuple[Path, str], str] = {}
"""Git's answers, by git directory and tip: a tip's first commit never changes, so a process asks only once."""


@frozen
class ProjectIdentity:
    """A project, and the state of its checkout at `root`.

    `identity` is `git:<first commit>`, `remote:<host/path>` or `dir:<name>`. `is_final` is False if git did not answer
    in time or is not available: a later call may get a better answer, so do not store anything under this one.
    """

    identity: str
    root: Path
    name: str
    branch: str = ""
    commit: str = ""
    is_final: bool = True


def project_identity(directory: Path, git_seconds: float = GIT_SECONDS) -> ProjectIdentity:
    """Return the project that `directory` belongs to. The directory need not exist."""
    real_path = _resolve_path(directory.expanduser().absolute())
    repository = repository_of(real_path)
    if repository is None:
        root = project_root(real_path)
        return ProjectIdentity(well_formed(f"dir:{root.name}"), root, root.name)
    branch, commit = head_of(repository)
    if not commit and _has_reftable(repository):
        branch, commit = _head_by_git(repository, git_seconds)
    identity, is_final = _identity(repository, commit, git_seconds)
    return ProjectIdentity(identity, repository.root, repository.name, branch, commit, is_final)


def project_root(directory: Path) -> Path:
    """Return the project directory that contains `directory` (absolute).

    That is its repository's, else the nearest with a project file of Palazzo's or MemPalace's, else itself.
    """
    repository = repository_of(directory)
    if repository is not None:
        return repository.root
    project_directories = (up for up in (directory, *directory.parents) if _has_project_file(up))
    return next(project_directories, directory)


def is_marked_as_project(directory: Path) -> bool:
    """Return whether a directory lies in a repository, or holds a project file of Palazzo's or MemPalace's."""
    return repository_of(directory) is not None or _has_project_file(directory)


def _has_project_file(directory: Path) -> bool:
    """Return whether a directory holds a project file; one that may not be entered holds none for this user."""
    return any(os.path.isfile(directory / name) for name in PROJECT_FILES)  # noqa: PTH113 - the other one raises then


def _identity(repository: Repository, commit: str, git_seconds: float) -> tuple[str, bool]:
    shallow = (repository.common / "shallow").is_file()
    tip = _main_line(repository) or commit
    if tip and not shallow:
        first = _first_commit(repository, tip, git_seconds)
        if first:
            return f"git:{first}", True
        log_commit = first_commit_in_log(repository)
        if log_commit:
            return f"git:{log_commit}", True
    origin = origin_of(repository)
    is_final = shallow or not tip
    return well_formed(f"remote:{origin}" if origin else f"dir:{repository.name}"), is_final


def _main_line(repository: Repository) -> str:
    default = read_line(repository.common / "refs/remotes/origin/HEAD").removeprefix("ref:").strip()
    names = (default, *_MAIN_LINES) if default else _MAIN_LINES
    return next((commit for name in names if (commit := commit_at(repository, name))), "")


def _first_commit(repository: Repository, tip: str, seconds: float) -> str:
    first_commit = _FIRST_COMMITS.get((repository.common, tip))
    if first_commit is None:
        first_commit = _ask_git(repository, seconds, "rev-list", "--first-parent", "--max-parents=0", tip)
        if first_commit:
            _FIRST_COMMITS[repository.common, tip] = first_commit
    return first_commit


def _has_reftable(repository: Repository) -> bool:
    return (repository.common / "reftable").is_dir()


def _head_by_git(repository: Repository, seconds: float) -> tuple[str, str]:
    lines = _ask_git(repository, seconds, "rev-parse", "HEAD", "--abbrev-ref", "HEAD").split("\n")
    commit, branch = (*lines, "", "")[:2]
    return ("" if branch == "HEAD" else branch), commit


def _ask_git(repository: Repository, seconds: float, *arguments: str) -> str:
    return (
        (git_process.run(repository.root, *arguments, timeout=seconds) or b"")
        .decode("utf-8", "surrogateescape")
        .strip()
    )


def _resolve_path(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
