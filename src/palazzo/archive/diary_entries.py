"""Diary entries: an agent's own dated entries, kept whole in the agent's wing.

Agent names are compared without regard to case; the spelling of the agent's first entry is kept. The project and the
topic of an entry are stored beside its text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from palazzo.archive import notes
from palazzo.archive.archive_reader import join_spans
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.notes import Note, PreparedNote
from palazzo.errors import NotFound, UsageError
from palazzo.frozen_class import frozen
from palazzo.git.project_rooms import slug
from palazzo.model import Micros, Place, Trust
from palazzo.security.display_names import shown_name
from palazzo.store import diary_rows, drawers, items, place_rows
from palazzo.store.database import Connection
from palazzo.text.names import fold, near, tidy

ROOM = "diary"
GENERAL = "general"
"""Topic of entries that name no topic."""
LONGEST_NAME, LONGEST_TOPIC = 64, 100
_NAME = re.compile(r"[\w .-]+")
FORMER_NAMES = {"palazzo-pi": "pi"}
"""Former names of hosts' agents, each with the current name. Both names share one diary."""
_LABEL_LENGTH = 40
_MOST_NAMED = 12


@frozen
class Agent:
    """Owner of a diary: first spelling of the name, wing, number of entries, and the times of the first and the last.

    `spellings` are all names under which entries were written: two concurrent first entries may differ in case.
    """

    name: str
    wing: str
    entries: int
    first_at: Micros
    last_at: Micros
    spellings: tuple[str, ...] = ()


@frozen
class Entry:
    """One entry in full, except for its forgotten parts. `project` is a wing, or '' if the entry concerns none."""

    row: int
    id: str
    agent: str
    at: Micros
    topic: str
    project: str
    text: str
    trust: Trust


def agent_name(text: str) -> str:
    """Return an agent's name on one line; raise UsageError if it is not a valid name."""
    name = tidy(unicodedata.normalize("NFC", text))
    label = name if len(name) <= _LABEL_LENGTH else f"{name[:_LABEL_LENGTH]}…"
    if len(name) > LONGEST_NAME:
        raise UsageError(f"The agent's name '{label}' has {len(name):,} characters; the limit is {LONGEST_NAME}.")
    if not _NAME.fullmatch(name) or not slug(name, ""):
        raise UsageError(f"'{label}' is not a valid agent name: use letters, digits, spaces, - _ and full stops.")
    return name


def wing_of(name: str) -> str:
    """Return the wing that holds the diary of the agent of that name: one wing for all spellings of it."""
    own = slug(name)
    return f"wing_{FORMER_NAMES.get(own, own)}"


def wings_of(name: str) -> tuple[str, ...]:
    """Return that wing, and the wings of the agent's former names."""
    own = wing_of(name)
    return (own, *(f"wing_{former}" for former, current in FORMER_NAMES.items() if own == f"wing_{current}"))


def place_of(name: str) -> Place:
    """Return the place where the entries of the agent of that name are filed."""
    return Place(wing_of(name), ROOM)


def topic_name(text: str | None) -> str:
    """Return a topic as it is stored, on one line; raise UsageError if it is too long."""
    topic = tidy(text or "") or GENERAL
    if len(topic) > LONGEST_TOPIC or not topic.isprintable():
        raise UsageError(f"The topic must be a few words on one line, at most {LONGEST_TOPIC} characters.")
    return topic


# --- writing -----------------------------------------------------------------------------------------------


def prepare(note: Note, topic: str, project: str, now: Micros, guard: Guard) -> PreparedNote:
    """Prepare an entry for ingest; needs no lock. `note` has its text, author, trust, branch and commit."""
    check_entry(note.text)
    about = {"topic": topic, **({"project": project} if project else {})}
    return notes.prepare(replace(note, place=place_of(note.author), shelf="diary", about=about), now, guard)


def check_entry(text: str) -> None:
    """Raise UsageError for a text that is not a valid entry."""
    if not text.strip():
        raise UsageError("The entry is empty: write what happened, what was decided, and what is open.")


def find_spelling(connection: Connection, name: str) -> str:
    """Return the name that an agent first wrote under; `name` for an agent that has never written."""
    agent = agent_called(connection, name)
    return FORMER_NAMES.get(name, name) if agent is None else agent.name


# --- reading -----------------------------------------------------------------------------------------------


def agents(connection: Connection) -> list[Agent]:
    """Return all agents that keep a diary, the last writer first."""
    agents_by_wing: dict[str, Agent] = {}
    for writer in diary_rows.writers(connection):
        key = wing_of(writer.name)
        wing = _resolve_wing(connection, key)
        name = FORMER_NAMES.get(writer.name, writer.name)
        own = Agent(name, wing, writer.entries, writer.first_at, writer.last_at, (writer.name,))
        agents_by_wing[key] = _merge_agents(agents_by_wing[key], own) if key in agents_by_wing else own
    return sorted(agents_by_wing.values(), key=lambda agent: -agent.last_at)


def _merge_agents(agent: Agent, duplicate: Agent) -> Agent:
    first, last = min(agent.first_at, duplicate.first_at), max(agent.last_at, duplicate.last_at)
    spellings = (*agent.spellings, *duplicate.spellings)
    return Agent(agent.name, agent.wing, agent.entries + duplicate.entries, Micros(first), Micros(last), spellings)


def agent_called(connection: Connection, name: str) -> Agent | None:
    """Return the agent of that name, in any spelling; None if it keeps no diary."""
    return next((agent for agent in agents(connection) if wing_of(agent.name) == wing_of(name)), None)


def near_agents(connection: Connection, name: str) -> list[str]:
    """Return agents whose names are similar to `name`, the most similar first."""
    names = {fold(agent.name): agent.name for agent in agents(connection)}
    return [names[key] for key in near(fold(name), names)]


def find_agent(connection: Connection, name: str) -> Agent:
    """Return the agent of that name, in any spelling; raise NotFound, with similar names, if it has no diary."""
    clean_name = agent_name(name)
    agent = agent_called(connection, clean_name)
    if agent is not None:
        return agent
    names = [writer.name for writer in agents(connection)]
    if not names:
        raise NotFound(
            f"'{clean_name}' has no diary, and no other agent has one yet: 'palazzo diary write' starts one."
        )
    near_names = near_agents(connection, clean_name)
    hint = (
        f"Near it: {', '.join(map(shown_name, near_names))}." if near_names else f"There are: {_format_names(names)}."
    )
    raise NotFound(f"'{clean_name}' has no diary. {hint}")


def _format_names(names: list[str]) -> str:
    return f"{', '.join(map(shown_name, names[:_MOST_NAMED]))}{' and more' if len(names) > _MOST_NAMED else ''}"


def entries(
    connection: Connection,
    agent: Agent | None = None,
    *,
    project: str | None = None,
    topic: str | None = None,
    since: Micros | None = None,
    until: Micros | None = None,
) -> Iterator[int]:
    """Yield the items of an agent's (or all agents') live entries, newest first; `since` is inclusive.

    `project` is a wing's name, which may be a former one.
    """
    about = None if project is None else _resolve_wing(connection, project)
    under = None if topic is None else fold(topic)
    for row in diary_rows.entries(connection, None if agent is None else agent.spellings, since, until):
        if under is not None and fold(row.topic or GENERAL) != under:
            continue
        if about is None or _project(connection, row.project, row.at) == about:
            yield row.item


def _resolve_wing(connection: Connection, wing: str) -> str:
    """Return the current name of a wing."""
    row = place_rows.wing_led_to(connection, wing) if wing else None
    return wing if row is None else place_rows.wing_name(connection, row)


def _project(connection: Connection, wing: str, at: Micros) -> str:
    """Return the current name of the wing that had this name at that time."""
    row = place_rows.wing_called_then(connection, wing, at) if wing else None
    return wing if row is None else place_rows.wing_name(connection, row)


def read(connection: Connection, row: int) -> Entry:
    """Return the entry that is stored as the item of that row id."""
    item = items.read_item(connection, row)
    meta: dict[str, Any] = dict(item.meta)
    return Entry(
        row=row,
        id=item.id,
        agent=item.author,
        at=item.created_at,
        topic=str(meta.get("topic") or GENERAL),
        project=_project(connection, str(meta.get("project") or ""), item.created_at),
        text=_drop_forgotten(connection, row, item.text),
        trust=item.trust,
    )


def _drop_forgotten(connection: Connection, row: int, text: str) -> str:
    """Return the text without its forgotten parts."""
    spans = sorted(
        (start, end)
        for drawer in drawers.live_drawers_of_item(connection, row)
        for item, start, end in drawers.drawer_spans(connection, drawer)
        if item == row
    )
    at, gaps = 0, ""
    for start, end in [*spans, (len(text), len(text))]:
        gaps += text[at:start]
        at = max(at, end)
    return join_spans([text[start:end] for start, end in spans]) if gaps.strip() else text
