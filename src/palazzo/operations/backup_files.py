"""Shared code of backup and restore: where backups are, which are known, their companion files, who may use them.

    palace-1a2b3c4d-20261122T180542Z.db             the palace, in one file
    palace-1a2b3c4d-20261122T180542Z.db.pauses      when it was paused: text from those times must not be captured
    palace-1a2b3c4d-20261122T180542Z.db.config.toml the user's settings

A file beside the palace records where its backups were written, so that status knows the last one without searching for
it, and an erase finds them all. A file name that Palazzo chooses contains the beginning of the device's id, so that two
palaces with the same backup directory never delete each other's backups.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from glob import escape
from pathlib import Path
from typing import Literal

from palazzo import locks
from palazzo.errors import PalaceUnusable
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import vector_file_paths

_PARTIAL = ".partial"
PAUSES, SETTINGS = ".pauses", ".config.toml"
"""Suffixes of the files that are stored beside a backup."""
_NAME = re.compile(r"palace-([0-9a-f]{8})-(\d{8}T\d{6}Z)(?:-(\d+))?\.db")
_TIME = "%Y%m%dT%H%M%SZ"
_MOST = 200
"""How many of the latest backups are remembered."""


@frozen
class Backup:
    """A backup of this palace: its file and its time."""

    file: Path
    at: Micros

    @property
    def is_there(self) -> bool:
        """Return whether the file is accessible now: a disk may be disconnected."""
        return self.file.is_file()

    @property
    def is_gone(self) -> bool:
        """Return whether someone deleted the backup: its directory exists, and is not empty like that of a missing
        disk.
        """
        try:
            return not self.file.exists() and any(self.file.parent.iterdir())
        except OSError:
            return False


def default_directory(palace: Path) -> Path:
    """Return the default directory of backups."""
    return palace.parent / "backups"


def pick_backup_path(directory: Path, device: str, at: Micros) -> Path:
    """Return the path of a new backup in a directory."""
    stem = f"palace-{device[:8]}-{_moment(at)}"
    used = [int(match[3] or 1) for path in directory.glob(f"{stem}*") if (match := _NAME.fullmatch(path.name))]
    return directory / (f"{stem}-{max(used) + 1}.db" if used else f"{stem}.db")


def kept_name(palace: Path, at: Micros, why: Literal["before-restore", "damaged"] = "before-restore") -> Path:
    """Return the file name for a palace that a restore or a repair replaces."""
    stem = f"{palace.name}.{why}-{_moment(at)}"
    names = (stem, *(f"{stem}-{n}" for n in range(2, 1000)))
    return next(palace.with_name(name) for name in names if not palace.with_name(name).exists())


def in_directory(directory: Path, device: str) -> list[Path]:
    """Return this device's backups in a directory that have Palazzo's file names, the oldest first."""
    dated_paths = []
    with contextlib.suppress(OSError):
        for path in directory.iterdir():
            match = _NAME.fullmatch(path.name)
            if match is not None and match[1] == device[:8]:
                dated_paths.append((match[2], int(match[3] or 1), path))
    return [path for _, _, path in sorted(dated_paths)]


def take_away(file: Path) -> None:
    """Delete a backup and its companion files. Raises OSError."""
    file.unlink(missing_ok=True)
    companions = [file.with_name(file.name + suffix) for suffix in (PAUSES, SETTINGS)]
    for path in [*companions, *vector_file_paths.all_files(file)]:  # of vectors, if it was searched
        path.unlink(missing_ok=True)


# --- which are known ---------------------------------------------------------------------------------------


def list_backups(palace: Path) -> list[Backup]:
    """Return the known backups of this palace, including palaces kept by restores, the newest first."""
    return [backup for backup in _read_backups(palace) if not backup.is_gone]


def newest(palace: Path) -> Backup | None:
    """Return the newest backup; a palace that a restore or a repair replaced does not count."""
    return next((backup for backup in list_backups(palace) if not is_replaced_palace(palace, backup)), None)


def is_replaced_palace(palace: Path, backup: Backup) -> bool:
    """Return whether a file is a palace that a restore or a repair replaced, not a backup."""
    return backup.file.name.startswith((f"{palace.name}.before-restore-", f"{palace.name}.damaged-"))


def remember(palace: Path, backup: Backup) -> None:
    """Record a backup. Call this before making it, so that an interrupted backup is known."""
    _write(palace, [*(entry for entry in reversed(list_backups(palace)) if entry.file != backup.file), backup])


def forget(palace: Path, files: Collection[Path]) -> None:
    """Remove the records of backups that are gone for good."""
    _write(palace, [backup for backup in reversed(list_backups(palace)) if backup.file not in files])


@contextmanager
def hold_backup_lock(palace: Path) -> Iterator[None]:
    """Hold the lock for backups and restores of a palace: only one may run at a time. Raises PalaceUnusable.

    Leftovers of an earlier run that was killed are deleted first.
    """
    try:
        lock = locks.try_lock(palace.with_name(f"{palace.name}.backup.lock"))
    except OSError as error:
        raise PalaceUnusable(f"{palace.parent} cannot be written to ({error.strerror or error}).") from None
    if lock is None:
        raise PalaceUnusable(f"Another backup or restore of {palace} is running. Try again when it is done.")
    with lock:
        _take_leftovers_away(palace)
        yield


def partial(file: Path) -> Path:
    """Return the temporary file name of a backup that is being made."""
    return file.with_name(f".{file.name}{_PARTIAL}")


def staging_path(palace: Path) -> Path:
    """Return the file name under which a restore prepares the new palace."""
    return palace.with_name(f"{palace.name}.restoring")


# --- parts -------------------------------------------------------------------------------------------------


def _read_backups(palace: Path) -> list[Backup]:
    backup_by_file: dict[Path, Backup] = {}
    with contextlib.suppress(OSError):
        for line in _record(palace).read_text(encoding="utf-8").splitlines():
            if (backup := _read(line)) is not None:
                backup_by_file[backup.file] = backup
    return sorted(backup_by_file.values(), key=lambda one: (one.at, str(one.file)), reverse=True)


def _take_leftovers_away(palace: Path) -> None:
    """Delete leftovers. A backup is recorded before it exists; the next recording drops records of deleted backups."""
    for backup in _read_backups(palace):
        _unlink(backup.file.parent.glob(f"{escape(partial(backup.file).name)}*"))
    _unlink(palace.parent.glob(f"{escape(palace.name)}.before-restore-*{_PARTIAL}*"))
    _unlink(palace.parent.glob(f"{escape(palace.name)}.damaged-*{_PARTIAL}*"))
    _unlink(palace.parent.glob(f"{escape(staging_path(palace).name)}*"))


def _unlink(files: Iterable[Path]) -> None:
    for file in list(files):
        with contextlib.suppress(OSError):
            file.unlink()


def _write(palace: Path, backups: list[Backup]) -> None:
    record = _record(palace)
    new = record.with_name(f"{record.name}.new")
    lines = "".join(json.dumps({"at": backup.at, "file": str(backup.file)}) + "\n" for backup in backups[-_MOST:])
    try:
        new.write_text(lines, "utf-8")
        new.chmod(0o600)
        new.replace(record)
    except OSError as error:
        with contextlib.suppress(OSError):
            new.unlink()
        raise PalaceUnusable(
            f"{record.parent} cannot be written to ({error.strerror or error}), so the locations of backups cannot "
            "be recorded. Free some space there and run the command again."
        ) from error


def _record(palace: Path) -> Path:
    return palace.with_name(f"{palace.name}.backups")


def _read(line: str) -> Backup | None:
    try:
        record = json.loads(line)
        return Backup(Path(record["file"]), Micros(int(record["at"])))
    except (ValueError, KeyError, TypeError):
        return None  # half a line, of a disk that was full


def _moment(at: Micros) -> str:
    return datetime.fromtimestamp(at / 1_000_000, UTC).strftime(_TIME)
