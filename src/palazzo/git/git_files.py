"""Git's plain files: where a repository is, its head, its remotes. No process is started here.

The layout is that of git's own documentation (gitrepository-layout, gitglossary "worktree"): `.git` is a directory, or
a file `gitdir: PATH` in a worktree or submodule; a worktree's git directory names the shared one in `commondir`.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from palazzo.frozen_class import frozen

_LARGEST = 64 * 1024
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ORIGIN = re.compile(r'^[^\S\n]*\[remote "origin"\][^\S\n]*$(.*?)(?=^[^\S\n]*\[|\Z)', re.MULTILINE | re.DOTALL)
_URL = re.compile(r"^[^\S\n]*url[^\S\n]*=[^\S\n]*(\S(?:.*\S)?)[^\S\n]*$", re.MULTILINE)
_SCP_LIKE = re.compile(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^@/\s]*@)?([^/:\s]+)(?::\d+)?/(.+)", re.IGNORECASE)
_NO_NAME = re.compile(r"\.\.|^[-/.]|[/.]$|//|/\.|\.lock$|@\{|[\\ ~^:?*\[]")
"""What the name of a branch must not contain (git-check-ref-format)."""
_OF_BRANCHES = ("refs/heads/", "refs/remotes/")
_MOST_PACKED = 32

_packed_refs_cache: dict[Path, tuple[tuple[int, int], tuple[dict[str, str], frozenset[str]]]] = {}
"""Packed refs files that this process has read, with their size and modification time."""


@frozen
class Repository:
    """A checkout: its working directory, its own git directory, and the one that all worktrees share."""

    root: Path
    directory: Path
    common: Path

    @property
    def name(self) -> str:
        """Return the name of the main checkout's directory, which its worktrees share."""
        if self.common == self.directory:
            return self.root.name
        owner = self.common.parent if self.common.name.startswith(".") else self.common
        return owner.name.removesuffix(".git")


def repository_of(directory: Path) -> Repository | None:
    """Return the repository that contains `directory` (absolute), or None."""
    for root in (directory, *directory.parents):
        git_directory = _git_directory(root)
        if git_directory is not None:
            common_path = read_line(git_directory / "commondir")
            common = (git_directory / common_path).resolve() if common_path else git_directory
            return Repository(root, git_directory, common)
    return None


def head_of(repository: Repository) -> tuple[str, str]:
    """Return (branch, commit) of the checkout. A detached head has no branch, an empty repository no
    commit."""
    head_line = read_line(repository.directory / "HEAD")
    if not head_line.startswith("ref:"):
        return "", head_line if _HASH.fullmatch(head_line) else ""
    reference = head_line.removeprefix("ref:").strip()
    branch = reference.removeprefix("refs/heads/")
    if branch == ".invalid":  # refs are kept in a reftable, which is no plain file
        return "", ""
    return branch, commit_at(repository, reference)


def commit_at(repository: Repository, reference: str) -> str:
    """Return the commit of a full reference name, or ""."""
    for directory in (repository.directory, repository.common):
        hash_text = read_line(directory / reference)
        if _HASH.fullmatch(hash_text):
            return hash_text
    try:
        with (repository.common / "packed-refs").open(encoding="utf-8", errors="surrogateescape") as lines:
            ref_line = next((line for line in lines if line.rstrip("\n").endswith(" " + reference)), "")
    except OSError:
        return ""
    commit = ref_line.partition(" ")[0]
    return commit if _HASH.fullmatch(commit) else ""


def tips_of(repository: Repository, branch: str) -> tuple[str, ...]:
    """Return the commits that a branch points to: here, then at each remote as last fetched. () if it is gone.

    Also () if the name is not a valid branch name, or if refs are kept in a reftable.
    """
    if not branch or _NO_NAME.search(branch) or not branch.isprintable():
        return ()
    packed_refs, remotes = _read_packed_refs(repository.common / "packed-refs")
    with suppress(OSError), os.scandir(repository.common / "refs" / "remotes") as entries:
        remotes = remotes | {entry.name for entry in entries}
    commits = []
    for name in (f"refs/heads/{branch}", *(f"refs/remotes/{remote}/{branch}" for remote in sorted(remotes))):
        ref_line = read_line(repository.common / name)
        commits.append(ref_line if _HASH.fullmatch(ref_line) else packed_refs.get(name, ""))
    return tuple(dict.fromkeys(filter(None, commits)))


def find_rebase_branch(repository: Repository) -> str:
    """Return the branch that an unfinished rebase will restore, or ""."""
    for state in ("rebase-merge", "rebase-apply"):
        head_name = read_line(repository.directory / state / "head-name")
        if head_name.startswith("refs/heads/"):
            return head_name.removeprefix("refs/heads/")
    return ""


def first_commit_in_log(repository: Repository) -> str:
    """Return the first commit of this repository, if the log of its head still has it."""
    line = read_line(repository.common / "logs" / "HEAD")
    old_hash, _, rest = line.partition(" ")
    commit = rest.partition(" ")[0]
    began = set(old_hash) == {"0"} and "\tcommit (initial)" in line
    return commit if began and _HASH.fullmatch(commit) else ""


def origin_of(repository: Repository) -> str:
    """Return the remote `origin` as `host/path`, without user, password, port or `.git`; "" if there is none."""
    section = _ORIGIN.search(_read(repository.common / "config"))
    url = _URL.search(section.group(1)) if section else None
    address_match = (_ADDRESS.fullmatch(url.group(1)) or _SCP_LIKE.fullmatch(url.group(1))) if url else None
    if not address_match or len(address_match.group(1)) < 2:  # `C:\path` is a drive, not a host
        return ""
    return f"{address_match.group(1).lower()}/{address_match.group(2).strip('/').removesuffix('.git')}"


def read_line(path: Path) -> str:
    """Return the first line of a small file, or "" if it cannot be read."""
    return _read(path).partition("\n")[0].replace("\0", "").strip()


def _read_packed_refs(file: Path) -> tuple[dict[str, str], frozenset[str]]:
    """Return the branches and remotes in `packed-refs`; cached until the file changes."""
    try:
        status = file.stat()
        stamp = (status.st_size, status.st_mtime_ns)
        if file in _packed_refs_cache and _packed_refs_cache[file][0] == stamp:
            return _packed_refs_cache[file][1]
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return {}, frozenset()
    lines = (line.partition(" ") for line in text.split("\n"))
    commits_by_ref = {
        name: commit for commit, _, name in lines if name.startswith(_OF_BRANCHES) and _HASH.fullmatch(commit)
    }
    while len(_packed_refs_cache) >= _MOST_PACKED:
        _packed_refs_cache.pop(next(iter(_packed_refs_cache)), None)
    remotes = frozenset(name.split("/", 3)[2] for name in commits_by_ref if name.startswith("refs/remotes/"))
    _packed_refs_cache[file] = stamp, (commits_by_ref, remotes)
    return commits_by_ref, remotes


def _git_directory(root: Path) -> Path | None:
    candidate = root / ".git"
    try:
        if candidate.is_file():
            pointer_line = read_line(candidate)
            candidate = (root / pointer_line.removeprefix("gitdir:").strip()).resolve()
            return candidate if pointer_line.startswith("gitdir:") and (candidate / "HEAD").is_file() else None
        return candidate if (candidate / "HEAD").is_file() else None
    except OSError:
        return None


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_LARGEST).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
