"""import: take in an export of another palace, or the store of another memory."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.features.portability import import_views
from palazzo.features.portability.import_views import InjectableKind, KindCount, Speaker
from palazzo.features.service.background_process import start_embedding
from palazzo.features.tasks.task_results import ACTOR
from palazzo.model import Trust, least_trust
from palazzo.operations.operation import PERSON_ONLY, About, Operation

if TYPE_CHECKING:
    from palazzo.importers import StoreReader, StoreRecord
    from palazzo.operations.context import Context
    from palazzo.palace import Palace
    from palazzo.store.unfinished_imports import Import
    from palazzo.sync.export_check import VerifiedExport
    from palazzo.sync.import_summary import ImportSummary
    from palazzo.sync.merge import Origin, Report
    from palazzo.sync.store_import import Migration

OWN = "palazzo"
"""What --from calls our own format."""
_BLOCK = 1 << 20
_REFUSAL = (
    "it would change your own records, applies to the whole palace, or has a date in the future; another palace's"
    " export may only add"
)


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What to take in, and as what."""

    path: Annotated[
        Path, About("An export, or another memory's store; - for standard input.", positional=True, option="FILE|DIR")
    ]
    store: Annotated[
        str | None,
        About("Whose it is, as palazzo, mempalace or shodh, if its looks do not tell.", False, "--from", "NAME"),
    ] = None
    trust: Annotated[
        Trust | None,
        About(
            "Whose it is: the highest trust that its records get. The default is somebody else's (external): search"
            " finds and labels its records, and hooks do not inject them. Give user if it is your own.",
        ),
    ] = None
    wing: Annotated[str | None, About("File what comes of another memory's store in this wing.")] = None
    dry_run: Annotated[bool, About("Only say what would come.")] = False
    wait: Annotated[bool, About("Make the vectors now instead of in the background.")] = False


@dataclass(frozen=True, slots=True)
class Came:
    """How much of one sort came.

    `new` was not here, `there` was; `changed` says more than it did; `merged` went into something that says the same.
    """

    what: str
    new: int
    there: int
    changed: int
    merged: int = 0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What had no place here, how often, and why; `keys` are what a few of them are called where they are from."""

    what: str
    reason: str
    count: int
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RenamedPlace:
    """A wing, a room or an agent that is called otherwise here."""

    what: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What came over, what was there, what had no place. `change` is what 'palazzo undo' takes back, if anything is."""

    path: str
    store: str
    counts: tuple[Came, ...]
    left_out: tuple[LeftOut, ...]
    took_s: float
    renamed: tuple[RenamedPlace, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Ids of conflicts between facts that are here since: 'palazzo kg conflicts' shows them."""
    forked: tuple[str, ...] = ()
    """Ids of devices of which two copies of one palace were written to apart: what both said is here."""
    variants: tuple[str, ...] = ()
    """Ids of items whose text differs here and in the export: yours was kept."""
    trust: str | None = None
    """The highest trust of its records; null for an export that this palace wrote."""
    change: str | None = None
    dry_run: bool = False
    speakers: tuple[Speaker, ...] = ()
    kinds: tuple[KindCount, ...] = ()
    unasked: tuple[InjectableKind, ...] = ()
    title: Annotated[str, PERSON_ONLY] = ""
    note: Annotated[str, PERSON_ONLY] = ""


@dataclass(frozen=True, slots=True)
class _ImportOutcome:
    """The same, but for where it is from and how long it took."""

    title: str
    counts: tuple[Came, ...]
    left_out: tuple[LeftOut, ...] = ()
    new_names: tuple[RenamedPlace, ...] = ()
    conflicts: tuple[str, ...] = ()
    fork_ids: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    trust: str | None = None
    change: str | None = None
    summary: ImportSummary | None = None


def import_(context: Context, request: ImportRequest) -> ImportResult:
    """Take in an export of another palace, or the store of another memory; what is here already is not added again.

    An export is merged: the same ids and times, and of what both know the earliest retirement. It is read to its end
    and checked before anything is written, and so is a store of another memory, whose notes, diaries, facts and tunnels
    are filed with their times and where they came from. The format is detected unless --from is given.

    A keyed hash shows which exports this palace wrote. Anything else counts as another person's: its records get at
    most the trust --trust, and an export changes no existing record. --trust user states that it is your own. A store
    in its program's own directory in your home is yours. 'palazzo undo' takes back all that an import added.
    """
    from palazzo.sync.carried_files import STDIN

    began = time.monotonic()
    with _file(context, request) as path:
        reader = _reader(path, request.store)
        try:
            outcome = _merge(context, path, request) if reader is None else _migrate(context, reader, path, request)
        finally:  # also when it was interrupted: what came so far is kept, and wants its vectors
            if not request.dry_run and context.has_palace and not request.wait:
                start_embedding(context)
    return ImportResult(
        path="-" if request.path == STDIN else str(path),
        store=OWN if reader is None else reader.name,
        counts=outcome.counts,
        left_out=outcome.left_out,
        took_s=round(time.monotonic() - began, 3),
        renamed=outcome.new_names,
        conflicts=outcome.conflicts,
        forked=outcome.fork_ids,
        variants=outcome.variants,
        trust=outcome.trust,
        change=outcome.change,
        dry_run=request.dry_run,
        speakers=import_views.speakers(outcome.summary),
        kinds=import_views.kinds(outcome.summary),
        unasked=import_views.injectable_kinds(outcome.summary),
        title=outcome.title,
        note=_embed_vectors(context) if request.wait and not request.dry_run else "",
    )


@contextmanager
def _file(context: Context, request: ImportRequest) -> Iterator[Path]:
    """The file to read, which is read twice: standard input is kept aside meanwhile."""
    from palazzo.sync.carried_files import STDIN

    if request.path != STDIN:
        path = context.led_to(request.path)
        if not os.path.lexists(path):
            raise UsageError(f"{path} does not exist. Name an export, or a directory of another memory.")
        if not (path.is_file() or path.is_dir()):
            raise UsageError(
                f"{path} leads to no file and no directory. Name one, or let it come by standard input (-)."
            )
        yield path
        return
    if context.trust != "user":
        raise UsageError("Only a command line has a standard input: name a file.")
    with tempfile.TemporaryDirectory(prefix="palazzo-") as place:  # 0700
        path = Path(place) / "standard input"
        with path.open("wb") as file:
            while block := sys.stdin.buffer.read(_BLOCK):
                file.write(block)
        yield path


def _reader(path: Path, store_name: str | None) -> StoreReader | None:
    """The reader of whose store it is; None for an export of our own."""
    from palazzo.importers import store_readers
    from palazzo.sync import carried_files, export_check, page_tree

    if store_name is not None:
        name = store_name.strip().lower()
        return None if name == OWN else store_readers.find_reader(name)
    if page_tree.is_tree(path):
        raise UsageError(f"{path} is an export as Markdown, which is for reading. Import the one as jsonl.")
    if path.is_file() and export_check.is_export(path):
        return None
    store_reader = store_readers.detect_reader(path)
    if store_reader is None:
        if path.is_file() and next(carried_files.lines(path), None) is None:
            raise UsageError(f"{path} is empty. Export anew where it is from.")
        known_names = ", ".join([OWN, *(reader.name for reader in store_readers.READERS)])
        raise UsageError(
            f"{path} is nothing that can be told by its looks. Say whose it is with --from: {known_names}."
        )
    return store_reader


# --- an export of a palace ---------------------------------------------------------------------------------


def _merge(context: Context, path: Path, request: ImportRequest) -> _ImportOutcome:
    from palazzo.archive import identity
    from palazzo.operations.caller_taint import speaks
    from palazzo.sync import derived_records, export_check, merge
    from palazzo.sync.import_summary import ImportSummary
    from palazzo.sync.merge_state import ImportChange

    if request.wing is not None:
        raise UsageError("An export says itself in which wing each thing stands: leave --wing out.")
    if not request.dry_run and speaks(context) != "user":
        raise UsageError(
            "An export says of all its words whom to believe for them, so a person imports one, in a terminal of their"
            f" own: palazzo import '{path}'. With dry_run you see what would come."
        )
    export = export_check.check(path, lambda read, size: context.report("checking", read, size), _key(context))
    origin = _origin(context, export, request)
    records = export_check.records(path, export)
    total = export.counts.total() - export.counts[derived_records.KIND]

    def merged(count: int) -> None:
        context.report("merging", count, total)

    summary = ImportSummary()
    with _palace(context, request.dry_run, True) as palace:
        started_at = palace.clock()
        change = ImportChange(bytes.fromhex(identity.new_id(started_at)), ACTOR, started_at, _written_by(export))
        report = merge.merge(
            palace.database,
            summary.count_records(map(origin.limit, records)),
            palace.clock,
            progress=merged,
            dry_run=request.dry_run,
            vouch=True,
            import_record=None if request.dry_run else _identify_import(path, request),
            origin=origin,
            change=None if request.dry_run else change,
        )
    outcome = replace(_of_report(_written_by(export), report), change=change.uid, summary=summary)
    return outcome if export.is_own else replace(outcome, trust=origin.trust)


def _key(context: Context) -> bytes:
    from palazzo.store import redaction_state

    if not context.has_palace:
        return b""
    with context.reading().database.snapshot() as connection:
        return redaction_state.fingerprint_key(connection)


def _origin(context: Context, export: VerifiedExport, request: ImportRequest) -> Origin:
    """Return who wrote an export. Into an empty palace another palace's export is imported only with --trust."""
    from palazzo.sync.merge import OWN_DEVICE, Origin

    if export.is_own and request.trust is None:
        return OWN_DEVICE
    if request.trust == "user":
        return Origin("owner")
    if request.trust is None and not request.dry_run and _is_empty(context):
        raise UsageError(
            "Another palace wrote this export, and the palace here is empty. If it is your own, run palazzo import"
            f" '{request.path}' --trust user; if somebody else's, --trust external keeps it apart from your words."
        )
    return Origin("other", request.trust or "external")


def _is_empty(context: Context) -> bool:
    from palazzo.store import items

    if not context.has_palace:
        return True
    with context.reading().database.snapshot() as connection:
        return not items.has_items(connection)


def _identify_import(path: Path, request: ImportRequest) -> Import:
    from palazzo.store.unfinished_imports import STANDARD_INPUT, Import
    from palazzo.sync.carried_files import STDIN

    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Import(STANDARD_INPUT if request.path == STDIN else str(path), digest)


def _written_by(export: VerifiedExport) -> str:
    return f"an export by {export.header.written_by}" if export.header.written_by else "an export"


def _of_report(title: str, report: Report) -> _ImportOutcome:
    kinds = dict.fromkeys([*report.added, *report.changed, *report.same])
    return _ImportOutcome(
        title,
        tuple(Came(kind, report.added[kind], report.same[kind], report.changed[kind]) for kind in kinds),
        (
            *(LeftOut(kind, "what it refers to is neither in it nor here", n) for kind, n in report.missing.items()),
            *(LeftOut(kind, _REFUSAL, n) for kind, n in sorted(report.refusals.items()) if n),
        ),
        conflicts=tuple(report.conflicts),
        fork_ids=tuple(sorted(report.forks)),
        variants=tuple(sorted(report.variants)),
    )


# --- another memory's store --------------------------------------------------------------------------------


class _TrustLimit:
    """A reader that lowers the trust of each record to a limit, and counts what it reads."""

    def __init__(self, reader: StoreReader, trust: Trust, summary: ImportSummary) -> None:
        self._reader, self._trust, self._summary = reader, trust, summary
        self.name, self.title = reader.name, reader.title

    def recognises(self, path: Path) -> bool:
        """Whether it is such a store."""
        return self._reader.recognises(path)

    def read(self, path: Path) -> Iterator[StoreRecord]:
        """Yield the records of the store, trusted no more than the limit."""
        return self._summary.count_records(map(self._limit, self._reader.read(path)))

    def _limit(self, record: StoreRecord) -> StoreRecord:
        from palazzo.importers import DiaryEntry, Fact, Note, Task

        if isinstance(record, Note | DiaryEntry | Task | Fact):
            return replace(record, trust=least_trust(record.trust, self._trust))
        return record


def _migrate(context: Context, reader: StoreReader, path: Path, request: ImportRequest) -> _ImportOutcome:
    from palazzo.features.mining.mine import wing_named
    from palazzo.operations.caller_taint import speaks, unless_tainted
    from palazzo.sync import store_import
    from palazzo.sync.import_summary import ImportSummary

    is_persons = speaks(context) == "user"
    if not is_persons and not request.dry_run:
        unless_tainted(context, "takes over another memory")
    options = store_import.MigrationOptions(
        actor=ACTOR, wing=wing_named(context, request.wing), dry_run=request.dry_run, progress=context.report
    )
    limit = least_trust("user" if is_persons else "agent", request.trust or _default_trust(context, path))
    summary = ImportSummary()
    limited_reader = _TrustLimit(reader, limit, summary)
    with _palace(context, request.dry_run, False) as palace:
        migration = store_import.migrate(palace.database, limited_reader, path, palace.clock, options)
    return replace(_of_migration(migration), trust=limit, summary=summary)


def _default_trust(context: Context, path: Path) -> Trust:
    """Return the owner of a store if --from says none: the user, if its program keeps it at home (`~/.mempalace`)."""
    home = Path(context.variables.get("HOME") or Path.home())
    is_own = any(place.parent == home and place.name.startswith(".") for place in (path, *path.parents))
    return "user" if is_own else "external"


@contextmanager
def _palace(context: Context, dry_run: bool, tries: bool) -> Iterator[Palace]:
    """The palace; where nothing is to be written and there is none, an empty one that is gone afterwards.

    A dry run that `tries` writes, and takes it back in the same transaction.
    """
    from palazzo.palace import Palace, without_embedder

    if not dry_run:
        yield context.writing()
    elif context.has_palace:
        yield context.writing() if tries else context.reading()
    else:
        with (
            tempfile.TemporaryDirectory(prefix="palazzo-") as place,
            Palace.open(Path(place) / "palace.db", "write", without_embedder) as empty,
        ):
            yield empty


def _of_migration(migration: Migration) -> _ImportOutcome:
    return _ImportOutcome(
        migration.title,
        tuple(Came(entry.kind, entry.new, entry.existing, entry.changed, entry.merged) for entry in migration.counts),
        tuple(LeftOut(entry.kind, entry.reason, entry.count, entry.keys) for entry in migration.omissions),
        tuple(RenamedPlace(entry.kind, entry.was, entry.new_name) for entry in migration.name_changes),
        change=migration.change,
    )


def _embed_vectors(context: Context) -> str:
    from palazzo.features.mining.mine import embed_now

    return embed_now(context)


def _asks(request: ImportRequest) -> bool:
    """Show a person at a terminal what would be imported, and at which trust, unless they stated the trust."""
    return request.trust is None and sys.stdin is not None and sys.stdin.isatty()


OPERATION = Operation("import", ImportRequest, ImportResult, import_, writes=True, steps=True, asks=_asks)
