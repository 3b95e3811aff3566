"""A folder as a remote: one that Syncthing or a drive carries between machines, or a mounted bucket.

A file is there whole or not at all: it is written under another name, flushed to disk, then renamed. Programs that
carry the folder guarantee no order, so a head may arrive before its segments; readers detect that by names and hashes.
Files with other names (a conflict copy, a partly carried file, anything of the user's) are left alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from palazzo.errors import RemoteUnusable, SegmentUnreadable
from palazzo.store.filesystem import sync_directory
from palazzo.sync.remotes import (
    ABOUT,
    DEVICES,
    HEAD,
    LARGEST_ABOUT,
    Kind,
    Ready,
    RemoteState,
    no_longer_there,
    refuse_other,
)
from palazzo.sync.segments import LARGEST, LARGEST_HEAD, Head, Segment, SegmentName, dump_head, is_device, load_head

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
_OURS, _PARTIAL_SUFFIX = ".palazzo-", ".part"
"""Prefix and suffix of a file while it is being written. Syncthing and cloud drives transfer it like any other file; no
reader uses it.
"""


class Folder:
    """A remote in an existing directory; see `Remote`."""

    kind: Kind = "folder"

    def __init__(self, path: Path) -> None:
        self._path = path
        self.address = str(path)

    def look(self) -> RemoteState:
        """Read the remote and return its current state."""
        with self._translate_errors("read"):
            self._be_there()
            about = _read(self._path / ABOUT, LARGEST_ABOUT)
            heads: dict[str, Head] = {}
            names: dict[str, tuple[SegmentName, ...]] = {}
            head_errors: dict[str, str] = {}
            for device in _directories(self._path / DEVICES):
                names[device] = tuple(sorted(_names(self._path / DEVICES / device)))
                try:
                    head = self._head(device)
                except SegmentUnreadable as error:
                    head_errors[device] = str(error)
                    continue
                if head is not None:
                    heads[device] = head
        return RemoteState(about, heads, names, head_errors)

    def read(self, device: str, name: SegmentName) -> bytes:
        """Return a segment's bytes; raises SegmentUnreadable if it is gone or larger than any segment may be."""
        with self._translate_errors("read"):
            content = _read(self._directory(device) / str(name), LARGEST)
        if content is None:
            raise SegmentUnreadable(no_longer_there(device, name))
        return content

    def introduce(self, about: bytes) -> bytes:
        """Write `palazzo.json` if there is none; return the current one."""
        with self._translate_errors("written"):
            self._be_there()
            stored_about = _read(self._path / ABOUT, LARGEST_ABOUT)
            if stored_about is None:
                _write(self._path, ABOUT, about)
                stored_about = _read(self._path / ABOUT, LARGEST_ABOUT)
        return about if stored_about is None else stored_about

    def push(
        self,
        segments: Iterable[Segment],
        *,
        expected: Head | None,
        ready: Ready,
        device_name: str = "",
        is_new_epoch: bool = False,
    ) -> Head | None:
        """Add a device's next segments and move its head to the last of them; see `Remote.push`."""
        last: Segment | None = None
        for segment in segments:
            device = segment.header.device
            with self._translate_errors("written"):
                if last is None:
                    self._be_there()
                    self._refuse_copied(device, expected)
                    _make_directory(self._directory(device))
                    self._remove_all_but(device, expected)
                _write(self._directory(device), str(segment.name), segment.content)
            last = segment
        if last is None:
            return None
        head = Head.of(last, device_name)
        with self._translate_errors("written"):
            self._refuse_copied(head.device, expected)
            sync_directory(self._directory(head.device))
        ready(head)
        with self._translate_errors("written"):
            _write(self._directory(head.device), HEAD, dump_head(head))
            sync_directory(self._directory(head.device))
        if is_new_epoch:
            self.tidy(head)
        return head

    def tidy(self, head: Head) -> None:
        """Delete this device's segments that do not lead to its head `head`, and its half-written files."""
        with self._translate_errors("written"):
            self._be_there()
            if self._head(head.device) == head:
                self._remove_all_but(head.device, head)

    def _remove_all_but(self, device: str, head: Head | None) -> None:
        """Remove this device's segments that do not lead to `head`, and its half-written files."""
        directory = self._directory(device)
        over = [directory / str(name) for name in _names(directory) if not _leads_to(name, head)]
        for path in [*over, *_list_partial_files(directory)]:
            path.unlink(missing_ok=True)

    def _head(self, device: str) -> Head | None:
        content = _read(self._directory(device) / HEAD, LARGEST_HEAD)
        return None if content is None else load_head(content, device)

    def _refuse_copied(self, device: str, expected: Head | None) -> None:
        try:
            remote_head = self._head(device)
        except SegmentUnreadable:  # it was not carried whole; this push writes it anew
            return
        refuse_other(self.address, device, remote_head, expected)

    def _directory(self, device: str) -> Path:
        return self._path / DEVICES / device

    def _be_there(self) -> None:
        """Raise if the directory is missing, as on a drive that is not mounted; it is never created here."""
        if not self._path.is_dir():
            raise RemoteUnusable(
                f"{self.address} does not exist: mount the drive or restore the directory, and run the command again."
            )

    @contextlib.contextmanager
    def _translate_errors(self, action: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RemoteUnusable(self._sentence(error, action)) from error

    def _sentence(self, error: OSError, action: str) -> str:
        if error.errno in _FULL:
            return f"The folder {self.address} is full: free some space there, and run the command again."
        if error.errno in _UNWRITABLE and action == "written":
            return f"The folder {self.address} cannot be written: check its permissions, and run the command again."
        return (
            f"The folder {self.address} cannot be {action} ({error.strerror}): check that it is mounted, and run the "
            "command again."
        )


def _directories(path: Path) -> Iterator[str]:
    """The devices that have a directory."""
    try:
        with os.scandir(path) as entries:
            yield from sorted(entry.name for entry in entries if is_device(entry.name) and entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return


def _names(directory: Path) -> Iterator[SegmentName]:
    """The segments in a device's directory."""
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                name = SegmentName.parse(entry.name)
                if name is not None:
                    yield name
    except FileNotFoundError:
        return


def _list_partial_files(directory: Path) -> Iterator[Path]:
    """Return this device's half-written files, left by an interrupted write."""
    with os.scandir(directory) as entries:
        file_names = [e.name for e in entries if e.name.startswith(_OURS) and e.name.endswith(_PARTIAL_SUFFIX)]
    return (directory / name for name in file_names)


def _read(path: Path, largest: int) -> bytes | None:
    """Return the file's bytes; None if it is missing, is not a file, or is larger than the limit."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:  # a link, which nobody who shares this folder makes
            return None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise SegmentUnreadable(f"{path} is larger than any file that Palazzo writes; nothing of it was pulled.")
    return content


def _write(directory: Path, name: str, content: bytes) -> None:
    """Write the whole file, readable by its owner only."""
    path = directory / f"{_OURS}{secrets.token_hex(8)}{_PARTIAL_SUFFIX}"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        path.replace(directory / name)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _make_directory(path: Path) -> None:
    for directory in (path.parent, path):
        directory.mkdir(mode=0o700, exist_ok=True)


def _leads_to(name: SegmentName, head: Head | None) -> bool:
    """Return whether a segment may precede `head`; later ones were left by a push that did not finish."""
    return head is not None and name.epoch == head.epoch and (name.n < head.n or name == head.name)
