"""Freshness of hits: whether cited lines are still in the files of the current project, and the label that says so.

Words of another project are never compared, because their paths mean nothing here. All citations of an answer share one
time limit. Citations that are not checked in time are unknown, so that an answer never waits for files.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from palazzo.errors import PalaceUnusable
from palazzo.frozen_class import frozen
from palazzo.git import freshness
from palazzo.git.freshness import worst
from palazzo.model import Anchor, AnchorKind, Freshness
from palazzo.operations.shared_views import CitationView
from palazzo.store import anchors
from palazzo.store.redaction_state import fingerprint_key

if TYPE_CHECKING:
    from palazzo.git.freshness import CitationStatus
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

MOST = 8
"""The most citations listed for one memory; its summary counts all citations that were compared."""
_MOST_NAMED = 2
_LONGEST_PATH = 120
_FIRST: tuple[AnchorKind, ...] = ("stated", "edited", "mentioned", "read")
"""The order of comparison. Stated citations matter most; a session reads many files that it never mentions."""
_WORST: tuple[Freshness, ...] = ("gone", "changed", "moved", "unknown", "fresh")
_STATE_LABELS: Mapping[Freshness, str] = {"changed": "changed since", "gone": "gone", "moved": "moved to"}


@frozen
class CitationSummary:
    """The state of everything that one memory cites; `remark` is the note for a reader, '' if there is none."""

    freshness: Freshness = "unknown"
    citations: tuple[CitationView, ...] = ()
    remark: str = ""


NOTHING = CitationSummary()


class Files:
    """The files of the caller's project, as seen by one answer. Create one instance per answer."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._took = 0.0

    def of_drawers(
        self, connection: Connection, wings: Mapping[str, str], hows: Collection[AnchorKind] = _FIRST
    ) -> dict[str, CitationSummary]:
        """Return the freshness of the drawers' citations, by drawer id, for drawers of this project that cite files.

        `wings` maps drawer ids, the most important first, to their wings; `hows` selects the kinds of citations that
        count.
        """
        own = [uid for uid, wing in wings.items() if wing == self._home]
        anchors_by_drawer = anchors.of_drawers(connection, own) if own else {}
        relevant_anchors = {
            uid: [anchor for anchor in group if anchor.how in hows] for uid, group in anchors_by_drawer.items()
        }
        return {
            uid: _summarize_citations(group)
            for uid, group in self._compare_citations(connection, relevant_anchors, own).items()
        }

    def of_facts(self, connection: Connection, scopes: Mapping[str, str | None]) -> dict[str, CitationSummary]:
        """Return the freshness of the facts' citations, by fact id. A fact that cites files always has a wing."""
        own = [uid for uid, wing in scopes.items() if wing is not None and wing == self._home]
        comparisons = self._compare_citations(connection, anchors.of_facts(connection, own) if own else {}, own)
        return {uid: _summarize_citations(group) for uid, group in comparisons.items()}

    @cached_property
    def _home(self) -> str | None:
        return self._context.home

    def _compare_citations(
        self, connection: Connection, anchors_by_id: Mapping[str, Sequence[Anchor]], order: Sequence[str]
    ) -> dict[str, list[tuple[Anchor, CitationStatus]]]:
        """Compare the first citation of each memory, then the second of each, and so on while time remains."""
        ranking = {
            uid: sorted(anchors_by_id[uid], key=lambda one: _FIRST.index(one.how))
            for uid in order
            if anchors_by_id.get(uid)
        }
        key = _key(connection) if ranking else b""
        if not key:
            return {}

        turns = sorted((n, rank, uid) for rank, uid in enumerate(ranking) for n in range(len(ranking[uid])))
        began = time.monotonic()
        files = freshness.Checkout(self._context.project_root, key, freshness.TIMEOUT_SECONDS - self._took)
        standings = files.check([ranking[uid][n] for n, _, uid in turns])
        self._took += time.monotonic() - began
        comparisons: dict[str, list[tuple[Anchor, CitationStatus]]] = {}
        for (n, _, uid), file_status in zip(turns, standings, strict=True):
            comparisons.setdefault(uid, []).append((ranking[uid][n], file_status))
        return comparisons


def _key(connection: Connection) -> bytes:
    """Return the palace's fingerprint key; b"" if it is lost. `doctor` reports that; an answer need not fail."""
    try:
        return fingerprint_key(connection)
    except PalaceUnusable:
        return b""


def _summarize_citations(comparisons: Sequence[tuple[Anchor, CitationStatus]]) -> CitationSummary:
    ranking = sorted(comparisons, key=lambda one: _WORST.index(one[1].freshness))
    citations = tuple(_view(anchor, file_status) for anchor, file_status in ranking[:MOST])
    return CitationSummary(
        worst(file_status for _, file_status in comparisons), citations, "; ".join(_remarks(ranking))
    )


def join_summaries(best: CitationSummary, others: Iterable[CitationSummary]) -> CitationSummary:
    """Return the state of what all drawers of a hit cite, the worst first; the remark stays that of the best drawer."""
    summaries = [best, *others]
    citations = dict.fromkeys(citation for summary in summaries for citation in summary.citations)
    ranking = sorted(citations, key=lambda citation: _WORST.index(citation.freshness))
    states: list[Freshness] = [summary.freshness for summary in summaries if summary.citations]
    freshness = min(states, key=_WORST.index, default=best.freshness)
    return CitationSummary(freshness, tuple(ranking[:MOST]), best.remark)


def _view(anchor: Anchor, file_status: CitationStatus) -> CitationView:
    is_elsewhere = file_status.freshness == "moved" or (file_status.path and file_status.path != anchor.path)
    current_place = _place(file_status.path, file_status.first, file_status.last) if is_elsewhere else ""
    return CitationView(anchor.path, max(anchor.first, 0), max(anchor.last, 0), file_status.freshness, current_place)


def _remarks(comparisons: Sequence[tuple[Anchor, CitationStatus]]) -> Iterator[str]:
    """Yield remarks that matter to a reader. Moved lines are reported only if the text may name them."""
    places_by_state: dict[Freshness, dict[str, None]] = {"gone": {}, "changed": {}, "moved": {}}
    for anchor, file_status in comparisons:
        state = file_status.freshness
        if state == "moved":
            if file_status.path != anchor.path or anchor.how in ("stated", "mentioned"):
                places_by_state[state][_place(file_status.path, file_status.first, file_status.last)] = None
        elif state in places_by_state:
            suffix = f" (now {_place(file_status.path, 0, 0)})" if file_status.path not in ("", anchor.path) else ""
            places_by_state[state][_place(anchor.path, anchor.first, anchor.last) + suffix] = None
    for state, places in places_by_state.items():
        if places:
            yield (
                f"{_STATE_LABELS[state]}: {_join_places([*places])}"
                if state != "moved"
                else f"{_STATE_LABELS[state]} {_join_places([*places])}"
            )


def _join_places(places: Sequence[str]) -> str:
    more = f" and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
    return ", ".join(places[:_MOST_NAMED]) + more


def _place(path: str, first: int, last: int) -> str:
    """Return `PATH:L1-L2` on one line; paths from transcripts may be very long or contain line breaks."""
    display_path = " ".join("".join(letter if letter.isprintable() else " " for letter in path).split())
    display_path = display_path if len(display_path) <= _LONGEST_PATH else f"…{display_path[-_LONGEST_PATH:]}"
    if first <= 0:
        return display_path
    return f"{display_path}:{first}" if last <= first else f"{display_path}:{first}-{last}"


def first(summaries: Mapping[str, CitationSummary], ids: Iterable[str]) -> CitationSummary:
    """Return the freshness of an entry that several drawers support: that of the first drawer that cites files."""
    return next((summaries[uid] for uid in ids if uid in summaries), NOTHING)
