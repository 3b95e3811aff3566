"""Remote factory: decides whether an address names a folder or a git repository."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.sync.remotes import Kind, Remote
from palazzo.sync.remotes.folder_remote import Folder
from palazzo.sync.remotes.git_remote import GitBranch
from palazzo.sync.remotes.git_transport import LOOK_WITHIN, Git

_URL = re.compile(r"(?:https?|ssh|git|git\+ssh|ssh\+git|file)://[^\s]+", re.IGNORECASE)
_OTHER_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*::?//|[A-Za-z][A-Za-z0-9+.-]*::")
_OVER_SSH = re.compile(r"(?:[^\s/:@-][^\s/:@]*@)?[^\s/:@-][^\s/:@]+:[^\s]+")
"""`user@host:path`. A single letter before the colon is a Windows drive."""


@frozen
class RemoteLocation:
    """The target of an address, in a form that does not depend on the working directory: an absolute path or a URL."""

    kind: Kind
    address: str


def resolve(address: str, cwd: Path, variables: Mapping[str, str] = os.environ) -> RemoteLocation:
    """Resolve an address: a directory, anything git accepts, or the name of a remote of the repository at `cwd`. A
    directory that holds a git repository, bare or not, is that repository.

    Raises UsageError for anything else.
    """
    if not address.strip() or address.startswith("-") or not address.isprintable():
        raise UsageError(
            "Name a remote: a directory, the URL of a git repository, or a remote of the current git repository."
        )
    path = cwd / os.path.expanduser(address)  # noqa: PTH111 - the other one raises RuntimeError for no user's `~`
    if _is_directory(path):
        path = Path(os.path.abspath(path))  # noqa: PTH100 - links stay as they were given
        return RemoteLocation("git" if _is_repository(path) else "folder", str(path))
    if _URL.fullmatch(address):
        return RemoteLocation("git", address)
    if _OTHER_URL.match(address):
        raise UsageError(f"Palazzo does not support '{address}' as a remote: give a URL with https, ssh or file.")
    if _OVER_SSH.fullmatch(address):
        return RemoteLocation("git", address)
    location = _remote_of_repository(address, cwd, variables)
    if location is None:
        raise UsageError(
            f"'{address}' is not an existing directory, a URL, or a remote of a git repository here: create the "
            "directory first, or give a URL."
        )
    return location


def parse_address(address: str) -> RemoteLocation:
    """Return what `resolve` found at this address, even if it is missing now (a drive that is not mounted)."""
    if _URL.fullmatch(address) or (_OVER_SSH.fullmatch(address) and not Path(address).is_absolute()):
        return RemoteLocation("git", address)
    return RemoteLocation("git" if _is_repository(Path(address)) else "folder", address)


def open_remote(
    location: RemoteLocation,
    cache: Path,
    variables: Mapping[str, str] = os.environ,
    *,
    asks: bool = False,
    heed: Callable[[], None] = lambda: None,
) -> Remote:
    """Return the remote; nothing is read or written yet. `cache` is a local directory for it, which git needs.

    `asks` says that a person sits at the terminal, so git may ask for a password; an exception from `heed` ends a git
    process that is being waited for.
    """
    if location.kind == "folder":
        return Folder(Path(location.address))
    return GitBranch(location.address, cache, variables, asks=asks, heed=heed)


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _is_repository(path: Path) -> bool:
    bare = (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()
    return bare or (path / ".git").exists()


def _remote_of_repository(name: str, cwd: Path, variables: Mapping[str, str]) -> RemoteLocation | None:
    if not _is_directory(cwd):
        return None
    git = Git(cwd, variables)
    answer = git("remote", "get-url", "--", name, cwd=cwd, timeout=LOOK_WITHIN)
    top = git("rev-parse", "--show-toplevel", cwd=cwd, timeout=LOOK_WITHIN)
    url = answer.out.decode("utf-8", "replace").strip()
    if answer.code or not url or url == name:
        return None
    return resolve(url, Path(top.out.decode("utf-8", "replace").strip()) if top.code == 0 else cwd, variables)
