"""Deduplication per session: entries that a session has already received are not injected again. Pure.

The text of a drawer never changes under one id, so ids are enough. A session that lost its context, by `/clear` or by a
compaction, begins a new epoch, in which nothing counts as received.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Protocol, TypeVar

from palazzo.injection.hook_events import Beginning


class Tellable(Protocol):
    """Any object with an id."""

    @property
    def id(self) -> str:
        """Return its id."""
        ...


T = TypeVar("T", bound=Tellable)


def drop_delivered_items(candidates: Iterable[T], delivered_ids: Set[str]) -> Iterator[T]:
    """Yield the entries that the session has not received yet, each once; `before` are the ids it has received."""
    seen_ids = set(delivered_ids)
    for candidate in candidates:
        if candidate.id not in seen_ids:
            seen_ids.add(candidate.id)
            yield candidate


def is_news(parts: Iterable[str], delivered_ids: Set[str]) -> bool:
    """Return whether a text has anything new for the session; `parts` are the ids whose words it contains."""
    return any(part not in delivered_ids for part in parts)


def begins_epoch(beginning: Beginning) -> bool:
    """Return whether a session that begins this way has lost the text injected before."""
    return beginning in ("startup", "clear", "compact")
