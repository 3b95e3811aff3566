"""Taint consumer: keeps the marks of untrusted content (`store/taint_rows`) in line with the archive.

Marks are made before a stretch of a thread is cut, in the same transaction. If marks in other threads follow from them
(a sub-agent's report, a file that was brought in), those threads are reported, so that they are cut again.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from palazzo.archive.hook_messages import KIND as HEARD
from palazzo.index import cut_material, cut_rules
from palazzo.index.act_overlay import ActsOnItems
from palazzo.index.cut_rules import CutItem, CutSpan
from palazzo.index.failure_isolation import process_text
from palazzo.model import Micros, Part
from palazzo.security.echo_detection import WINDOW, Utterance
from palazzo.security.own_sources import OwnSources
from palazzo.sessions.own_sources_setting import own_sources
from palazzo.sessions.row_words import read_heard_words
from palazzo.sessions.session_state import Moment
from palazzo.sessions.session_taint import Row, TaintTracker, is_human
from palazzo.store import act_rows, items, redaction_state, source_rows, taint_rows
from palazzo.store.database import Connection
from palazzo.store.taint_rows import Mark, Thread

CONSUMER = "taint"
"""The consumer that sets rows aside if no rule can decide which of their parts are untrusted content."""
_EARLIEST_POINT = Micros(-(1 << 62))
_LAST = 1 << 62
_NAME_BYTES = 12
_READ_TOGETHER = 128
"""Messages before a range that are read together: a window of words holds about as many."""
_SKEW = 2_000_000
"""Microseconds by which a sub-agent may appear to begin after its report, or before its task: another process wrote
their times.
"""


class ExposureResult(NamedTuple):
    """Result of computing the marks of a range.

    `said` are the messages of the range, with the consequences of the marks; `changed` says whether later rows of the
    thread may depend on marks that have changed; `following` are the threads elsewhere that depend on them, each from
    an ordinal on.
    """

    cut_items: list[CutItem]
    changed: bool
    dependents: list[tuple[Thread, int]]
    rows: list[int]
    failed: dict[int, Exception]
    """`rows` are the examined rows, `failed` the errors of the rows that no rule could judge."""


def settle(connection: Connection, thread: Thread, said_items: Sequence[CutItem], until: int | None) -> ExposureResult:
    """Make the marks of a range of a thread: of `said_items` before the ordinal `until`, and of rows beside them."""
    begins = not cut_material.has_begun(connection, thread, said_items[0].ordinal)
    around = _Around(connection, thread, _EARLIEST_POINT if begins else said_items[0].ordinal)
    rows = _with_what_stands_beside(connection, around, said_items, until)
    failed: dict[int, Exception] = {}
    due_marks, stored_marks = _compare_marks(connection, around, rows, said_items, failed)
    taint_rows.replace(connection, thread.source, stored_marks, due_marks)
    marked_items = cut_material.add_marks(
        said_items, taint_rows.beginnings(connection, [item.row for item in said_items])
    )
    times = {row.item.row: row.item.context.created_at for row in rows}
    since: dict[str, Micros] = {}
    if begins:
        since["began"] = Micros(said_items[0].context.created_at)
    for mark in due_marks ^ stored_marks:
        if mark.kind in ("met", "quoted", "snippet", "gave", "fetched", "made"):
            at = Micros(times[mark.item])
            kind = "met" if mark.kind in ("quoted", "snippet") else mark.kind
            since[kind] = min(at, since.get(kind, at))
    is_changed = bool(since.keys() - {"began"})
    return ExposureResult(
        marked_items, is_changed, around.find_dependents(since), [row.item.row for row in rows], failed
    )


def count_wrong_marks(connection: Connection, thread: Thread, said_items: Sequence[CutItem], until: int | None) -> int:
    """Return how many marks of a range are wrong, given the marks before it and elsewhere."""
    has_begun = cut_material.has_begun(connection, thread, said_items[0].ordinal)
    around = _Around(connection, thread, said_items[0].ordinal if has_begun else _EARLIEST_POINT, is_checking=True)
    due_marks, stored_marks = _compare_marks(
        connection, around, _with_what_stands_beside(connection, around, said_items, until), said_items, {}
    )
    return len(due_marks ^ stored_marks)


def _compare_marks(
    connection: Connection,
    around: _Around,
    rows: Sequence[Row],
    said_items: Sequence[CutItem],
    failed: dict[int, Exception],
) -> tuple[set[Mark], set[Mark]]:
    """Return the expected and the stored marks of these rows; record in `failed` rows on which a rule failed."""
    thread, start = around.thread, around.start
    human = cut_material.human_before(connection, thread, start)
    work = TaintTracker(
        around,
        is_tainted=taint_rows.has_met(connection, thread, human.ordinal, start),
        has_met=taint_rows.has_met(connection, thread, high=start),
        since=human.at,
        has_snippet=taint_rows.has_snippet(connection, thread, start),
        begins=start == _EARLIEST_POINT,
    )
    begins = {segment[0].row for segment in cut_rules.segments(said_items)}
    due_marks: set[Mark] = set()
    for n, row in enumerate(rows):
        if n == 0 or row.item.row in begins:
            work.begin_segment()
        due_marks.update(_marks_of(work, row, failed))
    return due_marks, taint_rows.of_items(connection, [row.item.row for row in rows])


def _marks_of(work: TaintTracker, row: Row, failed: dict[int, Exception]) -> list[Mark]:
    """Return the marks of a row. If every rule fails on it, it counts as untrusted, unless a person wrote it."""
    marks = process_text(lambda: list(work.take(row)))
    if isinstance(marks, Exception):
        failed[row.item.row] = marks
        return [] if is_human(row.item) else list(work.distrust(row.item))
    return marks


def _with_what_stands_beside(
    connection: Connection, around: _Around, cut_items: Sequence[CutItem], until: int | None
) -> list[Row]:
    """Return the messages in order, with the summaries, notices and files that a host put between or before them."""
    status_by_row = dict(cut_material.find_host_rows(connection, around.thread, around.start, until))
    host_items, _ = cut_material.load_unmarked(connection, list(status_by_row))
    rows = [*(Row(item, "said") for item in cut_items), *(Row(item, status_by_row[item.row]) for item in host_items)]
    return sorted(rows, key=lambda row: (row.item.ordinal, row.item.row))


class _Around:
    """The context on which the marks of a range depend in addition to its rows: see `session_taint.Around`.

    `start`: the ordinal from which the range has all rows of its thread. The first range also includes rows that a host
    placed before the first message.
    """

    def __init__(self, connection: Connection, thread: Thread, start: int, is_checking: bool = False) -> None:
        self._connection, self.thread, self.start, self._is_checking = connection, thread, start, is_checking
        self._hashes: dict[str, bytes] = {}

    def hash_name(self, name: str) -> bytes:
        digest = self._hashes.get(name)
        if digest is None:
            payload = b"outside\0" + name.encode("utf-8", "surrogatepass")
            digest = self._hashes[name] = hmac.digest(self._key, payload, hashlib.sha256)[:_NAME_BYTES]
        return digest

    def foreign_keys(self, row: CutItem) -> Mapping[bytes, Moment]:
        times_elsewhere = {
            trace.name: (trace.at, _LAST, 0) for trace in self._traces_elsewhere if trace.at <= row.context.created_at
        }
        if not times_elsewhere:
            return self._own_trace_times("fetched")
        latest_times = dict(self._own_trace_times("fetched"))
        for name, at in times_elsewhere.items():
            latest_times[name] = max(at, latest_times.get(name, at))
        return latest_times

    @property
    def own_keys(self) -> Mapping[bytes, Moment]:
        return self._own_trace_times("made")

    @cached_property
    def root(self) -> str:
        return items.directory_of_source(self._connection, self.thread.source)

    def own(self, row: CutItem, part: Part) -> OwnSources:
        if self._is_checking and not taint_rows.has_own_call(self._connection, row.row, part.start):
            return OwnSources()  # the user may have extended the list later
        return own_sources()

    def is_awaited(self, call: bytes) -> bool:
        return taint_rows.is_awaited(self._connection, self.thread, call, self.start)

    def has_tainted_agent(self, ids: frozenset[str], since: Micros, until: Micros) -> bool | None:
        agents = [thread for thread in self._agents(ids) if thread != self.thread]
        if agents:
            return taint_rows.met_in(self._connection, agents, _EARLIEST_POINT)
        began = [
            thread for thread in self._workers if cut_material.begins_at(self._connection, thread) <= until + _SKEW
        ]
        if taint_rows.met_in(self._connection, began, since):
            return True
        return False if any(cut_material.is_active(self._connection, thread, since) for thread in began) else None

    def is_approved(self, row: CutItem, part: Part) -> bool:
        on = ActsOnItems(act_rows.acts_on(self._connection, [row.uid]))
        return bool(on) and on.approves([CutSpan(row, part.start, part.end)])

    def repeats(self, row: CutItem) -> bool:
        return taint_rows.is_repeated(self._connection, self.thread.source, row.ordinal)

    def was_led_astray(self, row: CutItem) -> bool:
        at = Micros(row.context.created_at + _SKEW)
        return any(
            taint_rows.has_given(
                self._connection, parent, cut_material.human_until(self._connection, parent, at).at, at
            )
            for parent in self._parents
        )

    def has_tainted_transcript(self, row: CutItem, since: Micros) -> bool:
        if self._kind != HEARD:
            return False
        at = Micros(row.context.created_at)
        transcripts = [
            thread for thread in self._session_threads if thread.source != self.thread.source and thread.name == ""
        ]
        spoke = (cut_material.human_until(self._connection, thread, at).at for thread in transcripts)
        return taint_rows.met_in(self._connection, transcripts, Micros(max((since, *spoke))), at)

    def words_before(self) -> Sequence[Utterance]:
        utterances_by_row: list[Sequence[Utterance]] = []
        size = 0
        first_met = taint_rows.first_met(self._connection, self.thread)
        rows = cut_material.words_before(self._connection, self.thread, self.start)
        while size < WINDOW and (batch := list(islice(rows, _READ_TOGETHER))):
            marks_by_row: dict[int, list[Mark]] = {}
            for mark in taint_rows.of_items(self._connection, [row for row, _, _ in batch]):
                marks_by_row.setdefault(mark.item, []).append(mark)
            for row, ordinal, words in batch:
                is_local = first_met is None or ordinal <= first_met
                utterances_by_row.append(read_heard_words(words, frozenset(marks_by_row.get(row, ())), is_local))
                size += sum(len(utterance.text) for utterance in utterances_by_row[-1])
                if size >= WINDOW:
                    break
        return [utterance for utterances in reversed(utterances_by_row) for utterance in utterances]

    def find_dependents(self, since: Mapping[str, Micros]) -> list[tuple[Thread, int]]:
        """Return the other threads, each from an ordinal on, that depend on changed marks: by kind, since when.

        The threads for which it works also depend on whether it `began`.
        """
        ordinals_by_thread: dict[Thread, int] = {}

        def note(thread: Thread, ordinal: int | None) -> None:
            if ordinal is not None and thread != self.thread:
                ordinals_by_thread[thread] = min(ordinal, ordinals_by_thread.get(thread, ordinal))

        if "met" in since or "began" in since:
            for name in self._names:
                for thread, ordinal in taint_rows.find_reports(self._connection, self.hash_name(name)):
                    note(thread, ordinal)
            report_time = Micros(cut_material.begins_at(self._connection, self.thread) - _SKEW)
            for parent in self._parents:
                note(parent, taint_rows.reports(self._connection, parent, report_time))
        if "met" in since or "gave" in since:
            at = Micros(min(since[kind] for kind in ("met", "gave") if kind in since) - _SKEW)
            for worker in [
                *self._workers,
                *(relative for relative in self._session_threads if self._is_heard(relative)),
            ]:
                note(worker, cut_material.first_since(self._connection, worker, at))
        if "fetched" in since:
            for thread in self._session_threads:
                note(thread, cut_material.first_since(self._connection, thread, since["fetched"]))
        return list(ordinals_by_thread.items())

    @cached_property
    def _key(self) -> bytes:
        return redaction_state.fingerprint_key(self._connection)

    @cached_property
    def _traces(self) -> list[taint_rows.Trace]:
        return taint_rows.traces(self._connection, list(self._kinds))

    @cached_property
    def _own_traces(self) -> dict[str, dict[bytes, Moment]]:
        times_by_kind: dict[str, dict[bytes, Moment]] = {"fetched": {}, "made": {}}
        for trace in self._traces:
            if trace.thread == self.thread and trace.ordinal < self.start:
                at = (trace.at, trace.ordinal, trace.start)
                latest_times = times_by_kind[trace.kind]
                latest_times[trace.name] = max(at, latest_times.get(trace.name, at))
        return times_by_kind

    def _own_trace_times(self, kind: str) -> dict[bytes, Moment]:
        return self._own_traces[kind]

    @cached_property
    def _traces_elsewhere(self) -> list[taint_rows.Trace]:
        return [trace for trace in self._traces if trace.thread != self.thread and trace.kind == "fetched"]

    @cached_property
    def _session(self) -> str:
        return source_rows.read_source(self._connection, self.thread.source).session_id

    @cached_property
    def _lead(self) -> str:
        """Return the session for which this one works; '' if it works for a person."""
        lead, stroke, _ = self._session.partition("/")
        return lead if stroke else cut_material.works_for(self._connection, self.thread.source)

    @cached_property
    def _root(self) -> str:
        return self._lead or self._session

    @cached_property
    def _kinds(self) -> dict[int, tuple[str, str]]:
        """Return the sources of the session and of its sub-agents, each with its session's id and kind."""
        if not self._root:
            return {self.thread.source: ("", "")}
        workers = taint_rows.find_workers(self._connection, self.hash_name(self._root))
        return {**workers, **taint_rows.find_session_tree(self._connection, self._root)}

    @property
    def _kind(self) -> str:
        return self._kinds.get(self.thread.source, ("", ""))[1]

    def _is_heard(self, thread: Thread) -> bool:
        return self._kinds[thread.source][1] == HEARD

    @cached_property
    def _session_threads(self) -> list[Thread]:
        return taint_rows.threads(self._connection, list(self._kinds))

    @property
    def _names(self) -> set[str]:
        """Return the possible names of this thread's agent in its reports."""
        last = self._session.rpartition("/")[2]
        names = {self.thread.name} if self.thread.name else {last, last.removeprefix("agent-")}
        return names - {""}

    @cached_property
    def _is_worker(self) -> bool:
        return bool(self.thread.name or self._lead)

    @cached_property
    def _workers(self) -> list[Thread]:
        """Return the threads of this one's sub-agents, as far as their location identifies them."""
        if self._is_worker:
            return []
        return [
            thread for thread in self._session_threads if thread.name or self._kinds[thread.source][0] != self._root
        ]

    @cached_property
    def _parents(self) -> list[Thread]:
        """Return the threads for which this one's agent works."""
        parents = []
        if self._is_worker:
            leads = [source for source, (session, _) in self._kinds.items() if session == self._root]
            parents = [parent for parent in taint_rows.threads(self._connection, leads) if not parent.name]
        for name in self._names:
            parents += [thread for thread, _ in taint_rows.find_reports(self._connection, self.hash_name(name))]
        return [parent for parent in dict.fromkeys(parents) if parent != self.thread]

    def _agents(self, ids: frozenset[str]) -> list[Thread]:
        sessions = [
            form for member in ids for form in (member, f"{self._root}/{member}", f"{self._root}/agent-{member}")
        ]
        own = [member for member in self._session_threads if member.source == self.thread.source and member.name in ids]
        return [*own, *taint_rows.threads(self._connection, taint_rows.sources_of(self._connection, sessions))]
