"""What a session was told is not told to it again. Pure.

The same drawer with other words (a document that changed) is new. A session that lost what was said, by `/clear` or by
a compaction, begins a new epoch, and knows nothing of what the one before was told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Set
from typing import Protocol, TypeVar

from palazzo.attention.happening import Beginning

Told = tuple[str, str]
"""A drawer's id, and the hash of its words as they were told."""


class Tellable(Protocol):
    """Whatever has an id and words."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def text(self) -> str:
        """Its words."""
        ...


T = TypeVar("T", bound=Tellable)


def told(one: Tellable) -> Told:
    """Return what is kept of something that was told."""
    return one.id, hashlib.sha256(one.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def untold(found: Iterable[T], before: Set[Told]) -> Iterator[T]:
    """Yield what the session was not told yet."""
    return (one for one in found if told(one) not in before)


def begins_epoch(beginning: Beginning) -> bool:
    """Whether a session that begins so has lost what it was told."""
    return beginning in ("startup", "clear", "compact")
