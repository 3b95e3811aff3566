"""Mining: discover sources, read them, pass them to the archive.

Sources are independent: if one fails, the failure is reported and the others go on. Content reported as committed is on
disk. The next run completes an interrupted run.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from palazzo.archive.ingest_guard import Guard
from palazzo.errors import SourceUnreadable
from palazzo.git.project_file import read_project_config
from palazzo.git.project_identity import project_root
from palazzo.model import Micros
from palazzo.sources.collection_reader import (
    CollectionState,
    Conversation,
    Reading,
    conversations,
    note_whole,
    state_of,
    take_conversation,
)
from palazzo.sources.discovery import Candidate, FileVerdict, Readers, Rules, discover, existing
from palazzo.sources.document_mining import DocumentGroup, file_documents, prepare_document
from palazzo.sources.excluded_documents import compare, lasting_rules, settle
from palazzo.sources.file_heads import read_head
from palazzo.sources.file_listing import FileListing, SourceCounts
from palazzo.sources.formats import Collection, Feeder, Identity, Row, converted_documents
from palazzo.sources.formats.document_kinds import SOURCE_CODE
from palazzo.sources.formats.document_rows import Documents
from palazzo.sources.formats.transcript_formats import (
    COLLECTIONS,
    NAMED_FILE_COLLECTIONS,
    STATED_COLLECTIONS,
    TRANSCRIPTS,
)
from palazzo.sources.mining_report import Failed, MineProgress, MineReport, MineRequest, OnProgress, Skipped
from palazzo.sources.mining_tally import Tally
from palazzo.sources.pause_gaps import without_pauses
from palazzo.sources.preparation_pool import LEAST_BYTES, PreparationPool, count_processes
from palazzo.sources.preparation_process import Request
from palazzo.sources.session_mining import SourceTally, count_drawers, refusal_of_session
from palazzo.sources.skip_reasons import UnreadPaths
from palazzo.sources.source_places import Placer
from palazzo.sources.transcript_mining import take_transcript
from palazzo.sources.walk import Skip
from palazzo.store import source_rows
from palazzo.store.database import Database
from palazzo.store.source_rows import FileState


def mine(
    database: Database | None,
    clock: Callable[[], Micros],
    request: MineRequest,
    on_progress: OnProgress | None = None,
) -> MineReport:
    """Read what `request` names into the palace and return a report.

    A dry run writes nothing and needs no palace (`database` may be None). Raises NotFound for a path that does not
    exist and PalaceUnusable when the palace cannot be written.
    """
    began = time.monotonic()
    run = _Run(database, clock, request, _states(database), on_progress)
    readers = Readers(cached_kind=run.known_kind, former_kind=run.former_kind, on_directory=run.note_directory)
    run.take(run.sort(discover(request.paths, lambda path: _rules(request, path), readers)))
    if request.is_stated:
        run.report_unread()
    for path in request.paths:
        run.settle(path)
    if database is not None:
        run.tally.drawers += sum(
            count_drawers(database, *source_start) for source_start in run.tally.source_starts.values()
        )
    return run.report(time.monotonic() - began)


class _Run:
    """One run of mining: the recorded state of every file, and the counts so far."""

    def __init__(
        self,
        database: Database | None,
        clock: Callable[[], Micros],
        request: MineRequest,
        states: Mapping[str, FileState],
        on_progress: OnProgress | None,
    ) -> None:
        self._database, self._clock, self._request, self._states = database, clock, request, states
        self._placing = Placer(database, request.wing, request.room)
        self._on_progress = on_progress
        self._done = self._total = 0
        self._pool: PreparationPool | None = None
        self._ready = DocumentGroup()
        self._documents: set[str] = set()
        self._directories: list[str] = []
        self._has_collections = False
        self._skips_by_rule = 0
        self._unread = UnreadPaths()
        self._listing = FileListing() if request.dry_run and request.is_stated else None
        self.tally = Tally()

    def sort(self, verdicts: Iterable[FileVerdict]) -> list[Candidate]:
        """Return the candidates that are recent enough, and record the skips that are to be reported."""
        candidates: list[Candidate] = []
        for verdict in verdicts:
            if isinstance(verdict, Skip):
                self._unread.note_skip(verdict)
                self.tally.code_skipped += verdict.reason == SOURCE_CODE and self._request.mode == "auto"
                if not verdict.expected:
                    self.tally.skipped.append(Skipped(verdict.uri, verdict.reason))
                    self._skips_by_rule += not verdict.by_error
                if self._listing is not None:
                    self._listing.add_skip(verdict)
            elif verdict.kind not in _FEEDERS or self._request.wanted.by_time(_changed(verdict)):
                candidates.append(verdict)
            else:
                self._note_outcome(verdict, SourceCounts(), [])
        return candidates

    def known_kind(self, path: Path, status: os.stat_result) -> str:
        """Return what a file was read as, if it is unchanged."""
        state = self._state(path)
        if state is None or (state.size, state.mtime) != (status.st_size, status.st_mtime_ns):
            return ""
        return state.feeder if state.version == _VERSIONS.get(state.feeder) else ""

    def note_directory(self, path: Path) -> None:
        """Note a directory that discovery has entered."""
        self._directories.append(str(path))

    def former_kind(self, path: Path) -> str:
        """Return the kind that a file had when it was last read, or ""."""
        state = self._state(path)
        return "" if state is None else state.feeder

    def _state(self, path: Path) -> FileState | None:
        return self._states.get(path.as_uri()) if self._states else None

    def take(self, candidates: list[Candidate]) -> None:
        """Read the candidates independently: one that fails does not affect the others."""
        self._total = len(candidates)
        with converted_documents.one_run(), self._prepare_ahead(candidates):
            self._take_each(candidates)
        if candidates:
            self._tell("")

    @contextlib.contextmanager
    def _prepare_ahead(self, candidates: Sequence[Candidate]) -> Iterator[None]:
        """Let other processes prepare transcripts in the block, if there is much to read."""
        processes = 0 if self._request.dry_run or self._request.wanted.least_messages else count_processes()
        requests = [*self._list_requests(candidates)] if processes and self._database is not None else []
        if self._database is None or sum(size for _, size in requests) < LEAST_BYTES:
            yield
            return
        guard, pauses = Guard.of(self._database), self._request.wanted.pauses
        with PreparationPool([request for request, _ in requests], processes, guard, pauses) as self._pool:
            try:
                yield
            finally:
                self._pool = None

    def _list_requests(self, candidates: Iterable[Candidate]) -> Iterator[tuple[Request, int]]:
        """Yield the transcripts that have changed, each with the bytes to read."""
        for candidate in candidates:
            feeder, state = _FEEDERS.get(candidate.kind), self._states.get(candidate.uri)
            if feeder is None or _is_unchanged(candidate, state) or _collection_at(candidate) is not None:
                continue
            is_append = state is not None and feeder.appends and candidate.size >= state.consumed
            size = candidate.size - (state.consumed if state and is_append else 0)
            yield Request(candidate.path, candidate.kind, state), size

    def _take_each(self, candidates: list[Candidate]) -> None:
        for candidate in candidates:
            self._tell(candidate.uri)
            if candidate.kind == Documents.kind:
                self._documents.add(candidate.uri)
            else:
                self._file_documents()
            counts_before, reports_before = self.tally.counts, len(self.tally.skipped)
            try:
                collection = _collection_at(candidate)
                if collection is not None:
                    self._has_collections = True  # its conversations may lie in files outside the directories
                    self._take_collection(collection, candidate.path)
                else:
                    self._take_file(candidate)
            except (OSError, SourceUnreadable) as error:
                self.tally.fail(candidate.uri, error)
            if not self._ready.is_last(candidate.path):
                reasons = [skipped.reason for skipped in self.tally.skipped[reports_before:]]
                self._note_outcome(candidate, self.tally.counts - counts_before, reasons)
            elif self._ready.is_full:
                self._file_documents()
            self._done += 1
        self._file_documents()

    def _file_documents(self) -> None:
        """Archive the documents that are ready, in one transaction, and count them."""
        if self._database is None or not self._ready.documents:
            return
        documents, self._ready = self._ready.documents, DocumentGroup()
        tallies = file_documents(self._database, documents, self._placing, self._clock)
        for document, source_tally in zip(documents, tallies, strict=True):
            counts_before = self.tally.counts
            self.tally.add(source_tally)
            self._note_read(document.path, self.tally.counts - counts_before)

    def _note_read(self, path: Path, counts: SourceCounts) -> None:
        self._unread.note_read(path)
        if self._listing is not None:
            self._listing.add_file(path, Documents.kind, counts, [])

    def _note_outcome(self, candidate: Candidate, counts: SourceCounts, reasons: list[str]) -> None:
        """Note the sources that a candidate contains, and why some of them were skipped."""
        if counts.readable or counts.failed:
            self._unread.note_read(candidate.path)
        elif reasons:
            self._unread.note_skip(Skip(candidate.path, reasons[0]))
        else:
            self._unread.note_unwanted(candidate.path)
        if self._listing is not None:
            self._listing.add_file(candidate.path, candidate.kind, counts, reasons)

    def report_unread(self) -> None:
        """Report, with the reason, each requested path from which nothing was read."""
        for path in map(existing, self._request.paths):
            reason = self._unread.reason(path)
            if reason:
                self.tally.unread.append(Skipped(path.as_uri(), reason))
                if not self._unread.is_reported(path):
                    self.tally.skipped.append(self.tally.unread[-1])

    def report(self, seconds: float) -> MineReport:
        """Return the report of the run."""
        report = self.tally.report(seconds)
        is_quiet = report.sources == report.unchanged > 0 and not (
            report.unread or report.left_out or report.taken_back or len(report.skipped) > self._skips_by_rule
        )
        is_comparable = not (self._request.dry_run or self._has_collections or self._request.wanted.skip_directories)
        return replace(
            report,
            files=tuple(self._listing.files if self._listing else ()),
            directories=tuple(self._directories) if is_quiet and is_comparable else (),
        )

    def settle(self, path: Path) -> None:
        """Exclude what the rules of `path` exclude now, and restore what they no longer exclude."""
        request, database = self._request, self._database
        if database is None or request.mode == "convos":
            return
        top = path.expanduser().resolve()
        rules = lasting_rules(top, request.exclude, request.wanted.skip_directories, request.gitignore)
        with database.snapshot() as connection:
            settlement = compare(connection, top, rules, self._documents, outright=bool(request.include))
        if not request.dry_run:
            settle(database, self._clock, settlement)
        self.tally.left_out += len(settlement.out)
        self.tally.taken_back += settlement.taken_back

    def _take_file(self, candidate: Candidate) -> None:
        feeder = _FEEDERS.get(candidate.kind)
        if feeder is not None and not self._is_named(feeder, candidate.path):
            return
        state = self._states.get(candidate.uri)
        self.tally.times.append(_changed(candidate))
        if _is_unchanged(candidate, state):
            self.tally.add(SourceTally("unchanged"))
        elif self._database is None or self._request.dry_run:
            refusal = "" if feeder is None else self._refusal_of_transcript(feeder, candidate.path)
            if refusal:
                self.tally.add(SourceTally("left out", skipped=[Skipped(candidate.uri, refusal)]))
                return
            is_append = state is not None and feeder is not None and feeder.appends and candidate.size >= state.consumed
            self.tally.would_take(state, candidate.size - (state.consumed if state and is_append else 0))
        elif feeder is None:
            document = prepare_document(self._database, candidate.path, candidate.root, self._placing)
            if isinstance(document, SourceTally):
                self.tally.add(document)
            else:
                self._ready.add(document)
        else:
            on_commit, wanted = partial(self._tell, candidate.uri), self._request.wanted
            prepared = None if self._pool is None else self._pool.take(candidate.path)
            self.tally.add(
                take_transcript(
                    self._database, feeder, candidate.path, self._placing, self._clock, wanted, on_commit, prepared
                )
            )

    def _refusal_of_transcript(self, feeder: Feeder, path: Path) -> str:
        """Return why an actual run would leave a transcript out, or ""."""
        if not self._request.wanted.looks_inside:
            return ""
        with path.open("rb") as stream:
            identity = feeder.identify(path, read_head(path))
            return self._refusal(feeder.kind, identity, path.as_uri(), feeder.rows(stream), identity.cwd)

    def _refusal(self, kind: str, identity: Identity, uri: str, rows: Iterator[Row], cwd: str) -> str:
        session_filter = self._request.wanted
        return refusal_of_session(
            self._database, kind, identity, uri, without_pauses(rows, session_filter.pauses), session_filter, cwd
        )

    def _is_named(self, feeder: Feeder, path: Path) -> bool:
        session_filter = self._request.wanted
        return not session_filter.sessions or session_filter.by_identity(feeder.identify(path, read_head(path)))

    def _take_collection(self, collection: Collection, path: Path) -> None:
        whole = state_of(path)
        if whole is not None and self._is_known_whole(collection, path, whole):
            session_uris = [uri for uri in self._states if uri.startswith(f"{path.as_uri()}#session=")]
            for _ in session_uris:
                self.tally.add(SourceTally("unchanged"))
            return
        failed, is_complete, read = len(self.tally.failed), True, 0
        for conversation in conversations(collection, path, self._states, self._request.wanted):
            is_complete = is_complete and conversation.session.settled
            if conversation.session.updated_at is not None:
                self.tally.times.append(conversation.session.updated_at)
            if conversation.is_known:
                self.tally.add(SourceTally("unchanged"))
            elif self._database is None or self._request.dry_run:
                session, refusal = conversation.session, ""
                if self._request.wanted.looks_inside:
                    refusal = self._refusal(
                        collection.kind, session.identity, conversation.uri, session.rows(), session.cwd
                    )
                if refusal:
                    self.tally.add(SourceTally("left out", skipped=[Skipped(conversation.uri, refusal)]))
                    continue
                self.tally.would_take(conversation.state, 0)
                read += 1
            else:
                self._take_conversation(self._database, collection, path, conversation)
        if self._database is None or self._request.dry_run:
            self.tally.bytes += whole.size if whole is not None and read else 0
        elif (
            whole is not None and is_complete and not self._request.wanted.chooses and len(self.tally.failed) == failed
        ):
            note_whole(self._database, collection, path, whole)

    def _take_conversation(
        self, database: Database, collection: Collection, path: Path, conversation: Conversation
    ) -> None:
        reading = Reading(database, collection, path, self._placing, self._clock, self._request.wanted)
        outcome = take_conversation(reading, conversation, partial(self._tell, conversation.uri))
        if isinstance(outcome, Failed):
            self.tally.fail(outcome.uri, outcome.error)
        else:
            self.tally.add(outcome)

    def _is_known_whole(self, collection: Collection, path: Path, whole: CollectionState) -> bool:
        state = self._states.get(path.as_uri())
        return (
            state is not None
            and not self._request.wanted.chooses
            and (state.feeder, state.version) == (collection.kind, collection.version)
            and (state.size, state.mtime) == (whole.size, whole.mtime)
        )

    def _tell(self, uri: str, items: int = 0) -> None:
        if self._on_progress:
            self._on_progress(MineProgress(self._done, self._total, uri, self.tally.items + items))


_FEEDERS = {feeder.kind: feeder for feeder in TRANSCRIPTS}
_COLLECTIONS = (*COLLECTIONS, *NAMED_FILE_COLLECTIONS, *STATED_COLLECTIONS)
_OF_MANY = frozenset(collection.kind for collection in _COLLECTIONS)
_VERSIONS = {
    Documents.kind: Documents.version,
    **{kind: feeder.version for kind, feeder in _FEEDERS.items()},
    **{collection.kind: collection.version for collection in _COLLECTIONS},
}


def _collection_at(candidate: Candidate) -> Collection | None:
    """Return the reader of a candidate that is a collection; a host's files and its directories may have one each.

    A host may have both transcripts and collections of them (Codex compresses sessions that were not continued).
    """
    if candidate.kind not in _OF_MANY:
        return None
    readers = [collection for collection in _COLLECTIONS if collection.kind == candidate.kind]
    head = b"" if candidate.path.is_dir() else read_head(candidate.path)
    fallback = None if candidate.kind in _FEEDERS else readers[0]
    return next((reader for reader in readers if reader.recognises(candidate.path, head)), fallback)


def _rules(request: MineRequest, path: Path) -> Rules:
    config = read_project_config(project_root(path.absolute()))
    return Rules(
        mode=request.mode,
        policy=config.policy if config.policy else request.policy,
        include=(*request.include, *config.include),
        exclude=(*request.exclude, *config.exclude),
        gitignore=request.gitignore,
        skip_directories=request.wanted.skip_directories,
        is_stated=request.is_stated,
        is_policy_stated=config.policy is not None,
    )


def _states(database: Database | None) -> Mapping[str, FileState]:
    if database is None:
        return {}
    with database.snapshot() as connection:
        return source_rows.read_file_states(connection)


def _changed(candidate: Candidate) -> Micros:
    return Micros(candidate.modified_ns // 1000)


def _is_unchanged(candidate: Candidate, state: FileState | None) -> bool:
    if state is None or (candidate.size, candidate.modified_ns) != (state.size, state.mtime):
        return False
    return (state.feeder, state.version) == (candidate.kind, _VERSIONS[candidate.kind])
