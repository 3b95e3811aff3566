"""Automatic backups: one a day beside the palace, up to the number and the size in the settings."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo import paths
from palazzo.errors import PalaceUnusable, PalazzoError
from palazzo.features.backup.backup import backup
from palazzo.features.backup.contract import BackupRequest
from palazzo.features.service.service_state import log_file
from palazzo.operations import backup_files
from palazzo.store import items
from palazzo.store.file_backup import device_of

if TYPE_CHECKING:
    from palazzo.operations.context import Context

DAY = 86_400_000_000
"""Microseconds between two automatic backups."""
_SPACE = 2
"""Free space required before a backup, in multiples of the palace's size, because an agent may write meanwhile."""
_MB = 1 << 20


def directory_of(palace: Path) -> Path:
    """Return the directory of automatic backups. Backups that a person made are elsewhere: those are never deleted."""
    return backup_files.default_directory(palace) / "automatic"


def is_due(context: Context) -> bool:
    """Return whether automatic backups are on, the last one is a day old, and the palace has changed since."""
    palace = context.palace_path
    if not context.settings.number("backup.keep") or not context.has_palace:
        return False
    backup_times = [
        backup.at for backup in backup_files.list_backups(palace) if backup.file.parent == directory_of(palace)
    ]
    if not backup_times:
        return not is_empty(context)
    return context.machine_now - max(backup_times) >= DAY and _written_at(palace) > max(backup_times)


def is_empty(context: Context) -> bool:
    """Return whether the palace holds no items yet. Also True for a palace that cannot be read."""
    try:
        with context.reading().database.snapshot() as connection:
            return not items.has_items(connection)
    except PalaceUnusable:
        return True


def has_room(palace: Path) -> bool:
    """Return whether a backup leaves enough free space on the disk."""
    return shutil.disk_usage(palace.parent).free >= _SPACE * palace.stat().st_size


def is_within_bound(context: Context) -> bool:
    """Return whether one backup of this palace is within the size limit for all automatic backups."""
    return context.palace_path.stat().st_size <= context.settings.number("backup.most_mb") * _MB


def make(context: Context) -> Path:
    """Make a checked backup, and delete the oldest ones beyond the limits. Failures are recorded for `doctor`."""
    try:
        backup_file = _make(context)
    except Exception as error:
        _note_failure(context, error)
        raise
    with contextlib.suppress(OSError):
        _failure_file(context).unlink(missing_ok=True)
    return backup_file


def last_failure(context: Context) -> str | None:
    """Return why the last automatic backup failed; None if it succeeded, or if automatic backups are off."""
    if not context.settings.number("backup.keep"):
        return None
    with contextlib.suppress(OSError):
        return _failure_file(context).read_text(encoding="utf-8", errors="replace").strip()
    # A full disk may have no room for the note either.
    return _no_room(context.palace_path) if is_due(context) and not has_room(context.palace_path) else None


def _make(context: Context) -> Path:
    palace = context.palace_path
    if not has_room(palace):
        raise PalaceUnusable(_no_room(palace))
    target = directory_of(palace)
    backup_file = backup(context, BackupRequest(target, keep=context.settings.number("backup.keep"))).file
    with context.reading().database.snapshot() as connection:
        device = device_of(connection)
    files = backup_files.in_directory(target, device)
    bound = context.settings.number("backup.most_mb") * _MB
    removed = []
    while len(files) > 1 and sum(file.stat().st_size for file in files) > bound:
        removed.append(files.pop(0))
        backup_files.take_away(removed[-1])
    if removed:
        with backup_files.hold_backup_lock(palace):
            backup_files.forget(palace, removed)
    return Path(str(backup_file))


def _no_room(palace: Path) -> str:
    return (
        f"The disk of {palace} has no room for {_SPACE} copies of the palace. Free some space there, or use another "
        "disk: 'palazzo backup DIR'."
    )


def _failure_file(context: Context) -> Path:
    log = log_file(context.palace_path, context.variables)
    return log.with_name(f"{log.stem}-backup-failed.txt")


def _note_failure(context: Context, error: Exception) -> None:
    """Record the reason of a failure. For a bug, record only its type: its message may quote a text."""
    file = _failure_file(context)
    reason = str(error) if isinstance(error, PalazzoError) else type(error).__name__
    with contextlib.suppress(OSError):
        paths.make_private_directory(file.parent)
        file.write_text(f"{reason}\n", encoding="utf-8", errors="replace")


def _written_at(palace: Path) -> int:
    """Return the time of the last write to the palace's file or its WAL, in microseconds."""
    files = (palace, palace.with_name(f"{palace.name}-wal"))
    return max(file.stat().st_mtime_ns // 1000 for file in files if file.exists())
