"""Requests, results and operations of `portability`: what faces know of the feature, without its engine."""

from __future__ import annotations

import sys
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Trust
from palazzo.operations.damage import SalvageView
from palazzo.operations.filters import (
    External,
    FiledAs,
    FromSource,
    InRoom,
    InWing,
    MinImportance,
    OfKind,
    OnBranch,
    Since,
    Until,
    WithTags,
)
from palazzo.operations.operation import PERSON_ONLY, About, Operation

FORMATS = ("palazzo", "mempalace", "claude-mem", "wt-memory", "shodh", "mnemograph", "mcp-memory", "claude-memory")
"""What can be imported: Palazzo's own exports, and the stores of `importers/store_readers`."""


@frozen
class Speaker:
    """A speaker named in the file, and the number of records."""

    name: str
    count: int


@frozen
class KindCount:
    """The number of records of a kind with a trust level, after the limit of this import was applied."""

    what: str
    trust: str
    count: int


@frozen
class InjectableKind:
    """The number of records of a kind that hooks may inject at that trust level, and their first lines (of a few)."""

    what: str
    count: int
    lines: tuple[str, ...]


@frozen
class ExportRequest:
    """Export the palace to a file with one JSON record per line, or to a tree of readable pages.

    A jsonl export holds all primary data (items with their bytes, acts, facts, to-dos, diaries, tunnels, times and
    origins); 'palazzo import' merges it into any palace. Two exports of one palace differ only in what changed. An
    existing export stays until the new one is complete; no other file is overwritten.
    """

    out: Annotated[
        Path,
        About(
            "A file, compressed if it ends in .gz or .zst; - for standard output; for markdown, a directory.",
            True,
            "OUT",
        ),
    ]
    format: Annotated[
        Literal["jsonl", "markdown"], About("jsonl is complete and can be imported; markdown is for reading.")
    ] = "jsonl"
    wing: InWing = None
    room: InRoom = None
    kind: OfKind = None
    since: Since = None
    until: Until = None
    branch: OnBranch = None
    tags: WithTags = ()
    source: FromSource = None
    filed_as: FiledAs = ()
    min_importance: MinImportance = None
    external: External = True
    salvage: Annotated[
        bool, About("For a damaged palace: write everything that can be read, as jsonl, and name what cannot be read.")
    ] = False


@frozen
class ExportResult:
    """What was written. `counts` are records by kind for jsonl, and drawers, facts, tasks and pages for markdown."""

    path: str
    format: str
    counts: dict[str, int]
    size: int
    """Bytes of the file, or of all pages in place."""
    took_s: float
    filter: dict[str, Any] = field(default_factory=dict)
    """The filters of the export, by option; empty if it holds everything."""
    salvage: SalvageView | None = None
    """What could not be read during an export with --salvage."""


EXPORT = Operation(
    "export",
    ExportRequest,
    ExportResult,
    scope="admin",
    group="Keep and move",
    summary="Export records or readable pages",
    failed=lambda result: result.salvage is not None and not result.salvage.is_whole,
    examples=("palazzo export palace.jsonl.zst", "palazzo export pages --format markdown --wing api"),
)


@frozen
class ImportRequest:
    """Import an export of another palace, or the store of another memory. Existing records are not added again.

    An export is merged: ids and times stay the same, and for a record in both palaces the earliest retirement counts.
    An export or a store is read completely and checked before anything is written. Notes, diaries, facts and tunnels of
    another memory's store are filed with their times and origins. The format is detected unless --from is given.

    A keyed hash shows which exports this palace wrote. Anything else counts as another person's: its records get at
    most the trust --trust, and an export changes no existing record. --trust user states that it is your own. A store
    in its program's own directory in your home counts as yours. 'palazzo undo' takes back everything that an import
    added.
    """

    path: Annotated[
        Path,
        About("An export, or the store of another memory; - reads standard input.", positional=True, option="FILE|DIR"),
    ]
    store: Annotated[
        str | None,
        About(
            f"The format; detected by default. One of {', '.join(FORMATS)}.", False, "--from", "NAME", values=FORMATS
        ),
    ] = None
    trust: Annotated[
        Trust | None,
        About(
            "The highest trust that its records get. The default is external (another person's): search finds and "
            "labels its records, and hooks do not inject them. Give user if it is your own.",
        ),
    ] = None
    wing: Annotated[str | None, About("File the content of another memory's store in this wing.")] = None
    dry_run: Annotated[bool, About("Only show what would be imported.")] = False
    wait: Annotated[bool, About("Compute the vectors now instead of in the background.")] = False


@frozen
class Came:
    """The number of imported records of one kind.

    `new` were not here, `there` were here already; `changed` were updated; `merged` were merged into records that say
    the same.
    """

    what: str
    new: int
    there: int
    changed: int
    merged: int = 0


@frozen
class LeftOut:
    """Records that could not be imported: how many, and why; `keys` are the source's names for a few of them."""

    what: str
    reason: str
    count: int
    keys: tuple[str, ...] = ()


@frozen
class RenamedPlace:
    """A wing, a room or an agent that has a different name here."""

    what: str
    was: str
    now: str


@frozen
class ImportResult:
    """What was imported, already here, and left out. `change` is what 'palazzo undo' takes back, if anything."""

    path: str
    store: str
    counts: tuple[Came, ...]
    left_out: tuple[LeftOut, ...]
    took_s: float
    renamed: tuple[RenamedPlace, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Ids of new conflicts between facts: 'palazzo kg conflicts' shows them."""
    forked: tuple[str, ...] = ()
    """Ids of devices of which two copies of one palace were changed separately: the records of both are here."""
    variants: tuple[str, ...] = ()
    """Ids of items whose text differs between this palace and the export: the text here was kept."""
    trust: str | None = None
    """The highest trust level of its records; null for an export that this palace wrote."""
    change: str | None = None
    dry_run: bool = False
    speakers: tuple[Speaker, ...] = ()
    kinds: tuple[KindCount, ...] = ()
    unasked: tuple[InjectableKind, ...] = ()
    title: Annotated[str, PERSON_ONLY] = ""
    note: Annotated[str, PERSON_ONLY] = ""


def _asks(request: ImportRequest) -> bool:
    """Return whether to show a person at a terminal the planned import and its trust; not if they stated the trust."""
    return request.trust is None and sys.stdin is not None and sys.stdin.isatty()


IMPORT = Operation(
    "import",
    ImportRequest,
    ImportResult,
    engine="importer:import_",
    scope="admin",
    group="Keep and move",
    summary="Import an export, or another memory's store",
    view="view:import_",
    writes=True,
    steps=True,
    asks=_asks,
    examples=("palazzo import palace.jsonl.zst --trust user", "palazzo import ~/.mempalace --from mempalace --dry-run"),
)
