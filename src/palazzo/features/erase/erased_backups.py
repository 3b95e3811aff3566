"""Erasure in backups and in the files that restores have kept.

Each file is copied; the words are erased in the copy, which is then rewritten and renamed to the old name. A kill at
any moment leaves either the old file or the new one, and the next erase continues. Restoring a backup that an erase
could not reach erases the words in it again.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.archive import erasure_replay
from palazzo.errors import PalazzoError
from palazzo.features.backup import automatic_backup
from palazzo.features.backup.backup import check_whole
from palazzo.frozen_class import frozen
from palazzo.operations import backup_files
from palazzo.palace import Palace
from palazzo.store import file_backup as copying
from palazzo.store import file_scrub, vector_file_paths

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@frozen
class BackupErasure:
    """Backups that the words were removed from, that may still hold them, and that are not accessible now."""

    cleared: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    away: tuple[str, ...] = ()


def clear(context: Context) -> BackupErasure:
    """Erase from all known backups what the palace has erased since they were made."""
    clean_backups, failed_backups, away = [], [], []
    for file in find_backups(context):
        if not file.is_file():
            away.append(str(file))
            continue
        context.notice(f"Searching the backup {file} for erased text.")
        try:
            if _erase_in_backup(context, file):
                clean_backups.append(str(file))
        except (PalazzoError, OSError):
            failed_backups.append(str(file))
    return BackupErasure(tuple(clean_backups), tuple(failed_backups), tuple(away))


def find_backups(context: Context) -> list[Path]:
    """Return all known backups, and this device's backups beside the palace or made by the service."""
    palace = context.palace_path
    with context.reading().database.snapshot() as connection:
        device = copying.device_of(connection)
    files = [backup.file for backup in backup_files.list_backups(palace)]
    for directory in (backup_files.default_directory(palace), automatic_backup.directory_of(palace)):
        files += backup_files.in_directory(directory, device)
    return list(dict.fromkeys(files))


def _erase_in_backup(context: Context, file: Path) -> bool:
    """Erase in one backup; return whether it contained anything to erase."""
    partial = backup_files.partial(file)
    try:
        with backup_files.hold_backup_lock(context.palace_path):
            copying.refuse_foreign(file)
            copying.copy_closed(file, partial, lambda done, total: context.report("copying", done, total))
            check_whole(context, partial, str(file))
            with Palace.open(partial) as copy:
                outcome = erasure_replay.carry_over(context.reading().database, copy.database, context.report)
                if outcome.is_affected:
                    copy.finish_erasing()
            if outcome.is_affected:
                copying.close_up(partial)
                copying.rename(partial, file)
                vector_file_paths.remove_vector_files(file, file_scrub.PATIENCE)  # of one that was searched
            return outcome.is_affected
    finally:
        with contextlib.suppress(OSError):
            copying.remove(partial)
