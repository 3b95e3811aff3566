"""A palace as Markdown pages: a directory for each wing, one for each room in it, a page for each day.

    README.md                    wings and rooms, and the size of each
    facts.md                     facts that hold everywhere
    <wing>/facts.md              facts of a wing
    <wing>/to-dos.md             to-dos and reminders, with their current state
    <wing>/<room>/2026-03-04.md  what was said and filed on that day (UTC), diaries among it; `undated.md`

Every live drawer is on one page, its text complete and in a fence that nothing in the text can end. The text around it
(titles, names) is inert. Left out are rows that a host wrote for itself, forgotten text, versions of facts that are no
longer believed, and the history of changes. The same palace makes the same pages.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

from palazzo.archive.archive_reader import SPAN_SEPARATOR, read_drawers
from palazzo.frozen_class import frozen
from palazzo.knowledge.facts_as_of import Beliefs, Fact
from palazzo.model import Drawer, Micros
from palazzo.store import drawer_neighbours, drawers, fact_rows, note_labels, place_rows, task_rows
from palazzo.store.database import Connection
from palazzo.store.drawer_listing import Listing, ListingRow, list_drawers
from palazzo.store.drawer_neighbours import Speaker
from palazzo.store.entity_rows import LATEST
from palazzo.store.note_labels import NO_LABEL, Label
from palazzo.store.task_rows import Task
from palazzo.sync.page_tree import Tree, safe_names
from palazzo.text.inert import inert
from palazzo.text.times import to_iso
from palazzo.text.visible import escape_controls

_AT_ONCE = 200
"""Number of drawers that are read at once."""
_NO_DATE = "undated"
_TASKS = frozenset(["todo", "reminder"])
_FACTS, _TO_DOS, _README = "facts.md", "to-dos.md", "README.md"
_BACKTICKS = re.compile(r"`+")
Progress = Callable[[int, int], None]
"""Called with (drawers written, all drawers)."""


@dataclass(slots=True)
class PageCounts:
    """Counts of what the written pages contain."""

    drawers: int = 0
    facts: int = 0
    tasks: int = 0
    pages: int = 0
    rooms: Counter[tuple[str, str]] = field(default_factory=Counter)


@frozen
class PageSelection:
    """The content to write: drawers, and either all facts, or the facts of a `wing` and those that the drawers state.

    `filter` is the restriction, by option; empty if everything is written.
    """

    drawers: Listing
    filter: Mapping[str, Any] = field(default_factory=dict)

    @property
    def all_facts(self) -> bool:
        """Return whether facts count that are written in no drawer."""
        return not self.filter

    @property
    def wing(self) -> str | None:
        """Return the wing that is the only filter."""
        return self.filter["wing"] if [*self.filter] == ["wing"] else None


def write(connection: Connection, selection: PageSelection, tree: Tree, progress: Progress | None = None) -> PageCounts:
    """Write the selected content into a tree."""
    entries = list_drawers(connection, selection.drawers)
    names = safe_names(place_rows.wing_names(connection), [_README, _FACTS])
    page_counts = PageCounts()
    items: set[str] = set()
    for wing, of_wing in groupby(entries, key=lambda one: one.wing):
        for _ in _wing(connection, names[wing], list(of_wing), tree, page_counts, items):
            if progress is not None:
                progress(page_counts.drawers + page_counts.tasks, len(entries))
    for place, own in _facts(connection, selection, items):
        tree.write(_FACTS if place is None else f"{names[place]}/{_FACTS}", _fact_page(place, own))
        page_counts.facts += len(own)
    tree.write(_README, _readme(page_counts, names, selection.filter))
    page_counts.pages = len(tree.pages)
    return page_counts


def _wing(
    connection: Connection,
    name: str,
    entries: Sequence[ListingRow],
    tree: Tree,
    page_counts: PageCounts,
    items: set[str],
) -> Iterator[None]:
    """Write the pages of a wing; yield after each."""
    rooms = safe_names(place_rows.room_names(connection, entries[0].wing), [_FACTS, _TO_DOS])
    days = sorted(entries, key=lambda one: (one.room, day_of(one.created_at)))
    for (room, day), of_day in groupby(
        (entry for entry in days if entry.kind not in _TASKS), key=lambda one: (one.room, day_of(one.created_at))
    ):
        day_entries = list(of_day)
        tree.write(f"{name}/{rooms[room]}/{day}.md", _page(connection, day_entries, day, items))
        page_counts.drawers += len(day_entries)
        page_counts.rooms[day_entries[0].wing, room] += len(day_entries)
        yield
    own = _tasks(connection, [entry for entry in entries if entry.kind in _TASKS])
    if own:
        items.update(entry.uid for entry in own)
        tree.write(f"{name}/{_TO_DOS}", _to_dos(own, entries[0].wing))
        page_counts.tasks += len(own)
        yield


def day_of(moment: Micros) -> str:
    """Return the UTC date of a time, the name of its page; `undated` if it is unknown or outside the calendar."""
    if not moment:
        return _NO_DATE
    try:
        return to_iso(moment)[:10]
    except OverflowError:
        return _NO_DATE


# --- days --------------------------------------------------------------------------------------------------


def _page(connection: Connection, entries: Sequence[ListingRow], day: str, items: set[str]) -> str:
    first = entries[0]
    parts = [_front_matter(wing=first.wing, room=first.room, day=day, drawers=len(entries))]
    parts.append(f"# {_line(first.wing)} / {_line(first.room)}, {day}\n")
    parts += _entries(connection, [entry.row for entry in entries], items)
    return "\n".join(parts)


def _front_matter(**told: object) -> str:
    """Return the front matter in YAML, which includes JSON's strings and numbers."""
    lines = [f"{name}: {escape_controls(json.dumps(value, ensure_ascii=False))}" for name, value in told.items()]
    return "\n".join(["---", "palazzo: 1", *lines, "---", ""])


def _entries(connection: Connection, rows: Sequence[int], items: set[str]) -> Iterator[str]:
    remaining_rows = iter(rows)
    while part := list(islice(remaining_rows, _AT_ONCE)):
        read = read_drawers(connection, part)
        labels_by_row = note_labels.labels_of(connection, part)
        speakers = drawer_neighbours.speakers(connection, part)
        for row in part:
            items.update(span.item for span in read[row].spans)
            yield _entry(read[row], labels_by_row.get(row, NO_LABEL), speakers.get(row, []))


def _entry(drawer: Drawer, label: Label, speakers: Sequence[Speaker]) -> str:
    title = drawer.title or drawer.source.title
    clock = f"{to_iso(drawer.created_at)[11:19]} " if day_of(drawer.created_at) != _NO_DATE else ""
    lines = [f"## {clock}{_line(title) or drawer.kind}", "", _about(drawer, label), ""]
    for said_by, text in _turns(drawer, speakers):
        lines += [f"**{_line(said_by)}**", ""] if said_by else []
        lines += [fence_text(text), ""]
    return "\n".join(lines)


def _about(drawer: Drawer, label: Label) -> str:
    importance = "" if label.importance is None else f"importance {label.importance:g}"
    details = [
        f"`{drawer.id}`",
        label.filed_as or drawer.kind,
        importance,
        drawer.author and f"by {drawer.author}",
        f"trust {drawer.trust}",
        ", ".join(drawer.tags) and f"tags {', '.join(drawer.tags)}",
        drawer.branch and f"branch {drawer.branch}",
        drawer.commit and f"commit {drawer.commit}",
        drawer.source.session_id and f"session {drawer.source.session_id}",
        drawer.source.uri and f"from {drawer.source.uri}",
        drawer.locator,
    ]
    return " · ".join([details[0], *(_line(str(detail)) for detail in details[1:] if detail)])


def _turns(drawer: Drawer, speakers: Sequence[Speaker]) -> Iterator[tuple[str, str]]:
    """Yield each speaker and text, in order; '' stands for the only speaker of a drawer."""
    if len({speaker[:2] for speaker in speakers}) < 2:
        yield "", drawer.text
        return
    at = 0
    for (role, author), group in groupby(speakers, key=lambda one: (one[0], one[1])):
        size = sum(speaker[2] + len(SPAN_SEPARATOR) for speaker in group) - len(SPAN_SEPARATOR)
        yield f"{role} ({author})" if author and author != role else role, drawer.text[at : at + size]
        at += size + len(SPAN_SEPARATOR)


def fence_text(text: str) -> str:
    """Return words in a fence longer than any fence in them, so that they stay exact."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _line(words: str) -> str:
    return inert(" ".join(words.split()))


# --- to-dos ------------------------------------------------------------------------------------------------


def _tasks(connection: Connection, entries: Sequence[ListingRow]) -> list[Task]:
    spans = drawers.spans_of(connection, [entry.row for entry in entries])
    return task_rows.of_items(
        connection, dict.fromkeys(item for entry in entries for item, _, _ in spans.get(entry.row, ()))
    )


def _to_dos(task_list: Sequence[Task], wing: str) -> str:
    parts = [_front_matter(wing=wing, tasks=len(task_list)), f"# To-dos of {_line(wing)}\n"]
    for kind, title in (("todo", "To-dos"), ("reminder", "Reminders")):
        own = [task for task in task_list if task.kind == kind]
        if own:
            parts += [f"## {title}\n", *map(_to_do, own), ""]
    return "\n".join(parts)


def _to_do(task: Task) -> str:
    box = "[ ]" if task.state == "open" else "[x]"
    details = [
        f"`{task.uid}`",
        "" if task.state in ("open", "done") else task.state,
        f"written {day_of(task.created_at)}",
        f"due {day_of(task.due_at)}" if task.due_at is not None else "",
        f"on file {_line(task.file)}" if task.file else "",
        f"on topic {_line(task.topic)}" if task.topic else "",
        f"closed {day_of(task.state_at)}" if task.state_at is not None else "",
    ]
    words = "\n".join(f"  {line}" for line in fence_text(task.text).split("\n"))
    return f"- {box} {' · '.join(filter(None, details))}\n\n{words}\n"


# --- facts -------------------------------------------------------------------------------------------------


def _facts(
    connection: Connection, selection: PageSelection, items: set[str]
) -> Iterator[tuple[str | None, list[Fact]]]:
    """Return the facts about the selected content, by wing; `items` are those whose words were selected."""
    beliefs = Beliefs(connection)
    facts_by_wing: dict[str | None, list[Fact]] = defaultdict(list)
    for fact in beliefs.tell(beliefs.sort_versions(fact_rows.versions(connection, LATEST))):
        is_of_wing = selection.wing is not None and fact.wing == selection.wing
        if selection.all_facts or is_of_wing or any(statement.item in items for statement in fact.provenance):
            facts_by_wing[fact.wing].append(fact)
    return iter(sorted(facts_by_wing.items(), key=lambda pair: pair[0] or ""))


def _fact_page(wing: str | None, fact_list: Sequence[Fact]) -> str:
    title = "Facts" if wing is None else f"Facts of {_line(wing)}"
    head = _front_matter(wing=wing, facts=len(fact_list))
    columns = ("subject", "predicate", "object", "from", "until", "stated by", "id")
    rows = [columns, tuple("---" for _ in columns), *map(_fact, fact_list)]
    return "\n".join([head, f"# {title}\n", *(f"| {' | '.join(row)} |" for row in rows), ""])


def _fact(fact: Fact) -> tuple[str, ...]:
    by = ", ".join(dict.fromkeys(entry.stated_by for entry in fact.provenance))
    times = (_NO_DATE if at is None else day_of(at) for at in (fact.valid_from, fact.valid_to))
    began, end_day = ("" if entry == _NO_DATE else entry for entry in times)
    words = (fact.subject, fact.predicate, fact.object)
    return (*(map(_cell, words)), began, end_day, _cell(by), f"`{fact.id}`")


def _cell(words: str) -> str:
    return _line(words).replace("|", "\\|")


# --- the page before all -----------------------------------------------------------------------------------


def _readme(page_counts: PageCounts, wings: Mapping[str, str], filters: Mapping[str, Any]) -> str:
    counts = {"drawers": page_counts.drawers, "facts": page_counts.facts, "tasks": page_counts.tasks}
    parts = [
        _front_matter(**counts, **({"filter": filters} if filters else {})),
        "# Palace\n",
        "Made by `palazzo export --format markdown`, for reading: texts are complete and fenced, times are UTC. To "
        "import them again, export as jsonl.\n",
    ]
    if filters:
        parts.append("This is part of a palace: only what the options listed under `filter` above selected.\n")
    for wing, of_wing in groupby(sorted(page_counts.rooms), key=lambda one: one[0]):
        rooms = [room for _, room in of_wing]
        parts.append(f"## {_line(wing)}\n")
        parts += [f"- {_line(room)}: {page_counts.rooms[wing, room]:,}" for room in rooms]
        parts += [f"\nIn the directory `{wings[wing].replace('`', '_')}`.\n"]
    return "\n".join(parts)
