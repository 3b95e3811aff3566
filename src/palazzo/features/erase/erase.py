"""erase: remove words permanently, everywhere, and recognise them if they come back."""

from __future__ import annotations

import glob
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo import paths
from palazzo.archive import (
    archive_reader,
    erasure,
    erasure_request,
    pattern_matches,
    redaction_review,
    written_files_registry,
)
from palazzo.errors import NotFound, PalazzoError, UsageError
from palazzo.features.erase import erased_backups
from palazzo.features.erase.contract import LARGE_SHARE, EraseRequest, EraseResult
from palazzo.features.portability import known_exports
from palazzo.features.service.background_process import start_embedding
from palazzo.features.sync import remote_access
from palazzo.model import Certificate
from palazzo.operations import backup_files, source_filter
from palazzo.store import drawers, items, source_rows, tombstones
from palazzo.text.hashed_words import cover

if TYPE_CHECKING:
    from palazzo.archive.erasure import SurveyResult
    from palazzo.archive.erasure_request import ErasureRequest
    from palazzo.archive.written_files_registry import TraceReport
    from palazzo.features.erase.erased_backups import BackupErasure
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_SAMPLES = 5
_AROUND = 40
"""Characters shown on each side of a match."""


def erase(context: Context, request: EraseRequest) -> EraseResult:
    """Remove words for good: from texts, from their sources' bytes, from names, indexes and the file's free pages."""
    selectors = [
        bool(request.ids),
        *(option is not None for option in (request.match, request.session, request.source)),
    ]
    selectors.append(request.secrets)
    if sum(selectors) > 1:
        raise UsageError("Choose one way to say what to erase: ids, --match, --session, --source or --secrets.")
    if request.certificate is not None:
        request = replace(request, certificate=context.led_to(request.certificate))
        _check_certificate(request.certificate)
    is_interrupted = _has_unfinished_erase(context)
    if not any(selectors):
        if not is_interrupted:
            raise UsageError("Name what to erase: ids, --match, --session, --source or --secrets.")
        if request.dry_run:
            return EraseResult(True, 0, 0, 0, 0.0)
        if request.certificate is not None:
            _make_certificate(request.certificate)
        return _finish_erase(context, request, None)
    if is_interrupted and not request.dry_run:
        context.notice("An erase was interrupted; finishing it first.")
        clear(context)
    targets = _find_targets(context, request)
    survey, share, sample = _survey(context, targets)
    if not survey.items and not survey.names and not survey.packs:
        raise NotFound(f"{_describe_request(request)} does not occur in the palace. Nothing was erased.")
    would = EraseResult(
        True, len(survey.items), survey.characters, survey.names, share, left=targets.remaining_count, sample=sample
    )
    if request.dry_run:
        return would
    if share > LARGE_SHARE and (request.match or request.secrets) and not request.even_most:
        raise UsageError(
            f"That is {share:.0%} of everything in the palace ({survey.characters:,} characters in "
            f"{len(survey.items):,} items). Nothing was erased; give --even-most if you mean this."
        )
    if request.certificate is not None:
        _make_certificate(request.certificate)
    try:
        context.writing().erase(targets, survey)
    except BaseException:
        if request.certificate is not None:
            request.certificate.unlink(missing_ok=True)
        raise
    return _finish_erase(context, request, would)


def _check_certificate(target: Path | None) -> None:
    """Refuse an unsuitable path for the certificate first: no file is overwritten, and no link is followed."""
    if target is None:
        return
    if os.path.lexists(target):
        raise UsageError(f"{target} already exists and is not overwritten; nothing was erased. Name a new file.")
    if not target.parent.is_dir():
        raise UsageError(f"The certificate cannot be written to {target}: name a file in an existing directory.")


def _make_certificate(target: Path) -> None:
    """Create the certificate's file, readable only by its owner, before anything is erased. Raises UsageError."""
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise UsageError(
            f"The certificate cannot be written to {target} ({error.strerror}); nothing was erased. Name a new file."
        ) from None


def _has_unfinished_erase(context: Context) -> bool:
    with context.reading().database.snapshot() as connection:
        return bool(tombstones.find_pending_erasures(connection))


def _find_targets(context: Context, request: EraseRequest) -> ErasureRequest:
    if request.match is not None:
        if not request.match:
            raise UsageError("The pattern is empty. Nothing was erased.")
        matches = pattern_matches.matches(context.palace_path, request.match, context.report)
        if not matches:
            raise NotFound(f"{_describe_request(request)} does not occur in the palace. Nothing was erased.")
        return erasure_request.matched_words(matches)
    if request.secrets:
        return erasure_request.matched_words(dict.fromkeys(_secrets(context), True))
    with context.reading().database.snapshot() as connection:
        return erasure_request.places(connection, _spans(context, connection, request))


def _secrets(context: Context) -> set[str]:
    secrets = redaction_review.secrets(
        context.reading().database, lambda done, total: context.report("looking", done, total)
    )
    if not secrets:
        raise NotFound("The current rules find no secret in the palace. Nothing was erased.")
    return secrets


def _spans(context: Context, connection: Connection, request: EraseRequest) -> dict[int, list[tuple[int, int]]]:
    if request.ids:
        spans: dict[int, list[tuple[int, int]]] = {}
        for prefix in request.ids:
            kind, row = archive_reader.resolve(connection, prefix)
            if kind == "drawer":
                for item, start, end in drawers.drawer_spans(connection, row):
                    spans.setdefault(item, []).append((start, end))
            else:
                spans.setdefault(row, []).append((0, len(items.read_texts(connection, [row])[row])))
        return spans
    if request.session is not None:
        rows = source_filter.sources_of_session(connection, request.session)
        if not rows:
            raise NotFound(f"There is no session '{request.session}'. 'palazzo search' prints session ids.")
    else:
        rows = source_filter.sources_at(context, connection, request.source or "")
    texts = items.read_texts(connection, items.items_of_sources(connection, _with_subagents(connection, rows)))
    return {row: [(0, len(text))] for row, text in texts.items()}


def _with_subagents(connection: Connection, rows: Sequence[int]) -> set[int]:
    sessions = {source_rows.read_source(connection, row).session_id for row in rows} - {""}
    below = (row for session in sessions for row in source_rows.sources_of_session(connection, f"{session}/"))
    return {*rows, *below}


def _survey(context: Context, targets: ErasureRequest) -> tuple[SurveyResult, float, tuple[tuple[str, str], ...]]:
    with context.reading().database.snapshot() as connection:
        survey = erasure.survey(connection, targets, context.report)
        total = items.characters(connection)
        sample = _sample(connection, survey)
    return survey, survey.characters / total if total else 0.0, sample


def _sample(connection: Connection, survey: SurveyResult) -> tuple[tuple[str, str], ...]:
    """Return the text around the first places, with the words themselves covered: a host may keep what is shown."""
    rows = list(survey.texts)[:_SAMPLES]
    texts = items.read_texts(connection, rows)
    excerpts = []
    for row, uid in items.uids_of(connection, rows):
        if survey.texts[row]:
            masked_text, (start, end) = cover(texts[row], survey.texts[row]), survey.texts[row][0]
            around = masked_text[max(start - _AROUND, 0) : min(end, start + _AROUND) + _AROUND]
            excerpts.append((uid.hex(), " ".join(around.split())))
    return tuple(excerpts)


def _finish_erase(context: Context, request: EraseRequest, would: EraseResult | None) -> EraseResult:
    """Clear the palace's file and other files, write the certificate, and start embedding the drawers that were cut
    again.
    """
    certificates, trace_result, backups = clear(context)
    totals = would or EraseResult(False, 0, 0, 0, 0.0)
    result = EraseResult(
        False,
        len({item.id for proof in certificates for item in proof.items}),
        totals.characters,
        totals.names,
        totals.share,
        tuple(certificates),
        trace_result.removed,
        (*trace_result.remaining, *backups.left),
        totals.left,
        backups.cleared,
        backups.away,
        tuple(map(str, known_exports.read_exports(context.palace_path))),
    )
    if request.certificate is not None:
        _write(request.certificate, [asdict(proof) for proof in certificates])
    start_embedding(context)
    remote_access.tell_of_erase(context)
    return result


def clear(context: Context) -> tuple[list[Certificate], TraceReport, BackupErasure]:
    """Clear the erased words from the palace's file and all other files."""
    palace = context.writing()
    context.notice("Rewriting the palace's file, so that nothing remains in its free pages.")
    proofs = palace.finish_erasing()
    cache_files = remote_access.clear_cache(context)
    with palace.database.snapshot() as connection:
        finder = tombstones.finder(connection)
    trace_places = written_files_registry.Places(
        palace=context.palace_path.parent,
        state=paths.state_directory(context.variables),
        cache=paths.cache_directory(context.variables),
        config=paths.config_directory(context.variables),
        temporary=Path(tempfile.gettempdir()),
    )
    settings_files = [
        written_files_registry.Trace(file.parent, glob.escape(file.name + backup_files.SETTINGS), is_expendable=False)
        for file in erased_backups.find_backups(context)
    ]
    traces_left = written_files_registry.clear_traces(trace_places, finder, settings_files)
    return proofs, replace(traces_left, remaining=(*traces_left.remaining, *cache_files)), erased_backups.clear(context)


def _write(target: Path, proofs: Sequence[object]) -> None:
    try:
        handle = os.open(target, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(proofs[0] if len(proofs) == 1 else proofs, file, indent=2)
            file.write("\n")
    except OSError as error:
        raise PalazzoError(
            f"The text is erased, but the certificate cannot be written to {target} ({error.strerror})."
        ) from error


def _describe_request(request: EraseRequest) -> str:
    if request.match is not None:
        return f"What '{request.match}' matches"
    if request.secrets:
        return "The content that the rules find"
    return "That" if request.ids else f"'{request.session or request.source}'"
