"""Views of an import's result: its speakers, and the records that hooks may inject."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palazzo.importers.import_summary import ImportSummary


@dataclass(frozen=True, slots=True)
class Speaker:
    """A speaker named in the file, and the number of records."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class KindCount:
    """The number of records of a kind with a trust level, after the limit of this import was applied."""

    what: str
    trust: str
    count: int


@dataclass(frozen=True, slots=True)
class InjectableKind:
    """The number of records of a kind that hooks may inject at that trust level, and their first lines (of a few)."""

    what: str
    count: int
    lines: tuple[str, ...]


_MOST_SPEAKERS = 20
_LONGEST_SPEAKER = 100


def speakers(summary: ImportSummary | None) -> tuple[Speaker, ...]:
    """Return the speakers with the most records."""
    counts = [] if summary is None else summary.speakers.most_common(_MOST_SPEAKERS)
    return tuple(Speaker(name[:_LONGEST_SPEAKER], count) for name, count in counts)


def kinds(summary: ImportSummary | None) -> tuple[KindCount, ...]:
    """Return the number of records by kind and trust."""
    counts = [] if summary is None else sorted(summary.kinds.items())
    return tuple(KindCount(kind, trust, count) for (kind, trust), count in counts)


def injectable_kinds(summary: ImportSummary | None) -> tuple[InjectableKind, ...]:
    """Return the records that hooks may inject, by kind."""
    counts = [] if summary is None else sorted(summary.injectable.items())
    lines = {} if summary is None else summary.lines
    return tuple(InjectableKind(kind, count, tuple(lines.get(kind, ()))) for kind, count in counts)
