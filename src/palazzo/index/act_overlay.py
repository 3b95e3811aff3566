"""Act overlay: the acts on the items being processed, queried by span.

It tells which words are forgotten or left out, where they were moved, how they are tagged, and which words a person
approved. Acts address spans of items as a cutter once cut them. A cutter with other boundaries applies them by overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from palazzo.index.cut_rules import CutSpan
from palazzo.index.visible_text import subtract_ranges
from palazzo.store.act_rows import Act, ActSpan


class ActsOnItems:
    """The acts on the given items, queried by span."""

    def __init__(self, act_spans: Sequence[tuple[Act, ActSpan]]) -> None:
        self._found = act_spans

    def __bool__(self) -> bool:
        return bool(self._found)

    def holes(self, uid: bytes) -> tuple[tuple[int, int], ...]:
        """Return the forgotten ranges of an item, sorted."""
        spans = [(s.start, s.end) for act, s in self._found if act.kind == "forget" and s.item_uid == uid]
        return tuple(sorted(spans))

    def find_forgotten_drawers(self) -> Mapping[bytes, list[tuple[Act, ActSpan]]]:
        """Return the forgotten drawers as they were when forgotten; an item that was forgotten whole has none."""
        acts_by_drawer: dict[bytes, list[tuple[Act, ActSpan]]] = {}
        for act, span in self._found:
            if act.kind == "forget" and any(span.drawer_uid):
                acts_by_drawer.setdefault(span.drawer_uid, []).append((act, span))
        return acts_by_drawer

    def left_out(self, uid: bytes) -> int | None:
        """Return the time since which the rules leave out an item; None if they include it."""
        since = None
        for act, span in self._found:
            if span.item_uid == uid and act.kind in ("leave-out", "take-in"):
                since = int(act.at) if act.kind == "leave-out" else None
        return since

    def move(self, spans: Sequence[CutSpan]) -> Mapping[str, str] | None:
        """Return the detail of the latest move of at least half of these spans."""
        size = sum(span.end - span.start for span in spans)
        moves: dict[int, tuple[Act, int]] = {}
        for act, span in self._found:
            if act.kind == "move":
                shared = _overlap(span, spans) + (moves[act.row][1] if act.row in moves else 0)
                moves[act.row] = (act, shared)
        for act, shared in reversed(moves.values()):
            if shared and shared * 2 >= size:
                return act.detail
        return None

    def approves(self, spans: Sequence[CutSpan]) -> bool:
        """Return whether a person approved all words of these spans; changed boundaries must not add unseen words."""
        approvals = [span for act, span in self._found if act.kind == "approve"]
        if not approvals:
            return False
        for cut_span in spans:
            approved_ranges = sorted((span.start, span.end) for span in approvals if span.item_uid == cut_span.item.uid)
            gaps = subtract_ranges(cut_span.start, cut_span.end, approved_ranges)
            if any(cut_span.item.text[low:high].strip() for low, high in gaps):
                return False
        return True

    def tags(self, spans: Sequence[CutSpan]) -> tuple[str, ...]:
        """Return the tags put on any of these spans, or on their items when filed, and not removed since."""
        tag_states: dict[str, bool] = {}
        for act, span in self._found:
            if act.kind in ("tag", "untag") and _overlap(span, spans):
                tag_states[act.detail["tag"]] = act.kind == "tag"
        return tuple(sorted(tag for tag, is_on in tag_states.items() if is_on))


def _overlap(act: ActSpan, spans: Sequence[CutSpan]) -> int:
    return sum(
        max(0, min(act.end, span.end) - max(act.start, span.start)) for span in spans if span.item.uid == act.item_uid
    )
