"""What a session was told is not told to it again. Pure.

A drawer's words never change under one id, so ids are enough. A session that lost what was said, by `/clear` or by a
compaction, begins a new epoch, and knows nothing of what the one before was told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Protocol, TypeVar

from palazzo.injection.hook_events import Beginning


class Tellable(Protocol):
    """Whatever has an id."""

    @property
    def id(self) -> str:
        """Its id."""
        ...


T = TypeVar("T", bound=Tellable)


def drop_delivered_items(candidates: Iterable[T], delivered_ids: Set[str]) -> Iterator[T]:
    """Yield what the session was not told yet, each once; `before` are the ids of what it was told."""
    seen_ids = set(delivered_ids)
    for candidate in candidates:
        if candidate.id not in seen_ids:
            seen_ids.add(candidate.id)
            yield candidate


def is_news(parts: Iterable[str], delivered_ids: Set[str]) -> bool:
    """Whether a text says anything that the session was not told yet; `parts` are the ids of what it has words of."""
    return any(part not in delivered_ids for part in parts)


def begins_epoch(beginning: Beginning) -> bool:
    """Whether a session that begins so has lost what it was told."""
    return beginning in ("startup", "clear", "compact")
