"""What the operations of sync have in common: which remote is meant, going there, and one at a time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo import locks, paths
from palazzo.errors import NotFound, PalazzoError, RemoteUnusable, UsageError

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Database
    from palazzo.store.remote_rows import RemoteRow
    from palazzo.sync.encryption import Key
    from palazzo.sync.remotes import Remote
    from palazzo.sync.remotes.remote_factory import RemoteLocation

DEFAULT_NAME = "default"
"""What a remote is called that nobody gave a name."""
_PATIENCE, _NAP = 30.0, 0.1
"""Seconds to wait for another sync of this palace, and between two looks."""
_REMOVALS = 5
"""How often the removal of a directory is tried."""


@dataclass(frozen=True, slots=True)
class RemoteSession:
    """A remote that is gone to: its row, the way there, its key, and who goes."""

    database: Database
    remote: RemoteRow
    transport: Remote
    key: Key | None
    palace: str
    device: bytes
    device_name: str


def lock_file(palace: Path) -> Path:
    """Return the file that whoever syncs a palace holds."""
    return palace.with_name(palace.name + ".sync.lock")


@contextlib.contextmanager
def one_at_a_time(context: Context, patience: float = _PATIENCE) -> Iterator[None]:
    """Hold the right to sync; PalazzoError where another process has it for longer than `patience` seconds."""
    until = time.monotonic() + patience
    path = lock_file(context.writing().database.path)
    while (lock := locks.try_lock(path)) is None:
        if time.monotonic() > until:
            raise PalazzoError("Another sync of this palace is at work; try again when it is done.")
        time.sleep(_NAP)
    with lock:
        yield


def select_remotes(context: Context, name: str | None) -> list[RemoteRow]:
    """Return the remote of that name, or all; NotFound where there is none."""
    from palazzo.store import remote_rows

    with context.reading().database.snapshot() as connection:
        remotes = remote_rows.remotes(connection)
    if not remotes:
        raise NotFound("This palace has no remote yet; 'palazzo sync init ADDRESS' gives it one.")
    if name is None:
        return remotes
    matches = [remote for remote in remotes if name in (remote.name, remote.address)]
    if not matches:
        remote_names = ", ".join(remote.name for remote in remotes)
        raise NotFound(f"There is no remote '{name}'; there is {remote_names}.", [remote.name for remote in remotes])
    return matches


def open_transport(context: Context, location: RemoteLocation, uid: bytes) -> Remote:
    """Return the way to a remote."""
    import sys

    from palazzo.sync.remotes.remote_factory import open_remote

    asks = sys.stdin is not None and sys.stdin.isatty()

    def heed() -> None:
        if not asks:  # no bar is drawn over git's question
            context.report("waiting for git", 0, 0)

    return open_remote(location, _cache(context) / uid.hex(), context.variables, asks=asks, heed=heed)


def connect_remote(context: Context, remote: RemoteRow) -> RemoteSession:
    """Go to a remote; RemoteUnusable where it is another palace's by now, or nobody's."""
    from palazzo.sync import device_pairing
    from palazzo.sync import remote_manifest as meetings
    from palazzo.sync.encryption import Key
    from palazzo.sync.remotes.remote_factory import RemoteLocation

    database = context.writing().database
    with database.snapshot() as connection:
        palace, device = device_pairing.palace_id(connection), device_pairing.device_id(connection)
        device_name = device_pairing.device_name(connection)
    transport = open_transport(context, RemoteLocation(remote.kind, remote.address), remote.uid)
    encoded_about = transport.look().about
    if encoded_about is None:
        raise RemoteUnusable(
            f"{transport.address} is no remote of Palazzo any more; if it was emptied on purpose, "
            f"'palazzo sync init {transport.address} --again' begins anew."
        )
    about = meetings.load(encoded_about, transport.address)
    if about.palace != palace:
        raise RemoteUnusable(f"{transport.address} belongs to another palace now; nothing was brought or taken.")
    if bool(about.sealing) != bool(remote.secret):
        raise UsageError(
            f"{transport.address} is {'' if about.sealing else 'not '}sealed, unlike before; "
            "'palazzo sync init' takes its key anew."
        )
    key = Key.parse(remote.secret) if remote.secret else None
    return RemoteSession(database, remote, transport, key, palace, device, device_name)


def clear_cache(context: Context) -> tuple[str, ...]:
    """Remove what remotes were fetched into: it holds, compressed, what was erased since. It is fetched again.

    Return what could not be removed.
    """
    return _removed(_cache(context))


def forget_fetched(context: Context, uid: bytes) -> None:
    """Remove what was fetched of one remote, as of one that is no longer known. Raises PalazzoError."""
    for path in _removed(_cache(context) / uid.hex()):
        raise PalazzoError(f"{path} holds what was fetched of a remote, and cannot be removed: delete it by hand.")


def _removed(cache: Path) -> tuple[str, ...]:
    """Remove a directory of ours; return it if that failed, also again: another process's git may be at work there."""
    from palazzo.sync.remotes import git_cache

    for _ in range(_REMOVALS):
        with contextlib.suppress(OSError):
            git_cache.drop(cache)
            return ()
        time.sleep(_NAP)
    return (str(cache),)


def tell_of_erase(context: Context) -> None:
    """Tell whoever erased that remotes hold the words until this palace has told them all anew."""
    from palazzo.store import remote_rows

    with context.reading().database.snapshot() as connection:
        remotes = remote_rows.remotes(connection)
    by_hand = [remote.name for remote in remotes if not remote.automatic]
    if by_hand:
        context.notice(
            f"What was brought to {', '.join(by_hand)} before still holds it: run 'palazzo sync push', and on each "
            "other device 'palazzo sync pull', then 'push'."
        )


def _cache(context: Context) -> Path:
    return paths.cache_directory(context.variables) / "sync"
