"""The state that a palace must be in after what it acknowledged, and the comparison with the state that it is in.

Every text of a selftest contains a marker of its own (`marker7`), so that it is recognised wherever it is stored.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from palazzo.store import schema, stored_texts
from palazzo.store.database import Database

_MARKER = re.compile(r"\bmarker[0-9]+\b")


@dataclass(frozen=True)
class ExpectedState:
    """What must be stored: texts by marker (None: the file that the text came from decides), and the other states.

    `live` are markers that searches find, `facts` markers of believed facts. `erased` markers must be nowhere.
    """

    texts: Mapping[str, str | None] = field(default_factory=dict)
    live: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    erased: frozenset[str] = frozenset()

    def with_texts(self, texts: Mapping[str, str | None]) -> ExpectedState:
        """Return this state with these texts added, live."""
        return replace(self, texts={**self.texts, **texts}, live=self.live | texts.keys())

    def with_fact(self, marker: str) -> ExpectedState:
        """Return this state with a believed fact added."""
        return replace(self, facts=self.facts | {marker})

    def without_live(self, markers: Iterable[str]) -> ExpectedState:
        """Return this state after these markers were forgotten."""
        return replace(self, live=self.live - frozenset(markers))

    def without_fact(self, marker: str) -> ExpectedState:
        """Return this state after the belief in a fact was taken back."""
        return replace(self, facts=self.facts - {marker})

    def without_text(self, marker: str) -> ExpectedState:
        """Return this state after a marker was erased."""
        texts = {name: text for name, text in self.texts.items() if name != marker}
        return replace(self, texts=texts, live=self.live - {marker}, erased=self.erased | {marker})

    def restored(self, backup: ExpectedState) -> ExpectedState:
        """Return the state after a backup was restored: what was erased since stays erased."""
        texts = {name: text for name, text in backup.texts.items() if name not in self.erased}
        return ExpectedState(texts, backup.live - self.erased, backup.facts, self.erased | backup.erased)

    def __len__(self) -> int:
        """Return the number of acknowledged things."""
        return len(self.texts) + len(self.facts) + len(self.erased)


@dataclass(frozen=True)
class ObservedState:
    """What is stored: the texts with each marker, which markers are live, and how many believed facts have each."""

    texts: Mapping[str, tuple[str, ...]]
    live: frozenset[str]
    facts: Mapping[str, int]
    raw: frozenset[str]
    """Erased markers that are still somewhere in the files."""

    @classmethod
    def of(cls, palace: Path, erased: Iterable[str] = ()) -> ObservedState:
        """Read the palace at `palace`, and search its files for the erased markers."""
        texts: dict[str, list[str]] = {}
        live: set[str] = set()
        facts: Counter[str] = Counter()
        if not palace.exists():
            return cls({}, frozenset(), {}, frozenset())
        with contextlib.closing(Database(palace, "read")) as database:
            if not schema.is_current(database):  # its creation was cut off: nothing can be in it
                return cls({}, frozenset(), {}, frozenset())
            with database.snapshot() as connection:
                for row in stored_texts.read_texts(connection):
                    for marker in set(_MARKER.findall(row.text)):
                        texts.setdefault(marker, []).append(row.text)
                        if row.is_live:
                            live.add(marker)
                facts.update(stored_texts.read_subjects(connection))
        return cls(
            {marker: tuple(copies) for marker, copies in texts.items()},
            frozenset(live),
            {name: count for name, count in facts.items() if _MARKER.fullmatch(name)},
            frozenset(_find_raw(palace, erased)),
        )


@dataclass(frozen=True)
class Difference:
    """How an observed state differs from the expected one, as sentences."""

    lost: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.lost or self.doubled)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return all sentences."""
        return (*self.lost, *self.doubled)


def compare(before: ExpectedState, after: ExpectedState, observed: ObservedState) -> Difference:
    """Compare what is stored with two states between which it must lie; the same state twice must be met exactly.

    A step that was cut off may have done any part of its work, if it works in parts: what both states have must be
    there, what neither has must not be there, and nothing may be there twice.
    """
    lost = [*_lost_texts(before, after, observed), *_lost_states(before, after, observed)]
    doubled = [f"{marker} is stored {len(texts)} times" for marker, texts in observed.texts.items() if len(texts) > 1]
    doubled += [f"the fact {name} is believed {count} times" for name, count in observed.facts.items() if count > 1]
    return Difference(tuple(lost), tuple(doubled))


def _lost_texts(before: ExpectedState, after: ExpectedState, observed: ObservedState) -> Iterator[str]:
    for marker in before.texts.keys() & after.texts.keys():
        copies, text = observed.texts.get(marker, ()), after.texts[marker]
        if not copies:
            yield f"{marker} is not stored"
        elif text is not None and text not in copies:
            yield f"{marker} is stored with another text"
    for marker in observed.texts.keys() - before.texts.keys() - after.texts.keys():
        yield f"{marker} is stored, though it was never acknowledged or was taken back"
    for marker in observed.raw & before.erased & after.erased:
        yield f"{marker} was erased, and its word is still in the files"


def _lost_states(before: ExpectedState, after: ExpectedState, observed: ObservedState) -> Iterator[str]:
    for marker in (before.live & after.live) - observed.live:
        yield f"{marker} is stored, and no search finds it"
    for marker in (observed.live - before.live - after.live) & (before.texts.keys() | after.texts.keys()):
        yield f"{marker} was forgotten, and is live again"
    for name in (before.facts & after.facts) - observed.facts.keys():
        yield f"the fact {name} is not believed"
    for name in observed.facts.keys() - before.facts - after.facts:
        yield f"the fact {name} is believed, though it was never acknowledged or was taken back"


def _find_raw(palace: Path, markers: Iterable[str]) -> Iterator[str]:
    wanted = {marker: re.compile(rb"\b%s\b" % marker.encode()) for marker in markers}
    if not wanted:
        return
    for path in (palace, palace.with_name(f"{palace.name}-wal")):
        raw = path.read_bytes() if path.exists() else b""
        yield from (marker for marker, pattern in wanted.items() if pattern.search(raw))
