"""export: write the palace's content to files of the user."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo.errors import PalaceMissing, SchemaTooNew, UsageError
from palazzo.features.portability import known_exports
from palazzo.features.portability.contract import ExportRequest, ExportResult
from palazzo.features.search import search
from palazzo.operations import damage, source_filter
from palazzo.operations.arguments import check_place, label, moment
from palazzo.settings.setting_keys import TRUSTS
from palazzo.store import place_rows, redaction_state
from palazzo.store.database import Database
from palazzo.store.drawer_listing import Listing
from palazzo.sync import (
    carried_files,
    derived_records,
    export_check,
    markdown_pages,
    page_tree,
    record_lines,
    record_reader,
)
from palazzo.sync.authenticity import Proof
from palazzo.sync.carried_files import STDIN
from palazzo.sync.line_checksums import LineChecksums
from palazzo.sync.records.header_record import Header

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_REPORT_INTERVAL = 1_000


def export(context: Context, request: ExportRequest) -> ExportResult:
    """Export the palace to a file with one JSON record per line, or to a tree of readable pages."""
    began = time.monotonic()
    if request.salvage:
        damage.check_beginning(context.palace_path)
    out = _out(context, request)
    if out != STDIN:
        known_exports.remember(context.palace_path, out)  # first, so that a partial file after a kill is known
    if request.salvage:
        return _salvage(context, request, out, began)
    try:
        return _export(context, request, out, began)
    except (UsageError, PalaceMissing, SchemaTooNew):
        raise
    except Exception as error:
        if damage_error := damage.explain(context, error):
            raise damage_error from error
        raise


def _salvage(context: Context, request: ExportRequest, out: Path, began: float) -> ExportResult:
    """Export the salvage of a damaged palace."""
    has_other_options = ExportRequest(request.out, salvage=True) != request
    if has_other_options:
        raise UsageError("--salvage writes everything that can be read, as jsonl. Leave out the other options.")
    with (
        damage.open_salvage(context) as (palace, view),
        contextlib.closing(Database(palace, "read")) as database,
        database.snapshot() as connection,
    ):
        remark = "" if view.is_whole else "(salvage of a damaged palace, with parts missing)"
        counts = _jsonl(context, connection, Listing(), {}, out, remark)
    took = round(time.monotonic() - began, 3)
    return ExportResult(str(out), "jsonl", counts, _size(out), took, {}, view)


def _export(context: Context, request: ExportRequest, out: Path, began: float) -> ExportResult:
    with context.reading().database.snapshot() as connection:
        listing, filters = _select_drawers(context, connection, request)
        if request.format == "markdown":
            counts = _markdown(context, connection, listing, filters, out)
        else:
            counts = _jsonl(context, connection, listing, filters, out)
    took = round(time.monotonic() - began, 3)
    return ExportResult(str(out), request.format, counts, _size(out), took, filters)


def _out(context: Context, request: ExportRequest) -> Path:
    """Return where to write; UsageError if an export would overwrite something else there."""
    if request.out == STDIN:
        if request.format == "markdown":
            raise UsageError("A Markdown export is a tree of pages: name a directory instead of -.")
        if context.trust != "user":
            raise UsageError("Standard output is available only at a command line: name a file.")
        return STDIN
    out = context.led_to(request.out)
    if request.format == "markdown":
        return out
    if out.is_dir():
        raise UsageError(f"{out} is a directory. Name a file in it, or export with --format markdown.")
    if out.exists() and not (out.is_file() and (out.stat().st_size == 0 or export_check.is_export(out))):
        raise UsageError(f"{out} exists and is not an export, so it is not overwritten. Name another file.")
    return out


def _select_drawers(context: Context, connection: Connection, request: ExportRequest) -> tuple[Listing, dict[str, Any]]:
    """Return the selected drawers and the options that select them; no options if all drawers are selected."""
    search.check_importance(request.min_importance)
    since = moment(request.since, context.now, "--since")
    until = moment(request.until, context.now, "--until")
    if since is not None and until is not None and since >= until:
        raise UsageError("The time range is inverted: --since must be before --until.")
    wing, room = check_place(connection, request.wing, request.room, context.notice)
    filters: dict[str, Any] = {
        "wing": wing,
        "room": room,
        "kind": request.kind,
        "since": since,
        "until": until,
        "branch": request.branch,
        "tags": sorted(tag.strip().lower() for tag in request.tags),
        "source": request.source,
        "filed_as": sorted(label("--filed-as", raw_label) for raw_label in request.filed_as),
        "min_importance": request.min_importance,
        "external": None if request.external else False,
    }
    sources = None if request.source is None else tuple(source_filter.sources_at(context, connection, request.source))
    listing = Listing(
        rooms=place_rows.scope(connection, wing, room).rooms,
        kind=request.kind,
        since=since,
        end_time=until,
        tags=source_filter.known_tags(connection, request.tags),
        filed_as=tuple(filters["filed_as"]),
        least=request.min_importance,
        trusts=None if request.external else tuple(trust for trust in TRUSTS if trust != "external"),
        branch=request.branch,
        sources=sources,
    )
    return listing, {name: value for name, value in filters.items() if value not in (None, [])}


def _markdown(
    context: Context, connection: Connection, listing: Listing, filters: dict[str, Any], out: Path
) -> dict[str, int]:
    selection = markdown_pages.PageSelection(listing, filters)
    with page_tree.open_tree(out) as tree:
        counts = markdown_pages.write(
            connection, selection, tree, lambda done, total: context.report("exporting", done, total)
        )
    return {"drawers": counts.drawers, "facts": counts.facts, "tasks": counts.tasks, "pages": counts.pages}


def _jsonl(
    context: Context, connection: Connection, listing: Listing, filters: dict[str, Any], out: Path, remark: str = ""
) -> dict[str, int]:
    scope = record_reader.Scope(listing, filters) if filters else None
    total = record_reader.count(connection)
    counts: Counter[str] = Counter()
    proof = Proof(redaction_state.fingerprint_key(connection), export_check.PURPOSE)
    checksums = LineChecksums()

    def tell(write: Callable[[bytes], object], kind: str, line: bytes) -> None:
        write(line)
        text = line.removesuffix(b"\n")
        proof.add(text)
        checksums.add(text)
        counts[kind] += 1
        if not (line_count := counts.total()) % _REPORT_INTERVAL:
            context.report("exporting", line_count, max(line_count, total))

    with carried_files.open_output(out) as write:
        for record in record_reader.records(connection, scope):
            if isinstance(record, Header) and remark:
                record = replace(record, written_by=f"{record.written_by} {remark}")
            tell(write, record_lines.kind_of(record), record_lines.to_line(record))
        for drawer in derived_records.drawers(connection, listing):
            tell(write, derived_records.KIND, derived_records.to_line(drawer))
        write(derived_records.to_line(derived_records.End(counts.total(), checksums.seal(proof.mac))))
    return dict(counts)


def _size(out: Path) -> int:
    if out == STDIN:
        return 0
    if out.is_dir():
        return sum(page.stat().st_size for page in out.rglob("*.md"))
    return out.stat().st_size
