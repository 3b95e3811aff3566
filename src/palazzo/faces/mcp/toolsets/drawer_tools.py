"""list_drawers, update_drawer, check_duplicate, dedup: what is filed, saying something better, and saying it once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palazzo.faces.mcp import entry_lines
from palazzo.faces.mcp.entry_lines import FLAG, LIST, NOTICE, TEXT, Entry, shape
from palazzo.faces.mcp.tool import CHANGES, Answer, Argument, CallArguments, Tool
from palazzo.features.notes.update_drawer import UpdateDrawerResult
from palazzo.features.search.check_duplicate import CheckDuplicateResult
from palazzo.features.search.list_drawers import ListDrawersResult
from palazzo.features.upkeep.dedup import DedupResult
from palazzo.security.fences import fence_text
from palazzo.text.count_phrases import count_noun

_MOST = 50


# --- list_drawers ------------------------------------------------------------------------------------------


def _answer_list(result: ListDrawersResult, call: CallArguments) -> Answer:
    entries = [
        Entry(
            drawer.id,
            entry_lines.minute(drawer.created_at),
            entry_lines.describe_place(
                f"{drawer.wing}/{drawer.room}", drawer.source, drawer.title, call.cwd, drawer.filed_as
            ),
            entry_lines.describe_speakers(drawer.role, drawer.author),
            drawer.trust,
            drawer.text,
            "; ".join(filter(None, (f"{drawer.length:,} characters in all" if drawer.truncated else "", drawer.label))),
        )
        for drawer in result.drawers
    ]
    end = result.offset + len(entries)
    extent = f"{result.offset + 1:,} to {end:,}" if entries else "none"
    notice = f"{NOTICE}: {extent} of {result.total:,}, newest first, by how they begin."
    next_offset = end if end < result.total else None
    return entry_lines.answer_entries(notice, entries, "drawers", total=result.total, next_offset=next_offset)


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
    answer=_answer_list,
    output=shape(notice=TEXT, drawers=LIST),
)


# --- update_drawer -----------------------------------------------------------------------------------------


def _updated(result: UpdateDrawerResult, call: CallArguments) -> Answer:
    place = f"{result.wing}/{result.room}"
    fields = {"id": result.id, "where": place, "replaced": list(result.replaced), "change": result.change}
    if result.change is None:
        return Answer(fields, f"{result.id} in {place} says so already; nothing was changed.")
    instead = f" instead of {', '.join(result.replaced)}" if result.replaced else ""
    return Answer(fields, f"{result.id} stands in {place}{instead}. undo takes this back.")


def _instead(call: CallArguments) -> Mapping[str, Any]:
    return {"by": call.host}


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


def _duplicates(result: CheckDuplicateResult, call: CallArguments) -> Answer:
    notice = f"{NOTICE}: said already, to the word or nearly." if result.is_duplicate else "Not said yet."
    matches = [
        {
            "id": match.id,
            "similarity": round(match.similarity, 3),
            "where": f"{match.wing}/{match.room}",
            "text": match.text,
        }
        for match in result.matches
    ]
    lines = [f"[{match['id']}] {match['similarity']} {match['where']}: {match['text']}" for match in matches]
    fields = {"notice": notice, "is_duplicate": result.is_duplicate, "matches": matches}
    return Answer(fields, fence_text("\n".join([notice, *lines])) if matches else notice)


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


def _answer_dedup(result: DedupResult, call: CallArguments) -> Answer:
    n = count_noun(len(result.folded), "drawer")
    did = f"{n} would be folded" if result.dry_run else f"{n} folded; undo brings all of them back"
    notice = f"{NOTICE}: {did}." if result.clusters else "No notes say the same."
    clusters = [
        {"survivor": cluster.survivor, "copies": list(cluster.copies), "where": f"{cluster.wing}/{cluster.room}",
         "similarity": round(cluster.similarity, 3), "text": cluster.text}
        for cluster in result.clusters[:_MOST]
    ]  # fmt: skip
    lines = [
        f"[{cluster.survivor}] stays for {', '.join(cluster.copies)}: {cluster.text}"
        for cluster in result.clusters[:_MOST]
    ]
    fields = {"notice": notice, "dry_run": result.dry_run, "clusters": clusters, "change": result.change}
    return Answer(fields, fence_text("\n".join([notice, *lines])) if clusters else notice)


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
    answer=_answer_dedup,
    output=shape(notice=TEXT, dry_run=FLAG, clusters=LIST),
)
