"""status and what looks after a palace: taking in, checking, taking back."""

from __future__ import annotations

from typing import Any

from palazzo.mcp.telling import NUMBER, OBJECT, TEXT, shape
from palazzo.mcp.tools import Answer, Given, Tool
from palazzo.operations.status import StatusResult

_MOST_WINGS = 40

# --- status ------------------------------------------------------------------------------------------------


def _status(result: StatusResult, given: Given) -> Answer:
    largest = sorted(result.wings.items(), key=lambda pair: (-pair[1].drawers, pair[0]))
    wings = {name: held.drawers for name, held in largest[:_MOST_WINGS]}
    index = {"ready": "ready", "building": f"{result.pending:,} passages wait for their vectors", "empty": "empty"}
    told: dict[str, Any] = {
        "palace": result.palace,
        "version": result.version,
        "items": result.items,
        "drawers": result.drawers,
        "facts": result.facts,
        "open_todos": result.open_todos,
        "index": index.get(
            result.embedder.state, "of another embedder than the settings name: repair --rebuild vectors"
        ),
        "wings": wings,
    }
    if len(largest) > _MOST_WINGS:
        told["more_wings"] = len(largest) - _MOST_WINGS
    named = ", ".join(f"{name} {count:,}" for name, count in wings.items()) or "none yet"
    text = (
        f"{result.palace}: {result.drawers:,} drawers of {result.items:,} items, {result.facts:,} facts,"
        f" {result.open_todos:,} open to-dos; index {told['index']}.\nWings: {named}"
        + (f", and {told['more_wings']} more (taxonomy)" if "more_wings" in told else "")
    )
    return Answer(told, text)


STATUS = Tool(
    name="status",
    operation="status",
    description="What the memory holds, by project, and whether it is in order.",
    answer=_status,
    output=shape(palace=TEXT, drawers=NUMBER, facts=NUMBER, index=TEXT, wings=OBJECT),
)
