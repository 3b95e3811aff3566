"""How memories look: a row in JSON, a line with its id to read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from palazzo.guard.fences import fenced
from palazzo.mcp.telling import LIST, MOST, NOTICE, TEXT, shape
from palazzo.mcp.tools import Answer
from palazzo.model import Micros
from palazzo.operations.drawer_rows import DrawerRow
from palazzo.operations.hits import HitView
from palazzo.operations.list_drawers import ListDrawersResult
from palazzo.operations.proactive_context import MemoryView
from palazzo.text.times import to_iso

TYPES = (
    "Observation", "Decision", "Learning", "Error", "Discovery", "Pattern", "Context", "Task", "CodeEdit", "FileAccess",
    "Search", "Command", "Conversation",
)  # fmt: skip
_TYPE_NAMES = {name.lower(): name for name in TYPES}
SHARE = {"minimum": 0, "maximum": 1}
DECIMAL = {"type": "number"}
TEXTS = {"type": "array", "items": TEXT}
MEMORIES = shape(notice=TEXT, memories=LIST)
NO_DRAWERS = ListDrawersResult((), 0, 0, 0)
"""What is listed of a tag that nothing has."""
_LEAST = 200
"""Characters of a memory that are worth showing where not all of it fits."""


def iso(moment: Micros | None) -> str | None:
    """Return a time, None where it is not known."""
    return to_iso(moment) if moment else None


def memory(one: HitView | DrawerRow | MemoryView, score: float | None = None, label: str = "") -> dict[str, Any]:
    """Return a drawer as a memory; what is no note goes by what it is: Exchange, Section, …

    `label` is what is said of its branch, where the drawer does not say so itself.
    """
    label = label if isinstance(one, MemoryView) else one.label
    told = {
        "id": one.id,
        "content": one.text,
        "type": type_name(one.filed_as or one.kind),
        "tags": list(one.tags),
        "score": score,
        "created_at": iso(one.created_at),
        "trust": one.trust,
    }
    told["memory_type"] = told["type"]
    return told | ({"truncated": True} if one.truncated else {}) | ({"branch": label} if label else {})


def type_name(kind: str) -> str:
    """Return a type as it is published; what is no type goes by its own name."""
    return _TYPE_NAMES.get(kind, kind.capitalize())


def line(told: Mapping[str, Any]) -> str:
    """Return a memory as a line of its own, its words indented below."""
    score = "" if told.get("score") is None else f"{told['score']:.2f}"
    said = (told["type"], (told["created_at"] or "")[:16], told["trust"], *told["tags"], told.get("branch"), score)
    head = (f"[{told['id']}]", *said)
    words = "\n".join(f"  {words}" if words.strip() else "" for words in str(told["content"]).rstrip("\n").splitlines())
    cut = "\n  (a part of it: get_memory shows the memory)" if told.get("truncated") else ""
    return f"{' · '.join(filter(None, head))}\n{words}{cut}"


def fitted(rows: Sequence[Mapping[str, Any]], left: int = MOST) -> list[dict[str, Any]]:
    """Return as many memories as one answer may hold; the last may be cut, and says so."""
    shown: list[dict[str, Any]] = []
    for row in rows:
        size = len(json.dumps(row, ensure_ascii=False))
        kept = len(row["content"]) - max(size - left, 0)
        if size > left:
            if not shown or kept >= _LEAST:
                shown.append({**row, "content": row["content"][: max(kept, 0)], "truncated": True})
            break
        left -= size
        shown.append(dict(row))
    return shown


def memories(rows: Sequence[Mapping[str, Any]], nothing: str, **others: Any) -> Answer:
    """Return an answer of memories; `nothing` is said where there are none. `others` are fields beside them."""
    shown = fitted(rows)
    if not shown:
        return Answer({"notice": nothing, "memories": [], **others}, nothing)
    notice = f"{NOTICE}: {len(shown)} {'memory' if len(shown) == 1 else 'memories'}."
    if len(shown) < len(rows):
        notice += f" {len(rows) - len(shown)} more did not fit: ask for fewer at a time."
    return Answer({"notice": notice, "memories": shown, **others}, reading(notice, map(line, shown)))


def reading(notice: str, lines: Iterable[str]) -> str:
    """Return recorded words for reading, in the fence."""
    return fenced("\n\n".join([notice, *lines]))
