"""import: take in an export of another palace, or the store of another memory."""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.archive import identity
from palazzo.errors import UsageError
from palazzo.features.mining.mine import embed_now, wing_named
from palazzo.features.portability import import_views
from palazzo.features.portability.contract import (
    Came,
    ImportRequest,
    ImportResult,
    LeftOut,
    RenamedPlace,
)
from palazzo.features.service.background_process import start_embedding
from palazzo.frozen_class import frozen
from palazzo.importers import DiaryEntry, Fact, Note, Task, store_import, store_readers
from palazzo.importers.import_summary import ImportSummary
from palazzo.model import Trust, least_trust
from palazzo.operations.caller_taint import change_actor, speaks, unless_tainted
from palazzo.palace import Palace, without_embedder
from palazzo.store import items, redaction_state
from palazzo.store.raw_database import refuse_open
from palazzo.store.unfinished_imports import STANDARD_INPUT, Import
from palazzo.sync import carried_files, derived_records, export_check, merge, page_tree
from palazzo.sync.carried_files import STDIN
from palazzo.sync.merge import OWN_DEVICE, Origin
from palazzo.sync.merge_state import ImportChange

if TYPE_CHECKING:
    from palazzo.importers import StoreReader, StoreRecord
    from palazzo.importers.store_import import Migration
    from palazzo.operations.context import Context
    from palazzo.sync.export_check import VerifiedExport
    from palazzo.sync.merge import Report

OWN = "palazzo"
"""The name of our own format in --from."""
_BLOCK = 1 << 20
_REFUSAL = (
    "it would change your own records, applies to the whole palace, or has a date in the future; another palace's"
    " export may only add"
)


@frozen
class _ImportOutcome:
    """The result of an import without the source and the duration."""

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
    """Import an export of another palace, or the store of another memory. Existing records are not added again."""
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
    """Yield the file to read; standard input is saved to a temporary file, because it is read twice."""
    if request.path != STDIN:
        path = context.led_to(request.path)
        try:
            path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            raise UsageError(f"{path} does not exist. Name an export, or a directory of another memory.") from None
        if not (path.is_file() or path.is_dir()):
            raise UsageError(
                f"{path} is neither a file nor a directory. Name one, or pass the data on standard input (-)."
            )
        try:
            refuse_open(path)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}. Name an export of it, or another memory.") from None
        yield path
        return
    if context.trust != "user":
        raise UsageError("Standard input is available only at a command line: name a file.")
    with tempfile.TemporaryDirectory(prefix="palazzo-") as place:  # 0700
        path = Path(place) / "standard input"
        with path.open("wb") as file:
            while block := sys.stdin.buffer.read(_BLOCK):
                file.write(block)
        yield path


def _reader(path: Path, store_name: str | None) -> StoreReader | None:
    """Return the reader for a store; None for an export of Palazzo."""
    if store_name is not None:
        name = store_name.strip().lower()
        return None if name == OWN else store_readers.find_reader(name)
    if page_tree.is_tree(path):
        raise UsageError(f"{path} is a Markdown export, which is only for reading. Import the jsonl export instead.")
    if path.is_file() and export_check.is_export(path):
        return None
    store_reader = store_readers.detect_reader(path)
    if store_reader is None:
        if path.is_file() and next(carried_files.lines(path), None) is None:
            raise UsageError(f"{path} is empty. Export again from the source.")
        known_names = ", ".join([OWN, *(reader.name for reader in store_readers.READERS)])
        raise UsageError(f"The format of {path} is not recognized. Name it with --from: {known_names}.")
    return store_reader


# --- an export of a palace ---------------------------------------------------------------------------------


def _merge(context: Context, path: Path, request: ImportRequest) -> _ImportOutcome:
    if request.wing is not None:
        raise UsageError("An export states the wing of each of its records: leave out --wing.")
    if not request.dry_run and speaks(context) != "user":
        raise UsageError(
            "An export states the trust of all its records, so only a person may import one, in their own terminal: "
            f"palazzo import '{path}'. With dry_run you see what would be imported."
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
        change = ImportChange(
            bytes.fromhex(identity.new_id(started_at)), change_actor(context), started_at, _written_by(export)
        )
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
    if not context.has_palace:
        return b""
    with context.reading().database.snapshot() as connection:
        return redaction_state.fingerprint_key(connection)


def _origin(context: Context, export: VerifiedExport, request: ImportRequest) -> Origin:
    """Return who wrote an export. Into an empty palace another palace's export is imported only with --trust."""
    if export.is_own and request.trust is None:
        return OWN_DEVICE
    if request.trust == "user":
        return Origin("owner")
    if request.trust is None and not request.dry_run and _is_empty(context):
        raise UsageError(
            "Another palace wrote this export, and the palace here is empty. If it is your own, run palazzo import "
            f"'{request.path}' --trust user; if it is another person's, --trust external keeps it apart from your "
            "own records."
        )
    return Origin("other", request.trust or "external")


def _is_empty(context: Context) -> bool:
    if not context.has_palace:
        return True
    with context.reading().database.snapshot() as connection:
        return not items.has_items(connection)


def _identify_import(path: Path, request: ImportRequest) -> Import:
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
            *(
                LeftOut(kind, "it refers to something that is neither in the import nor here", n)
                for kind, n in report.missing.items()
            ),
            *(LeftOut(kind, _REFUSAL, n) for kind, n in sorted(report.refusals.items()) if n),
        ),
        conflicts=tuple(report.conflicts),
        fork_ids=tuple(sorted(report.forks)),
        variants=tuple(sorted(report.variants)),
    )


# --- another memory's store --------------------------------------------------------------------------------


class _TrustLimit:
    """A reader that limits the trust level of each record, and counts the records."""

    def __init__(self, reader: StoreReader, trust: Trust, summary: ImportSummary) -> None:
        self._reader, self._trust, self._summary = reader, trust, summary
        self.name, self.title = reader.name, reader.title

    def recognises(self, path: Path) -> bool:
        """Return whether the path is a store of this kind."""
        return self._reader.recognises(path)

    def read(self, path: Path) -> Iterator[StoreRecord]:
        """Yield the records of the store, with their trust lowered to the limit."""
        return self._summary.count_records(map(self._limit, self._reader.read(path)))

    def _limit(self, record: StoreRecord) -> StoreRecord:
        if isinstance(record, Note | DiaryEntry | Task | Fact):
            return replace(record, trust=least_trust(record.trust, self._trust))
        return record


def _migrate(context: Context, reader: StoreReader, path: Path, request: ImportRequest) -> _ImportOutcome:
    is_persons = speaks(context) == "user"
    if not is_persons and not request.dry_run:
        unless_tainted(context, "import another memory")
    options = store_import.MigrationOptions(
        actor=change_actor(context),
        wing=wing_named(context, request.wing),
        dry_run=request.dry_run,
        progress=context.report,
    )
    limit = least_trust("user" if is_persons else "agent", request.trust or _default_trust(context, path))
    summary = ImportSummary()
    limited_reader = _TrustLimit(reader, limit, summary)
    with _palace(context, request.dry_run, False) as palace:
        migration = store_import.migrate(palace.database, limited_reader, path, palace.clock, options)
    return replace(_of_migration(migration), trust=limit, summary=summary)


def _default_trust(context: Context, path: Path) -> Trust:
    """Return the default trust of a store: the user's, if its program keeps it at home (`~/.mempalace`)."""
    home = Path(context.variables.get("HOME") or Path.home())
    is_own = any(place.parent == home and place.name.startswith(".") for place in (path, *path.parents))
    return "user" if is_own else "external"


@contextmanager
def _palace(context: Context, dry_run: bool, tries: bool) -> Iterator[Palace]:
    """Yield the palace; for a dry run without a palace, a temporary empty one.

    A dry run that `tries` writes, and rolls back in the same transaction.
    """
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
    note, _ = embed_now(context)
    return note
