"""Diary entries as faces show them: shared by the operations on diaries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

from palazzo.model import Micros

if TYPE_CHECKING:
    from palazzo.archive.diary_entries import Entry


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry, whole. `date` is the day that clocks here showed; `project` is a wing, '' where it is about none."""

    id: str
    agent: str
    date: str
    timestamp: Micros
    topic: str
    project: str
    content: str


def entry_view(entry: Entry, timezone: tzinfo) -> EntryView:
    """Return an entry as it is shown by clocks there."""
    from palazzo.operations.caller_clock import day

    return EntryView(entry.id, entry.agent, day(entry.at, timezone), entry.at, entry.topic, entry.project, entry.text)
