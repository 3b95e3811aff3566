"""restore: put a backup in the palace's place, in one step, and keep what it replaces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.archive import erasure_replay
from palazzo.errors import NotAPalace, PalaceUnusable, PalazzoError, SchemaTooNew, SourceUnreadable, UsageError
from palazzo.features.backup.backup import check_whole
from palazzo.features.backup.contract import BackupOrigin, PalaceContents, RestoreRequest, RestoreResult
from palazzo.features.service.background_process import start_embedding
from palazzo.operations import backup_files, pause_state
from palazzo.operations.backup_files import PAUSES, SETTINGS, Backup
from palazzo.palace import Palace
from palazzo.paths import make_private_directory
from palazzo.store import (
    device_rows,
    drawers,
    filesystem,
    palace_opening,
    palace_overview,
    redaction_state,
    remote_rows,
    schema,
    token_rows,
)
from palazzo.store import file_backup as copying
from palazzo.store.database import Database, DatabaseError
from palazzo.store.palace_opening import make_directory
from palazzo.sync import device_pairing, export_check

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.token_rows import StoredToken


LATEST = Path("latest")
"""Stands for the newest known backup."""


def restore(context: Context, request: RestoreRequest) -> RestoreResult:
    """Replace the palace by a backup, in one step, after a full check. The replaced palace is kept beside it."""
    palace = context.palace_path
    file = _latest(palace) if request.file == LATEST else context.led_to(request.file)
    palace_opening.refuse_special(palace)
    if palace.exists() and file.exists() and file.samefile(palace):
        raise UsageError(f"{file} is the palace itself. Name a backup of it; 'palazzo backup --list' lists them.")
    _refuse_foreign(file)
    filesystem.refuse_unsafe(palace)
    _make_directory(palace)
    with backup_files.hold_backup_lock(palace), _stage_copy(context, file) as copy_path:
        old_contents = _read_own_contents(context)
        origin: BackupOrigin = "this palace" if old_contents is None else _origin_of(file, copy_path, palace)
        if origin != "this palace" and not (request.other_palace or request.dry_run):
            raise UsageError(_refusal(file, palace, origin))
        erasure_count = _erase_again(context, copy_path, palace) if old_contents is not None else 0
        is_new_device = _part(context, copy_path, palace) if old_contents is not None else False
        revoked_count = _carry_tokens(context, palace, copy_path, request.keep_tokens)
        new_contents = _read_contents(copy_path)
        result = RestoreResult(
            str(file),
            new_contents,
            old_contents,
            None,
            erasure_count,
            is_new_device,
            None,
            revoked_count,
            request.dry_run,
            origin,
        )
        if request.dry_run:
            return result
        context.close()
        backup_path = backup_files.kept_name(palace, context.now)
        report = context.report
        backup_files.remember(palace, Backup(backup_path, context.now))
        try:
            copying.put_in_place(copy_path, palace, backup_path, lambda done, total: report("restoring", done, total))
        finally:
            if not backup_path.exists():
                backup_files.forget(palace, [backup_path])
        if old_contents is not None and backup_path.exists():  # what was erased while the copy was made ready
            erasure_count += _erase_again(context, palace, backup_path)
            _carry_tokens(context, backup_path, palace, keeps_unknown=True)  # tokens may have been revoked meanwhile
    settings_path = _write_beside(context, file)
    _make_vectors(context)
    return replace(
        result, kept=str(backup_path) if backup_path.exists() else None, erased=erasure_count, settings=settings_path
    )


def _latest(palace: Path) -> Path:
    """Return the newest backup that exists. Raises UsageError."""
    for backup in backup_files.list_backups(palace):
        if backup.is_there and not backup_files.is_replaced_palace(palace, backup):
            return backup.file
    raise UsageError(f"No known backup of {palace} is accessible now. 'palazzo backup --list' lists all.")


def _refuse_foreign(file: Path) -> None:
    try:
        copying.refuse_foreign(file)
    except NotAPalace:
        if file.is_file() and export_check.is_export(file):
            raise NotAPalace(f"{file} is an export, not a backup: import it with 'palazzo import'.") from None
        raise


def _make_directory(palace: Path) -> None:
    make_directory(palace.parent)


@contextmanager
def _stage_copy(context: Context, file: Path) -> Iterator[Path]:
    """Yield a copy of the file beside the palace, migrated and checked; it is removed when the block ends."""
    copy_path = backup_files.staging_path(context.palace_path)
    try:
        copying.copy_closed(file, copy_path, lambda done, total: context.report("copying", done, total))
        try:
            _migrate(copy_path)
            check_whole(context, copy_path, str(file))
        except PalazzoError as error:
            raise type(error)(str(error).replace(str(copy_path), str(file))) from error
        yield copy_path
    except SourceUnreadable as error:
        raise NotAPalace(f"{error} Nothing was restored.") from error
    finally:
        with contextlib.suppress(OSError):
            copying.remove(copy_path)


def _migrate(copy_path: Path) -> None:
    """Migrate the copy to this schema. Raises SchemaTooNew for a copy from a later Palazzo."""
    with contextlib.closing(Database(copy_path)) as database:
        try:
            schema.migrate(database)
        except SchemaTooNew:
            raise SchemaTooNew(
                f"{copy_path} was written by a later Palazzo, so nothing was restored. "
                "Upgrade with 'pip install --upgrade palazzo'."
            ) from None


def _read_own_contents(context: Context) -> PalaceContents | None:
    """Return what the palace holds; None if there is none, or it is damaged."""
    try:
        return _read_contents(context.palace_path)
    except PalaceUnusable:
        return None


def _read_contents(palace: Path) -> PalaceContents:
    with contextlib.closing(Database(palace, "read")) as database:
        schema.check(database)
        with database.snapshot() as connection:
            last_entry = palace_overview.last_filed(connection, 0)
            return PalaceContents(
                palace_overview.count_items(connection),
                drawers.count_drawers(connection),
                None if last_entry is None else last_entry[0],
            )


def _origin_of(file: Path, copy_path: Path, palace: Path) -> BackupOrigin:
    """Return whether a backup is of this palace, another device or another palace.

    Every export contains the ids of palaces and devices, so anyone can write them into a file. The key of the palace's
    redaction marks leaves a palace only in its backups, and when a person carries it to their other devices.
    """
    (backup_key, backup_device), (own_key, own_device) = _identity(copy_path), _identity(palace)
    if own_key is not None and backup_key != own_key:
        return "another palace"
    recorded_files = {
        backup.file for backup in backup_files.list_backups(palace)
    }  # also of the device that it was before
    return "this palace" if backup_device == own_device or file in recorded_files else "another device"


def _identity(path: Path) -> tuple[bytes | None, bytes]:
    """Return the key of a palace's redaction marks (None if it is lost), and the id of its device."""
    with contextlib.closing(Database(path, "read")) as database, database.snapshot() as connection:
        device = device_pairing.device_id(connection)
        try:
            return redaction_state.fingerprint_key(connection), device
        except PalaceUnusable:
            return None, device


def _refusal(file: Path, palace: Path, origin: BackupOrigin) -> str:
    if origin == "another device":
        return (
            f"{file} is a backup of another device that syncs with {palace}, so nothing was restored: both would be "
            "the same device; get the other device's data with 'palazzo sync pull', or restore the backup anyway "
            "with --other-palace."
        )
    return (
        f"{file} is a backup of another palace than {palace}, so nothing was restored: its owner's text would count "
        "as yours; state with --other-palace that it is yours, or add another person's palace to your own, labelled, "
        "with 'palazzo export' with --palace and 'palazzo import'."
    )


def _erase_again(context: Context, copy_path: Path, palace: Path) -> int:
    """Erase in `copy_path` what `palace` has erased since, also from free pages; return the number of erasures."""
    with contextlib.closing(Database(palace, "read")) as newer, Palace.open(copy_path) as older:
        outcome = erasure_replay.carry_over(newer, older.database, context.report)
        if outcome.erasures:
            older.finish_erasing()
    return outcome.erasures


def _carry_tokens(context: Context, newer: Path, older: Path, keeps_unknown: bool) -> int:
    """Copy the tokens of `newer` to `older` in their current state; return how many of its others were revoked.

    Tokens that were revoked since the backup stay revoked, and new ones stay valid.
    """
    with contextlib.closing(Database(older)) as database, database.transaction() as connection:
        newer_tokens = _stored_tokens(newer)
        token_rows.replace(connection, newer_tokens)
        return 0 if keeps_unknown else token_rows.revoke_all_but(connection, newer_tokens, context.now)


def _stored_tokens(palace: Path) -> list[StoredToken]:
    """Return the tokens of a palace; none if their table is missing, older or damaged."""
    try:
        with contextlib.closing(Database(palace, "read")) as database, database.snapshot() as connection:
            return token_rows.stored_rows(connection)
    except (PalaceUnusable, DatabaseError):
        return []


def _part(context: Context, copy_path: Path, palace: Path) -> bool:
    """Make the copy of a synced palace a new device, and keep wings private that are private by now.

    Its remotes have newer records of the copy's device, which is this palace's device, one that it was before an
    earlier restore, or another device of the same palace; no sequence number may be used twice.
    """
    with contextlib.closing(Database(copy_path, "read")) as older, older.snapshot() as connection:
        copied_device, copied_palace = device_pairing.device_id(connection), device_pairing.palace_id(connection)
    with contextlib.closing(Database(palace, "read")) as newer, newer.snapshot() as connection:
        device, links = device_pairing.device_id(connection), remote_rows.links_of(connection, copied_device)
        private, is_synced = remote_rows.private_ids(connection), bool(remote_rows.remotes(connection))
        is_same_palace = device_pairing.palace_id(connection) == copied_palace
        devices, known_devices = device_rows.rows(connection), {uid for _, uid, _ in remote_rows.devices(connection)}
    with contextlib.closing(Database(copy_path)) as older:
        with older.transaction() as connection:
            remote_rows.keep_private(connection, private, context.now)
            if is_same_palace:  # devices that were removed later stay removed
                for row in devices.values():
                    device_rows.keep(connection, row if row.uid == device else replace(row, private_key=None))
                    if row.may == "nothing":
                        device_rows.tell_again(connection, row.uid)
        if not is_synced or not (copied_device == device or (is_same_palace and copied_device in known_devices)):
            return False
        device_pairing.become_another_device(older, context.now, links, introducer=device if is_same_palace else None)
        with older.transaction() as connection:
            for remote in remote_rows.remotes(connection):
                remote_rows.forget_device(connection, remote.row, copied_device)
    return True


def _write_beside(context: Context, file: Path) -> str | None:
    """Take over the backup's pauses, and its settings if there are none here."""
    settings_backup, own = file.with_name(file.name + SETTINGS), context.settings_file
    try:
        with contextlib.suppress(FileNotFoundError):
            pause_state.merge_pauses(context, file.with_name(file.name + PAUSES).read_bytes())
        if not settings_backup.is_file() or own.exists():
            return None
        make_private_directory(own.parent)
        own.touch(0o600)
        own.write_bytes(settings_backup.read_bytes())
    except OSError as error:
        raise PalazzoError(
            f"The palace is restored, but the files beside {file} could not be restored ({error.strerror or error})."
        ) from None
    return str(own)


def _make_vectors(context: Context) -> None:
    with contextlib.suppress(PalaceUnusable):  # it is restored; who opens it next is told what is wrong
        start_embedding(context)
