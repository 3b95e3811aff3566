"""In-place changes of other programs' files: all of them or none, with a backup beside each, and never half-written.

Just before a file is replaced, it is compared with the text that was read. If its program has written to it since then,
it is read again. A link stays a link, and its target is changed. Permissions are kept.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from palazzo.errors import PalazzoError, UsageError
from palazzo.frozen_class import frozen
from palazzo.hosts import created_directories
from palazzo.locks import FileLock, try_lock
from palazzo.paths import make_private_directory

State = Literal["new", "changed", "same", "removed"]

_BOM = b"\xef\xbb\xbf"
_BACKUPS = 3
"""The most of our backups that are kept beside a file."""
_TRIES = 5
_PATIENCE = 10.0
"""Seconds to wait for another installation to finish."""
_LONGEST_LINE = 160
"""The most characters of a line that a diff shows: some settings files are a single line of a megabyte."""


@frozen
class Edit:
    """A change of a file. `change` takes its text (None: no file) and returns the new text (None: the file is deleted).

    It raises ValueError with the reason if it cannot parse the text. `private` applies to a file that is created: only
    its owner can read it. With `keeps_copy`, a copy of a file that is deleted is kept, since it held more than ours.
    `owns_directory` says that the file's directory was made for it, and is deleted with it if nothing else is in it.
    A file that is created `is_program` can be executed.
    """

    path: Path
    what: str
    change: Callable[[str | None], str | None]
    private: bool = True
    keeps_copy: bool = False
    owns_directory: bool = False
    is_program: bool = False

    @property
    def mode(self) -> int:
        """The permissions of a file that is created."""
        mode = 0o600 if self.private else 0o644
        return mode | (mode & 0o444) >> 2 if self.is_program else mode


@frozen
class FileChange:
    """A file before and after the change; None if there is no file. `backup` is where the old version is kept.

    `directories` are those that were created for the file.
    """

    edit: Edit
    target: Path
    old_content: bytes | None
    new_content: bytes | None
    backup: Path | None = None
    directories: tuple[Path, ...] = ()

    @property
    def state(self) -> State:
        """The kind of change."""
        if self.old_content == self.new_content:
            return "same"
        return "new" if self.old_content is None else "removed" if self.new_content is None else "changed"

    @property
    def diff(self) -> str:
        """A unified diff; very long lines are cut."""
        old_lines, new_lines = (_lines(content) for content in (self.old_content, self.new_content))
        path = str(self.edit.path)
        return "\n".join(difflib.unified_diff(old_lines, new_lines, path, path, lineterm=""))


def looked_at(edits: Sequence[Edit]) -> tuple[FileChange, ...]:
    """Return the results of the edits without writing; raise UsageError if one cannot be carried out."""
    changes = tuple(_plan_change(edit) for edit in edits)
    for change in changes:
        if change.state != "same":
            _check_writable(change)
    return changes


def carry_out(edits: Sequence[Edit], lock: Path) -> tuple[FileChange, ...]:
    """Change the files one by one; if one fails, restore those changed before it and raise UsageError.

    `lock` is the file with which installations wait for each other. A directory that a change created is removed again
    with the last file in it, now or by a later run with the same lock.
    """
    with _hold_lock(lock):
        looked_at(edits)
        changes: list[FileChange] = []
        try:
            for edit in edits:
                changes.append(_carried_out(edit))
        except BaseException:
            for change in reversed(changes):
                _put_back(change)
            raise
        with contextlib.suppress(OSError):  # the files are written; without a record, their directories stay
            created_directories.update_record(
                lock.parent,
                created=[directory for change in changes for directory in change.directories],
                cleared=[change.target for change in changes if change.new_content is None],
            )
        return tuple(changes)


# --- reading -----------------------------------------------------------------------------------------------


def _plan_change(edit: Edit) -> FileChange:
    target = Path(os.path.realpath(edit.path))
    old_content = _read(edit.path, target)
    try:
        text = None if old_content is None else old_content.removeprefix(_BOM).decode()
        new_text = edit.change(text)
    except UnicodeDecodeError:
        raise _make_refusal(edit.path, "is not UTF-8") from None
    except ValueError as error:
        raise _make_refusal(edit.path, f"cannot be changed: {error}") from None
    bom = _BOM if old_content is not None and old_content.startswith(_BOM) else b""
    try:
        return FileChange(edit, target, old_content, None if new_text is None else bom + new_text.encode())
    except UnicodeEncodeError:
        raise _make_refusal(edit.path, "cannot name a program whose path is not UTF-8") from None


def _read(path: Path, target: Path) -> bytes | None:
    try:
        if not stat.S_ISREG(target.stat().st_mode):
            raise _make_refusal(path, "is not a file")
        return target.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _make_refusal(path, f"cannot be read ({error.strerror})") from None


def _check_writable(change: FileChange) -> None:
    """Check that the file may be written. A read-only file is not replaced, even if its directory allows that."""
    path = change.edit.path
    if change.old_content is not None and not (
        change.target.stat().st_mode & 0o222 and os.access(change.target, os.W_OK)
    ):
        raise _make_refusal(path, "is read-only")
    ancestor = next(parent for parent in change.target.parents if os.access(parent, os.F_OK))
    if not ancestor.is_dir() or not os.access(ancestor, os.W_OK):
        raise _make_refusal(path, f"cannot be written: {ancestor} is not a directory that you can write to")


def _make_refusal(path: Path, why: str) -> UsageError:
    return UsageError(f"{path} {why}; nothing was written. Fix this first, or move the file away.")


def _lines(content: bytes | None) -> list[str]:
    lines = (content or b"").decode("utf-8", "replace").splitlines()
    return [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in lines]


# --- writing -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _hold_lock(path: Path) -> Iterator[FileLock]:
    """Hold the lock that all installations of this user take."""
    until = time.monotonic() + _PATIENCE
    try:
        make_private_directory(path.parent)
        while (lock := try_lock(path)) is None:
            if time.monotonic() > until:
                raise PalazzoError(f"Another installation holds {path}; try again when it is done.")
            time.sleep(0.05)
    except OSError as error:
        raise UsageError(
            f"The lock file {path} of installations cannot be created ({error.strerror}); nothing was written. Get "
            f"write access to {path.parent}."
        ) from None
    with lock:
        yield lock


def _carried_out(edit: Edit) -> FileChange:
    for _ in range(_TRIES):
        change = _plan_change(edit)
        if change.state == "same":
            return change
        try:
            # a file that goes held nothing but ours, unless the edit says otherwise
            keeps = change.old_content is not None and (change.new_content is not None or edit.keeps_copy)
            backup = _backed_up(change.target, change.old_content or b"") if keeps else None
            directories = created_directories.missing_directories(change.target.parent)
            if _replace_file(change.target, change.old_content, change.new_content, edit.mode):
                _forget_old_backups(change.target)
                if change.state == "removed" and edit.owns_directory:
                    _remove_if_empty(change.target.parent)
                return replace(change, backup=backup, directories=tuple(directories))
            if backup is not None:
                backup.unlink()
        except OSError as error:
            raise _make_refusal(edit.path, f"cannot be written ({error.strerror})") from None
    raise UsageError(f"Another program keeps changing {edit.path}; nothing was written. Try again when it stops.")


def _replace_file(target: Path, old_content: bytes | None, new_content: bytes | None, mode: int) -> bool:
    """Replace the file by `after` atomically; return False and change nothing if it is no longer as it was before."""
    if new_content is None:
        if not _is_still(target, old_content):
            return False
        target.unlink()
        return True
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(new_content)
            file.flush()
            os.fsync(file.fileno())
        if old_content is None:
            part.chmod(mode)
        else:
            _keep_owner(target, part)
        if not _is_still(target, old_content):
            part.unlink()
            return False
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return True


def _remove_if_empty(directory: Path) -> None:
    if not any(directory.iterdir()):
        directory.rmdir()


def _is_still(target: Path, old_content: bytes | None) -> bool:
    try:
        return target.read_bytes() == old_content
    except FileNotFoundError:
        return old_content is None


def _keep_owner(target: Path, part: Path) -> None:
    was, part_status = target.stat(), part.stat()
    if os.name == "posix" and (was.st_uid, was.st_gid) != (part_status.st_uid, part_status.st_gid):
        os.chown(part, was.st_uid, was.st_gid)
    part.chmod(stat.S_IMODE(was.st_mode))


def _put_back(change: FileChange) -> None:
    """Restore the file, unless someone has changed it since."""
    if change.state == "same":
        return
    with contextlib.suppress(OSError):  # the error that brought us here is told; the backup is there
        if (
            _replace_file(change.target, change.new_content, change.old_content, change.edit.mode)
            and change.backup is not None
        ):
            change.backup.unlink()
    created_directories.remove_empty(change.directories)


def _backed_up(target: Path, content: bytes) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    backup = target.with_name(f"{target.name}.palazzo-backup-{stamp}")
    backup.touch(0o600, exist_ok=False)
    backup.write_bytes(content)
    _keep_owner(target, backup)
    return backup


def _forget_old_backups(target: Path) -> None:
    beginning = f"{target.name}.palazzo-backup-"
    ours = sorted(path for path in target.parent.iterdir() if path.name.startswith(beginning))
    for old in ours[:-_BACKUPS]:
        old.unlink(missing_ok=True)
