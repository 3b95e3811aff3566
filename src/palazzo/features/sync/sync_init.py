"""sync init: set up a remote, or join the palace that is there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.sync.contract import PASSPHRASE, SyncInitRequest, SyncInitResult
from palazzo.features.sync.remote_access import DEFAULT_NAME, forget_fetched, one_at_a_time, open_transport
from palazzo.store import device_rows, remote_rows
from palazzo.sync import device_pairing, device_register, encryption, own_heads, remote_manifest
from palazzo.sync.chain_trace import links_told
from palazzo.sync.encryption import Key
from palazzo.sync.remotes.remote_factory import resolve

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Database
    from palazzo.store.remote_rows import RemoteRow
    from palazzo.sync.device_pairing import Shared
    from palazzo.sync.remote_manifest import About as AboutRemote
    from palazzo.sync.remotes import Remote
    from palazzo.sync.remotes.remote_factory import RemoteLocation

_SECRET = "AGE-SECRET-KEY-1"  # noqa: S105 - how a key of a remote begins


def sync_init(context: Context, request: SyncInitRequest) -> SyncInitResult:
    """Connect this palace with your other devices through a remote: a folder, or a branch of a git repository."""
    request = replace(
        request,
        key=None if request.key is None else context.led_to(request.key),
        save_key=None if request.save_key is None else context.led_to(request.save_key),
    )
    _check(request)
    location = resolve(request.address, context.cwd, context.variables)
    database = context.writing().database
    with one_at_a_time(context):
        existing_remote = _find_existing_remote(database, request, location.address)
        uid = os.urandom(16) if existing_remote is None else existing_remote.uid
        transport = open_transport(context, location, uid)
        with _forgotten_unless_kept(context, uid, existing_remote):
            encoded_about = transport.look().about
            if request.new_device:
                _become_another(context, database, transport, existing_remote)
            is_new_remote = encoded_about is None
            if encoded_about is None:
                about, key = _begin(context, database, transport, request, _passphrase(context, request))
            else:
                about, key = _unlock_remote(context, encoded_about, transport, request, existing_remote)
            has_joined = _join(database, about, key, request, transport)
            name = _keep(database, existing_remote, uid, location, about, key, request)
        key_file = _save_key(context, database, key, request, is_saved=is_new_remote and key is not None)
        if request.again:
            _tell_all_anew(database, uid, transport, key)
    return _result(database, name, transport, about, is_new_remote, has_joined, request, key_file)


@contextlib.contextmanager
def _forgotten_unless_kept(context: Context, uid: bytes, existing_remote: RemoteRow | None) -> Iterator[None]:
    """Delete what was fetched of a remote that was looked at but not added: its text belongs to another palace."""
    try:
        yield
    except BaseException:
        if existing_remote is None:
            forget_fetched(context, uid)
        raise


def _check(request: SyncInitRequest) -> None:
    if request.save_key is not None and request.save_key.exists():
        raise UsageError(f"{request.save_key} already exists; name a new file for the key.")
    if request.name is not None and (not request.name.isprintable() or not request.name.strip()):
        raise UsageError("A remote's name must be printable, on one line.")


def _find_existing_remote(database: Database, request: SyncInitRequest, address: str) -> RemoteRow | None:
    """Return the known remote with that address or name."""
    with database.snapshot() as connection:
        remotes = remote_rows.remotes(connection)
    for remote in remotes:
        if remote.address == address or (request.name is not None and remote.name == request.name):
            return remote
    if request.name is None and remotes:
        raise UsageError(f"This palace already has a remote ({remotes[0].name}); give this one a --name.")
    return None


def _passphrase(context: Context, request: SyncInitRequest) -> str | None:
    passphrase = request.passphrase if request.passphrase is not None else context.variables.get(PASSPHRASE) or None
    return None if passphrase is None else passphrase.rstrip("\r\n")


def _begin(
    context: Context, database: Database, transport: Remote, request: SyncInitRequest, passphrase: str | None
) -> tuple[AboutRemote, Key | None]:
    with database.snapshot() as connection:
        shared = device_pairing.shared(connection)
    supplied_key = None if request.key is None else _age_key(request.key)
    if request.key is not None and supplied_key is None and device_pairing.read(request.key).palace != shared.palace:
        raise UsageError(
            f"No palace has been set up at {transport.address} yet, so there is none to join with that key: check "
            "the address, or first run 'palazzo sync init' on the first device."
        )
    # Whoever gives what seals means it to be sealed, also without --seal: else words would lie there in the clear.
    seal = request.seal or ("passphrase" if passphrase is not None else "no" if supplied_key is None else "key")
    if seal == "passphrase" and passphrase is None:
        raise UsageError(f"Give the passphrase with --passphrase-file FILE, or in {PASSPHRASE}.")
    if seal == "key" and supplied_key is None and request.save_key is None:
        raise UsageError(
            "A remote sealed by a key needs a key file: --save-key FILE makes a new one, --key FILE uses an existing "
            "one."
        )
    key = None if seal == "no" else supplied_key or Key.new()
    if key is not None and request.save_key is not None:  # what is sealed there opens with nothing else
        encryption.save(key, request.save_key.absolute())
    if key is not None:  # the key or passphrase of a sealed remote is an invitation
        with database.transaction() as connection:
            shared = device_pairing.invitation(connection, context.writing().clock())
    about = remote_manifest.about(shared, key, passphrase if seal == "passphrase" else None)
    remote_about = remote_manifest.load(transport.introduce(remote_manifest.dump(about)), transport.address)
    if remote_about != about:
        raise UsageError(f"Another device has just set up {transport.address}; run this again to join it.")
    return about, key


def _unlock_remote(
    context: Context,
    encoded_about: bytes,
    transport: Remote,
    request: SyncInitRequest,
    existing_remote: RemoteRow | None,
) -> tuple[AboutRemote, Key | None]:
    """Return the remote's description, and the key that opens it."""
    about = remote_manifest.load(encoded_about, transport.address)
    supplied_key = None if request.key is None else _age_key(request.key)
    wants_sealed = request.seal not in (None, "no") or request.passphrase is not None or supplied_key is not None
    if (wants_sealed and not about.sealing) or (request.seal == "no" and about.sealing):
        raise UsageError(
            f"{transport.address} is {'sealed' if about.sealing else 'not sealed'}, as the first device decided; "
            f"leave out {'--seal' if about.sealing else 'what would seal it'}, or set up another remote."
        )
    if not about.sealing:
        return about, None
    passphrase = _passphrase(context, request)
    if supplied_key is None and about.closed and passphrase is not None:
        supplied_key = encryption.open_with(passphrase, about.closed)
    if supplied_key is None and existing_remote is not None and existing_remote.secret:
        supplied_key = Key.parse(existing_remote.secret)
    if supplied_key is None:
        key_options = f"--passphrase-file FILE or {PASSPHRASE}" if about.closed else "--key FILE"
        raise UsageError(f"{transport.address} is sealed by a {about.sealing}; give it with {key_options}.")
    about.open_secrets(supplied_key)  # raises where it is another's
    return about, supplied_key


def _age_key(path: Path) -> Key | None:
    """Return the key of a sealed remote from a file; None if the file holds the key of a palace."""
    try:
        with path.open("rb") as file:
            begins = file.read(encryption.LARGEST_KEY_FILE)
    except OSError as error:
        raise UsageError(f"The key {path} cannot be read ({error.strerror}); name a readable key file.") from None
    return None if begins.lstrip().startswith(b"{") else encryption.load(path)


def _join(
    database: Database,
    about: AboutRemote,
    key: Key | None,
    request: SyncInitRequest,
    transport: Remote,
) -> bool:
    address = transport.address

    with database.snapshot() as connection:
        own = device_pairing.shared(connection)
    shared: Shared
    if key is not None:
        shared = about.open_secrets(key)
    elif request.key is not None and _age_key(request.key) is None:
        shared = device_pairing.read(request.key)
    elif about.palace == own.palace:
        return False
    else:
        raise UsageError(
            f"The devices of another palace sync at {address}; to join them, give the key that their first device "
            "saved ('palazzo sync key FILE' there): --key FILE."
        )
    if shared.palace != about.palace:
        raise UsageError(f"That key belongs to another palace than the one at {address}; name the right file.")
    is_new = device_pairing.adopt(database, shared)
    if is_new or request.new_device:
        _introduce(database, shared, transport)
    return is_new


def _introduce(database: Database, shared: Shared, transport: Remote) -> None:
    """Store the key file's invitation for this device, and trust the devices that the file names."""
    names = {bytes.fromhex(uid): head.called for uid, head in transport.look().heads.items()}
    with database.transaction() as connection:
        device, name = device_pairing.device_id(connection), device_pairing.device_name(connection)
        device_register.accept_invitation(
            connection,
            shared.palace,
            device,
            name,
            shared.invitation,
            shared.devices or {},
        )
        if shared.devices is None:
            device_register.trust_unsigned(connection, {uid: name for uid, name in names.items() if uid != device})


def _become_another(context: Context, database: Database, transport: Remote, existing_remote: RemoteRow | None) -> None:
    with database.snapshot() as connection:
        palace, device = device_pairing.palace_id(connection), device_pairing.device_id(connection)
        palace_key = device_pairing.shared(connection).key
    remote_key = Key.parse(existing_remote.secret) if existing_remote is not None and existing_remote.secret else None
    theirs = links_told(transport, palace, device, remote_key, palace_key)
    device_pairing.become_another_device(database, context.writing().clock(), theirs)
    if existing_remote is not None:
        with database.transaction() as connection:
            remote_rows.forget_device(connection, existing_remote.row, device)


def _keep(
    database: Database,
    existing_remote: RemoteRow | None,
    uid: bytes,
    location: RemoteLocation,
    about: AboutRemote,
    key: Key | None,
    request: SyncInitRequest,
) -> str:
    """Store the remote; return its name. A known remote keeps its limits, unless new ones are given."""
    secret, name = (
        "" if key is None else key.text,
        request.name or (DEFAULT_NAME if existing_remote is None else existing_remote.name),
    )
    wings = request.wings or (() if existing_remote is None else existing_remote.wings)
    automatic = request.automatic or (existing_remote is not None and existing_remote.automatic)
    rest = (location.kind, location.address, wings, about.sealing, secret, automatic)
    with database.transaction() as connection:
        if existing_remote is None:
            remote_rows.add_remote(connection, uid, name, *rest)
        else:
            remote_rows.change_remote(connection, existing_remote.row, *rest)
    return name


def _save_key(
    context: Context, database: Database, key: Key | None, request: SyncInitRequest, is_saved: bool
) -> Path | None:
    """Write the key with which other devices join, if that was requested; return its path."""
    if request.save_key is None:
        return None
    path = request.save_key.absolute()
    if is_saved:
        return path
    if key is None:
        with database.transaction() as connection:
            shared = device_pairing.invitation(connection, context.writing().clock())
        device_pairing.save(shared, path)
    else:
        encryption.save(key, path)
    return path


def _tell_all_anew(database: Database, uid: bytes, transport: Remote, key: Key | None) -> None:
    """Accept the remote's head as this device's, unless it is forged, and push everything again next time."""
    heads = transport.look().heads
    with database.snapshot() as connection:
        device = device_pairing.device_id(connection)
        remote = next(candidate for candidate in remote_rows.remotes(connection) if candidate.uid == uid)
        last_own = remote_rows.read_last_segments(connection, remote.row).get(device)
    head = heads.get(device.hex())
    if head is not None and own_heads.is_forged(database, transport, device, head, key):
        head = None
    with database.transaction() as connection:
        remote_rows.begin_anew(connection, remote.row)
        device_rows.forget_claims(connection, remote.row)
        remote_rows.note_erasure(connection, remote.row, -1)
        if head is None and last_own is not None and device.hex() in heads:
            remote_rows.note_seen(connection, remote.row, device, last_own)
        elif head is not None:
            remote_rows.note_seen(
                connection, remote.row, device, remote_rows.LastSegment(head.epoch, head.n, head.hash, head.at)
            )


def _result(
    database: Database,
    name: str,
    transport: Remote,
    about: AboutRemote,
    is_new_remote: bool,
    is_member: bool,
    request: SyncInitRequest,
    key_file: Path | None,
) -> SyncInitResult:
    with database.snapshot() as connection:
        palace, device = device_pairing.palace_id(connection), device_pairing.device_id(connection).hex()
    return SyncInitResult(
        name,
        transport.address,
        transport.kind,
        about.sealing,
        palace,
        device,
        is_new_remote,
        is_member,
        request.new_device,
        None if key_file is None else str(key_file),
        not about.closed,
    )
