"""The tools search, read, wake_up and diary_read: find and read recorded words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from palazzo.faces.mcp import entry_lines
from palazzo.faces.mcp.entry_lines import ENTRIES, LIST, NOTICE, TEXT, Entry, shape
from palazzo.faces.mcp.tool import Answer, Argument, CallArguments, Tool
from palazzo.faces.mcp.toolsets.fact_tools import fact_line, told_fact
from palazzo.faces.mcp.toolsets.task_tools import task_line, told_reminder, told_todo
from palazzo.features.branches.branch_labels import shown_name
from palazzo.features.branches.diff import DiffResult
from palazzo.features.diary.diary_read import DiaryReadResult
from palazzo.features.search.search import SearchResult
from palazzo.features.search.show_results import ShowResult
from palazzo.features.wakeup.proactive_context import ProactiveContextResult, ThreadView
from palazzo.features.wakeup.wake_up import WakeUpResult
from palazzo.injection.wake_up_text import MORE
from palazzo.security.display_names import quoted_name, shown_place
from palazzo.security.fences import fence_text
from palazzo.text.count_phrases import count_noun

_FILTER_NAMES = ("wing", "room", "kind", "branch", "tags", "filed_as", "since", "until", "as_of")
_TOKENS_OF_HIT, _FEWEST, _MOST = 300, 2000, 4500
"""Maximum tokens of all hits together: for five hits the default of `search`, for more hits more."""
_ROOM_FOR_OTHERS = 5000
"""Minimum characters that must remain after the requested text to show its context."""
_HEAD = 160
"""Characters of an entry besides its words, when many short entries are read."""


# --- search ------------------------------------------------------------------------------------------------


def _fill_search(call: CallArguments) -> Mapping[str, Any]:
    return {"budget": min(max(_FEWEST, _TOKENS_OF_HIT * call["limit"]), _MOST)}


def _answer_search(result: SearchResult, call: CallArguments) -> Answer:
    if not result.hits:
        return Answer({"notice": _nothing(result, call), "hits": []}, _nothing(result, call))
    notice = f"{NOTICE}: the best {len(result.hits)} of {result.total_candidates:,} candidates."
    hits = [entry_lines.of_hit(hit, call.cwd) for hit in result.hits]
    neighbours = [
        entry_lines.of_neighbour(neighbour, hit, f"{hit.wing}/{hit.room}")
        for hit in result.hits
        for neighbour in hit.context
        if neighbour.hit is None and neighbour.text
    ]
    entries = list(entry_lines.fit_entries([*hits, *neighbours]))
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
    operation="search",
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
)


# --- read --------------------------------------------------------------------------------------------------


def _read(result: ShowResult, call: CallArguments) -> Answer:
    if result.kind == "fact":
        facts = [told_fact(entry) for entry in result.versions]
        notice = f"{NOTICE}: the history of a fact, oldest first."
        lines = "\n".join([notice, *map(fact_line, facts)])
        return Answer({"notice": notice, "entries": [], "facts": facts}, fence_text(lines))
    whole = [entry_lines.of_shown(entry, call.cwd) for entry in result.entries]
    place = ""
    if result.kind == "session" and whole:  # said once, instead of beside each message
        first = result.entries[0]
        place = entry_lines.describe_place(
            f"{first.wing}/{first.room}", replace(first.source, locator=""), first.title, call.cwd
        )
        whole = [replace(entry, where="") for entry in whole]
    length = sum(len(entry.text) for entry in whole)
    offset, window = call["offset"], list(_window(whole, call["offset"], entry_lines.MOST))
    around = [
        *(entry_lines.of_shown(entry, call.cwd, "before it") for entry in result.before),
        *(entry_lines.of_shown(entry, call.cwd, "after it") for entry in result.after),
    ]
    remaining_chars = entry_lines.MOST - sum(len(entry.text) for entry in window)
    fits = remaining_chars >= _ROOM_FOR_OTHERS
    entries = [*window, *entry_lines.fit_entries(around, remaining_chars)] if fits and not offset else window
    end = offset + sum(len(entry.text) for entry in window)
    omission_note = "There is no room for its context here." if around and not fits else ""
    notice = " ".join(
        filter(None, (f"{NOTICE}: {_extent(result, offset, end, length)}", place, omission_note, result.note))
    )
    return entry_lines.answer_entries(notice, entries, "entries", next_offset=end if end < length else None)


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


# --- diff --------------------------------------------------------------------------------------------------


def _answer_diff(result: DiffResult, call: CallArguments) -> Answer:
    description = f"learned on {shown_name(result.tip)} and missing on {shown_name(result.base)}."
    notice = f"{NOTICE}: {description}"
    text = result.text[: entry_lines.MOST]
    return Answer({"notice": notice, "text": text}, fence_text(f"{notice}\n\n{text}"))


DIFF = Tool(
    name="diff",
    operation="diff",
    description="List what was learned on a branch that another branch lacks: Markdown for a pull request.",
    arguments=(Argument("branches", "main..feature: the branch to merge into, and the branch."), Argument("wing")),
    answer=_answer_diff,
    output=shape(notice=TEXT, text=TEXT),
)


# --- wake_up -----------------------------------------------------------------------------------------------


def _answer_wake_up(result: WakeUpResult, call: CallArguments) -> Answer:
    notice, text = f"{NOTICE}; a sample: search for more.", result.text.removesuffix(MORE).rstrip()
    return Answer({"notice": notice, "text": text}, fence_text(f"{text}\nMore: search, and read with an id."))


WAKE_UP = Tool(
    name="wake_up",
    operation="wake_up",
    description="Get oriented when you start: open and due tasks, decisions, last work.",
    arguments=(Argument("wing", "A project other than this one."),),
    fields=lambda given: {"agent": given.host or None},
    answer=_answer_wake_up,
    output=shape(notice=TEXT, text=TEXT),
)


WAKE_UP_IN_FULL = WAKE_UP.with_arguments(Argument("depth"), Argument("as_of", "The state of the memory at this time."))


# --- proactive_context -------------------------------------------------------------------------------------


def _title(title: str) -> str:
    return quoted_name(title) if title else ""


def _called_for(result: ProactiveContextResult, call: CallArguments) -> Answer:
    memories = [
        Entry(
            record.id,
            entry_lines.minute(record.created_at),
            " · ".join(
                filter(None, (shown_place(f"{record.wing}/{record.room}"), _title(record.title), record.filed_as))
            ),
            entry_lines.describe_speakers(record.role, record.author),
            record.trust,
            record.text,
            "; ".join(
                filter(None, (f'cut: read("{record.id}")' if record.truncated else "", result.labels.get(record.id)))
            ),
        )
        for record in result.memories
    ]

    def add_labels(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | ({"note": label} if (label := result.labels.get(row["id"])) else {}) for row in rows]

    reminders, todos = add_labels(map(told_reminder, result.reminders)), add_labels(map(told_todo, result.todos))
    facts, threads = add_labels(map(told_fact, result.facts)), add_labels(map(_told_thread, result.threads))
    if not (memories or reminders or todos or facts or threads):
        notice = "Nothing recorded is relevant to this. Use search to look for something."
        return Answer({"notice": notice, "memories": []}, notice)
    notice = f"{NOTICE}; a sample: search for more."
    fields: dict[str, Any] = {"notice": notice, "memories": [record.json_fields for record in memories]}
    sections = {"reminders": reminders, "todos": todos, "facts": facts, "threads": threads}
    fields |= {name: rows for name, rows in sections.items() if rows}
    lines = [
        *(_append_note(record, f"reminder {task_line(record)}") for record in reminders),
        *(_append_note(record, f"to-do {task_line(record)}") for record in todos),
        *(_append_note(record, fact_line(record)) for record in facts),
        *(_append_note(record, _thread_line(record)) for record in threads),
    ]
    parts = [notice, *(record.lines for record in memories), "\n".join(lines)]
    return Answer(fields, fence_text("\n\n".join(filter(None, parts))))


def _append_note(row: Mapping[str, Any], line: str) -> str:
    return f"{line} ({row['note']})" if "note" in row else line


def _told_thread(thread: ThreadView) -> dict[str, Any]:
    return {"id": thread.id, "when": entry_lines.minute(thread.said_at), "by": thread.by, "text": thread.text}


def _thread_line(thread: Mapping[str, Any]) -> str:
    return f"left open [{thread['id']}] {thread['when']} · {thread['by']}: {thread['text']}"


PROACTIVE_CONTEXT = Tool(
    name="proactive_context",
    operation="proactive_context",
    description="Get memories, due reminders, to-dos and facts relevant to the current words. Usually none.",
    arguments=(Argument("context", "The current words or action."), Argument("files", "Files in use.")),
    fields=lambda given: {"agent": given.host or None},
    answer=_called_for,
    output=shape(notice=TEXT, memories=LIST),
)

PROACTIVE_CONTEXT_IN_FULL = PROACTIVE_CONTEXT.with_arguments(
    Argument("wing", "A project other than this one."),
    Argument("filed_as", "Only notes of these kinds: decision, learning, …"),
    Argument("limit", "Limit for each kind.", schema={"minimum": 1, "maximum": 20}),
    Argument("budget", "Token limit for the whole result.", schema={"minimum": 1, "maximum": 4000}),
)


# --- diary_read --------------------------------------------------------------------------------------------


def _diary(result: DiaryReadResult, call: CallArguments) -> Answer:
    if not result.entries:
        return Answer({"notice": result.note, "entries": []}, result.note)
    entries = [
        Entry(
            entry.id,
            f"{entry.date}",
            " · ".join(filter(None, (entry.project, entry.topic))),
            entry.agent,
            "agent",
            entry.content,
        )
        for entry in result.entries
    ]
    notice = f"{NOTICE}: {result.showing} of {result.total} entries of {result.agent}, newest first."
    return entry_lines.answer_entries(notice, entries, "entries")


def _fill_agent(call: CallArguments) -> Mapping[str, Any]:
    return {"agent": call["agent"] or call.host or "agent"}


AGENT = Argument("agent", "Agent name; default: yours.", None, {"type": "string"})

DIARY_READ = Tool(
    name="diary_read",
    operation="diary_read",
    description="Read an agent's diary, newest first.",
    arguments=(
        AGENT,
        Argument("day", "today, 2026-03-04, 'last week'."),
        Argument("limit", schema={"minimum": 1, "maximum": 50}),
    ),
    fields=_fill_agent,
    answer=_diary,
    output=shape(notice=TEXT, entries=LIST),
)

DIARY_READ_IN_FULL = DIARY_READ.with_arguments(Argument("project", "About this wing."), Argument("topic"))
