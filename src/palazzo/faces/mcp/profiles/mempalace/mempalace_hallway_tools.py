"""Tools for hallways: pairs of names that drawers of one wing mention together.

Palazzo computes them from the drawers when it lists them, so there is no record that could be deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from palazzo.faces.mcp.profiles.client_formats import iso
from palazzo.faces.mcp.profiles.mempalace.mempalace_shapes import answer_with_notice, document, failure_without_success
from palazzo.features.places.contract import HallwaysResult, HallwayView
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, NUMBER, shape
from palazzo.text.count_phrases import count_noun

_MOST_ROOMS = 3
_COMPUTED = (
    "Nothing was deleted: a hallway is computed from the drawers that mention both names. To remove it, delete or"
    " change those drawers."
)


def _describe_hallway(pair: HallwayView) -> dict[str, Any]:
    places = f"{count_noun(pair.drawers, 'drawer')} in {', '.join(pair.rooms[:_MOST_ROOMS])}"
    more = f" and {count_noun(len(pair.rooms) - _MOST_ROOMS, 'more room')}" if len(pair.rooms) > _MOST_ROOMS else ""
    return {
        "id": pair.id,
        "wing": pair.wing,
        "entity_a": pair.first,
        "entity_b": pair.second,
        "co_occurrence_count": pair.drawers,
        "rooms": list(pair.rooms),
        "label": f"{pair.first} ↔ {pair.second} ({places}{more})",
        "created_at": iso(pair.recent),
        "created_by": "auto",
    }


def _answer_hallways(result: HallwaysResult, call: CallArguments) -> Answer:
    rows = [_describe_hallway(pair) for pair in result.hallways]
    return answer_with_notice(
        {
            "hallways": rows,
            "total": result.total,
            "count": len(rows),
            "offset": result.offset,
            "limit": result.limit,
        }
    )


LIST_HALLWAYS = Tool(
    name="mempalace_list_hallways",
    operation="hallways",
    description="List pairs of names that several drawers of a wing mention together, those with most drawers first.",
    arguments=(
        Argument("wing", "Only in this wing."),
        Argument("limit", schema={"minimum": 1, "maximum": 500}, default=100),
        Argument("offset", schema={"minimum": 0}),
    ),
    answer=_answer_hallways,
    output=shape(hallways=LIST, total=NUMBER, count=NUMBER, offset=NUMBER, limit=NUMBER),
    failure=failure_without_success,
    nowhere=lambda call: _answer_hallways(HallwaysResult((), 0, call["limit"], call["offset"]), call),
)


def _answer_deletion(results: Sequence[object], call: CallArguments) -> Answer:
    return document({"deleted": False, "reason": _COMPUTED})


DELETE_HALLWAY = Tool(
    name="mempalace_delete_hallway",
    operation="hallways",
    description="Delete nothing: hallways are computed from the drawers that mention both names.",
    arguments=(Argument("hallway_id", "", None, {"type": "string"}, is_required=True),),
    steps=lambda call: (),
    answer=_answer_deletion,
    output=shape(deleted=FLAG),
    failure=failure_without_success,
)

TOOLS = (LIST_HALLWAYS, DELETE_HALLWAY)
