"""Judging a session that is not in the archive by the rules of `tainting`, from its first row on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from palazzo.archive.door import Filing
from palazzo.derive import cutting
from palazzo.derive.cutting import CutItem, Filed
from palazzo.derive.failure_isolation import process_text
from palazzo.derive.own_setting import own_sources
from palazzo.derive.session_state import Moment
from palazzo.derive.tainting import Row, Tainting, is_human
from palazzo.model import Micros, Part
from palazzo.security.echoes import Utterance
from palazzo.security.own_sources import OwnSources

_BEFORE_ALL = Micros(-(1 << 62))


def brings_untrusted_content(filings: Iterable[Filing], position: int, agents: Collection[str]) -> bool:
    """Whether a row from `position` on brings untrusted content into the session of these rows.

    `agents` are the ids of sub-agents whose transcripts are judged beside this one.
    """
    threads: dict[str, _Thread] = {}
    root = ""
    for row, filing in enumerate(filings):
        if filing.kind != "message":
            continue
        root = root or str(filing.meta.get("cwd", ""))
        if filing.thread not in threads:
            threads[filing.thread] = _Thread(_Unarchived(root, agents, threads))
        if threads[filing.thread].meets(_item_of(row, filing), filing) and filing.ordinal >= position:
            return True
    return False


def _item_of(row: int, filing: Filing) -> CutItem:
    filed = Filed(
        thread=filing.thread,
        created_at=filing.created_at,
        works_for=str(filing.meta.get("works_for", "")),
        directory=str(filing.meta.get("cwd", "")),
    )
    said = (filing.role, filing.author, filing.text, filing.parts, filing.trust, filing.ordinal)
    return CutItem(row, b"", *said, filed=filed)


class _Thread:
    """A thread of a session, judged row by row."""

    def __init__(self, around: _Unarchived) -> None:
        self._tainting = Tainting(around, is_tainted=False, has_met=False, since=_BEFORE_ALL, begins=True)
        self._segment_size = 0

    def meets(self, item: CutItem, filing: Filing) -> bool:
        """Whether the next row brings untrusted content."""
        if filing.standing == "said":
            if item.role == "user" or self._segment_size >= cutting.SEGMENT_ITEMS:
                self._tainting.begin_segment()
                self._segment_size = 0
            self._segment_size += 1
        elif not _is_shown(item, filing):
            return False
        marks = process_text(lambda: list(self._tainting.take(Row(item, filing.standing))))
        if isinstance(marks, Exception):
            return not is_human(item)  # what no rule can judge counts as untrusted
        return any(mark.kind in ("met", "quoted") for mark in marks)


def _is_shown(item: CutItem, filing: Filing) -> bool:
    """Whether an agent was shown a row that nobody said: a summary, a notice, a file from outside."""
    is_untrusted = item.trust == "external" or any(part.trust == "external" for part in item.parts)
    return filing.standing == "summary" or item.role == "user" or is_untrusted


class _Unarchived:
    """What the marks of rows depend on besides themselves: nothing is known but their own transcript."""

    own_keys: Mapping[bytes, Moment] = {}

    def __init__(self, root: str, agents: Collection[str], threads: Collection[str]) -> None:
        self.root, self._agents, self._threads = root, agents, threads

    def hashed(self, name: str) -> bytes:
        return name.encode("utf-8", "surrogatepass")

    def foreign_keys(self, row: CutItem) -> Mapping[bytes, Moment]:
        return {}

    def own(self, row: CutItem, part: Part) -> OwnSources:
        return own_sources()

    def is_awaited(self, call: bytes) -> bool:
        return False

    def reported(self, ids: frozenset[str], since: Micros, until: Micros) -> bool | None:
        """A sub-agent whose own rows are judged adds nothing; of another one nothing is known."""
        return None if ids.isdisjoint(self._agents) and ids.isdisjoint(self._threads) else False

    def is_approved(self, row: CutItem, part: Part) -> bool:
        return False

    def repeats(self, row: CutItem) -> bool:
        return False

    def was_led_astray(self, row: CutItem) -> bool:
        return False

    def words_before(self) -> Sequence[Utterance]:
        return ()

    def heard(self, row: CutItem, since: Micros) -> bool:
        return False
