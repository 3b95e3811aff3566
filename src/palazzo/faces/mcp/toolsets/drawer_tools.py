"""The tools list_drawers, update_drawer, check_duplicate and dedup: list, improve and deduplicate filed content."""

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
            "; ".join(
                filter(None, ((f"{drawer.length:,} characters in total") if drawer.truncated else "", drawer.label))
            ),
        )
        for drawer in result.drawers
    ]
    end = result.offset + len(entries)
    extent = f"{result.offset + 1:,} to {end:,}" if entries else "none"
    notice = f"{NOTICE}: {extent} of {result.total:,}, newest first, only the beginnings."
    next_offset = end if end < result.total else None
    return entry_lines.answer_entries(notice, entries, "drawers", total=result.total, next_offset=next_offset)


LIST_DRAWERS = Tool(
    name="list_drawers",
    operation="list_drawers",
    description="List what is filed in a place, newest first. To find something, use search.",
    arguments=(
        Argument("wing"),
        Argument("room"),
        Argument("kind"),
        Argument("filed_as", "Notes of these kinds: decision, learning, …"),
        Argument("tags", "Must have all these tags."),
        Argument("since", "From this time on."),
        Argument("until", "Before then.", alias="before"),
        Argument("limit", schema={"minimum": 1, "maximum": _MOST}),
        Argument("offset", "Number of entries to skip.", schema={"minimum": 0}),
    ),
    answer=_answer_list,
    output=shape(notice=TEXT, drawers=LIST),
)


# --- update_drawer -----------------------------------------------------------------------------------------


def _updated(result: UpdateDrawerResult, call: CallArguments) -> Answer:
    place = f"{result.wing}/{result.room}"
    fields = {"id": result.id, "where": place, "replaced": list(result.replaced), "change": result.change}
    if result.change is None:
        return Answer(fields, f"{result.id} in {place} is already up to date; nothing was changed.")
    instead = f" instead of {', '.join(result.replaced)}" if result.replaced else ""
    return Answer(fields, f"{result.id} is now in {place}{instead}. undo reverts this.")


def _instead(call: CallArguments) -> Mapping[str, Any]:
    return {"by": call.host}


UPDATE_DRAWER = Tool(
    name="update_drawer",
    operation="update_drawer",
    description="Replace a drawer's text, or move it. The old text is kept, but search does not find it.",
    arguments=(
        Argument("id"),
        Argument("text", "The new text."),
        Argument("wing", "Move it to this wing."),
        Argument("room", "Move it to this room."),
    ),
    hints=CHANGES,
    fields=_instead,
    answer=_updated,
    output=shape(id=TEXT, where=TEXT, replaced=LIST),
)


# --- check_duplicate ---------------------------------------------------------------------------------------


def _duplicates(result: CheckDuplicateResult, call: CallArguments) -> Answer:
    notice = f"{NOTICE}: already stored, word for word or nearly." if result.is_duplicate else "Not stored yet."
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
    description="Check whether the memory already has a text, word for word or nearly.",
    arguments=(
        Argument("text"),
        Argument("wing"),
        Argument("threshold", "Share of the text that must be there.", schema={"minimum": 0, "maximum": 1}),
    ),
    answer=_duplicates,
    output=shape(notice=TEXT, is_duplicate=FLAG, matches=LIST),
)


# --- dedup -------------------------------------------------------------------------------------------------


def _answer_dedup(result: DedupResult, call: CallArguments) -> Answer:
    n = count_noun(len(result.folded), "drawer")
    did = f"{n} would be folded" if result.dry_run else f"{n} folded; undo restores all of them"
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
    description="Find notes of one wing that say the same; dry_run=false removes all but one of each from search.",
    arguments=(
        Argument("threshold", "Required similarity.", schema={"minimum": 0, "maximum": 1}),
        Argument("wing", "Only in this wing."),
        Argument("dry_run", "Only report what would change, unless this is false.", default=True),
    ),
    hints=CHANGES,
    answer=_answer_dedup,
    output=shape(notice=TEXT, dry_run=FLAG, clusters=LIST),
)
