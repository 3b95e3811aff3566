"""wake_up: the short text that orients an agent, or a person, when a session starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.model import Item
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

SESSIONS, NOTES = 5, 8
_LONGEST_NOTE = 400
"""Characters of one note."""


@dataclass(frozen=True, slots=True)
class WakeUpRequest:
    """Whose memory, and how much of it."""

    wing: Annotated[str | None, About("The wing to be oriented in; the project's if left out.")] = None
    budget: Annotated[int, About("How many tokens the text may take.", metavar="TOKENS")] = 900


@dataclass(frozen=True, slots=True)
class RecentSession:
    """A session: when its last words were said."""

    id: str
    title: str
    at: Micros


@dataclass(frozen=True, slots=True)
class RecentNote:
    """A note, a decision or whatever it was called; `text` is its beginning where `truncated`."""

    id: str
    kind: str
    at: Micros
    text: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class WakeUpResult:
    """The text, and what it was made of."""

    wing: str | None
    text: str
    tokens: int
    sessions: tuple[RecentSession, ...]
    notes: tuple[RecentNote, ...]


def wake_up(context: Context, request: WakeUpRequest) -> WakeUpResult:
    """Write a short orientation: the project, its last sessions, its newest notes and decisions."""
    from palazzo.operations.search import check_place
    from palazzo.store import overview
    from palazzo.text.tokens import estimate_tokens

    if request.budget < 1:
        raise UsageError(f"The budget is {request.budget} tokens; it must be at least 1.")
    with context.reading().database.snapshot() as connection:
        named, _ = check_place(connection, request.wing, None, context.notice)
        wing = named or context.home
        found = overview.sessions(connection, SESSIONS, wing)
        sessions = tuple(RecentSession(one.session_id, one.title, one.last_at) for one in found)
        notes = _notes(context, connection, wing) if wing else ()
        head = _head(context, connection, wing, own=request.wing is None)
    lines, sessions, notes = _within(request.budget, head, sessions, notes)
    text = "\n".join(lines)
    return WakeUpResult(wing, text, estimate_tokens(text), sessions, notes)


def _head(context: Context, connection: Connection, wing: str | None, own: bool) -> str:
    from palazzo.store import drawers, overview

    if wing is None:
        count = drawers.count_drawers(connection)
        return f"Memory of all projects: {count:,} drawers. This directory's project is not in it yet."
    rooms = overview.drawers_by_place(connection)[wing]
    branch = f", branch {context.project.branch}" if own and context.project.branch else ""
    count = sum(rooms.values())
    many = "" if count == 1 else "s"
    return f"Memory of {wing}{branch}: {count:,} drawer{many} in {', '.join(rooms) or 'no rooms'}."


def _notes(context: Context, connection: Connection, wing: str) -> tuple[RecentNote, ...]:
    """The newest notes, of those that may be put before an agent unasked."""
    from palazzo.settings.keys import TRUSTS
    from palazzo.store import items, overview

    trusted = TRUSTS[: TRUSTS.index(context.settings.text("auto_inject_trust")) + 1]
    found = (items.read_item(connection, row) for row in overview.newest_notes(connection, wing, 2 * NOTES))
    return tuple(_note(item) for item in found if item.trust in trusted)[:NOTES]


def _note(item: Item) -> RecentNote:
    text = item.text if len(item.text) <= _LONGEST_NOTE else item.text[:_LONGEST_NOTE].rsplit(" ", 1)[0]
    return RecentNote(item.id, str(item.meta.get("label") or "note"), item.created_at, text, len(text) < len(item.text))


def _within(
    budget: int, head: str, sessions: Sequence[RecentSession], notes: Sequence[RecentNote]
) -> tuple[list[str], tuple[RecentSession, ...], tuple[RecentNote, ...]]:
    """Return the lines that fit `budget`, and what they tell of. Notes come first: they were written to be read."""
    from palazzo.text.tokens import estimate_tokens

    lines, left = [head], budget - estimate_tokens(head)
    told_notes, left = _told("Notes, newest first:", [_note_line(note) for note in notes], left, lines)
    told_sessions, left = _told("Last sessions:", [_session_line(one) for one in sessions], left, lines)
    more = "More: palazzo search QUERY; palazzo show ID."
    if estimate_tokens(more) <= left:
        lines.append(more)
    return lines, tuple(sessions[:told_sessions]), tuple(notes[:told_notes])


def _told(title: str, entries: Sequence[str], left: int, lines: list[str]) -> tuple[int, int]:
    """Append the title and as many entries as fit; return how many, and what is left."""
    from palazzo.text.tokens import estimate_tokens

    cost = estimate_tokens(title)
    told = 0
    for entry in entries:
        cost += estimate_tokens(entry)
        if cost > left:
            break
        if not told:
            lines.append(title)
        lines.append(entry)
        told += 1
        left, cost = left - cost, 0
    return told, left


def _note_line(note: RecentNote) -> str:
    words = " ".join(note.text.split())
    cut = f" … (begins so; 'palazzo show {note.id}' has all)" if note.truncated else ""
    return f"- {_day(note.at)} {note.kind}: {words}{cut} [{note.id}]"


def _session_line(session: RecentSession) -> str:
    return f"- {_day(session.at)} {session.title or 'untitled'} [{session.id}]"


def _day(at: Micros) -> str:
    from palazzo.text.times import to_iso

    return to_iso(at)[:10] if at else "undated"


OPERATION = Operation("wake_up", WakeUpRequest, WakeUpResult, wake_up)
