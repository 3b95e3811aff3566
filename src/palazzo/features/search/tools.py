"""Tools to search, read and list what is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from palazzo.features.facts.tools import fact_line, told_fact
from palazzo.features.search import hit_entries
from palazzo.features.search.contract import CheckDuplicateResult, ListDrawersResult, SearchResult, ShowResult
from palazzo.operations.agent_tools import tool_answers
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import ENTRIES, FLAG, LIST, NOTICE, TEXT, Entry, shape
from palazzo.security.fences import fence_text
from palazzo.text.count_phrases import count_noun

_MOST_LISTED = 50


def _answer_list(result: ListDrawersResult, call: CallArguments) -> Answer:
    entries = [
        Entry(
            drawer.id,
            tool_answers.minute(drawer.created_at),
            hit_entries.describe_place(
                f"{drawer.wing}/{drawer.room}", drawer.source, drawer.title, call.cwd, drawer.filed_as
            ),
            hit_entries.describe_speakers(drawer.role, drawer.author),
            drawer.trust,
            drawer.text,
            "; ".join(
                filter(
                    None,
                    (
                        *hit_entries.describe_kind(drawer.kind),
                        f"{drawer.length:,} characters in total" if drawer.truncated else "",
                        drawer.label,
                    ),
                )
            ),
        )
        for drawer in result.drawers
    ]
    end = result.offset + len(entries)
    extent = f"{result.offset + 1:,} to {end:,}" if entries else "none"
    notice = f"{NOTICE}: {extent} of {result.total:,}, newest first, only the beginnings."
    next_offset = end if end < result.total else None
    return tool_answers.answer_entries(notice, entries, "drawers", total=result.total, next_offset=next_offset)


LIST_DRAWERS = Tool(
    name="list_drawers",
    description="List what is filed in a place, newest first. To find something, use search.",
    arguments=(
        Argument("wing"),
        Argument("room"),
        Argument("kind"),
        Argument("filed_as", "Notes of these kinds: decision, learning, …"),
        Argument("tags", "Must have all these tags."),
        Argument("since", "From this time on."),
        Argument("until", "Before then.", alias="before"),
        Argument("limit", schema={"minimum": 1, "maximum": _MOST_LISTED}),
        Argument("offset", "Number of entries to skip.", schema={"minimum": 0}),
    ),
    answer=_answer_list,
    output=shape(notice=TEXT, drawers=LIST),
)


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
    description="Check whether the memory already has a text, word for word or nearly.",
    arguments=(
        Argument("text"),
        Argument("wing"),
        Argument("threshold", "Share of the text that must be there.", schema={"minimum": 0, "maximum": 1}),
    ),
    answer=_duplicates,
    output=shape(notice=TEXT, is_duplicate=FLAG, matches=LIST),
)


_FILTER_NAMES = ("wing", "room", "kind", "branch", "tags", "filed_as", "since", "until", "as_of")


_TOKENS_OF_HIT, _FEWEST_TOKENS, _MOST_TOKENS = 300, 2000, 4500
"""Maximum tokens of all hits together: for five hits the default of `search`, for more hits more."""


_ROOM_FOR_OTHERS = 5000
"""Minimum characters that must remain after the requested text to show its context."""


_HEAD = 160
"""Characters of an entry besides its words, when many short entries are read."""


def _fill_search(call: CallArguments) -> Mapping[str, Any]:
    return {"budget": min(max(_FEWEST_TOKENS, _TOKENS_OF_HIT * call["limit"]), _MOST_TOKENS)}


def _answer_search(result: SearchResult, call: CallArguments) -> Answer:
    if not result.hits:
        return Answer({"notice": _nothing(result, call), "hits": []}, _nothing(result, call))
    notice = f"{NOTICE}: the best {len(result.hits)} of {result.total_candidates:,} candidates."
    if result.uncertain:
        notice += " All are weak: probably none of them answers."
    hits = [hit_entries.of_hit(hit, call.cwd) for hit in result.hits]
    neighbours = [
        hit_entries.of_neighbour(neighbour, hit, f"{hit.wing}/{hit.room}")
        for hit in result.hits
        for neighbour in hit.context
        if neighbour.hit is None and neighbour.text
    ]
    entries = list(tool_answers.fit_entries([*hits, *neighbours]))
    fields: dict[str, Any] = {
        "notice": f"{notice} {result.note}".strip(),
        "hits": [entry.json_fields for entry in entries[: len(hits)]],
    }
    if neighbours:
        fields["beside"] = [entry.json_fields for entry in entries[len(hits) :]]
    return Answer(fields, fence_text("\n\n".join([fields["notice"], *(entry.lines for entry in entries)])))


def _nothing(result: SearchResult, call: CallArguments) -> str:
    filters = [name for name in _FILTER_NAMES if call.arguments.get(name)]
    wider = f"leave out {' and '.join(filters)}" if filters else "try a name, a path or an exact error message"
    candidate_note = f" ({count_noun(result.total_candidates, 'candidate')})" if result.total_candidates else ""
    return f"Nothing recorded is likely to answer this{candidate_note}: {wider}. {result.note}".strip()


SEARCH = Tool(
    name="search",
    description=(
        "Find what was said, decided, tried or written earlier, in all projects and sessions. Use it before asking "
        "the person or redoing work."
    ),
    arguments=(
        Argument("query", "Your own words, names, a path or an exact error message."),
        Argument("wing", "Only this project or person."),
        Argument("room", "Only this topic."),
        Argument("since", "From this time: 2026-03-04, 3d, monday."),
        Argument("until", "Before then."),
        Argument("limit", schema={"minimum": 1, "maximum": 30}),
        Argument("include_external", "Also untrusted content, such as web pages.", "external", default=False),
    ),
    fields=_fill_search,
    answer=_answer_search,
    output=shape(notice=TEXT, hits=ENTRIES),
    always=True,
)


SEARCH_IN_FULL = SEARCH.with_arguments(
    Argument("kind"),
    Argument("branch", "Only what was written on this git branch."),
    Argument("tags", "Must have all these tags."),
    Argument("filed_as", "Notes of these kinds: decision, learning, …"),
    Argument("as_of", "The state of the memory at this time."),
    Argument("team", "Also what teammates share."),
)


def _read(result: ShowResult, call: CallArguments) -> Answer:
    if result.kind == "fact":
        facts = [told_fact(entry) for entry in result.versions]
        notice = f"{NOTICE}: the history of a fact, oldest first."
        lines = "\n".join([notice, *map(fact_line, facts)])
        return Answer({"notice": notice, "entries": [], "facts": facts}, fence_text(lines))
    whole = [hit_entries.of_shown(entry, call.cwd) for entry in result.entries]
    place = ""
    if result.kind == "session" and whole:  # said once, instead of beside each message
        first = result.entries[0]
        place = hit_entries.describe_place(
            f"{first.wing}/{first.room}", replace(first.source, locator=""), first.title, call.cwd
        )
        whole = [replace(entry, where="") for entry in whole]
    length = sum(len(entry.text) for entry in whole)
    offset, window = call["offset"], list(_window(whole, call["offset"], tool_answers.MOST))
    around = [
        *(hit_entries.of_shown(entry, call.cwd, "before it") for entry in result.before),
        *(hit_entries.of_shown(entry, call.cwd, "after it") for entry in result.after),
    ]
    remaining_chars = tool_answers.MOST - sum(len(entry.text) for entry in window)
    fits = remaining_chars >= _ROOM_FOR_OTHERS
    entries = [*window, *tool_answers.fit_entries(around, remaining_chars)] if fits and not offset else window
    end = offset + sum(len(entry.text) for entry in window)
    omission_note = "There is no room for its context here." if around and not fits else ""
    notice = " ".join(
        filter(None, (f"{NOTICE}: {_extent(result, offset, end, length)}", place, omission_note, result.note))
    )
    return tool_answers.answer_entries(notice, entries, "entries", next_offset=end if end < length else None)


def _window(entries: Sequence[Entry], start: int, most: int) -> Iterator[Entry]:
    """Yield the part of the entries' texts, taken as one text, that begins at `start`."""
    at, remaining_chars = 0, most
    for entry in entries:
        text = entry.text[max(start - at, 0) :][:remaining_chars]
        if text or (not entry.text and start <= at and remaining_chars > 0):
            yield replace(entry, text=text)
            remaining_chars = max(remaining_chars - len(text) - _HEAD, 0)
        at += len(entry.text)
        if not remaining_chars:
            return


def _extent(result: ShowResult, start: int, end: int, length: int) -> str:
    subject = f"{result.kind} {result.id}" + (f" of {len(result.entries)} messages" if result.kind == "session" else "")
    if not start and end >= length:
        return f"{subject}, whole."
    rest = f'; continue with read("{result.id}", offset={end})' if end < length else ""
    return f"{subject}, characters {start:,} to {end:,} of {length:,}{rest}."


READ = Tool(
    name="read",
    operation="show",
    description="Read a whole hit, note, session or fact, and its context.",
    arguments=(
        Argument("id", "An id or its beginning."),
        Argument("context", "Drawers before and after it to include.", schema={"minimum": 0, "maximum": 10}),
        Argument("offset", "Character to start at.", None, {"type": "integer", "minimum": 0}, 0),
    ),
    answer=_read,
    output=shape(notice=TEXT, entries=LIST),
    always=True,
)


READ_IN_FULL = READ.with_arguments(Argument("as_of", "Its state at this time."))


CORE = (
    SEARCH,
    READ,
)


FULL = (
    SEARCH_IN_FULL,
    READ_IN_FULL,
    LIST_DRAWERS,
    CHECK_DUPLICATE,
)
