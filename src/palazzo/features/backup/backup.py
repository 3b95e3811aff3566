"""backup: copy the palace into one file while it is in use, and list the existing backups."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.derived.integrity_checks import verify_truth
from palazzo.errors import NotAPalace, PalaceUnusable, UsageError
from palazzo.features.backup.contract import BackupRequest, BackupResult, BackupView
from palazzo.model import Micros
from palazzo.operations import backup_files, pause_state
from palazzo.operations.backup_files import PAUSES, SETTINGS, Backup
from palazzo.paths import make_private_directory
from palazzo.store import file_backup as copying
from palazzo.store import palace_overview
from palazzo.store.database import Database

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def backup(context: Context, request: BackupRequest) -> BackupResult:
    """Copy the palace into one file, as of one moment, while agents keep using it. The copy is checked."""
    if request.keep is not None and request.keep < 1:
        raise UsageError("--keep takes the number of backups to keep, at least 1.")
    if request.list:
        return BackupResult(None, 0, 0, 0.0, (), (), _list_backups(context))
    began, at = time.monotonic(), context.now
    with context.reading().database.snapshot() as connection:
        device = copying.device_of(connection)
    directory, target = _target(context, request, device, at)
    with backup_files.hold_backup_lock(context.palace_path):
        items = _write(context, Backup(target, at))
        side_files = _write_beside(context, target)
        deleted = [] if directory is None or request.keep is None else _rotate(directory, device, target, request.keep)
        backup_files.forget(context.palace_path, deleted)
    return BackupResult(
        str(target),
        target.stat().st_size,
        items,
        round(time.monotonic() - began, 3),
        tuple(map(str, side_files)),
        tuple(map(str, deleted)),
        _list_backups(context),
    )


def _target(context: Context, request: BackupRequest, device: str, at: Micros) -> tuple[Path | None, Path]:
    """Return the directory, if one was named, and the file to write."""
    palace = context.palace_path
    destination = None if request.target is None else context.led_to(request.target)
    if destination is not None and not str(destination).isprintable():  # as the path of a palace, which it would be
        raise UsageError(f"The path {str(destination)!a} contains unprintable characters. Name another file.")
    try:
        if destination is None or destination.is_dir() or request.keep is not None:
            directory = destination or backup_files.default_directory(palace)
            _make(directory)
            return directory, backup_files.pick_backup_path(directory, device, at)
        if not destination.parent.is_dir():
            raise UsageError(f"The directory {destination.parent} does not exist. Create it, or name another file.")
        if destination.exists():
            _refuse_precious(destination, palace)
    except OSError as error:
        raise PalaceUnusable(f"{destination or palace.parent} cannot be used ({error.strerror or error}).") from None
    return None, destination


def _make(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{directory} is a file, but --keep needs a directory. Leave one of them out.")
    make_private_directory(directory)


def _refuse_precious(file: Path, palace: Path) -> None:
    """Refuse to overwrite anything but an older backup."""
    if file.samefile(palace):
        raise UsageError(f"{file} is the palace itself. Name another file, or a directory.")
    if file.with_name(f"{file.name}-wal").exists():
        raise UsageError(f"{file} is a palace that is in use, so it was not changed. Name another file.")
    try:
        copying.refuse_foreign(file)
    except NotAPalace:
        raise UsageError(
            f"{file} already exists and is not a backup, so it was not changed. Name another file."
        ) from None


def _write(context: Context, new: Backup) -> int:
    """Write a copy beside the target, check it, and rename it; return the number of its items."""
    palace, partial = context.palace_path, backup_files.partial(new.file)
    earlier_backups = [record for record in backup_files.list_backups(palace) if record.file == new.file]
    backup_files.remember(palace, new)
    try:
        copying.copy(palace, partial, lambda done, total: context.report("copying", done, total))
        items = check_whole(context, partial, f"The palace {palace}")
        _name(partial, new.file)
    except BaseException:
        with contextlib.suppress(PalaceUnusable):  # the first error is reported; a missing backup is not listed
            backup_files.forget(palace, [new.file])
            for former in earlier_backups:
                backup_files.remember(palace, former)
        raise
    finally:
        with contextlib.suppress(OSError):  # the next one takes it away
            copying.remove(partial)
    return items


def _name(partial: Path, target: Path) -> None:
    try:
        copying.rename(partial, target)
    except OSError as error:
        raise PalaceUnusable(f"{target} cannot be written ({error.strerror or error}). Name another place.") from error


def check_whole(context: Context, file: Path, subject: str) -> int:
    """Read a whole palace file and return the number of its items. Raises PalaceUnusable with the problem found."""
    for n, check in enumerate(verify_truth(file)):
        context.report("checking", n + 1, 4, check.name)
        if not check.ok:
            raise PalaceUnusable(
                f"{subject} is damaged ({check.name}: {check.detail}), so nothing was written. See 'palazzo verify' "
                "for details, and 'palazzo backup --list' for existing backups."
            )
    database = Database(file, "read")
    try:
        with database.snapshot() as connection:
            return palace_overview.count_items(connection)
    finally:
        database.close()


def _write_beside(context: Context, target: Path) -> list[Path]:
    """Write the palace's companion files beside the backup; delete those of an old backup that no longer exist."""
    files = []
    try:
        settings = context.settings_file.read_bytes() if context.settings_file.is_file() else b""
        for suffix, content in ((PAUSES, pause_state.format_pauses(context).encode()), (SETTINGS, settings)):
            file = target.with_name(target.name + suffix)
            file.unlink(missing_ok=True)
            if content:
                with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                    stream.write(content)
                files.append(file)
    except OSError as error:
        raise PalaceUnusable(
            f"{target} was made, but its companion files could not be ({error.strerror or error})."
        ) from error
    return files


def _rotate(directory: Path, device: str, new: Path, keep: int) -> list[Path]:
    """Delete the oldest backups in the directory beyond the number to keep. The new one is already complete.

    The new one always stays, whatever the names of the others: a clock that was wrong for a while gives some of them
    later dates.
    """
    candidates = [file for file in backup_files.in_directory(directory, device) if file != new]
    old = candidates[: max(0, len(candidates) - (keep - 1))]
    try:
        for file in old:
            backup_files.take_away(file)
    except OSError as error:
        raise PalaceUnusable(
            f"The backup was made, but older ones in {directory} could not be deleted ({error.strerror or error})."
        ) from None
    return old


def _list_backups(context: Context) -> tuple[BackupView, ...]:
    return tuple(
        BackupView(
            str(record.file), record.at, record.file.stat().st_size if record.is_there else None, record.is_there
        )
        for record in backup_files.list_backups(context.palace_path)
    )
