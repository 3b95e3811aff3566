"""A folder as a remote: one that Syncthing or a drive carries between machines, or a mounted bucket.

A file is there whole or not at all: written under another name, brought to the disk, renamed. What carries the folder
promises no order, so a head may be there before its segments; who reads finds that by names and hashes. Whatever has
another name (a conflict's copy, a half-carried file, anything of the user's) is left alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from palazzo.errors import RemoteUnusable, SegmentUnreadable
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
"""How a file is called while it is written. Syncthing and cloud drives carry it like any other, and nobody reads it."""


class Folder:
    """A remote in a directory that is there; see `Remote`."""

    kind: Kind = "folder"

    def __init__(self, path: Path) -> None:
        self._path = path
        self.address = str(path)

    def look(self) -> RemoteState:
        """Go there and return what there is now."""
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
        """Return a segment's bytes; SegmentUnreadable where it has gone, or is more than any is."""
        with self._translate_errors("read"):
            content = _read(self._directory(device) / str(name), LARGEST)
        if content is None:
            raise SegmentUnreadable(no_longer_there(device, name))
        return content

    def introduce(self, about: bytes) -> bytes:
        """Write `palazzo.json` where there is none; return what is there now."""
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
        """Add a device's next segments and let its head stand behind the last; see `Remote.push`."""
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
            _sync_directory(self._directory(head.device))
        ready(head)
        with self._translate_errors("written"):
            _write(self._directory(head.device), HEAD, dump_head(head))
            _sync_directory(self._directory(head.device))
        if is_new_epoch:
            self.tidy(head)
        return head

    def tidy(self, head: Head) -> None:
        """Take away what of this device's segments does not lead to `head`, its own, and what was not finished."""
        with self._translate_errors("written"):
            self._be_there()
            if self._head(head.device) == head:
                self._remove_all_but(head.device, head)

    def _remove_all_but(self, device: str, head: Head | None) -> None:
        """Remove what of this device's, and of half-written files, does not lead to `head`."""
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
        """A drive that is not mounted leaves an empty place, or none; nothing is made where there is none."""
        if not self._path.is_dir():
            raise RemoteUnusable(
                f"{self.address} is not there: mount the drive, or bring back the directory, and run it again."
            )

    @contextlib.contextmanager
    def _translate_errors(self, action: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RemoteUnusable(self._sentence(error, action)) from error

    def _sentence(self, error: OSError, action: str) -> str:
        if error.errno in _FULL:
            return f"The folder {self.address} is full: free some space there, and run it again."
        if error.errno in _UNWRITABLE and action == "written":
            return f"The folder {self.address} cannot be written: check its permissions, and run it again."
        return (
            f"The folder {self.address} cannot be {action} ({error.strerror}): check that it is mounted, "
            "and run it again."
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
    """What this device began to write, and was killed."""
    with os.scandir(directory) as entries:
        file_names = [e.name for e in entries if e.name.startswith(_OURS) and e.name.endswith(_PARTIAL_SUFFIX)]
    return (directory / name for name in file_names)


def _read(path: Path, largest: int) -> bytes | None:
    """The file's bytes; None where there is none, or something else. What is larger is not read."""
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
        raise SegmentUnreadable(f"{path} is larger than anything that Palazzo writes; nothing of it was taken in.")
    return content


def _write(directory: Path, name: str, content: bytes) -> None:
    """Put a file there, whole: its owner alone reads it."""
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


def _sync_directory(path: Path) -> None:
    """Bring names to the disk, too, where the system can be asked to."""
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # network drives know no such thing
            raise
    finally:
        os.close(handle)


def _leads_to(name: SegmentName, head: Head | None) -> bool:
    """Whether a segment may stand before `head`: what is behind it was left by a push that did not end."""
    return head is not None and name.epoch == head.epoch and (name.n < head.n or name == head.name)
