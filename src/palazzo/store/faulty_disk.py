"""A disk that fails: an APSW virtual file system over the system's own, with a fault at the k-th call.

It also knows what had been made permanent, so that `lose_power` can take back everything else. SQLite takes the default
file system, so while a `FaultyDisk` is installed every connection of this process is on it. `palazzo selftest` and
tests install one; nothing else does. The shared memory of the write-ahead log is not on it, and neither are files that
are not SQLite's.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import apsw

from palazzo.store import page_checksums

NEVER = 1 << 60
Failure = Callable[[], BaseException]
Call = Literal["write", "sync", "truncate", "read", "lock", "delete"]
CHANGES: frozenset[Call] = frozenset({"write", "sync", "truncate"})
PowerLoss = Literal["lost", "reordered", "torn"]
"""What happens to writes that were not synced when the power fails: none of them arrives, each 512-byte sector arrives
or not by chance, or they arrive in order up to one that is torn in the middle.
"""
_SECTOR = 512
_Change = tuple[int, bytes] | int
"""A write (offset, bytes), or a truncation to a size."""


def below() -> str:
    """Return the file system that this one stands on: the one that keeps checksums, if that can be had."""
    return "cksmvfs" if page_checksums.install() else "unix"


def broken() -> BaseException:
    """Return what a dying disk answers."""
    return apsw.IOError("the disk failed, as the test asked")


def full() -> BaseException:
    """Return what a full disk answers."""
    return apsw.FullError("the disk is full, as the test asked")


def busy() -> BaseException:
    """Return what a file answers that another program has locked."""
    return apsw.BusyError("the lock was denied, as the test asked")


class FaultyDisk(apsw.VFS):
    """Counts calls, and fails those from `first` on, `count` times."""

    def __init__(self) -> None:
        self.operations, self.first, self.count = 0, NEVER, 0
        self.failure: Failure = broken
        self.calls: frozenset[Call] = CHANGES
        self.writes_half = False
        """Whether a write that fails has written its first half."""
        self.remembers = False
        self.permanent: dict[Path, bytes] = {}
        self._unsynced: dict[Path, list[_Change]] = {}
        # The checksums' file system keeps the one that was the default when it was loaded: it must lie below this one.
        super().__init__("faulty", below(), makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> _File:  # noqa: N802 (SQLite's name)
        """Open a file on this disk."""
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 (SQLite's name)
        """Delete a file, if the disk does."""
        self.step("delete")
        super().xDelete(filename, syncdir)

    def step(self, call: Call) -> None:
        """Count a call, or fail it."""
        if call not in self.calls:
            return
        self.operations += 1
        if self.first <= self.operations < self.first + self.count:
            raise self.failure()

    def fail(
        self,
        first: int,
        count: int = NEVER,
        failure: Failure = broken,
        calls: Iterable[Call] = CHANGES,
        *,
        writes_half: bool = False,
    ) -> None:
        """Fail from the `first` call of these kinds from now on."""
        self.operations, self.first, self.count, self.failure = 0, first, count, failure
        self.calls, self.writes_half = frozenset(calls), writes_half

    def lose_power(self, loss: PowerLoss = "lost", chance: random.Random | None = None) -> None:
        """Put every file back to what was last made permanent; of later writes keep what `loss` says."""
        for path, content in self.permanent.items():
            if path.exists():
                changes = self._unsynced.get(path, []) if loss != "lost" else []
                kept_changes = _surviving(changes, loss, chance or random.Random(0))  # noqa: S311
                path.write_bytes(_apply(content, kept_changes))
        self.permanent.clear()
        self._unsynced.clear()

    def keep(self, path: Path | None) -> None:
        """Remember a file's bytes as permanent."""
        if self.remembers and path is not None:
            self.permanent[path] = path.read_bytes()
            self._unsynced[path] = []

    def note(self, path: Path | None, change: _Change) -> None:
        """Remember a change that is not permanent yet."""
        if self.remembers and path is not None:
            self._unsynced.setdefault(path, []).append(change)

    def forget(self) -> None:
        """Forget all files: what is on the disk now is permanent."""
        self.permanent.clear()
        self._unsynced.clear()

    def heal(self) -> None:
        """Fail no more, and count from nothing."""
        self.operations, self.first, self.count = 0, NEVER, 0


class _File(apsw.VFSFile):
    def __init__(self, disk: FaultyDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        file_name = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._path = Path(file_name) if file_name else None
        if disk.remembers and self._path is not None and self._path not in disk.permanent:
            disk.permanent[self._path] = self._path.read_bytes() if self._path.exists() else b""
        self._is_read_only = bool(flags[0] & apsw.SQLITE_OPEN_READONLY)
        super().__init__(below(), name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 (SQLite's name)
        """Read, if the disk does."""
        self._disk.step("read")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 (SQLite's name)
        """Write, if the disk does."""
        try:
            self._disk.step("write")
        except BaseException:
            if self._disk.writes_half:
                super().xWrite(data[: len(data) // 2], offset)
            raise
        super().xWrite(data, offset)
        self._disk.note(self._path, (offset, bytes(data)))

    def xSync(self, flags: int) -> None:  # noqa: N802 (SQLite's name)
        """Make what was written permanent, if the disk does."""
        self._disk.step("sync")
        super().xSync(flags)
        self._disk.keep(self._path)

    def xTruncate(self, size: int) -> None:  # noqa: N802 (SQLite's name)
        """Cut the file, if the disk does."""
        self._disk.step("truncate")
        super().xTruncate(size)
        self._disk.note(self._path, size)

    def xLock(self, level: int) -> None:  # noqa: N802 (SQLite's name)
        """Lock the file, if it can be had.

        The last reader that closes a file asks for a writer's lock, which the system refuses for a file that is open
        for reading. SQLite does without it; APSW would raise every error but this one.
        """
        self._disk.step("lock")
        try:
            super().xLock(level)
        except apsw.IOError as error:
            if self._is_read_only:
                raise busy() from error
            raise


def _surviving(changes: list[_Change], loss: PowerLoss, chance: random.Random) -> list[_Change]:
    if loss == "torn":
        number = chance.randrange(len(changes) + 1)
        kept, torn = changes[:number], changes[number : number + 1]
        return kept + [(change[0], change[1][:_SECTOR]) for change in torn if isinstance(change, tuple)]
    kept = []
    for change in changes:
        if isinstance(change, int):
            kept += [change] if chance.random() < 0.5 else []
        else:
            offset, data = change
            starts = range(0, len(data), _SECTOR)
            kept += [(offset + at, data[at : at + _SECTOR]) for at in starts if chance.random() < 0.5]
    return kept


def _apply(content: bytes, changes: list[_Change]) -> bytes:
    image = bytearray(content)
    for change in changes:
        if isinstance(change, int):
            del image[change:]
            continue
        offset, data = change
        image.extend(bytes(max(0, offset + len(data) - len(image))))
        image[offset : offset + len(data)] = data
    return bytes(image)


@contextmanager
def faulty_disk() -> Iterator[FaultyDisk]:
    """Put every connection that is opened from now on on a faulty disk."""
    disk = FaultyDisk()
    try:
        yield disk
    finally:
        disk.heal()
        disk.unregister()
