"""What can go wrong, as few named exceptions.

    PalazzoError                 one clear sentence for a person; exit code 1
    ├── UsageError               the request itself is wrong; exit code 2
    │   ├── AmbiguousId          a prefix that fits several ids
    │   ├── AmbiguousName        a name that may mean several entities
    │   └── NotFound             an id, path, wing or session that does not exist
    ├── PalaceUnusable           the palace file cannot be opened or written
    │   ├── PalaceMissing        nothing has been written there yet
    │   ├── PalaceGone           one was there before, and was moved or deleted
    │   ├── NotAPalace           the file is something else, or is damaged
    │   └── SchemaTooNew         written by a later Palazzo
    ├── SourceUnreadable         one source could not be read; the others still are
    ├── RemoteUnusable           what devices share cannot be read or written now
    │   ├── RemoteRewritten      it is not what it was; nothing of it was taken in
    │   └── DeviceCopied         another palace writes as this device
    ├── SegmentUnreadable        one segment is not whole, or not what it says it is
    │   └── SegmentRefused       it is not proven that a device wrote it which may
    ├── WrongKey                 what is sealed cannot be opened with this passphrase or key
    ├── EmbedderUnavailable      no vectors can be made now; keywords still work
    │   └── TextRefused          an embedding server refuses what it was sent
    ├── ConsumerStopped          what is derived cannot be kept up to date, whatever the text
    └── ServiceUnavailable       no warm process answers; everything works without one, more slowly

A message says what is wrong and what to do next. Everything else that is raised is a bug.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class PalazzoError(Exception):
    """Something a person can act upon; the message is the whole story."""


class UsageError(PalazzoError):
    """The request cannot be carried out as it was put."""


class AmbiguousId(UsageError):
    """A prefix fits several ids."""

    def __init__(self, prefix: str, candidates: list[str]) -> None:
        self.prefix, self.candidates = prefix, candidates
        super().__init__(
            f"'{prefix}' fits {len(candidates)} ids: {', '.join(candidates[:8])}"
            f"{' and more' if len(candidates) > 8 else ''}. Give more of the id."
        )


class AmbiguousName(UsageError):
    """A name may mean several entities."""

    def __init__(self, name: str, candidates: list[str]) -> None:
        self.name, self.candidates = name, candidates
        super().__init__(
            f"'{name}' may mean {len(candidates)} entities: {', '.join(candidates[:8])}"
            f"{' and more' if len(candidates) > 8 else ''}. Write the name of one of them."
        )


class NotFound(UsageError):
    """What was named does not exist. `near` are names that may have been meant, where the message gives such."""

    def __init__(self, message: str = "", near: Sequence[str] = ()) -> None:
        self.near = tuple(near)
        super().__init__(message)


class NoSuchPlace(NotFound):
    """There is no wing or room of that name: nothing was ever filed there."""


class PalaceUnusable(PalazzoError):
    """The palace file cannot be opened or written."""


class PalaceMissing(PalaceUnusable):
    """There is no palace at that path yet; the first write creates it."""


class PalaceGone(PalaceUnusable):
    """There was a palace at that path, and it was moved or deleted."""


class NotAPalace(PalaceUnusable):
    """The file is not a palace, or is damaged beyond opening."""


class SchemaTooNew(PalaceUnusable):
    """A later Palazzo wrote this palace; it was left untouched."""


class SourceUnreadable(PalazzoError):
    """One source could not be read."""


class RemoteUnusable(PalazzoError):
    """What devices share cannot be read or written now."""


class RemoteRewritten(RemoteUnusable):
    """A remote holds another past than the one that was seen; nothing of it was taken in."""


class DeviceCopied(RemoteUnusable):
    """Another palace writes to a remote as this device."""


class SegmentUnreadable(PalazzoError):
    """One segment is not whole, or is not what it says it is."""


class SegmentRefused(SegmentUnreadable):
    """Nothing proves that a device wrote a segment which may write to this palace."""


class WrongKey(PalazzoError):
    """What is sealed cannot be opened with this passphrase or key."""


class EmbedderUnavailable(PalazzoError):
    """No vectors can be made now; keyword search still works."""


class TextRefused(EmbedderUnavailable):
    """An embedding server refuses what it was sent; it may take other texts."""


class ConsumerStopped(PalazzoError):
    """A consumer of the log fails on harmless words, too; no text was set aside for it."""


class ServiceUnavailable(PalazzoError):
    """No service answers for this palace; whoever asked does the work itself."""
