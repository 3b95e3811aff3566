"""The request and the result of mining."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.sources.conversation_filter import ALL_SESSIONS, SessionFilter

MineMode = Literal["auto", "docs", "all", "convos"]
FileGroup = Literal["document", "transcript", "export", "skipped", "failed"]


@frozen
class MineRequest:
    """Index files and transcripts. `wing` and `room` override the values determined from the project."""

    paths: tuple[Path, ...]
    mode: MineMode = "auto"
    wing: str | None = None
    room: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    gitignore: bool = True
    dry_run: bool = False
    policy: Literal["docs", "all"] = "docs"
    """The files to read of a project that does not state a policy itself."""
    wanted: SessionFilter = ALL_SESSIONS
    is_stated: bool = False
    """Whether a person gave these paths and this mode: then the mode is trusted, and the report covers each path."""


@frozen
class Skipped:
    """A skipped file, or a skipped row of a file, and the reason."""

    uri: str
    reason: str


@frozen
class Failed:
    """A source that could not be read completely; the rows before the error are archived."""

    uri: str
    error: str


@frozen
class ListedFile:
    """A file of a dry run, and what an actual run would do with it.

    `bytes` is None for a directory that is skipped. A document is one source, and so is each conversation: the counts
    say how many are new, grown or unchanged. `reason` says why the file is skipped, or why it cannot be read.
    """

    uri: str
    group: FileGroup
    bytes: int | None
    new: int = 0
    grown: int = 0
    unchanged: int = 0
    reason: str = ""


@frozen
class MineReport:
    """Result of mining.

    `sources` are files, and the conversations of files that contain many. Each of the `rows` read is one of `items`
    (archived), `noise` (archived and never searched), `repeated` (archived before) or `unreadable` (archived byte for
    byte and named in `skipped`). `drawers` counts the drawers that were added to search. `left_out` documents were
    searchable until now and are no longer, because a rule excludes them; for `taken_back` documents it is the other way
    round. `code_skipped` counts skipped source files, unless a mode or the project's policy excludes them. `unread` are
    the requested paths from which nothing was read. `files` are all files of a dry run that a person requested.
    `directories` are those that were entered, if the run found nothing new and their entries will tell a later run
    whether there is still nothing new. `bytes` is the amount read, or to be read; `earliest` and `latest` are the times
    when the sources were last continued.
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
    code_skipped: int = 0
    rows: int = 0
    repeated: int = 0
    unreadable: int = 0
    bytes: int = 0
    earliest: Micros | None = None
    latest: Micros | None = None
    unread: tuple[Skipped, ...] = ()
    files: tuple[ListedFile, ...] = ()
    directories: tuple[str, ...] = ()


@frozen
class MineProgress:
    """Progress of mining: finished sources of all, and the number of archived items (all of them committed)."""

    done: int
    total: int
    uri: str
    items: int


def merged(reports: Sequence[MineReport], took_s: float) -> MineReport:
    """Return the combined report of several runs."""
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
