"""Session reader: the messages of a session, for its consumers, without untrusted content or Palazzo's own text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace

from palazzo.frozen_class import frozen
from palazzo.index import cut_material
from palazzo.index.act_overlay import ActsOnItems
from palazzo.index.cut_rules import CutItem, CutSpan, belief
from palazzo.index.failure_isolation import session_label
from palazzo.index.memory_calls import answers_of_memory
from palazzo.index.visible_text import quoted_ranges, subtract_ranges, told_ranges
from palazzo.model import Micros, Part
from palazzo.sessions.digest_turns import SessionMessage
from palazzo.store import digest_rows
from palazzo.store.change_log import Change, ChangeKind
from palazzo.store.database import Connection


@frozen
class Session:
    """The messages of a session in order; by item, its time and its forgotten words."""

    messages: list[SessionMessage]
    times: dict[int, Micros]
    holes: dict[int, tuple[tuple[int, int], ...]]

    def is_forgotten(self, places: Iterable[tuple[int, int, int]]) -> bool:
        """Return whether words of one of these places (item, from, to) were forgotten."""
        return any(low < end and start < high for item, start, end in places for low, high in self.holes.get(item, ()))


class OfSessions:
    """Base class of consumers that read a session again when it has grown, or when words of it were removed."""

    kinds: tuple[ChangeKind, ...] = ("item", "act", "erased", "drawer~", "reset")
    at_once = 1

    def find_affected_things(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the sessions that these changes concern."""
        items = {change.ref for change in log if change.kind in ("item", "erased")}
        acts = {change.ref for change in log if change.kind == "act"}
        cut = {change.ref for change in log if change.kind == "drawer~"}  # they are believed otherwise, say
        lookups = (
            (digest_rows.sessions_of, items),
            (digest_rows.sessions_of_acts, acts),
            (digest_rows.sessions_of_drawers, cut),
        )
        return sorted({source for sessions, refs in lookups for source in sessions(connection, refs)})

    def label(self, connection: Connection, thing: int) -> str:
        """Return a session's name for a person."""
        return session_label(connection, thing)


def session(connection: Connection, source: int, with_outside: bool = False) -> Session:
    """Read a session; with `with_outside` also the untrusted content, each part of it under that trust.

    A sub-agent's session is its own thread; if a session also holds its sub-agents' words, only its own are read.
    """
    threads = digest_rows.threads_of(connection, source)
    return _read(connection, source, threads[:1] if "" in threads else threads, with_outside)


def thread(connection: Connection, source: int, name: str) -> Session:
    """Read one thread of a session, with the untrusted content, each part of it under that trust."""
    return _read(connection, source, [name], with_outside=True)


def _read(connection: Connection, source: int, threads: Sequence[str], with_outside: bool) -> Session:
    rows = [row for entry in threads for row, _, _ in cut_material.thread_rows(connection, source, entry, -1)]
    cut_items, on = cut_material.load(connection, rows)
    memory_call_ids = answers_of_memory((item.text, item.parts) for item in cut_items)
    every = (
        SessionMessage(item.row, item.role, item.text, tuple(_extract_parts(item, on, with_outside, memory_call_ids)))
        for item in cut_items
        if with_outside or item.trust != "external"
    )
    messages = [entry for entry in every if entry.parts]  # of which nothing is left says nothing
    times = {item.row: Micros(item.context.created_at) for item in cut_items}
    return Session(messages, times, {item.row: item.holes for item in cut_items})


def _extract_parts(item: CutItem, on: ActsOnItems, with_outside: bool, memory_call_ids: Set[str]) -> Iterator[Part]:
    """Yield the parts of an item without text that has no speaker; a result with such text is one range.

    Text written under the influence of untrusted content counts as untrusted, unless a person approved it. `answered`:
    calls whose results are a memory's.
    """
    for raw_part in item.parts or (Part("text", 0, len(item.text)),):
        is_tainted = belief(item, raw_part).is_outside and not on.approves(
            [CutSpan(item, raw_part.start, raw_part.end)]
        )
        outside = is_tainted or "external" in (raw_part.trust, item.trust)
        if (outside and not with_outside) or (raw_part.kind == "tool_result" and raw_part.call in memory_call_ids):
            continue
        part = replace(raw_part, trust="external") if outside else raw_part
        excluded_ranges = told_ranges(item.text, part, item.role)
        if not outside:
            quotations = quoted_ranges(item.text, part, item.role, item.trust)
            excluded_ranges = sorted([*excluded_ranges, *((quote.start, quote.end) for quote in quotations)])
            if with_outside:
                spans = (
                    subtract_ranges(quote.start, quote.end, told_ranges(item.text, part, item.role))
                    for quote in quotations
                )
                yield from (
                    replace(part, start=low, end=high, trust="external") for ranges in spans for low, high in ranges
                )
        if not excluded_ranges:
            yield part
            continue
        own_ranges = [
            span for span in subtract_ranges(part.start, part.end, excluded_ranges) if item.text[slice(*span)].strip()
        ]
        if part.kind == "tool_result":
            own_ranges = sorted(own_ranges, key=lambda span: span[0] - span[1])[:1]
        for start, end in own_ranges:
            yield replace(part, start=start, end=end)
