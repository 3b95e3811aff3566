"""Content derived from untrusted content: that content, what agents said after it, notes and facts written after it.

A page is identified by its address or id, a file or a session by its source. Derived are: what an agent said after the
page until a person spoke again; notes and facts whose writer had read the page, even if they were approved since; and
what was written by agents that had read such a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from palazzo.archive import archive_reader
from palazzo.errors import NotFound
from palazzo.features.trust.quarantine_rows import QuarantineSelection, address_in
from palazzo.operations import source_filter
from palazzo.security.note_taint import from_outside
from palazzo.store import drawers, fact_rows, items, taint_queries

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_AT_ONCE = 500
_MAX_OFFSET = 1 << 62


class _Seed(NamedTuple):
    """A span of an item: the item's row and id, and the span's start and end."""

    row: int
    uid: str
    start: int
    end: int


class Descendants(NamedTuple):
    """The drawers and facts to remove, and the ids of the items that they are derived from."""

    chosen: QuarantineSelection
    items: frozenset[str]


def derived_from(context: Context, connection: Connection, origin: str) -> Descendants:
    """Return what is derived from an address, an id or a source. Raises NotFound if nothing came from there."""
    seeds = _with_reports(connection, list(_seeds(context, connection, origin)))
    rows = dict.fromkeys(
        row for seed in seeds for row in taint_queries.drawers_at(connection, seed.row, seed.start, seed.end)
    )
    rows.update(
        dict.fromkeys(row for seed in seeds for row in taint_queries.find_tainted_replies(connection, seed.row))
    )
    every = frozenset(seed.uid for seed in seeds)
    while new := [record for record in taint_queries.written_under(connection, every) if record.item not in every]:
        rows.update(dict.fromkeys(row for record in new for row in record.drawers))
        every |= {record.item for record in new}
    versions = [fact_rows.read_version(connection, row) for row in taint_queries.stated_under(connection, every)]
    return Descendants(QuarantineSelection(tuple(_ids(connection, rows)), tuple(versions)), every)


def _with_reports(connection: Connection, seeds: Sequence[_Seed]) -> list[_Seed]:
    """Add the sessions to which sub-agents reported: untrusted content that a sub-agent read continues there."""
    reports = dict.fromkeys(row for seed in seeds for row in taint_queries.reports_of(connection, seed.row))
    return [*seeds, *(seed for row in reports for seed in _outputs(connection, row, 0, _MAX_OFFSET))]


def _ids(connection: Connection, rows: Iterable[int]) -> list[str]:
    return [uid.hex() for uid in drawers.uids_of(connection, rows)]


# --- where it begins ---------------------------------------------------------------------------------------


def _seeds(context: Context, connection: Connection, origin: str) -> Iterator[_Seed]:
    """Yield the spans that an address, an id or a source means."""
    seeds = list(_with_address(connection, origin)) if address_in(origin) else _resolve_id(connection, origin)
    yield from seeds or _of_source(context, connection, origin)


def _resolve_id(connection: Connection, prefix: str) -> list[_Seed]:
    """Return the spans that an id names; an empty list if it is not an id."""
    try:
        kind, row = archive_reader.resolve(connection, prefix)
    except NotFound:
        return []
    if kind == "item":
        return list(_whole(connection, [row]))
    spans = drawers.drawer_spans(connection, row)
    return [seed for item, start, end in spans for seed in _outputs(connection, item, start, end)]


def _with_address(connection: Connection, address: str) -> Iterator[_Seed]:
    """Yield the results of tool calls that name an address."""
    plain_address = address.rstrip("/")
    rows = taint_queries.called_from_outside(connection)
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        for row, drawer in archive_reader.read_drawers(connection, part).items():
            if plain_address not in drawer.text:
                continue
            spans = drawers.drawer_spans(connection, row)
            read = {item: items.read_item(connection, item) for item, _, _ in spans}
            calls = [
                item_part.call
                for item in read.values()
                for item_part in item.parts
                if item_part.kind == "tool_call"
                and address_in(item.text[item_part.start : item_part.end]).rstrip("/") == plain_address
            ]
            for item, low, high in spans:
                outputs = (
                    item_part
                    for item_part in read[item].parts
                    if item_part.kind == "tool_result" and item_part.call in calls
                )
                yield from (
                    _Seed(item, read[item].id, item_part.start, item_part.end)
                    for item_part in outputs
                    if item_part.start < high and low < item_part.end
                )


def _outputs(connection: Connection, row: int, start: int, end: int) -> Iterator[_Seed]:
    """Yield the parts of an item that a span touches; tool calls are left out, their results are not."""
    item = items.read_item(connection, row)
    overlaps = [part for part in item.parts if part.start < end and start < part.end and part.kind != "tool_call"]
    yield from (_Seed(row, item.id, part.start, part.end) for part in overlaps)
    if not item.parts:
        yield _Seed(row, item.id, start, end)


def _of_source(context: Context, connection: Connection, origin: str) -> Iterator[_Seed]:
    """Yield the untrusted content of a source; for a document, all of it."""
    rows = items.items_of_sources(connection, source_filter.sources_at(context, connection, origin))
    yield from _whole(connection, rows)


def _whole(connection: Connection, rows: Iterable[int]) -> Iterator[_Seed]:
    for row in rows:
        item = items.read_item(connection, row)
        stretches = from_outside(item.trust, item.parts, len(item.text))
        if item.kind != "message" and not stretches:
            stretches = [(0, len(item.text))]
        yield from (_Seed(row, item.id, start, end) for start, end in stretches)
