"""A disk that fails: an APSW virtual file system over the system's own, with a fault at the k-th change of a file.

It also knows what had been made permanent, so that `lose_power` can take back everything else.

SQLite takes the default file system, so while a `FaultyDisk` is installed every connection of this process is on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from palazzo.store import page_checksums

NEVER = 1 << 60
Failure = Callable[[], BaseException]


def below() -> str:
    """The file system that this one stands on: the one that keeps checksums, if that can be had."""
    return "cksmvfs" if page_checksums.install() else "unix"


def broken() -> BaseException:
    """What a dying disk answers."""
    return apsw.IOError("the disk failed, as the test asked")


def full() -> BaseException:
    """What a full disk answers."""
    return apsw.FullError("the disk is full, as the test asked")


class FaultyDisk(apsw.VFS):
    """Counts writes, syncs and truncations, and fails those from `first` on, `count` times."""

    def __init__(self) -> None:
        self.operations, self.first, self.count = 0, NEVER, 0
        self.failure: Failure = broken
        self.remembers = False
        self.permanent: dict[Path, bytes] = {}
        # The checksums' file system keeps the one that was the default when it was loaded: it must lie below this one.
        super().__init__("faulty", below(), makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> _File:  # noqa: N802 (SQLite's name)
        """Open a file on this disk."""
        return _File(self, name, flags)

    def step(self) -> None:
        """Count one change of a file, or fail it."""
        self.operations += 1
        if self.first <= self.operations < self.first + self.count:
            raise self.failure()

    def fail(self, first: int, count: int = NEVER, failure: Failure = broken) -> None:
        """Fail from the `first` change from now on."""
        self.operations, self.first, self.count, self.failure = 0, first, count, failure

    def lose_power(self) -> None:
        """Put every file back to what was last made permanent; what was never is empty."""
        for path, content in self.permanent.items():
            if path.exists():
                path.write_bytes(content)
        self.permanent.clear()

    def keep(self, path: Path | None) -> None:
        """Remember a file's bytes as permanent."""
        if self.remembers and path is not None:
            self.permanent[path] = path.read_bytes()

    def heal(self) -> None:
        """Fail no more, and count from nothing."""
        self.operations, self.first, self.count = 0, NEVER, 0


class _File(apsw.VFSFile):
    def __init__(self, disk: FaultyDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        named = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._path = Path(named) if named else None
        if disk.remembers and self._path is not None and self._path not in disk.permanent:
            disk.permanent[self._path] = self._path.read_bytes() if self._path.exists() else b""
        super().__init__(below(), name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 (SQLite's name)
        """Write, if the disk does."""
        self._disk.step()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 (SQLite's name)
        """Make what was written permanent, if the disk does."""
        self._disk.step()
        super().xSync(flags)
        self._disk.keep(self._path)

    def xTruncate(self, size: int) -> None:  # noqa: N802 (SQLite's name)
        """Cut the file, if the disk does."""
        self._disk.step()
        super().xTruncate(size)


@contextmanager
def faulty_disk() -> Iterator[FaultyDisk]:
    """Put every connection that is opened from now on on a faulty disk."""
    disk = FaultyDisk()
    try:
        yield disk
    finally:
        disk.heal()
        disk.unregister()
