"""Whether what words cite still stands in the files of the project that is worked in, and how that is said.

Words of another project are never compared: what its paths mean here nobody knows. All citations of an answer have one
bound of time together; what it does not reach is unknown, so that an answer never waits for files.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from palazzo.errors import PalaceUnusable
from palazzo.model import Anchor, AnchorKind, Freshness
from palazzo.operations.hits import CitationView

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.scope.freshness import Standing
    from palazzo.store.database import Connection

MOST = 8
"""Citations that are told of one memory; what is said of it all counts every one that was compared."""
_MOST_NAMED = 2
_LONGEST_PATH = 120
_FIRST: tuple[AnchorKind, ...] = ("stated", "edited", "mentioned", "read")
"""What is compared first: what somebody stated matters most, and a session has read much that it never speaks of."""
_WORST: tuple[Freshness, ...] = ("gone", "changed", "moved", "unknown", "fresh")
_SAID: Mapping[Freshness, str] = {"changed": "changed since", "gone": "gone", "moved": "moved to"}


@dataclass(frozen=True, slots=True)
class Cited:
    """What is known of all that one memory cites; `remark` is what a reader should be told of it, '' if nothing."""

    freshness: Freshness = "unknown"
    citations: tuple[CitationView, ...] = ()
    remark: str = ""


NOTHING = Cited()


class Files:
    """The files of the project that is worked in, as one answer looks at them. Make one for each answer."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._took = 0.0

    def of_drawers(
        self, connection: Connection, wings: Mapping[str, str], hows: Collection[AnchorKind] = _FIRST
    ) -> dict[str, Cited]:
        """Return how what drawers cite stands: by id, of those of this project that cite something.

        `wings` are the drawers' ids, the most important first, each with its wing; `hows` which citations count.
        """
        from palazzo.store import anchors

        own = [uid for uid, wing in wings.items() if wing == self._home]
        found = anchors.of_drawers(connection, own) if own else {}
        chosen = {uid: [anchor for anchor in some if anchor.how in hows] for uid, some in found.items()}
        return {uid: _told(some) for uid, some in self._compared(connection, chosen, own).items()}

    def of_facts(self, connection: Connection, scopes: Mapping[str, str | None]) -> dict[str, Cited]:
        """Return the same of facts: by id, each with the wing that it is stated in. One that cites files has a wing."""
        from palazzo.store import anchors

        own = [uid for uid, wing in scopes.items() if wing is not None and wing == self._home]
        compared = self._compared(connection, anchors.of_facts(connection, own) if own else {}, own)
        return {uid: _told(some) for uid, some in compared.items()}

    @cached_property
    def _home(self) -> str | None:
        return self._context.home

    def _compared(
        self, connection: Connection, cited: Mapping[str, Sequence[Anchor]], order: Sequence[str]
    ) -> dict[str, list[tuple[Anchor, Standing]]]:
        """Compare the first citation of each memory, then the second of each, and so on while there is time."""
        ranked = {uid: sorted(cited[uid], key=lambda one: _FIRST.index(one.how)) for uid in order if cited.get(uid)}
        key = _key(connection) if ranked else b""
        if not key:
            return {}
        from palazzo.scope import freshness

        turns = sorted((n, rank, uid) for rank, uid in enumerate(ranked) for n in range(len(ranked[uid])))
        began = time.monotonic()
        files = freshness.Checkout(self._context.project_root, key, freshness.WITHIN - self._took)
        standings = files.check([ranked[uid][n] for n, _, uid in turns])
        self._took += time.monotonic() - began
        found: dict[str, list[tuple[Anchor, Standing]]] = {}
        for (n, _, uid), standing in zip(turns, standings, strict=True):
            found.setdefault(uid, []).append((ranked[uid][n], standing))
        return found


def _key(connection: Connection) -> bytes:
    """The palace's own; b"" where it has lost it: `doctor` says so, and an answer need not fail for it."""
    from palazzo.store.redaction import fingerprint_key

    try:
        return fingerprint_key(connection)
    except PalaceUnusable:
        return b""


def _told(compared: Sequence[tuple[Anchor, Standing]]) -> Cited:
    from palazzo.scope.freshness import worst

    ordered = sorted(compared, key=lambda one: _WORST.index(one[1].freshness))
    citations = tuple(_view(anchor, standing) for anchor, standing in ordered[:MOST])
    return Cited(worst(standing for _, standing in compared), citations, "; ".join(_remarks(ordered)))


def _view(anchor: Anchor, standing: Standing) -> CitationView:
    is_elsewhere = standing.freshness == "moved" or (standing.path and standing.path != anchor.path)
    now = _place(standing.path, standing.first, standing.last) if is_elsewhere else ""
    return CitationView(anchor.path, max(anchor.first, 0), max(anchor.last, 0), standing.freshness, now)


def _remarks(ordered: Sequence[tuple[Anchor, Standing]]) -> Iterator[str]:
    """What matters to who reads the words: that lines moved only where the words may name them."""
    named: dict[Freshness, dict[str, None]] = {"gone": {}, "changed": {}, "moved": {}}
    for anchor, standing in ordered:
        state = standing.freshness
        if state == "moved":
            if standing.path != anchor.path or anchor.how in ("stated", "mentioned"):
                named[state][_place(standing.path, standing.first, standing.last)] = None
        elif state in named:
            renamed = f" (now {_place(standing.path, 0, 0)})" if standing.path not in ("", anchor.path) else ""
            named[state][_place(anchor.path, anchor.first, anchor.last) + renamed] = None
    for state, places in named.items():
        if places:
            yield (
                f"{_SAID[state]}: {_listed([*places])}" if state != "moved" else f"{_SAID[state]} {_listed([*places])}"
            )


def _listed(places: Sequence[str]) -> str:
    more = f" and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
    return ", ".join(places[:_MOST_NAMED]) + more


def _place(path: str, first: int, last: int) -> str:
    """`PATH:L1-L2` on one line: transcripts name files as nobody would."""
    shown = " ".join("".join(one if one.isprintable() else " " for one in path).split())
    shown = shown if len(shown) <= _LONGEST_PATH else f"…{shown[-_LONGEST_PATH:]}"
    if first <= 0:
        return shown
    return f"{shown}:{first}" if last <= first else f"{shown}:{first}-{last}"


def first(found: Mapping[str, Cited], ids: Iterable[str]) -> Cited:
    """Return what is known of something that several drawers tell: of the first of them that cites anything."""
    return next((found[uid] for uid in ids if uid in found), NOTHING)
