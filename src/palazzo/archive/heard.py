"""Words of a session that nobody but a hook told of: its host keeps no transcript, or none that may be read.

They come in by the door as messages of a source of their own. A transcript that is read later has them too, with what
the host knows of them besides; what it repeats of them then gives way, word for word the same or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from palazzo.archive import deeds, door, identity
from palazzo.archive.door import Filing, Prepared
from palazzo.archive.guarding import Guard
from palazzo.model import Micros, Part, Place, Source, Trust
from palazzo.store import sources, transcripts
from palazzo.store.database import Connection

KIND = "hook"
_ACTOR = "palazzo"
_LOOKED_AT = 50
"""Messages at the end of a session's transcript among which words are looked for before they are filed."""
Speaker = Literal["user", "assistant"]
_TRUST: dict[Speaker, Trust] = {"user": "user", "assistant": "agent"}


@dataclass(frozen=True, slots=True)
class Heard:
    """What one side said in a turn."""

    role: Speaker
    text: str


def source_of(host: str, session: str, title: str = "", project: str = "") -> Source:
    """Return the source that holds what hooks heard of a session."""
    return Source((session,), KIND, f"palazzo:{KIND}/{host}/{session}", session, title, project)


def prepare(host: str, said: Sequence[Heard], now: Micros, guard: Guard) -> Prepared:
    """Make what was said ready to be filed, in its order; needs no lock."""
    spoken = [one for one in said if one.text.strip()]
    filings = [
        Filing(
            id=identity.new_id(now),
            text=one.text,
            kind="message",
            role=one.role,
            author=host if one.role == "assistant" else "",
            parts=(Part("text", 0, len(one.text)),),
            ordinal=now + n,
            created_at=now,
            trust=_TRUST[one.role],
        )
        for n, one in enumerate(spoken)
    ]
    return door.prepare(filings, guard)


def file(connection: Connection, source: Source, place: Place, prepared: Prepared, now: Micros) -> int:
    """Archive, in this transaction, what is not there already: heard before, or in the transcript; return how much."""
    row = sources.find_source(connection, source)
    if row is not None:
        source = replace(source, title="")  # it has the one that it was begun with
    before = [] if row is None else transcripts.ending(connection, row, len(prepared.filings))
    elsewhere = _in_transcripts(connection, source.session_id)
    first = _overlap(before, prepared.filings)
    new = [n for n, one in enumerate(prepared.filings) if n >= first and (one.role, one.text.strip()) not in elsewhere]
    if not new:
        return 0
    kept = replace(
        prepared,
        came=tuple(prepared.came[n] for n in new),
        filings=tuple(prepared.filings[n] for n in new),
        where=tuple(prepared.where[n] for n in new),
    )
    there = None if row is None else sources.place_of_first_item(connection, row)
    return door.file(connection, source, there or place, kept, now).added


def give_way(connection: Connection, session: str, filings: Iterable[Filing], now: Micros) -> int:
    """Retire what was heard of a session and is among `filings`, which its transcript brought; return how much."""
    row = sources.find_source(connection, source_of("", session)) if session else None
    if row is None:
        return 0
    repeated = {(one.role, one.text.strip()) for one in filings if one.kind == "message"}
    heard = transcripts.said(connection, row)
    gone = [item for item, role, text in heard if (role, text.strip()) in repeated]
    if gone:
        deeds.act_on_items(connection, "forget", gone, _ACTOR, now, {"reason": "its transcript has it"})
    return len(gone)


def _overlap(before: Sequence[tuple[str, str]], filings: Sequence[Filing]) -> int:
    """How many of `filings` stand at the end of what was heard before: a hook may tell of a turn twice."""
    said = [(one.role, one.text) for one in filings]
    return next((n for n in range(len(said), 0, -1) if list(before[-n:]) == said[:n]), 0)


def _in_transcripts(connection: Connection, session: str) -> set[tuple[str, str]]:
    rows = transcripts.of_session(connection, session, KIND)
    return {(role, text.strip()) for row in rows for role, text in transcripts.ending(connection, row, _LOOKED_AT)}
