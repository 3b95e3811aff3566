"""A summary of an import before it is written: its speakers, their trust, and the records that hooks may inject.

Both kinds of import use it: records of an export, and records from the reader of another memory's store.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from palazzo.importers import DiaryEntry, Fact, Note, StoreRecord, Task
from palazzo.model import Trust, least_trust
from palazzo.sync.records import entity_records, fact_records
from palazzo.sync.records.item_records import Item
from palazzo.sync.records.record_kind import Record

LINES_SHOWN = 3
_LONGEST_LINE = 100
_SHELVES = {"todo": "to-dos", "reminder": "reminders", "diary": "diary entries"}
Brings = TypeVar("Brings", Record, StoreRecord)


@dataclass(slots=True)
class ImportSummary:
    """Counts by speaker, by kind and trust, and of injectable records, with the first lines of the latter."""

    speakers: Counter[str] = field(default_factory=Counter)
    kinds: Counter[tuple[str, Trust]] = field(default_factory=Counter)
    injectable: Counter[str] = field(default_factory=Counter)
    lines: dict[str, list[str]] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    """Names of entities, and facts as one line, by id."""

    def count_records(self, things: Iterable[Brings]) -> Iterator[Brings]:
        """Yield things unchanged, and count each."""
        for thing in things:
            self.note(thing)
            yield thing

    def note(self, thing: Record | StoreRecord) -> None:
        """Count one thing."""
        match thing:
            case Item(type="message" | "note" | "document"):
                self._note_item(thing)
            case entity_records.Entity():
                self._names[thing.id] = thing.name
            case fact_records.Fact():
                words = (self._names.get(thing.subject, "?"), thing.predicate, self._names.get(thing.object, "?"))
                self._names[thing.id] = " ".join(words)
            case fact_records.FactVersion():
                trust = least_trust("user", *(source.trust for source in thing.sources))
                speaker = thing.sources[0].stated_by if thing.sources else ""
                self._add("facts", trust, speaker, self._names.get(thing.fact, ""))
            case Note():
                self._add("notes", thing.trust, thing.author, thing.text)
            case DiaryEntry():
                self._add("diary entries", thing.trust, thing.agent, thing.text)
            case Task():
                kind = "to-dos" if thing.kind == "todo" else "reminders"
                self._add(kind, thing.trust, thing.author, thing.text)
            case Fact():
                line = f"{thing.subject} {thing.predicate} {thing.object}"
                self._add("facts", thing.trust, thing.stated_by, line)
            case _:
                pass

    def _note_item(self, item: Item) -> None:
        if item.type != "note":
            self._add(f"{item.type}s", item.trust, item.author or item.role, "")
            return
        shelf = str(json.loads(item.meta).get("shelf") or "")
        self._add(_SHELVES.get(shelf, "notes"), item.trust, item.author or item.trust, item.text)

    def _add(self, kind: str, trust: Trust, speaker: str, text: str) -> None:
        self.speakers[speaker or trust] += 1
        self.kinds[kind, trust] += 1
        if trust == "external":
            return
        self.injectable[kind] += 1
        lines = self.lines.setdefault(kind, [])
        line = next((line.strip() for line in text.splitlines() if line.strip()), "")
        if line and len(lines) < LINES_SHOWN:
            lines.append(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…")
