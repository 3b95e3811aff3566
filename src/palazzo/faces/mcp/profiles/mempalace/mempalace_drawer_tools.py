"""Tools for search, drawers and sync: filing, finding, changing and forgetting content."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from palazzo.errors import UsageError
from palazzo.faces.mcp.profiles.client_formats import fit_rows, id_of, iso
from palazzo.faces.mcp.profiles.mempalace.mempalace_search_layout import render_results
from palazzo.faces.mcp.profiles.mempalace.mempalace_shapes import (
    answer_with_notice,
    document,
    failure,
    rest,
    source_file,
)
from palazzo.features.mining.contract import SyncSourcesResult
from palazzo.features.notes.contract import ForgetResult, RememberResult, UpdateDrawerResult
from palazzo.features.search.contract import (
    CheckDuplicateResult,
    HitView,
    ListDrawersResult,
    SearchResult,
    ShowEntry,
    ShowResult,
)
from palazzo.operations.agent_tools.tool import (
    ADDS,
    CHANGES,
    Answer,
    Argument,
    CallArguments,
    Tool,
    argument_without_effect,
)
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, MOST, NUMBER, OBJECT, TEXT, present_fields, shape

_TOKENS = 5000
"""Maximum tokens of found text: about as much as an answer may contain."""
_NOT_FOR_CLI = ("source_file", "candidate_strategy", "context")
_SINCE, _UNTIL_HELP = "From this time on: 2026-03-04, 3d, monday.", "Before this time."


# --- search ------------------------------------------------------------------------------------------------


def _row(hit: HitView) -> dict[str, Any]:
    values = {reason.name: reason.value for reason in hit.reasons}
    cosine = values.get("vector")
    return {
        "drawer_id": hit.id,
        "text": hit.text,
        "wing": hit.wing,
        "room": hit.room,
        "source_file": source_file(hit.source),
        "source_path": source_file(hit.source),
        "created_at": iso(hit.created_at),
        "similarity": None if cosine is None else round(max(cosine, 0.0), 3),
        "distance": None if cosine is None else round(1 - cosine, 4),
        "bm25_score": round(values.get("bm25", 0.0), 3),
        **({"truncated": True} if hit.truncated else {}),
        **({"branch": hit.label} if hit.label else {}),
    }


def _answer_search(result: SearchResult, call: CallArguments) -> Answer:
    most = call["max_distance"]
    near = [row for row in map(_row, result.hits) if row["distance"] is None or most <= 0 or row["distance"] <= most]
    rows, left_out = fit_rows(near, "text")
    answer = _results(result.query, call, rows, left_out, len(result.hits))
    if not _is_for_cli(call):
        return answer
    hits = [hit for hit in result.hits if hit.id in {row["drawer_id"] for row in rows}]
    filters = {name: call[name] for name in ("wing", "room", "since", "before")}
    return replace(answer, document={"query": result.query, "cli_output": render_results(result.query, filters, hits)})


def _is_for_cli(call: CallArguments) -> bool:
    """Return whether the caller wants the output of the command line. Raises UsageError, as MemPalace, if it cannot."""
    if not call["cli_compatible"]:
        return False
    unusable_names = [name for name in _NOT_FOR_CLI if call[name] is not None]
    if unusable_names:
        raise UsageError(f"A search with cli_compatible has no {', '.join(unusable_names)}.")
    return True


def _fill_search(call: CallArguments) -> Mapping[str, Any]:
    _is_for_cli(call)
    return {"external": False, "reasoning": False, "budget": _TOKENS}


def _results(query: str, call: CallArguments, rows: list[dict[str, Any]], left_out: int = 0, total: int = 0) -> Answer:
    filters = {name: call[name] for name in ("wing", "room", "source_file", "since", "before")}
    fields = {"query": query, "filters": filters, "total_before_filter": total, "results": rows}
    return answer_with_notice({**fields, **rest(left_out)})


SEARCH = Tool(
    name="mempalace_search",
    operation="search",
    description=(
        "Find what was said, decided, tried or written before, word for word. Search with a question, a name, a path"
        " or the exact text of an error."
    ),
    arguments=(
        Argument("query", "The search query."),
        Argument("limit", schema={"minimum": 1, "maximum": 100}, default=5),
        Argument("wing", "Only in this wing."),
        Argument("room", "Only in this room."),
        Argument("source_file", "Only drawers from this file.", "source"),
        Argument("since", _SINCE),
        Argument("before", _UNTIL_HELP, "until"),
        Argument("max_distance", "Omit hits at a greater distance; 0 omits nothing.", None, {"type": "number"}, 1.5),
        Argument("context", "The purpose of the search; it does not change the result.", None, TEXT),
        argument_without_effect("candidate_strategy", {"type": "string", "enum": ["vector", "union"]}),
        Argument("cli_compatible", "Return the text that the command line prints.", None, FLAG, False),
        argument_without_effect("include_media", FLAG, False),
        argument_without_effect("query_task", {"type": "string", "enum": ["search", "code"]}, "search"),
    ),
    fields=_fill_search,
    answer=_answer_search,
    output=shape(notice=TEXT, query=TEXT, filters=OBJECT, results=LIST),
    always=True,
    nowhere=lambda given: _results(given["query"], given, []),
)


def _duplicates(result: CheckDuplicateResult, call: CallArguments) -> Answer:
    matches = [
        {
            "id": match.id,
            "wing": match.wing,
            "room": match.room,
            "similarity": round(match.similarity, 3),
            "content": match.text,
        }
        for match in result.matches
    ]
    rows, left_out = fit_rows(matches)
    return answer_with_notice({"is_duplicate": result.is_duplicate, "matches": rows, **rest(left_out)})


CHECK_DUPLICATE = Tool(
    name="mempalace_check_duplicate",
    operation="check_duplicate",
    description="Check whether the palace already has a text, word for word or nearly. Call it before filing the text.",
    arguments=(
        Argument("content", "", "text"),
        Argument("threshold", "The share of the text that must be in the palace.", schema={"minimum": 0, "maximum": 1}),
    ),
    answer=_duplicates,
    output=shape(is_duplicate=FLAG, matches=LIST),
)


# --- drawers -----------------------------------------------------------------------------------------------


def _metadata(entry: ShowEntry, drawers: tuple[str, ...]) -> dict[str, Any]:
    fields = {
        "source_file": source_file(entry.source),
        "added_by": entry.author,
        "created_at": iso(entry.created_at),
        "filed_at": iso(entry.recorded_at),
        "retired_at": iso(entry.retired_at) if entry.retired_at else None,
        "kind": entry.kind,
        "filed_as": entry.filed_as,
        "importance": entry.importance,
        "title": entry.title,
        "role": entry.role,
        "trust": entry.trust,
        "branch": entry.branch,
        "session_id": entry.source.session_id,
        "locator": entry.source.locator,
        "tags": list(entry.tags),
        "drawers": list(drawers),
        **entry.metadata,
    }
    return present_fields(**fields)


def describe_drawer(result: ShowResult, drawer_id: str) -> dict[str, Any]:
    """Return the fields of a drawer; of something else, the field `error`."""
    if result.kind not in ("drawer", "item"):
        return {"drawer_id": drawer_id, "error": f"'{drawer_id}' is a {result.kind}, and no drawer."}
    entry = result.entries[0]
    is_long = len(entry.text) > MOST
    fields = {
        "drawer_id": entry.id,
        "content": entry.text[:MOST],
        "wing": entry.wing,
        "room": entry.room,
        "metadata": _metadata(entry, entry.drawers if is_long else ()),
    }
    return {**fields, **({"truncated": True} if is_long else {})}


def _answer_drawer(result: ShowResult, call: CallArguments) -> Answer:
    fields = describe_drawer(result, call["drawer_id"])
    return failure(fields["error"]) if "error" in fields else answer_with_notice(fields)


GET_DRAWER = Tool(
    name="mempalace_get_drawer",
    operation="show",
    description="Read a drawer in full, with its source.",
    arguments=(Argument("drawer_id", "", "id"),),
    answer=_answer_drawer,
    output=shape(drawer_id=TEXT, content=TEXT, wing=TEXT, room=TEXT, metadata=OBJECT),
)


def _answer_list(result: ListDrawersResult, call: CallArguments) -> Answer:
    rows, _ = fit_rows(
        [
            {"drawer_id": drawer.id, "wing": drawer.wing, "room": drawer.room, "content_preview": drawer.text}
            for drawer in result.drawers
        ],
        "content_preview",
    )
    return answer_with_notice(
        {
            "drawers": rows,
            "total": result.total,
            "count": len(rows),
            "offset": result.offset,
            "limit": result.limit,
        }
    )


LIST_DRAWERS = Tool(
    name="mempalace_list_drawers",
    operation="list_drawers",
    description="List the drawers of a wing or room, newest first, in pages; the next page begins at offset + count.",
    arguments=(
        Argument("wing"),
        Argument("room"),
        Argument("since", _SINCE),
        Argument("before", _UNTIL_HELP, "until"),
        Argument("limit", schema={"minimum": 1, "maximum": 100}),
        Argument("offset", schema={"minimum": 0}),
    ),
    answer=_answer_list,
    output=shape(drawers=LIST, total=NUMBER, count=NUMBER, offset=NUMBER, limit=NUMBER),
    nowhere=lambda given: _answer_list(ListDrawersResult((), 0, given["limit"] or 20, given["offset"] or 0), given),
)


def _added(result: RememberResult, call: CallArguments) -> Answer:
    fields: dict[str, Any] = {
        "success": True,
        "drawer_id": id_of(result.id, result.drawers),
        "wing": result.wing,
        "room": result.room,
        "chunks": len(result.drawers),
    }
    return document(fields if result.filed else {**fields, "reason": "already_exists"})


def _by_whom(call: CallArguments) -> Mapping[str, Any]:
    about = {"source_file": call["source_file"]} if call["source_file"] else None
    return {"once": True, "metadata": None if about is None else json.dumps(about, ensure_ascii=False)}


ADD_DRAWER = Tool(
    name="mempalace_add_drawer",
    operation="remember",
    description="File a text for later sessions, word for word. The same text is filed only once in a wing.",
    arguments=(
        Argument("wing", "Project, person or agent.", is_required=True),
        Argument("room", "Topic.", is_required=True),
        Argument("content", "The exact text, understandable without this session.", "text"),
        Argument("source_file", "The source of the text.", None, TEXT),
        Argument("added_by", "", "by", default="mcp"),
    ),
    hints=ADDS,
    fields=_by_whom,
    answer=_added,
    output=shape(success=FLAG, drawer_id=TEXT),
    always=True,
)


def _updated(result: UpdateDrawerResult, call: CallArguments) -> Answer:
    fields = {"success": True, "drawer_id": result.id, "wing": result.wing, "room": result.room}
    return document({**fields, "closets_deleted": 0})


UPDATE_DRAWER = Tool(
    name="mempalace_update_drawer",
    operation="update_drawer",
    description=(
        "Replace a drawer's text, or move the drawer. The new text has a new id; the archive keeps the old text, which"
        " searches no longer find."
    ),
    arguments=(
        Argument("drawer_id", "", "id"),
        Argument("content", "The new text.", "text"),
        Argument("wing"),
        Argument("room"),
    ),
    hints=CHANGES,
    fields=lambda given: {"by": given.host},
    answer=_updated,
    output=shape(success=FLAG, drawer_id=TEXT, wing=TEXT, room=TEXT),
)


def _deleted(result: ForgetResult, call: CallArguments) -> Answer:
    if not result.forgotten:
        return failure(f"'{call['drawer_id']}' was deleted before; nothing was done.")
    return document({"success": True, **describe_deletion(call["drawer_id"], result.forgotten)})


def describe_deletion(drawer_id: str, drawers: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a deletion: the id that was given, and the drawers that searches no longer find."""
    return {
        "drawer_id": drawer_id,
        "deleted_ids": list(drawers),
        "chunks_deleted": len(drawers),
        "closets_deleted": 0,  # there are no closets: the indexes follow the drawers
    }


DELETE_DRAWER = Tool(
    name="mempalace_delete_drawer",
    operation="forget",
    description="Hide a drawer from search. The archive keeps its text; 'palazzo undo' restores it.",
    arguments=(Argument("drawer_id", "", None, TEXT, is_required=True),),
    hints=CHANGES,
    fields=lambda given: {"ids": (given["drawer_id"],)},
    answer=_deleted,
    output=shape(success=FLAG, drawer_id=TEXT, deleted_ids=LIST, chunks_deleted=NUMBER, closets_deleted=NUMBER),
)


# --- sync --------------------------------------------------------------------------------------------------


def _answer_sync(result: SyncSourcesResult, call: CallArguments) -> Answer:
    return document(
        {
            "success": True,
            "scanned": result.scanned,
            "kept": result.kept,
            "gitignored": result.ignored,
            "missing": result.missing,
            "removed_drawers": 0 if result.dry_run else result.drawers,
            "dry_run": result.dry_run,
            **({"unreachable": result.unreachable} if result.unreachable else {}),
        }
    )


SYNC = Tool(
    name="mempalace_sync",
    operation="sync_sources",
    description="List documents that were deleted from disk or are now ignored by git; apply hides them from search.",
    arguments=(
        Argument("project_dir", "The project's directory.", None, TEXT),
        Argument("wing"),
        Argument("apply"),
    ),
    hints=CHANGES,
    fields=lambda given: {"path": None if given["project_dir"] is None else Path(given["project_dir"])},
    answer=_answer_sync,
    output=shape(success=FLAG, scanned=NUMBER, dry_run=FLAG),
)

TOOLS = (SEARCH, CHECK_DUPLICATE, GET_DRAWER, LIST_DRAWERS, ADD_DRAWER, UPDATE_DRAWER, DELETE_DRAWER, SYNC)
