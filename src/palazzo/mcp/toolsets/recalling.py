"""search, read, wake_up, diary_read: recorded words, found and read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from palazzo.attention.waking import MORE
from palazzo.guard.fences import fenced
from palazzo.mcp import telling
from palazzo.mcp.telling import ENTRIES, LIST, NOTICE, TEXT, Entry, shape
from palazzo.mcp.tools import Answer, Argument, Given, Tool
from palazzo.mcp.toolsets.facts import fact_line, told_fact
from palazzo.mcp.toolsets.tasks import task_line, told_reminder, told_todo
from palazzo.operations.branches import shown_name
from palazzo.operations.diary_read import DiaryReadResult
from palazzo.operations.diff import DiffResult
from palazzo.operations.proactive_context import ProactiveContextResult, ThreadView
from palazzo.operations.search import SearchResult
from palazzo.operations.show import ShowResult
from palazzo.operations.wake_up import WakeUpResult
from palazzo.security.display_names import quoted_name, shown_place
from palazzo.text.counts import count_noun

_NARROWING = ("wing", "room", "kind", "branch", "tags", "filed_as", "since", "until", "as_of")
_TOKENS_OF_HIT, _FEWEST, _MOST = 300, 2000, 4500
"""Tokens that hits may take together: for five of them what `search` has by default, for more more."""
_ROOM_FOR_OTHERS = 5000
"""Characters that must be left beside what is read for what stands around it."""
_HEAD = 160
"""Characters that an entry takes beside its words, where many short ones are read."""


# --- search ------------------------------------------------------------------------------------------------


def _searched(given: Given) -> Mapping[str, Any]:
    return {"budget": min(max(_FEWEST, _TOKENS_OF_HIT * given["limit"]), _MOST)}


def _found(result: SearchResult, given: Given) -> Answer:
    if not result.hits:
        return Answer({"notice": _nothing(result, given), "hits": []}, _nothing(result, given))
    notice = f"{NOTICE}: the best {len(result.hits)} of {result.total_candidates:,} candidates."
    hits = [telling.of_hit(hit, given.cwd) for hit in result.hits]
    beside = [
        telling.of_neighbour(neighbour, hit, f"{hit.wing}/{hit.room}")
        for hit in result.hits
        for neighbour in hit.context
        if neighbour.hit is None and neighbour.text
    ]
    shown = list(telling.fitting([*hits, *beside]))
    told: dict[str, Any] = {
        "notice": f"{notice} {result.note}".strip(),
        "hits": [one.told for one in shown[: len(hits)]],
    }
    if beside:
        told["beside"] = [one.told for one in shown[len(hits) :]]
    return Answer(told, fenced("\n\n".join([told["notice"], *(one.lines for one in shown)])))


def _nothing(result: SearchResult, given: Given) -> str:
    narrowed = [name for name in _NARROWING if given.arguments.get(name)]
    wider = f"leave out {' and '.join(narrowed)}" if narrowed else "try a name, a path or an error as it was written"
    looked = f" ({count_noun(result.total_candidates, 'candidate')})" if result.total_candidates else ""
    return f"Nothing recorded is likely to answer this{looked}: {wider}. {result.note}".strip()


SEARCH = Tool(
    name="search",
    operation="search",
    description=(
        "Find what was said, decided, tried or written before, in all projects and sessions. "
        "Use it before asking the person or redoing something."
    ),
    arguments=(
        Argument("query", "In your own words; or names, a path, an error as written."),
        Argument("wing", "Only this project or person."),
        Argument("room", "Only this topic."),
        Argument("since", "From then on: 2026-03-04, 3d, monday."),
        Argument("until", "Before then."),
        Argument("limit", schema={"minimum": 1, "maximum": 30}),
        Argument("include_external", "Also what web pages and other strangers said.", "external", default=False),
    ),
    fields=_searched,
    answer=_found,
    output=shape(notice=TEXT, hits=ENTRIES),
    always=True,
)

SEARCH_IN_FULL = SEARCH.widened(
    Argument("kind"),
    Argument("branch", "Written on this git branch."),
    Argument("tags", "Has all of these."),
    Argument("filed_as", "Notes of these kinds: decision, learning, …"),
    Argument("as_of", "As the memory was then."),
)


# --- read --------------------------------------------------------------------------------------------------


def _read(result: ShowResult, given: Given) -> Answer:
    if result.kind == "fact":
        facts = [told_fact(one) for one in result.versions]
        notice = f"{NOTICE}: what was believed of a fact, oldest first."
        lines = "\n".join([notice, *map(fact_line, facts)])
        return Answer({"notice": notice, "entries": [], "facts": facts}, fenced(lines))
    whole = [telling.of_shown(one, given.cwd) for one in result.entries]
    place = ""
    if result.kind == "session" and whole:  # said once, instead of beside each message
        first = result.entries[0]
        place = telling.where(f"{first.wing}/{first.room}", replace(first.source, locator=""), first.title, given.cwd)
        whole = [replace(one, where="") for one in whole]
    length = sum(len(one.text) for one in whole)
    offset, shown = given["offset"], list(_window(whole, given["offset"], telling.MOST))
    around = [
        *(telling.of_shown(one, given.cwd, "before it") for one in result.before),
        *(telling.of_shown(one, given.cwd, "after it") for one in result.after),
    ]
    left = telling.MOST - sum(len(one.text) for one in shown)
    fits = left >= _ROOM_FOR_OTHERS
    entries = [*shown, *telling.fitting(around, left)] if fits and not offset else shown
    end = offset + sum(len(one.text) for one in shown)
    without = "What stands around it has no room here." if around and not fits else ""
    notice = " ".join(filter(None, (f"{NOTICE}: {_extent(result, offset, end, length)}", place, without, result.note)))
    return telling.recorded(notice, entries, "entries", next_offset=end if end < length else None)


def _window(entries: Sequence[Entry], start: int, most: int) -> Iterator[Entry]:
    """The part of the entries' words, taken as one text, that begins at `start`."""
    at, left = 0, most
    for one in entries:
        text = one.text[max(start - at, 0) :][:left]
        if text or (not one.text and start <= at and left > 0):
            yield replace(one, text=text)
            left = max(left - len(text) - _HEAD, 0)
        at += len(one.text)
        if not left:
            return


def _extent(result: ShowResult, start: int, end: int, length: int) -> str:
    what = f"{result.kind} {result.id}" + (f" of {len(result.entries)} messages" if result.kind == "session" else "")
    if not start and end >= length:
        return f"{what}, whole."
    rest = f'; read("{result.id}", offset={end}) goes on' if end < length else ""
    return f"{what}, characters {start:,} to {end:,} of {length:,}{rest}."


READ = Tool(
    name="read",
    operation="show",
    description="Read a hit, note, session or fact whole, and what stands around it.",
    arguments=(
        Argument("id", "An id, or its beginning."),
        Argument("context", "So many drawers before and after, too.", schema={"minimum": 0, "maximum": 10}),
        Argument("offset", "Character to begin at.", None, {"type": "integer", "minimum": 0}, 0),
    ),
    answer=_read,
    output=shape(notice=TEXT, entries=LIST),
    always=True,
)

READ_IN_FULL = READ.widened(Argument("as_of", "As it was then."))


# --- diff --------------------------------------------------------------------------------------------------


def _learned(result: DiffResult, given: Given) -> Answer:
    learned = f"what was learned on {shown_name(result.tip)} that {shown_name(result.base)} does not have."
    notice = f"{NOTICE}: {learned}"
    text = result.text[: telling.MOST]
    return Answer({"notice": notice, "text": text}, fenced(f"{notice}\n\n{text}"))


DIFF = Tool(
    name="diff",
    operation="diff",
    description="What was learned on a branch that another does not have: Markdown for a pull request.",
    arguments=(Argument("branches", "main..feature: what it is merged into, and the branch."), Argument("wing")),
    answer=_learned,
    output=shape(notice=TEXT, text=TEXT),
)


# --- wake_up -----------------------------------------------------------------------------------------------


def _woken(result: WakeUpResult, given: Given) -> Answer:
    notice, text = f"{NOTICE}; a sample: search for more.", result.text.removesuffix(MORE).rstrip()
    return Answer({"notice": notice, "text": text}, fenced(f"{text}\nMore: search, and read with an id."))


WAKE_UP = Tool(
    name="wake_up",
    operation="wake_up",
    description="Get your bearings at the start of work: what is open, due, decided, and was done last.",
    arguments=(Argument("wing", "Another project than this one."),),
    fields=lambda given: {"agent": given.host or None},
    answer=_woken,
    output=shape(notice=TEXT, text=TEXT),
)


WAKE_UP_IN_FULL = WAKE_UP.widened(Argument("depth"), Argument("as_of", "As the memory was then."))


# --- proactive_context -------------------------------------------------------------------------------------


def _title(title: str) -> str:
    return quoted_name(title) if title else ""


def _called_for(result: ProactiveContextResult, given: Given) -> Answer:
    memories = [
        Entry(
            one.id,
            telling.minute(one.created_at),
            " · ".join(filter(None, (shown_place(f"{one.wing}/{one.room}"), _title(one.title), one.filed_as))),
            telling.who(one.role, one.author),
            one.trust,
            one.text,
            "; ".join(filter(None, (f'cut: read("{one.id}")' if one.truncated else "", result.labels.get(one.id)))),
        )
        for one in result.memories
    ]

    def labelled(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | ({"note": label} if (label := result.labels.get(row["id"])) else {}) for row in rows]

    reminders, todos = labelled(map(told_reminder, result.reminders)), labelled(map(told_todo, result.todos))
    facts, threads = labelled(map(told_fact, result.facts)), labelled(map(_told_thread, result.threads))
    if not (memories or reminders or todos or facts or threads):
        notice = "Nothing recorded is called for by this. Use search to look for something."
        return Answer({"notice": notice, "memories": []}, notice)
    notice = f"{NOTICE}; a sample: search for more."
    told: dict[str, Any] = {"notice": notice, "memories": [one.told for one in memories]}
    others = {"reminders": reminders, "todos": todos, "facts": facts, "threads": threads}
    told |= {name: rows for name, rows in others.items() if rows}
    lines = [
        *(_noted(one, f"reminder {task_line(one)}") for one in reminders),
        *(_noted(one, f"to-do {task_line(one)}") for one in todos),
        *(_noted(one, fact_line(one)) for one in facts),
        *(_noted(one, _thread_line(one)) for one in threads),
    ]
    parts = [notice, *(one.lines for one in memories), "\n".join(lines)]
    return Answer(told, fenced("\n\n".join(filter(None, parts))))


def _noted(told: Mapping[str, Any], line: str) -> str:
    return f"{line} ({told['note']})" if "note" in told else line


def _told_thread(thread: ThreadView) -> dict[str, Any]:
    return {"id": thread.id, "when": telling.minute(thread.said_at), "by": thread.by, "text": thread.text}


def _thread_line(told: Mapping[str, Any]) -> str:
    return f"left open [{told['id']}] {told['when']} · {told['by']}: {told['text']}"


PROACTIVE_CONTEXT = Tool(
    name="proactive_context",
    operation="proactive_context",
    description="What memory has for the words at hand: memories, due reminders, to-dos, facts. Mostly nothing.",
    arguments=(Argument("context", "What is being said or done."), Argument("files", "Files at hand.")),
    fields=lambda given: {"agent": given.host or None},
    answer=_called_for,
    output=shape(notice=TEXT, memories=LIST),
)

PROACTIVE_CONTEXT_IN_FULL = PROACTIVE_CONTEXT.widened(
    Argument("wing", "Another project than this one."),
    Argument("filed_as", "Only notes of these kinds: decision, learning, …"),
    Argument("limit", "Of each kind.", schema={"minimum": 1, "maximum": 20}),
    Argument("budget", "Tokens that all of it may take.", schema={"minimum": 1, "maximum": 4000}),
)


# --- diary_read --------------------------------------------------------------------------------------------


def _diary(result: DiaryReadResult, given: Given) -> Answer:
    if not result.entries:
        return Answer({"notice": result.note, "entries": []}, result.note)
    entries = [
        Entry(
            one.id, f"{one.date}", " · ".join(filter(None, (one.project, one.topic))), one.agent, "agent", one.content
        )
        for one in result.entries
    ]
    notice = f"{NOTICE}: {result.showing} of {result.total} entries of {result.agent}, newest first."
    return telling.recorded(notice, entries, "entries")


def _whose(given: Given) -> Mapping[str, Any]:
    return {"agent": given["agent"] or given.host or "agent"}


AGENT = Argument("agent", "Whose; yours if left out.", None, {"type": "string"})

DIARY_READ = Tool(
    name="diary_read",
    operation="diary_read",
    description="Read an agent's diary, newest first.",
    arguments=(
        AGENT,
        Argument("day", "today, 2026-03-04, 'last week'."),
        Argument("limit", schema={"minimum": 1, "maximum": 50}),
    ),
    fields=_whose,
    answer=_diary,
    output=shape(notice=TEXT, entries=LIST),
)

DIARY_READ_IN_FULL = DIARY_READ.widened(Argument("project", "About this wing."), Argument("topic"))
