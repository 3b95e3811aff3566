"""Diary entries as faces show them. The diary operations share this module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

from palazzo.model import Micros

if TYPE_CHECKING:
    from palazzo.archive.diary_entries import Entry


@dataclass(frozen=True, slots=True)
class EntryView:
    """A complete entry. `date` is the day in this machine's time zone; `project` is a wing, '' if it is about none."""

    id: str
    agent: str
    date: str
    timestamp: Micros
    topic: str
    project: str
    content: str


def entry_view(entry: Entry, timezone: tzinfo) -> EntryView:
    """Return a view of an entry with its local date."""
    from palazzo.operations.caller_clock import day

    return EntryView(entry.id, entry.agent, day(entry.at, timezone), entry.at, entry.topic, entry.project, entry.text)
