"""Tools for many drawers in one call: reading them, and hiding them from search by id or by source file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from palazzo.errors import UsageError
from palazzo.faces.mcp.profiles.client_formats import fit_rows
from palazzo.faces.mcp.profiles.mempalace.mempalace_drawer_tools import describe_deletion, describe_drawer
from palazzo.faces.mcp.profiles.mempalace.mempalace_shapes import (
    answer_with_notice,
    document,
    failure_without_success,
    rest,
)
from palazzo.features.notes.contract import ForgetResult
from palazzo.features.search.contract import ShowResult
from palazzo.operations.agent_tools.tool import CHANGES, Answer, Argument, CallArguments, Step, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, NUMBER, TEXT, shape

_MOST_IDS = 500
_MOST_SAMPLES = 5
_IDS = Argument("drawer_ids", f"1 to {_MOST_IDS} ids.", None, {"type": "array", "items": TEXT}, is_required=True)


def _ids_of(call: CallArguments) -> tuple[str, ...]:
    """Return the ids of a call; raise UsageError if there is none or if there are too many."""
    ids: list[str] = call["drawer_ids"]
    if not ids:
        raise UsageError("drawer_ids must not be empty.")
    if len(ids) > _MOST_IDS:
        raise UsageError(f"drawer_ids has {len(ids)} ids; the limit is {_MOST_IDS} in one call.")
    return tuple(ids)


# --- reading -----------------------------------------------------------------------------------------------


def _describe_refusal(drawer_id: str, error: UsageError) -> dict[str, str]:
    return {"drawer_id": drawer_id, "error": str(error)}


def _read_each(call: CallArguments) -> Sequence[Step]:
    return [
        Step("show", {"id": drawer_id}, if_refused=partial(_describe_refusal, drawer_id)) for drawer_id in _ids_of(call)
    ]


def _answer_drawers(results: Sequence[ShowResult | dict[str, str]], call: CallArguments) -> Answer:
    rows = [
        result if isinstance(result, dict) else describe_drawer(result, drawer_id)
        for drawer_id, result in zip(call["drawer_ids"], results, strict=True)
    ]
    fitting_rows, left_out = fit_rows(rows)
    errors = sum("error" in row for row in fitting_rows)
    return answer_with_notice({"results": fitting_rows, "count": len(fitting_rows), "errors": errors, **rest(left_out)})


GET_DRAWERS = Tool(
    name="mempalace_get_drawers",
    operation="show",
    description="Read several drawers in full, in the order of their ids. An unknown id gets an error in its place.",
    arguments=(_IDS,),
    steps=_read_each,
    answer=_answer_drawers,
    output=shape(results=LIST, count=NUMBER, errors=NUMBER),
    failure=failure_without_success,
)


# --- deleting by id ----------------------------------------------------------------------------------------


def _answer_deletions(result: ForgetResult, call: CallArguments) -> Answer:
    remaining_drawers = dict(result.by_id)
    rows = []
    for drawer_id in call["drawer_ids"]:
        drawers = remaining_drawers.pop(drawer_id, None)
        if drawers is None:
            rows.append({"drawer_id": drawer_id, "error": result.missing.get(drawer_id, "It was named twice.")})
        else:
            rows.append(describe_deletion(drawer_id, drawers))
    deleted = len(result.by_id)
    return document({"results": rows, "count": len(rows), "deleted": deleted, "errors": len(rows) - deleted})


def _forget_existing(call: CallArguments) -> Mapping[str, Any]:
    return {"ids": tuple(dict.fromkeys(_ids_of(call))), "skip_missing": True}


DELETE_DRAWERS = Tool(
    name="mempalace_delete_drawers",
    operation="forget",
    description=(
        "Hide several drawers from search. An unknown id gets an error in its place. The archive keeps their text;"
        " 'palazzo undo' restores all of them."
    ),
    arguments=(_IDS,),
    hints=CHANGES,
    fields=_forget_existing,
    answer=_answer_deletions,
    output=shape(results=LIST, count=NUMBER, deleted=NUMBER, errors=NUMBER),
    failure=failure_without_success,
)


# --- deleting by source ------------------------------------------------------------------------------------


def _forget_file(call: CallArguments) -> Sequence[Step]:
    if not call["source_file"].strip():
        raise UsageError("source_file must not be empty.")
    fields = {"source": call["source_file"], "only_file": True, "dry_run": call["dry_run"]}
    return [Step("forget", fields, ForgetResult((), (), call["dry_run"]))]


def _answer_source(results: Sequence[ForgetResult], call: CallArguments) -> Answer:
    (result,) = results
    number = len(result.forgotten)
    fields: dict[str, Any] = {"success": True, "dry_run": result.dry_run, "source_file": call["source_file"]}
    if not result.dry_run:
        return document({**fields, "deleted": number, "closets_deleted": 0})
    sample = [dict(zip(("wing", "room"), place.split("/", 1), strict=True)) for place in result.places]
    hint = (
        f"Nothing was deleted. dry_run=false hides these drawers ({number}) from search."
        if number
        else "No drawer comes from this source_file."
    )
    return document(
        {**fields, "match_count": number, "closet_match_count": 0, "sample": sample[:_MOST_SAMPLES], "hint": hint}
    )


DELETE_BY_SOURCE = Tool(
    name="mempalace_delete_by_source",
    operation="forget",
    description=(
        "Hide all drawers that were mined from one file from search; only a preview unless dry_run is false. The"
        " archive keeps their text; 'palazzo undo' restores them."
    ),
    arguments=(
        Argument("source_file", "The exact path or address.", None, TEXT, is_required=True),
        Argument("dry_run", default=True),
    ),
    hints=CHANGES,
    steps=_forget_file,
    answer=_answer_source,
    output=shape(success=FLAG, dry_run=FLAG, source_file=TEXT),
)

TOOLS = (GET_DRAWERS, DELETE_DRAWERS, DELETE_BY_SOURCE)
