"""Automatic backups: one a day beside the palace, up to the number and the size in the settings."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import PalaceUnusable
from palazzo.operations import backups

if TYPE_CHECKING:
    from palazzo.operations.context import Context

DAY = 86_400_000_000
"""Microseconds between two automatic backups."""
_SPACE = 2
"""Copies of the palace that must fit into the free space before a backup: an agent may write meanwhile."""
_MB = 1 << 20


def directory_of(palace: Path) -> Path:
    """Return their directory. It holds no backups that a person made: those are never deleted automatically."""
    return backups.default_directory(palace) / "automatic"


def is_due(context: Context) -> bool:
    """Whether automatic backups are on, the last one is a day old, and the palace has changed since."""
    palace = context.palace_path
    if not context.settings.number("backup.keep") or not context.has_palace:
        return False
    backup_times = [backup.at for backup in backups.known(palace) if backup.file.parent == directory_of(palace)]
    if not backup_times:
        return not is_empty(context)
    return context.machine_now - max(backup_times) >= DAY and _written_at(palace) > max(backup_times)


def is_empty(context: Context) -> bool:
    """Whether the palace holds no items yet. Also True for a palace that cannot be read."""
    from palazzo.store import items

    try:
        with context.reading().database.snapshot() as connection:
            return not items.has_items(connection)
    except PalaceUnusable:
        return True


def has_room(palace: Path) -> bool:
    """Whether a backup leaves enough free space on the disk."""
    return shutil.disk_usage(palace.parent).free >= _SPACE * palace.stat().st_size


def is_within_bound(context: Context) -> bool:
    """Whether one backup of this palace is within the size limit of all."""
    return context.palace_path.stat().st_size <= context.settings.number("backup.most_mb") * _MB


def make(context: Context) -> Path | None:
    """Make a checked backup; remove the oldest ones beyond the limits. Return None if the disk is too full."""
    from palazzo.operations.backup import BackupRequest, backup
    from palazzo.store.backup import device_of

    palace = context.palace_path
    if not has_room(palace):
        return None
    target = directory_of(palace)
    backup_file = backup(context, BackupRequest(target, keep=context.settings.number("backup.keep"))).file
    with context.reading().database.snapshot() as connection:
        device = device_of(connection)
    files = backups.in_directory(target, device)
    bound = context.settings.number("backup.most_mb") * _MB
    removed = []
    while len(files) > 1 and sum(file.stat().st_size for file in files) > bound:
        removed.append(files.pop(0))
        backups.take_away(removed[-1])
    if removed:
        with backups.alone(palace):
            backups.forget(palace, removed)
    return None if backup_file is None else Path(backup_file)


def _written_at(palace: Path) -> int:
    """Return the time of the last write to the palace's file or its log, in microseconds."""
    files = (palace, palace.with_name(f"{palace.name}-wal"))
    return max(file.stat().st_mtime_ns // 1000 for file in files if file.exists())
