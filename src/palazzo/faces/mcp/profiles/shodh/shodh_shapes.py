"""The format of memories: a JSON row, and a readable line with the id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from palazzo.faces.mcp.profiles.client_formats import fit_rows, iso
from palazzo.features.search.contract import HitView, ListDrawersResult
from palazzo.features.wakeup.contract import MemoryView
from palazzo.operations.agent_tools.tool import Answer, Argument
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, NOTICE, TEXT, indent, shape
from palazzo.operations.shared_views import DrawerRow
from palazzo.operations.validation import Schema
from palazzo.security.fences import fence_text

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
"""The listing for a tag without drawers."""
# --- arguments ---------------------------------------------------------------------------------------------


def enum_schema(*values: str) -> Schema:
    """Return the schema of a text that is one of `values`."""
    return {"type": "string", "enum": list(values)}


def unbound_argument(
    name: str,
    schema: Schema,
    description: str = "",
    default: Any = None,
    *,
    is_required: bool = False,
    is_ignored: bool = False,
) -> Argument:
    """Return an argument that fills no field of the request by itself: the tool's own functions read it."""
    return Argument(name, description, None, schema, default, is_required=is_required, is_ignored=is_ignored)


TYPE = enum_schema(*TYPES)
"""The schema of a memory's type."""


# --- memories ----------------------------------------------------------------------------------------------


def memory(drawer: HitView | DrawerRow | MemoryView, score: float | None = None, label: str = "") -> dict[str, Any]:
    """Return a drawer as a memory; a drawer that is not a note has its kind as its type: Exchange, Section, …

    `label` describes its branch; only a MemoryView needs it, since the others have their own.
    """
    label = label if isinstance(drawer, MemoryView) else drawer.label
    kind = type_name(drawer.filed_as or drawer.kind)
    row = {
        "id": drawer.id,
        "content": drawer.text,
        "type": kind,
        "tags": list(drawer.tags),
        "score": score,
        "created_at": iso(drawer.created_at),
        "trust": drawer.trust,
        "memory_type": kind,
    }
    return row | ({"truncated": True} if drawer.truncated else {}) | ({"branch": label} if label else {})


def type_name(kind: str) -> str:
    """Return a type in shodh's capitalization; any other kind is capitalized."""
    return _TYPE_NAMES.get(kind, kind.capitalize())


def line(row: Mapping[str, Any]) -> str:
    """Return a memory as a line of its own, its text indented below."""
    score = "" if row.get("score") is None else f"{row['score']:.2f}"
    head_parts = (row["type"], (row["created_at"] or "")[:16], row["trust"], *row["tags"], row.get("branch"), score)
    head = (f"[{row['id']}]", *head_parts)
    words = indent(str(row["content"]).rstrip("\n"))
    cut = "\n  (a part of it: get_memory shows the memory)" if row.get("truncated") else ""
    return f"{' · '.join(filter(None, head))}\n{words}{cut}"


def memories(rows: Sequence[Mapping[str, Any]], nothing: str, **others: Any) -> Answer:
    """Return an answer of memories, or `nothing` if there are none. `others` are additional fields."""
    fitting_rows, left_out = fit_rows(rows)
    if not fitting_rows:
        return Answer({"notice": nothing, "memories": [], **others}, nothing)
    notice = f"{NOTICE}: {len(fitting_rows)} {'memory' if len(fitting_rows) == 1 else 'memories'}."
    if left_out:
        notice += f" {left_out} more did not fit: ask for fewer at a time."
    return Answer({"notice": notice, "memories": fitting_rows, **others}, reading(notice, map(line, fitting_rows)))


# --- other answers -----------------------------------------------------------------------------------------


def answer_records(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    render_row: Callable[[Mapping[str, Any]], str],
    describe: Callable[[int], str],
    nothing: str = "None found.",
    **fields: Any,
) -> Answer:
    """Return an answer of stored rows under `name`, as many as fit, after `fields`.

    `describe` words how many are shown; `nothing` is the notice if there are none.
    """
    fitting_rows, _ = fit_rows(rows)
    count = len(fitting_rows)
    fields = {**fields, name: fitting_rows, "count": count}
    if not fitting_rows:
        return Answer({"notice": nothing, **fields}, nothing)
    notice = f"{NOTICE}: {describe(count)}."
    return Answer({"notice": notice, **fields}, reading(notice, map(render_row, fitting_rows)))


def answer_list(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    render_row: Callable[[Mapping[str, Any]], str],
    nothing: str = "None found.",
) -> Answer:
    """Return an answer of rows without stored text, one line for each."""
    return Answer({name: rows, "count": len(rows)}, "\n".join(map(render_row, rows)) or nothing)


def answer_closing(row: Mapping[str, Any], changed: bool, verb: str) -> Answer:
    """Return the answer for a to-do or reminder that a call closed, or that was already closed."""
    sentence = verb if changed else f"Nothing changed, because it was already {row['status']}"
    return Answer({**row, "changed": changed}, f"{sentence}: {row['id']}.")


CLOSING_OUTPUT = shape(id=TEXT, status=TEXT, changed=FLAG)
"""The output of `answer_closing`."""


def reading(notice: str, lines: Iterable[str]) -> str:
    """Return stored text in readable form, inside the fence."""
    return fence_text("\n\n".join([notice, *lines]))
