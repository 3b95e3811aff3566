"""The quarantine: notes that agents wrote after reading untrusted content, pending a person's review.

Searches find them with a label, and they are never injected automatically. Only a person can review them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from palazzo.archive import archive_reader
from palazzo.archive.archive_reader import id_bounds
from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.features.trust.contract import CauseView
from palazzo.model import Micros
from palazzo.operations import source_filter
from palazzo.operations.caller_taint import speaks
from palazzo.store import drawers, items
from palazzo.store import fact_rows as facts

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.fact_rows import Version

_ADDRESS = re.compile(r"\bhttps?://[^\s\"'<>`\\)\]}]+", re.IGNORECASE)
_TRAILING = ".,;:!?"


class QuarantineSelection(NamedTuple):
    """The entries that a person reviews: drawers by their ids, and the current versions of facts."""

    drawers: tuple[str, ...]
    facts: tuple[Version, ...]


def only_a_person(context: Context, verb: str) -> None:
    """Raise unless a person calls; `verb` says what is reserved to a person."""
    if speaks(context) != "user":
        raise UsageError(
            f"Only a person {verb} untrusted content, and this is an agent's shell: type the command in a terminal "
            "of your own."
        )


def resolve_selection(connection: Connection, prefixes: Sequence[str]) -> QuarantineSelection:
    """Return the untrusted drawers and facts that ids name. Raises NotFound, AmbiguousId; UsageError for trusted
    ones.
    """
    drawers: dict[str, None] = {}
    facts: dict[int, Version] = {}
    for prefix in prefixes:
        fact = _fact(connection, prefix)
        if fact is not None:
            facts[fact.row] = fact
        else:
            drawers.update(dict.fromkeys(_drawers(connection, prefix)))
    return QuarantineSelection(tuple(drawers), tuple(facts.values()))


def _fact(connection: Connection, prefix: str) -> Version | None:
    low, high = id_bounds(prefix)
    fact_rows = [(row, uid.hex()) for row, uid in facts.facts_between(connection, low, high, 9)]
    item_ids = [uid.hex() for _, uid in drawers.find_drawers(connection, low, high, 9)]
    item_ids += [uid.hex() for uid in items.resolve_item_prefix(connection, low, high, 9)]
    if not fact_rows:
        return None
    if len(fact_rows) + len(item_ids) > 1:
        raise AmbiguousId(prefix, [*(uid for _, uid in fact_rows), *item_ids])
    ((row, uid),) = fact_rows
    version = facts.live_version(connection, row)
    if version is None:
        raise NotFound(f"The fact {uid} is no longer believed.")
    if facts.trust_of(facts.sources_of(connection, [version.row])[version.row]) != "external":
        raise UsageError(f"The fact {uid} is not in quarantine: a trusted source states it.")
    return version


def _drawers(connection: Connection, prefix: str) -> list[str]:
    drawer_ids = source_filter.resolve_drawers(connection, [prefix])
    rows = {drawer_id: archive_reader.resolve_drawer(connection, drawer_id) for drawer_id in drawer_ids}
    read = archive_reader.read_drawers(connection, list(rows.values()))
    outside = [drawer_id for drawer_id in drawer_ids if read[rows[drawer_id]].trust == "external"]
    if not outside:
        raise UsageError(f"'{prefix}' is not in quarantine: its text is trusted already.")
    return outside


# --- where it came from ------------------------------------------------------------------------------------


def causes(connection: Connection, uids: Iterable[str]) -> dict[str, CauseView]:
    """Return the origins of untrusted items, by item id; deleted items are left out."""
    item_rows = items.known_items(connection, [bytes.fromhex(uid) for uid in dict.fromkeys(uids)])
    views = {}
    for uid, row in item_rows.items():
        origins = (origin_of(connection, drawer)[0] for drawer in drawers.drawers_of_items(connection, [row]))
        views[uid.hex()] = CauseView(uid.hex(), next(filter(None, origins), "unknown"))
    return views


def origin_of(connection: Connection, drawer: int) -> tuple[str, Micros]:
    """Return the origin and time of a drawer's text: the address that a call names, else the tool or source."""
    read = archive_reader.read_drawer(connection, drawer)
    if read.kind == "tool":
        rows = dict.fromkeys(item for item, _, _ in drawers.drawer_spans(connection, drawer))
        for source_item in (items.read_item(connection, row) for row in rows):
            calls = (part for part in source_item.parts if part.kind == "tool_call" and part.name == read.title)
            for address in (address_in(source_item.text[part.start : part.end]) for part in calls):
                if address:
                    return address, read.created_at
        return read.title or "a tool", read.created_at
    if read.role == "quoted":
        return "quoted in a person's message", read.created_at
    if read.kind in ("exchange", "message", "reasoning"):
        return "said after reading untrusted content", read.created_at
    return read.title or read.source.uri, read.created_at


def address_in(call: str) -> str:
    """Return the first address that a call names; empty if it names none."""
    match = _ADDRESS.search(call)
    return match[0].rstrip(_TRAILING) if match else ""
