"""The errors of Palazzo, as a small hierarchy of named exceptions.

    PalazzoError                 one clear sentence for a person; exit code 1
    ├── UsageError               the request itself is wrong; exit code 2
    │   ├── AmbiguousId          a prefix that fits several ids
    │   ├── AmbiguousName        a name that may mean several entities
    │   └── NotFound             an id, path, wing or session that does not exist
    ├── PalaceUnusable           the palace file cannot be opened or written
    │   ├── PalaceMissing        nothing has been written there yet
    │   ├── PalaceGone           it existed before, and was moved or deleted
    │   ├── NotAPalace           the file is something else, or is damaged
    │   ├── PalaceLocked         another program writes, and did not end in time
    │   └── SchemaTooNew         written by a later Palazzo
    ├── SourceUnreadable         one source could not be read; the others still are
    ├── RemoteUnusable           the files that devices share cannot be read or written now
    │   ├── RemoteRewritten      its content was replaced; nothing of it was merged
    │   └── DeviceCopied         another palace writes as this device
    ├── SegmentUnreadable        one segment is incomplete, or is not what it says it is
    │   └── SegmentRefused       no proof that a device with the right to write wrote it
    ├── PathRefused              the system does not let a path be used: a permission, a full disk
    ├── WrongKey                 this passphrase or key does not decrypt the data
    ├── EmbedderUnavailable      no vectors can be made now; keywords still work
    │   └── TextRefused          an embedding server rejects the text that it was sent
    ├── ConsumerStopped          derived data cannot be kept up to date, whatever the text
    └── ServiceUnavailable       no warm process answers; everything works without one, more slowly

A message says what is wrong and what to do next. Every other exception is a bug.
"""

from __future__ import annotations

import errno
import os

_REFUSALS = frozenset([
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EIO, errno.ENAMETOOLONG),
    *((errno.EDQUOT,) if hasattr(errno, "EDQUOT") else ()),
])  # fmt: skip
"""The reasons for which a system refuses access to a path, whatever a program does."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class PalazzoError(Exception):
    """An error that a user can act on; the message contains everything needed."""


class UsageError(PalazzoError):
    """The request is invalid."""


class AmbiguousId(UsageError):
    """A prefix matches several ids."""

    def __init__(self, prefix: str, candidates: list[str]) -> None:
        self.prefix, self.candidates = prefix, candidates
        super().__init__(
            f"'{prefix}' matches {len(candidates) if len(candidates) <= 8 else 'more than 8'} ids: "
            f"{', '.join(candidates[:8])}{' and more' if len(candidates) > 8 else ''}. Give more digits of the id."
        )


class AmbiguousName(UsageError):
    """A name matches several entities."""

    def __init__(self, name: str, candidates: list[str]) -> None:
        self.name, self.candidates = name, candidates
        super().__init__(
            f"'{name}' may mean {len(candidates)} entities: "
            f"{', '.join(candidates[:8])}{' and more' if len(candidates) > 8 else ''}. Use one of these names."
        )


class NotFound(UsageError):
    """The named thing does not exist. `near` are similar names, if the message suggests any."""

    def __init__(self, message: str = "", near: Sequence[str] = ()) -> None:
        self.near = tuple(near)
        super().__init__(message)


class NoSuchPlace(NotFound):
    """No wing or room has that name: nothing was ever filed there."""


class PalaceUnusable(PalazzoError):
    """The palace file cannot be opened or written."""


class PalaceMissing(PalaceUnusable):
    """No palace exists at that path yet; the first write creates it."""


class PalaceGone(PalaceUnusable):
    """A palace existed at that path, and was moved or deleted."""

    @classmethod
    def at(cls, palace: Path) -> PalaceGone:
        """Return the error for the path of a palace, with what its owner can do."""
        return cls(
            f"The palace {palace} existed before and is missing now; no new one was created in its place: bring it "
            "back, or 'palazzo restore' a backup; if you moved it, name it with --palace or the setting 'palace'; "
            "'palazzo init --new' creates an empty one."
        )


class NotAPalace(PalaceUnusable):
    """The file is not a palace, or is too damaged to open."""


class PalaceLocked(PalaceUnusable):
    """Another program holds the write lock and did not release it in time."""


class SchemaTooNew(PalaceUnusable):
    """A later version of Palazzo wrote this palace; it was left unchanged."""


class SourceUnreadable(PalazzoError):
    """One source could not be read."""


class RemoteUnusable(PalazzoError):
    """A remote cannot be read or written now."""


class RemoteRewritten(RemoteUnusable):
    """A remote's history differs from the history seen before; none of it was merged."""


class DeviceCopied(RemoteUnusable):
    """Another palace writes to a remote under this device's id."""


class SegmentUnreadable(PalazzoError):
    """A segment is incomplete, or its content does not match its header."""


class SegmentRefused(SegmentUnreadable):
    """No proof that a device with write access to this palace wrote a segment."""


class PathRefused(PalazzoError):
    """The system does not let a file or directory be used."""

    @classmethod
    def from_system(cls, error: BaseException) -> PathRefused | None:
        """Return the error to show for a system's error that a user can act on; None for any other."""
        if not isinstance(error, OSError) or error.filename is None or error.errno not in _REFUSALS:
            return None
        path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else error.filename
        return cls(f"{path} cannot be used ({error.strerror}).")


class WrongKey(PalazzoError):
    """The encrypted content cannot be decrypted with this passphrase or key."""


class EmbedderUnavailable(PalazzoError):
    """No vectors can be made now; keyword search still works."""


class TextRefused(EmbedderUnavailable):
    """An embedding server refuses the given text; it may accept other texts."""


class ConsumerStopped(PalazzoError):
    """A consumer of the log also fails on harmless words; no text was set aside because of it."""


class ServiceUnavailable(PalazzoError):
    """No service answers for this palace; the caller does the work itself."""
