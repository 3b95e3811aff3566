"""The files of an export, in a directory or a zip archive, read without ever writing one to disk.

A zip file comes from somewhere else, so it is not trusted: an entry whose name leads out of the archive (absolute, or
through `..`), or that is a link, encrypted, or far larger than its bytes justify, is refused with a reason, and the
others are still read. Names are only ever compared, never opened as paths of this machine. In a directory, links and
devices are refused too.

The format is PKWARE's APPNOTE.TXT: names are UTF-8 where bit 11 of the flags says so, else code page 437 (in practice
often UTF-8 all the same); the upper half of the external attributes is a Unix mode.
"""

from __future__ import annotations

import contextlib
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Protocol

from palazzo.errors import SourceUnreadable

LARGEST_ENTRY = 2 * 1024**3
"""Maximum bytes of one file of an export: about twenty years of one person's conversations."""
LARGEST_TOTAL = 8 * 1024**3
"""Maximum bytes that are read from one archive."""
LARGEST_RATIO = 200
"""Maximum ratio of an entry's unpacked to its packed size. Conversations shrink to a tenth; a zip bomb's entry to a
thousandth.
"""
_SMALL_ENTRY = 32 * 1024 * 1024
"""Maximum bytes for which any ratio is accepted: a pasted log may repeat one line a million times."""
_MOST_ENTRIES = 1_000_000
_BRIEF = 120
_UTF8_NAME = 0x800
_ENCRYPTION_FLAG = 0x1


class Export(Protocol):
    """The files of one export, by their names with `/`."""

    @property
    def refusals(self) -> Mapping[str, str]:
        """Return why some files are not read, by name."""
        ...

    def names(self) -> list[str]:
        """Return the names of all files that may be read, sorted."""
        ...

    def read(self, name: str) -> bytes:
        """Return the bytes of a file. Raises SourceUnreadable."""
        ...

    def head(self, name: str, size: int) -> bytes:
        """Return the first bytes of a file. Raises SourceUnreadable."""
        ...

    def stamp(self, name: str) -> str:
        """Return a value that changes whenever the file does."""
        ...


def open_export(path: Path) -> Export:
    """Open the export at `path`, a directory or a zip file. Raises SourceUnreadable."""
    return DirectoryExport(path) if path.is_dir() else ZipExport(path)


def refuse_rest(export: Export, path: Path, predicate: Callable[[str], object]) -> None:
    """Raise SourceUnreadable if a `predicate` file was refused; called after the others have been read."""
    for name, why in sorted(export.refusals.items()):
        if predicate(name):
            raise SourceUnreadable(f"{_brief(name)} in {path} was not read ({why}); everything else was.")


def is_zip(head: bytes) -> bool:
    """Return whether a file that begins with `head` is a zip archive."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def find(export: Export, name: str) -> str:
    """Return the full name of the file `name` at the top or in the only top folder; else ""."""
    return next((full for full in export.names() if PurePosixPath(full).name == name and full.count("/") <= 1), "")


class ZipExport:
    """A zip archive."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = LARGEST_TOTAL
        self.refusals: dict[str, str] = {}
        self._entries: dict[str, zipfile.ZipInfo] = {}
        self._archive = _zip_file(path)
        entries = self._archive.infolist()
        if len(entries) > _MOST_ENTRIES:
            raise SourceUnreadable(f"{path} lists {len(entries):,} files, too many for an export.")
        for info in entries:
            if not info.filename.endswith("/"):  # `is_dir` fails on an empty name
                self._admit(info)

    def names(self) -> list[str]:
        """Return the names of all files that may be read, sorted."""
        return sorted(self._entries)

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        return self.head(name, LARGEST_ENTRY)

    def head(self, name: str, size: int) -> bytes:
        """Return the first bytes of a file."""
        info = self._entries.get(name)
        if info is None:
            raise SourceUnreadable(f"{self._path} has no file {_brief(name)!r}{self._because(name)}.")
        if min(info.file_size, size) > self._left:
            raise SourceUnreadable(
                f"{self._path} unpacks to more than {LARGEST_TOTAL:,} bytes; extract it and check it."
            )
        try:
            with self._archive.open(info) as stream:
                data = stream.read(min(info.file_size + 1, size))
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
            raise SourceUnreadable(
                f"{_brief(name)} in {self._path} is damaged ({_brief(str(error))}); export it again."
            ) from None
        self._left -= len(data)
        return data

    def stamp(self, name: str) -> str:
        """Return the size and the checksum stated by the archive."""
        info = self._entries[name]
        return f"{info.file_size}-{info.CRC:08x}"

    def _admit(self, info: zipfile.ZipInfo) -> None:
        name = _entry_name(info)
        reason = _refusal(info, name) or ("a second file with that name" if name in self._entries else "")
        if reason:
            self.refusals[name] = reason
        else:
            self._entries[name] = info

    def _because(self, name: str) -> str:
        return f" that is readable ({self.refusals[name]})" if name in self.refusals else ""


class DirectoryExport:
    """A directory with an extracted export."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: list[str] | None = None
        self.refusals: dict[str, str] = {}

    def names(self) -> list[str]:
        """Return the names of all files that may be read, sorted."""
        if self._names is None:
            self._names = sorted(self._walk(self._path))
        return list(self._names)

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        try:
            if self._status(name).st_size > LARGEST_ENTRY:
                raise SourceUnreadable(f"{self._path / name} is over {LARGEST_ENTRY:,} bytes, larger than any export.")
        except (OSError, ValueError) as error:
            raise SourceUnreadable(f"{self._path / name} cannot be read ({error}).") from None
        return self.head(name, LARGEST_ENTRY)

    def head(self, name: str, size: int) -> bytes:
        """Return the first bytes of a file."""
        try:
            self._status(name)
            with (self._path / name).open("rb") as stream:
                return stream.read(size)
        except (OSError, ValueError) as error:
            raise SourceUnreadable(f"{self._path / name} cannot be read ({error}).") from None

    def stamp(self, name: str) -> str:
        """Return the size and the time of the last change."""
        try:
            status = self._status(name)
        except (OSError, ValueError) as error:
            raise SourceUnreadable(f"{self._path / name} cannot be read ({error}).") from None
        return f"{status.st_size}-{status.st_mtime_ns}"

    def _status(self, name: str) -> os.stat_result:
        status = (self._path / name).lstat()
        if name not in self.names() or not stat.S_ISREG(status.st_mode):
            raise ValueError(self.refusals.get(name, "not a file of this export"))
        return status

    def _walk(self, root: Path) -> list[str]:
        file_names = []
        for directory, _, files in os.walk(root):
            for file in files:
                path = Path(directory, file)
                name = path.relative_to(root).as_posix()
                try:
                    regular = stat.S_ISREG(path.lstat().st_mode)
                except OSError:
                    continue
                if regular:
                    file_names.append(name)
                else:
                    self.refusals[name] = "a link, or not a file"
        return file_names


def _brief(text: str) -> str:
    """Return a name from an archive, or a Python error about it, shortened to fit into a sentence."""
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"


def _zip_file(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise SourceUnreadable(f"{path} cannot be read as a zip archive ({_brief(str(error))}).") from None


def _entry_name(info: zipfile.ZipInfo) -> str:
    """Return the entry's name, decoded as UTF-8 even if the archive does not declare it."""
    name = info.orig_filename
    if not info.flag_bits & _UTF8_NAME and not name.isascii():
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _refusal(info: zipfile.ZipInfo, name: str) -> str:
    """Return why an entry is not read; "" if it may be."""
    if not name:
        return "it has no name"
    if "\x00" in name or name.startswith("/") or name[1:2] == ":" or ".." in name.split("/"):
        return "its name points outside the archive"
    mode = info.external_attr >> 16
    if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
        return "a link, or not a file"
    if info.flag_bits & _ENCRYPTION_FLAG:
        return "encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "compressed with a method that exports do not use"
    if info.file_size > LARGEST_ENTRY:
        return f"{info.file_size:,} bytes, larger than any export"
    if info.file_size > _SMALL_ENTRY and info.file_size > LARGEST_RATIO * max(info.compress_size, 1):
        return f"unpacks to {info.file_size // max(info.compress_size, 1):,} times its size, as a zip bomb does"
    return ""
