"""list_drawers, update_drawer, check_duplicate, dedup: what is filed, saying something better, and saying it once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palazzo.guard.fences import fenced
from palazzo.mcp import telling
from palazzo.mcp.telling import FLAG, LIST, NOTICE, TEXT, Entry, shape
from palazzo.mcp.tools import CHANGES, Answer, Argument, Given, Tool
from palazzo.operations.check_duplicate import CheckDuplicateResult
from palazzo.operations.dedup import DedupResult
from palazzo.operations.list_drawers import ListDrawersResult
from palazzo.operations.update_drawer import UpdateDrawerResult
from palazzo.text.counts import count_noun

_MOST = 50


# --- list_drawers ------------------------------------------------------------------------------------------


def _listed(result: ListDrawersResult, given: Given) -> Answer:
    entries = [
        Entry(
            one.id,
            telling.minute(one.created_at),
            telling.where(f"{one.wing}/{one.room}", one.source, one.title, given.cwd, one.filed_as),
            telling.who(one.role, one.author),
            one.trust,
            one.text,
            "; ".join(filter(None, (f"{one.length:,} characters in all" if one.truncated else "", one.label))),
        )
        for one in result.drawers
    ]
    end = result.offset + len(entries)
    shown = f"{result.offset + 1:,} to {end:,}" if entries else "none"
    notice = f"{NOTICE}: {shown} of {result.total:,}, newest first, by how they begin."
    following = end if end < result.total else None
    return telling.recorded(notice, entries, "drawers", total=result.total, next_offset=following)


LIST_DRAWERS = Tool(
    name="list_drawers",
    operation="list_drawers",
    description="Browse what is filed in a place, newest first. To find something, use search.",
    arguments=(
        Argument("wing"),
        Argument("room"),
        Argument("kind"),
        Argument("filed_as", "Notes of these kinds: decision, learning, …"),
        Argument("tags", "Has all of these."),
        Argument("since", "From then on."),
        Argument("before", "Before then."),
        Argument("limit", schema={"minimum": 1, "maximum": _MOST}),
        Argument("offset", "How many to skip.", schema={"minimum": 0}),
    ),
    answer=_listed,
    output=shape(notice=TEXT, drawers=LIST),
)


# --- update_drawer -----------------------------------------------------------------------------------------


def _updated(result: UpdateDrawerResult, given: Given) -> Answer:
    place = f"{result.wing}/{result.room}"
    told = {"id": result.id, "where": place, "replaced": list(result.replaced), "change": result.change}
    if result.change is None:
        return Answer(told, f"{result.id} in {place} says so already; nothing was changed.")
    instead = f" instead of {', '.join(result.replaced)}" if result.replaced else ""
    return Answer(told, f"{result.id} stands in {place}{instead}. undo takes this back.")


def _instead(given: Given) -> Mapping[str, Any]:
    return {"by": given.host}


UPDATE_DRAWER = Tool(
    name="update_drawer",
    operation="update_drawer",
    description="Say something better than a drawer does, or file it elsewhere. The old words are kept, not found.",
    arguments=(
        Argument("id"),
        Argument("text", "What to say instead."),
        Argument("wing", "File it in this wing."),
        Argument("room", "File it in this room."),
    ),
    hints=CHANGES,
    fields=_instead,
    answer=_updated,
    output=shape(id=TEXT, where=TEXT, replaced=LIST),
)


# --- check_duplicate ---------------------------------------------------------------------------------------


def _duplicates(result: CheckDuplicateResult, given: Given) -> Answer:
    notice = f"{NOTICE}: said already, to the word or nearly." if result.is_duplicate else "Not said yet."
    matches = [
        {"id": one.id, "similarity": round(one.similarity, 3), "where": f"{one.wing}/{one.room}", "text": one.text}
        for one in result.matches
    ]
    lines = [f"[{one['id']}] {one['similarity']} {one['where']}: {one['text']}" for one in matches]
    told = {"notice": notice, "is_duplicate": result.is_duplicate, "matches": matches}
    return Answer(told, fenced("\n".join([notice, *lines])) if matches else notice)


CHECK_DUPLICATE = Tool(
    name="check_duplicate",
    operation="check_duplicate",
    description="Whether a text is in the memory already, to the word or nearly.",
    arguments=(
        Argument("text"),
        Argument("wing"),
        Argument("threshold", "Share of it that must be there.", schema={"minimum": 0, "maximum": 1}),
    ),
    answer=_duplicates,
    output=shape(notice=TEXT, is_duplicate=FLAG, matches=LIST),
)


# --- dedup -------------------------------------------------------------------------------------------------


def _folded(result: DedupResult, given: Given) -> Answer:
    n = count_noun(len(result.folded), "drawer")
    did = f"{n} would be folded" if result.dry_run else f"{n} folded; undo brings all of them back"
    notice = f"{NOTICE}: {did}." if result.clusters else "No notes say the same."
    clusters = [
        {"survivor": one.survivor, "copies": list(one.copies), "where": f"{one.wing}/{one.room}",
         "similarity": round(one.similarity, 3), "text": one.text}
        for one in result.clusters[:_MOST]
    ]  # fmt: skip
    lines = [f"[{one['survivor']}] stays for {', '.join(one['copies'])}: {one['text']}" for one in clusters]  # type: ignore[arg-type]
    told = {"notice": notice, "dry_run": result.dry_run, "clusters": clusters, "change": result.change}
    return Answer(told, fenced("\n".join([notice, *lines])) if clusters else notice)


DEDUP = Tool(
    name="dedup",
    operation="dedup",
    description="Notes of one wing that say the same; with dry_run=false all but one of each are found no longer.",
    arguments=(
        Argument("threshold", "How alike they must be.", schema={"minimum": 0, "maximum": 1}),
        Argument("wing", "Only in this wing."),
        Argument("dry_run", "Only says what it would do unless this is false.", default=True),
    ),
    hints=CHANGES,
    answer=_folded,
    output=shape(notice=TEXT, dry_run=FLAG, clusters=LIST),
)
