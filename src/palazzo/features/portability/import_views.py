"""Views of an import's result: its speakers, and the records that hooks may inject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.portability.contract import InjectableKind, KindCount, Speaker

if TYPE_CHECKING:
    from palazzo.importers.import_summary import ImportSummary


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
