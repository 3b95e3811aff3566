"""Shared code of the sync operations: selecting the remote, connecting to it, and one sync at a time."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo import locks, paths
from palazzo.errors import NotFound, PalazzoError, RemoteUnusable, UsageError
from palazzo.frozen_class import frozen
from palazzo.store import remote_rows
from palazzo.sync import device_pairing
from palazzo.sync import remote_manifest as meetings
from palazzo.sync.encryption import Key
from palazzo.sync.remotes import git_cache
from palazzo.sync.remotes.remote_factory import RemoteLocation, open_remote

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Database
    from palazzo.store.remote_rows import RemoteRow
    from palazzo.sync.remotes import Remote

DEFAULT_NAME = "default"
"""The default name of a remote."""
_PATIENCE, _NAP = 30.0, 0.1
"""Seconds to wait for another sync of this palace, and the polling interval."""
_REMOVALS = 5
"""How often the removal of a directory is attempted."""


@frozen
class RemoteSession:
    """A connection to a remote: its row, its transport, its key, and this device."""

    database: Database
    remote: RemoteRow
    transport: Remote
    key: Key | None
    palace: str
    device: bytes
    device_name: str


def lock_file(palace: Path) -> Path:
    """Return the lock file for syncing a palace."""
    return palace.with_name(palace.name + ".sync.lock")


@contextlib.contextmanager
def one_at_a_time(context: Context, patience: float = _PATIENCE) -> Iterator[None]:
    """Hold the sync lock; PalazzoError if another process holds it for longer than `patience` seconds."""
    until = time.monotonic() + patience
    path = lock_file(context.writing().database.path)
    while (lock := locks.try_lock(path)) is None:
        if time.monotonic() > until:
            raise PalazzoError("Another sync of this palace is running; try again when it has finished.")
        time.sleep(_NAP)
    with lock:
        yield


def select_remotes(context: Context, name: str | None) -> list[RemoteRow]:
    """Return the remote of that name, or all; NotFound if there is none."""
    with context.reading().database.snapshot() as connection:
        remotes = remote_rows.remotes(connection)
    if not remotes:
        raise NotFound("This palace has no remote yet; add one with 'palazzo sync init ADDRESS'.")
    if name is None:
        return remotes
    matches = [remote for remote in remotes if name in (remote.name, remote.address)]
    if not matches:
        remote_names = ", ".join(remote.name for remote in remotes)
        raise NotFound(
            f"There is no remote '{name}'; the known remotes are: {remote_names}.", [remote.name for remote in remotes]
        )
    return matches


def open_transport(context: Context, location: RemoteLocation, uid: bytes) -> Remote:
    """Return the transport to a remote."""
    asks = sys.stdin is not None and sys.stdin.isatty()

    def heed() -> None:
        if not asks:  # no bar is drawn over git's question
            context.report("waiting for git", 0, 0)

    return open_remote(location, _cache(context) / uid.hex(), context.variables, asks=asks, heed=heed)


def connect_remote(context: Context, remote: RemoteRow) -> RemoteSession:
    """Connect to a remote; RemoteUnusable if it now belongs to another palace, or to none."""
    database = context.writing().database
    with database.snapshot() as connection:
        palace, device = device_pairing.palace_id(connection), device_pairing.device_id(connection)
        device_name = device_pairing.device_name(connection)
    transport = open_transport(context, RemoteLocation(remote.kind, remote.address), remote.uid)
    encoded_about = transport.look().about
    if encoded_about is None:
        raise RemoteUnusable(
            f"{transport.address} is no longer a remote of Palazzo; if it was emptied intentionally, 'palazzo sync "
            f"init {transport.address} --again' sets it up again."
        )
    about = meetings.load(encoded_about, transport.address)
    if about.palace != palace:
        raise RemoteUnusable(f"{transport.address} now belongs to another palace; nothing was pushed or pulled.")
    if bool(about.sealing) != bool(remote.secret):
        raise UsageError(
            f"{transport.address} is {'' if about.sealing else 'not '}sealed, unlike before; run 'palazzo sync init' "
            "to set its key again."
        )
    key = Key.parse(remote.secret) if remote.secret else None
    return RemoteSession(database, remote, transport, key, palace, device, device_name)


def clear_cache(context: Context) -> tuple[str, ...]:
    """Remove the cache of fetched remotes: it holds, compressed, text erased since. It will be fetched again.

    Return what could not be removed.
    """
    return _removed(_cache(context))


def forget_fetched(context: Context, uid: bytes) -> None:
    """Remove what was fetched of one remote, such as one that is no longer known. Raises PalazzoError."""
    for path in _removed(_cache(context) / uid.hex()):
        raise PalazzoError(f"{path} holds data fetched from a remote, and cannot be removed: delete it by hand.")


def _removed(cache: Path) -> tuple[str, ...]:
    """Remove our directory, with retries; return it if that fails: another process's git may be using it."""
    for _ in range(_REMOVALS):
        with contextlib.suppress(OSError):
            git_cache.drop(cache)
            return ()
        time.sleep(_NAP)
    return (str(cache),)


def tell_of_erase(context: Context) -> None:
    """Notify the caller of an erase that remotes hold the text until this palace has pushed everything again."""
    with context.reading().database.snapshot() as connection:
        remotes = remote_rows.remotes(connection)
    by_hand = [remote.name for remote in remotes if not remote.automatic]
    if by_hand:
        context.notice(
            f"Data pushed to {', '.join(by_hand)} before still contains it: run 'palazzo sync push', and on each "
            "other device 'palazzo sync pull', then 'push'."
        )


def _cache(context: Context) -> Path:
    return paths.cache_directory(context.variables) / "sync"
