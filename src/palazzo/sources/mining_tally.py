"""Tally of a run of mining: how many sources, rows and items it has met so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from palazzo.model import Micros, Source
from palazzo.sources.file_listing import SourceCounts
from palazzo.sources.mining_report import Failed, MineReport, Skipped
from palazzo.sources.session_mining import SourceTally
from palazzo.store.source_rows import FileState


@dataclass(slots=True)
class Tally:
    """Counts of the run so far."""

    sources: int = 0
    new: int = 0
    grown: int = 0
    unchanged: int = 0
    rows: int = 0
    items: int = 0
    noise: int = 0
    repeated: int = 0
    unreadable: int = 0
    drawers: int = 0
    left_out: int = 0
    taken_back: int = 0
    code_skipped: int = 0
    bytes: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    unread: list[Skipped] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    wings: dict[str, None] = field(default_factory=dict)
    times: list[Micros] = field(default_factory=list)
    source_starts: dict[tuple[str, ...], tuple[Source, Micros]] = field(default_factory=dict)

    def add(self, source_tally: SourceTally) -> None:
        """Count what a source added."""
        self.sources += source_tally.change != "left out"
        self.new += source_tally.change == "new"
        self.grown += source_tally.change in ("grown", "rewritten")
        self.unchanged += source_tally.change == "unchanged"
        self.rows += source_tally.rows
        self.items += source_tally.items
        self.noise += source_tally.noise
        self.repeated += source_tally.repeated
        self.unreadable += source_tally.unreadable
        self.drawers += source_tally.drawers
        if source_tally.source_start is not None:
            self.source_starts.setdefault(source_tally.source_start[0].key, source_tally.source_start)
        self.bytes += source_tally.bytes
        self.skipped.extend(source_tally.skipped)
        if source_tally.wing:
            self.wings[source_tally.wing] = None

    def would_take(self, state: FileState | None, size: int) -> None:
        """Count a source of that many bytes that a dry run does not read."""
        self.sources += 1
        self.new += state is None
        self.grown += state is not None
        self.bytes += size

    @property
    def counts(self) -> SourceCounts:
        """Return the numbers of sources so far."""
        return SourceCounts(self.new, self.grown, self.unchanged, len(self.failed))

    def fail(self, uri: str, error: Exception | str) -> None:
        """Note that a source could not be read to its end."""
        self.sources += 1
        self.failed.append(Failed(uri, str(error)))

    def report(self, seconds: float) -> MineReport:
        """Return the report of the run."""
        return MineReport(
            sources=self.sources,
            new=self.new,
            grown=self.grown,
            unchanged=self.unchanged,
            skipped=tuple(self.skipped),
            unread=tuple(self.unread),
            items=self.items,
            noise=self.noise,
            drawers=self.drawers,
            failed=tuple(self.failed),
            took_s=round(seconds, 3),
            wings=tuple(self.wings),
            left_out=self.left_out,
            taken_back=self.taken_back,
            code_skipped=self.code_skipped,
            rows=self.rows,
            repeated=self.repeated,
            unreadable=self.unreadable,
            bytes=self.bytes,
            earliest=min(self.times, default=None),
            latest=max(self.times, default=None),
        )
