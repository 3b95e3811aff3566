"""Sources of the wake-up text: candidates read from the palace, as it is or as of a day, with what raises their rank.

Nothing is searched. Of each kind the newest entries are read, many more than can be shown; `wake_up_text` chooses among
them. Entries that were forgotten, erased or superseded are left out, and so are entries below the requested trust.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from palazzo.archive import diary_entries, task_notes
from palazzo.archive.session_titles import shown_title, shown_title_of_session
from palazzo.frozen_class import frozen
from palazzo.injection.injectable_facts import Audience, no_commits, tellable
from palazzo.injection.wake_up_text import WakeUpEntry
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.model import USERS_WING, Micros
from palazzo.security.display_names import plain_name, quoted_name, shown_name
from palazzo.store import (
    claim_rows,
    digest_rows,
    fact_rows,
    items,
    palace_overview,
    source_rows,
    transcripts,
    use_totals,
)
from palazzo.store.database import Connection
from palazzo.store.digest_rows import DigestLine, LineRow
from palazzo.store.entity_rows import LATEST
from palazzo.store.injection_worth import Worth, read_notes, worth_of

NOTES, SESSIONS, LINES, FACTS, ENTRIES = 200, 8, 40, 40, 6
"""Maximum number of each that are examined, newest first."""
_ENTRIES_READ = 30
_FACTS_READ = 400
"""Facts that are read, newest first, to find `FACTS` that belong here: many may belong to other projects."""
_OVERDUE = 2
"""Weight of an overdue to-do, expressed as a number of tags."""
_CAME_TO = ("changed", "fixed", "failed")
"""Kinds of digest lines that represent a session: the last line of the first kind that exists. The title already says
what was asked, and decisions and open items are shown separately.
"""
_SHORT = 60
"""Maximum characters of a digest line that is shown with the title of its session: `Dropped then.` says little
alone.
"""
_QUOTE_LENGTH = 160
"""Maximum characters of that line: the title precedes it."""


@frozen
class WakeUpContext:
    """The recipient and the time. Without a `wing` (a directory that the palace does not know), little is shown.

    `before` is the point in time that the answer reflects, None for now; `trusts` are the trust levels that may be
    shown to an agent. `session` is the host's id of the asking session, '' if unknown; `has_forgotten` says that a
    compaction has removed the session's earlier messages from its context.
    """

    wing: str | None
    agent: str | None
    now: Micros
    as_of: Micros | None
    trusts: frozenset[str]
    day: Callable[[Micros], str]
    commits_here: Callable[[Collection[str]], Collection[str]] = no_commits
    session: str = ""
    has_forgotten: bool = False


def gather(connection: Connection, request: WakeUpContext) -> list[WakeUpEntry]:
    """Return the entries that may be injected."""
    copy_times = _copy_times(connection, request)
    entries = [*_tasks(connection, request), *_diary(connection, request)]
    if request.wing is not None or request.agent is None:  # an agent elsewhere is not told of other projects
        entries += _sessions(connection, request, copy_times)
    if request.wing is not None:
        entries += [
            *_digest(connection, request, request.wing, copy_times),
            *_facts(connection, request, request.wing),
            *_notes(connection, request, request.wing),
        ]
    trusted_entries = [entry for entry in entries if entry.trust in request.trusts]
    return trusted_entries if request.as_of is not None else _with_uses(connection, trusted_entries)


def _with_uses(connection: Connection, entries: Sequence[WakeUpEntry]) -> list[WakeUpEntry]:
    """Return the entries with how sessions used them after they were injected."""
    tallies = use_totals.tallies(connection, {name for entry in entries for name in (entry.id, *entry.drawers)})
    return [_add_uses(entry, tallies) for entry in entries] if tallies else [*entries]


def _add_uses(entry: WakeUpEntry, tallies: Mapping[str, use_totals.UsageCounts]) -> WakeUpEntry:
    own = use_totals.merge_counts(tallies.get(name, use_totals.NEVER) for name in (entry.id, *entry.drawers))
    return replace(entry, uses=own.used, unused=own.unused)


# --- what is open ------------------------------------------------------------------------------------------


def _tasks(connection: Connection, request: WakeUpContext) -> Iterator[WakeUpEntry]:
    """Return due reminders and open to-dos of the wing, and to-dos that the agent wrote in any wing."""
    agent = diary_entries.agent_called(connection, request.agent) if request.agent else None
    due_tasks = [due.task for due in task_notes.due(connection, task_notes.Moment(request.now), request.wing)]
    todos = (
        []
        if request.wing is None
        else task_notes.open_todos(connection, request.wing, agent.spellings if agent else ())
    )
    worth = worth_of(connection, (task.item for task in (*due_tasks, *todos)))
    for section, section_tasks in (("due", due_tasks), ("todo", todos)):
        for task in section_tasks:
            own = worth.get(task.item)
            if own is None:
                continue
            overdue = task.due_at is not None and task.due_at <= request.now
            due_time = (
                f"due {'since' if section == 'due' else 'before'} {request.day(task.due_at)}" if task.due_at else ""
            )
            place = "" if task.wing == request.wing else f"in {shown_name(task.wing)}"
            yield WakeUpEntry(
                section="due" if section == "due" else "todo",
                id=task.uid,
                at=task.created_at,
                origin=task.author or own.trust,
                text=task.text,
                trust=own.trust,
                remark=", ".join(filter(None, (due_time, "overdue" if overdue and section == "todo" else "", place))),
                marks=own.marks + (_OVERDUE if overdue else 0),
                references=own.references,
            )


def _digest(
    connection: Connection, request: WakeUpContext, wing: str, copy_times: frozenset[Micros]
) -> Iterator[WakeUpEntry]:
    """Return what sessions left open and decided, in their own words."""
    every = [*digest_rows.open_lines(connection, wing, LINES), *digest_rows.decisions(connection, [wing], LINES)]
    lines = [line for line in every if not line.is_untrusted]
    if request.session and not request.has_forgotten:
        session = _own_session(request)
        lines = [line for line in lines if line.session.partition("/")[0] != session and line.said_at not in copy_times]
    rows = items.known_items(connection, {bytes.fromhex(line.quote.item) for line in lines})
    worth = worth_of(connection, rows.values())
    stale_drawers = _find_stale_drawers(connection, request, worth.values())
    titles = _titles(connection, {line.session for line in lines})
    for line in lines:
        own = worth.get(rows.get(bytes.fromhex(line.quote.item), 0))
        if own is not None and not stale_drawers.intersection(own.drawers):
            yield WakeUpEntry(
                section="open" if line.kind == "open" else "decision",
                id=line.quote.item,
                at=line.said_at,
                origin="agent" if line.role == "assistant" else line.role,
                text=line.words,
                trust=own.trust,
                remark=_in_session(titles.get(line.session, "")) if _says_little(line) else "",
                references=own.references,
                marks=own.marks,
            )


def _titles(connection: Connection, sessions: Iterable[str]) -> dict[str, str]:
    titles = source_rows.titles_of_sessions(connection, sessions)
    return {session: shown_title_of_session(connection, session, title) for session, title in titles.items()}


def _in_session(title: str) -> str:
    return f"in: {quoted_name(title)}" if title else ""


def _says_little(line: DigestLine) -> bool:
    return (line.about is None or line.about_is_untrusted) and len(line.quote.text) <= _SHORT


# --- what was ----------------------------------------------------------------------------------------------


def _sessions(connection: Connection, request: WakeUpContext, copy_times: frozenset[Micros]) -> Iterator[WakeUpEntry]:
    for session in palace_overview.sessions(connection, SESSIONS, request.wing, request.trusts, _own_session(request)):
        if copy_times and transcripts.has_any_said_at(connection, session.source, copy_times):
            continue
        line = _came_to(connection, digest_rows.trusted_of_source(connection, session.source))
        title = plain_name(shown_title(connection, session.source, session.title)) or "untitled"
        yield WakeUpEntry(
            section="session",
            id=session.session_id,
            at=session.last_at,
            origin="session",
            text=f"{title} — {line}" if line else title,
            trust="agent",
        )


def _own_session(request: WakeUpContext) -> str:
    """Return the id of the session that asks; for a sub-agent, the id of its parent."""
    return request.session.partition("/")[0]


def _copy_times(connection: Connection, request: WakeUpContext) -> frozenset[Micros]:
    """Return the times of messages that the session copied from another one, as its fork or continuation."""
    source = transcripts.session_source(connection, "", _own_session(request)) if request.session else None
    return frozenset() if source is None else transcripts.read_copy_times(connection, source)


def _came_to(connection: Connection, lines: Sequence[LineRow]) -> str:
    for kind in _CAME_TO:
        for line in reversed(lines):
            if line.kind == kind:
                text = items.read_texts(connection, [line.item]).get(line.item, "")
                words = " ".join(text[line.start : line.end].split())
                short = words if len(words) <= _QUOTE_LENGTH else f"{words[:_QUOTE_LENGTH].rsplit(' ', 1)[0]} …"
                return f"{kind}: {short}" if words else ""
    return ""


def _diary(connection: Connection, request: WakeUpContext) -> Iterator[WakeUpEntry]:
    """Return entries about the wing's project; if an agent is named, also its entries about no project."""
    agent = diary_entries.agent_called(connection, request.agent) if request.agent else None
    if (request.agent and agent is None) or (agent is None and request.wing is None):
        return
    rows = islice(diary_entries.entries(connection, agent), _ENTRIES_READ)
    about = {request.wing, "" if agent else request.wing}
    own = (entry for entry in (diary_entries.read(connection, row) for row in rows) if entry.project in about)
    for entry in islice(own, ENTRIES):
        yield WakeUpEntry("diary", entry.id, entry.at, entry.agent, entry.text, entry.trust)


def _facts(connection: Connection, request: WakeUpContext, wing: str) -> Iterator[WakeUpEntry]:
    """Yield current facts, the last stated or changed first."""
    known_at = LATEST if request.as_of is None else request.as_of
    audience = Audience((wing, USERS_WING), request.now, request.commits_here)
    newest = fact_rows.newest_versions(connection, known_at, audience.wings, audience.time, _FACTS_READ)
    versions = tellable(connection, newest, audience)[:FACTS]
    for fact in Beliefs(connection, known_at).tell(versions):
        speakers = tuple(dict.fromkeys(source.stated_by for source in fact.provenance))
        since = f"since {request.day(fact.valid_from)}" if fact.valid_from else ""
        until = f"until {request.day(fact.valid_to)}" if fact.valid_to else ""
        yield WakeUpEntry(
            section="fact",
            id=fact.id,
            at=fact.recorded_at,
            origin=speakers[0] if speakers else "unknown",
            text=f"{fact.subject} {fact.predicate} {fact.object}",
            trust=fact.trust,
            remark=", ".join(filter(None, (since, until))),
            references=len(fact.provenance) - 1,
        )


def _notes(connection: Connection, request: WakeUpContext, wing: str) -> Iterator[WakeUpEntry]:
    rows = palace_overview.newest_notes(connection, wing, NOTES)
    worth = worth_of(connection, rows)
    stale_drawers = _find_stale_drawers(connection, request, worth.values())
    for row, note in read_notes(connection, worth).items():
        own = worth[row]
        if not stale_drawers.intersection(own.drawers):
            yield WakeUpEntry(
                section="decision" if note.label == "decision" else "note",
                id=note.id,
                at=note.at,
                origin=note.author or own.trust,
                text=note.text,
                trust=own.trust,
                remark="" if note.label == "decision" else note.label,
                marks=own.marks,
                references=own.references,
                drawers=own.drawers,
            )


def _find_stale_drawers(connection: Connection, request: WakeUpContext, worth: Iterable[Worth]) -> frozenset[str]:
    """Return those of these drawers that hold words superseded by something later."""
    ids = [drawer for entry in worth for drawer in entry.drawers]
    return frozenset(claim_rows.find_successors(connection, ids, request.now)) if ids else frozenset()
