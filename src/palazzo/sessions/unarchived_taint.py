"""Taint of a session that is not in the archive, judged from its first row by the rules of `session_taint`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from palazzo.archive.ingest import NewItem
from palazzo.index import cut_rules
from palazzo.index.cut_rules import CutItem, ItemContext
from palazzo.index.failure_isolation import process_text
from palazzo.model import Micros, Part
from palazzo.security.echo_detection import Utterance
from palazzo.security.own_sources import OwnSources
from palazzo.sessions.own_sources_setting import own_sources
from palazzo.sessions.session_state import Moment
from palazzo.sessions.session_taint import Row, TaintTracker, is_human

_EARLIEST_POINT = Micros(-(1 << 62))


def brings_untrusted_content(filings: Iterable[NewItem], position: int, agents: Collection[str]) -> bool:
    """Return whether a row from `position` on brings untrusted content into the session of these rows.

    `agents` are the ids of sub-agents whose transcripts are judged separately.
    """
    threads: dict[str, _Thread] = {}
    root = ""
    for row, new_item in enumerate(filings):
        if new_item.kind != "message":
            continue
        root = root or str(new_item.meta.get("cwd", ""))
        if new_item.thread not in threads:
            threads[new_item.thread] = _Thread(_TranscriptContext(root, agents, threads))
        if threads[new_item.thread].meets(_item_of(row, new_item), new_item) and new_item.ordinal >= position:
            return True
    return False


def _item_of(row: int, new_item: NewItem) -> CutItem:
    context = ItemContext(
        thread=new_item.thread,
        created_at=new_item.created_at,
        works_for=str(new_item.meta.get("works_for", "")),
        directory=str(new_item.meta.get("cwd", "")),
    )
    fields = (new_item.role, new_item.author, new_item.text, new_item.parts, new_item.trust, new_item.ordinal)
    return CutItem(row, b"", *fields, context=context)


class _Thread:
    """A thread of a session that is judged row by row."""

    def __init__(self, around: _TranscriptContext) -> None:
        self._tainting = TaintTracker(around, is_tainted=False, has_met=False, since=_EARLIEST_POINT, begins=True)
        self._segment_size = 0

    def meets(self, item: CutItem, new_item: NewItem) -> bool:
        """Return whether the next row brings untrusted content."""
        if new_item.standing == "said":
            if item.role == "user" or self._segment_size >= cut_rules.SEGMENT_ITEMS:
                self._tainting.begin_segment()
                self._segment_size = 0
            self._segment_size += 1
        elif not _is_shown(item, new_item):
            return False
        marks = process_text(lambda: list(self._tainting.take(Row(item, new_item.standing))))
        if isinstance(marks, Exception):
            return not is_human(item)  # what no rule can judge counts as untrusted
        return any(mark.kind in ("met", "quoted") for mark in marks)


def _is_shown(item: CutItem, new_item: NewItem) -> bool:
    """Return whether an agent was shown a row without a speaker: a summary, a notice, an outside file."""
    is_untrusted = item.trust == "external" or any(part.trust == "external" for part in item.parts)
    return new_item.standing == "summary" or item.role == "user" or is_untrusted


class _TranscriptContext:
    """The context on which the marks of rows depend: only their own transcript is known."""

    own_keys: Mapping[bytes, Moment] = {}

    def __init__(self, root: str, agents: Collection[str], threads: Collection[str]) -> None:
        self.root, self._agents, self._threads = root, agents, threads

    def hash_name(self, name: str) -> bytes:
        return name.encode("utf-8", "surrogatepass")

    def foreign_keys(self, row: CutItem) -> Mapping[bytes, Moment]:
        return {}

    def own(self, row: CutItem, part: Part) -> OwnSources:
        return own_sources()

    def is_awaited(self, call: bytes) -> bool:
        return False

    def has_tainted_agent(self, ids: frozenset[str], since: Micros, until: Micros) -> bool | None:
        """Return False for a sub-agent whose own rows are judged; None for others, which are unknown."""
        return None if ids.isdisjoint(self._agents) and ids.isdisjoint(self._threads) else False

    def is_approved(self, row: CutItem, part: Part) -> bool:
        return False

    def repeats(self, row: CutItem) -> bool:
        return False

    def was_led_astray(self, row: CutItem) -> bool:
        return False

    def words_before(self) -> Sequence[Utterance]:
        return ()

    def has_tainted_transcript(self, row: CutItem, since: Micros) -> bool:
        return False
