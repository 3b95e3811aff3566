"""Session flags, kept outside the palace because they must work while the palace cannot be used.

A flag is an empty file, because even a full disk usually has room for one. If the state directory cannot be written,
the flag is created in the directory of the service's socket, unless that directory belongs to another user.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Mapping
from pathlib import Path

from palazzo import paths
from palazzo.client import rpc
from palazzo.errors import PalazzoError

_DIRECTORY = "sessions"
_MANY = 200
"""Number of flags from which old flags are removed when another is set."""
_KEPT_FOR = 30 * 86_400.0
"""Seconds after which a flag is old: no session lasts longer."""


class SessionFlags:
    """The flags of the sessions of one palace."""

    def __init__(self, palace: str, variables: Mapping[str, str]) -> None:
        address = rpc.address(palace, variables)
        self._palace = address.palace
        self._directories = [Path(paths.state_place(variables), _DIRECTORY)]
        if _is_own(address):
            self._directories.append(Path(address.directory, _DIRECTORY))

    def set(self, name: str, host: str, session: str) -> bool | None:
        """Set a flag of a session. Return False if it was already set, None if no flag can be created, else True."""
        files = self._files(name, host, session)
        if any(_exists(file) for file in files):
            return False
        for file in files:
            try:
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                file.touch(mode=0o600)
            except OSError:
                continue
            _remove_old(file.parent)
            return True
        return None

    def clear(self, name: str, host: str, session: str) -> None:
        """Clear a flag of a session, so that it can be set again."""
        for file in self._files(name, host, session):
            with contextlib.suppress(OSError):
                file.unlink()

    def _files(self, name: str, host: str, session: str) -> list[Path]:
        key = "\0".join((self._palace, name, host, session)).encode("utf-8", "surrogatepass")
        file_name = hashlib.sha256(key).hexdigest()[:32]
        return [directory / file_name for directory in self._directories]


def _is_own(address: rpc.Address) -> bool:
    """Return whether the socket's directory is the user's or does not exist. Anyone can write to `/tmp`."""
    try:
        rpc.check_directory(address)
    except FileNotFoundError:
        return True
    except (PalazzoError, OSError):
        return False
    return True


def _exists(file: Path) -> bool:
    try:
        return file.exists()
    except OSError:
        return False


def _remove_old(directory: Path) -> None:
    with contextlib.suppress(OSError):  # another process may remove the same files; the next flag tries again
        files = list(directory.iterdir())
        for file in files if len(files) >= _MANY else ():
            if time.time() - file.stat().st_mtime > _KEPT_FOR:
                file.unlink(missing_ok=True)
