"""What mining is asked and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from palazzo.model import Micros
from palazzo.sources.conversation_filter import ALL_SESSIONS, SessionFilter

MineMode = Literal["auto", "docs", "all", "convos"]


@dataclass(frozen=True, slots=True)
class MineRequest:
    """Read files into the palace. `wing` and `room` override what is found from the project."""

    paths: tuple[Path, ...]
    mode: MineMode = "auto"
    wing: str | None = None
    room: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    gitignore: bool = True
    dry_run: bool = False
    policy: Literal["docs", "all"] = "docs"
    """What is read of a project that does not say so itself."""
    wanted: SessionFilter = ALL_SESSIONS
    is_stated: bool = False
    """Whether a person gave these paths and this mode: then the mode is believed, and the report covers each path."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or a row of one, that was left out, and why."""

    uri: str
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A source that could not be read to its end; what came before the error is archived."""

    uri: str
    error: str


@dataclass(frozen=True, slots=True)
class MineReport:
    """What mining did.

    `sources` are files, and the conversations of files that hold many. Of `rows`, the rows that were read, each is
    one of `items` (archived), `noise` (archived and never searched), `repeated` (archived before) or `unreadable`
    (archived to the byte and named in `skipped`). `drawers` count what was added to find. `left_out` documents were
    found until now and are not any more, since a rule leaves them out; `taken_back` the other way round. `bytes` is how
    much was read, or is to be read; `earliest` and `latest` is when the sources were last gone on with.
    """

    sources: int
    new: int
    grown: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    items: int
    noise: int
    drawers: int
    failed: tuple[Failed, ...]
    took_s: float
    wings: tuple[str, ...] = ()
    left_out: int = 0
    taken_back: int = 0
    rows: int = 0
    repeated: int = 0
    unreadable: int = 0
    bytes: int = 0
    earliest: Micros | None = None
    latest: Micros | None = None


@dataclass(frozen=True, slots=True)
class MineProgress:
    """How far mining is: sources done of all, and the items archived so far (all of them committed)."""

    done: int
    total: int
    uri: str
    items: int


def merged(reports: Sequence[MineReport], took_s: float) -> MineReport:
    """Return what several runs did together."""
    count_fields = (
        "sources",
        "new",
        "grown",
        "unchanged",
        "items",
        "noise",
        "drawers",
        "rows",
        "repeated",
        "unreadable",
    )
    return MineReport(
        **{
            name: sum(getattr(report, name) for report in reports)
            for name in (*count_fields, "left_out", "taken_back", "bytes")
        },
        skipped=tuple(entry for report in reports for entry in report.skipped),
        failed=tuple(entry for report in reports for entry in report.failed),
        took_s=round(took_s, 3),
        wings=tuple(dict.fromkeys(wing for report in reports for wing in report.wings)),
        earliest=min((report.earliest for report in reports if report.earliest is not None), default=None),
        latest=max((report.latest for report in reports if report.latest is not None), default=None),
    )


OnProgress = Callable[[MineProgress], None]
