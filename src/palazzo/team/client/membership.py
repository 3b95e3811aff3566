"""Membership: which team a palace has joined, and what of it was shared. Files beside the palace, for its owner alone.

    team.json            the server, the token, the device's key, and the shared wings by name
    team-<wing>.json     of a shared wing: the last segment that the server has, and the hashes of the records sent
    team-background.json when all wings were last sent, and what went wrong since

They are not in the palace's file: a copy or a backup of a palace is no member of a team.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from palazzo import locks
from palazzo.errors import PalazzoError, UsageError
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.security.device_keys import DeviceKey

_PATIENCE, _NAP = 10.0, 0.1


@frozen
class Share:
    """A shared wing: its id on the server, and the time (microseconds) from which entries are shared; None for all."""

    id: str
    since: Micros | None


@frozen
class Membership:
    """A joined team. `device` is an id of 32 hexadecimal digits; `shared` are the shared wings, by their name here."""

    url: str
    token: str = field(repr=False)
    person: str
    device: str
    private_key: str = field(repr=False)
    shared: Mapping[str, Share] = field(default_factory=dict)

    @property
    def key(self) -> DeviceKey:
        """Return the device's signing key."""
        return DeviceKey.from_private(bytes.fromhex(self.private_key))

    def with_shared(self, wing: str, share: Share | None) -> Membership:
        """Return it with one wing shared so, or with None not shared."""
        others = {name: known for name, known in self.shared.items() if name != wing}
        return replace(self, shared=others if share is None else {**others, wing: share})


@frozen
class SentState:
    """What the server has of a wing from this device: the last segment's name, each record's hash by its key, and the
    digests of approved notes by drawer.
    """

    head: str = ""
    records: Mapping[str, str] = field(default_factory=dict)
    approved: Mapping[str, str] = field(default_factory=dict)


@frozen
class BackgroundState:
    """When all shared wings were last sent (microseconds; None is never), and what went wrong since."""

    shared_at: Micros | None = None
    failure: str = ""


def new_device() -> tuple[str, DeviceKey]:
    """Return an id and a key for a device that joins. They are used for nothing else, so they show nothing else."""
    return secrets.token_hex(16), DeviceKey.new()


def find_membership(palace: Path) -> Membership | None:
    """Return the team that a palace has joined; None if there is none."""
    values = _read(_path(palace))
    if values is None:
        return None
    try:
        shared = {name: Share(**share) for name, share in values.pop("shared").items()}
        return Membership(**values, shared=shared)
    except (TypeError, KeyError, AttributeError):
        raise _damaged(_path(palace)) from None


def load_membership(palace: Path) -> Membership:
    """Return the team that a palace has joined; raises UsageError if there is none."""
    membership = find_membership(palace)
    if membership is None:
        raise UsageError("This palace has not joined a team; 'palazzo team join URL' does, with an invitation.")
    return membership


def save_membership(palace: Path, membership: Membership) -> None:
    """Store which team a palace has joined."""
    _write(_path(palace), asdict(membership))


def load_sent(palace: Path, wing: str) -> SentState:
    """Return what the server has of its wing `wing`."""
    values = _read(_sent_path(palace, wing))
    try:
        return SentState() if values is None else SentState(**values)
    except TypeError:
        raise _damaged(_sent_path(palace, wing)) from None


def save_sent(palace: Path, wing: str, sent: SentState) -> None:
    """Store what the server has of a wing, after it has said so."""
    _write(_sent_path(palace, wing), asdict(sent))


def forget_sent(palace: Path, wing: str) -> None:
    """Forget what the server had of a wing."""
    _sent_path(palace, wing).unlink(missing_ok=True)


def load_background(palace: Path) -> BackgroundState:
    """Return how the service's last attempt to share went."""
    values = _read(_sent_path(palace, "background"))
    try:
        return BackgroundState() if values is None else BackgroundState(**values)
    except TypeError:
        raise _damaged(_sent_path(palace, "background")) from None


def save_background(palace: Path, state: BackgroundState) -> None:
    """Store how the service's last attempt to share went."""
    _write(_sent_path(palace, "background"), asdict(state))


@contextlib.contextmanager
def sharing_alone(palace: Path) -> Iterator[None]:
    """Let one process at a time send the palace's wings. Raises PalazzoError if another does for longer than 10 s.

    Two would continue the same series: the server would refuse one of them.
    """
    until = time.monotonic() + _PATIENCE
    while (lock := locks.try_lock(palace.parent / "team.lock")) is None:
        if time.monotonic() > until:
            raise PalazzoError("The service is sharing with the team right now; try again when it has finished.")
        time.sleep(_NAP)
    with lock:
        yield


def _path(palace: Path) -> Path:
    return palace.parent / "team.json"


def _sent_path(palace: Path, wing: str) -> Path:
    return palace.parent / f"team-{wing}.json"


def _damaged(path: Path) -> PalazzoError:
    return PalazzoError(f"{path} is damaged: remove it, and join the team again.")


def _read(path: Path) -> dict[str, Any] | None:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise _damaged(path) from None
    if not isinstance(values, dict):
        raise _damaged(path)
    return values


def _write(path: Path, values: dict[str, Any]) -> None:
    """Replace a file, so that a kill leaves the former or the new one; only its owner may read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(values, file)
        file.flush()
        os.fsync(handle)
    temporary.replace(path)
