"""Words of a session that nobody but a hook told of: its host keeps no transcript, or none that may be read.

They come in by the door as messages of a source of their own. A transcript that is read later has them too, with what
the host knows of them besides; what it repeats of them then gives way, word for word the same or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from palazzo.archive import acts, identity, ingest
from palazzo.archive.ingest import IngestBatch, NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.model import Micros, Part, Place, Source, Trust
from palazzo.store import source_rows, transcripts
from palazzo.store.database import Connection

KIND = "hook"
_ACTOR = "palazzo"
_LOOKED_AT = 50
"""Messages at the end of a session's transcript among which words are looked for before they are filed."""
Speaker = Literal["user", "assistant"]
_TRUST: dict[Speaker, Trust] = {"user": "user", "assistant": "agent"}


@dataclass(frozen=True, slots=True)
class HookMessage:
    """What one side said in a turn."""

    role: Speaker
    text: str


def source_of(host: str, session: str, title: str = "", project: str = "") -> Source:
    """Return the source that holds what hooks heard of a session."""
    return Source((session,), KIND, f"palazzo:{KIND}/{host}/{session}", session, title, project)


def prepare(host: str, hook_messages: Sequence[HookMessage], now: Micros, guard: Guard) -> IngestBatch:
    """Make what was said ready to be filed, in its order; needs no lock."""
    messages = [message for message in hook_messages if message.text.strip()]
    filings = [
        NewItem(
            id=identity.new_id(now),
            text=message.text,
            kind="message",
            role=message.role,
            author=host if message.role == "assistant" else "",
            parts=(Part("text", 0, len(message.text)),),
            ordinal=now + n,
            created_at=now,
            trust=_TRUST[message.role],
        )
        for n, message in enumerate(messages)
    ]
    return ingest.prepare(filings, guard)


def file(connection: Connection, source: Source, place: Place, batch: IngestBatch, now: Micros) -> int:
    """Archive, in this transaction, what is not there already: heard before, or in the transcript; return how much."""
    row = source_rows.find_source(connection, source)
    if row is not None:
        source = replace(source, title="")  # it has the one that it was begun with
    earlier_messages = [] if row is None else transcripts.ending(connection, row, len(batch.filings))
    transcript_messages = _in_transcripts(connection, source.session_id)
    first = _overlap(earlier_messages, batch.filings)
    new = [
        n
        for n, new_item in enumerate(batch.filings)
        if n >= first and (new_item.role, new_item.text.strip()) not in transcript_messages
    ]
    if not new:
        return 0
    new_batch = replace(
        batch,
        came=tuple(batch.came[n] for n in new),
        filings=tuple(batch.filings[n] for n in new),
        spots=tuple(batch.spots[n] for n in new),
    )
    current_place = None if row is None else source_rows.place_of_first_item(connection, row)
    return ingest.file(connection, source, current_place or place, new_batch, now).added


def give_way(connection: Connection, session: str, filings: Iterable[NewItem], now: Micros) -> int:
    """Retire what was heard of a session and is among `filings`, which its transcript brought; return how much."""
    row = source_rows.find_source(connection, source_of("", session)) if session else None
    if row is None:
        return 0
    transcript_messages = {(new_item.role, new_item.text.strip()) for new_item in filings if new_item.kind == "message"}
    hook_messages = transcripts.read_dialogue(connection, row)
    item_rows = [item for item, role, text in hook_messages if (role, text.strip()) in transcript_messages]
    if item_rows:
        acts.act_on_items(connection, "forget", item_rows, _ACTOR, now, {"reason": "its transcript has it"})
    return len(item_rows)


def _overlap(earlier_messages: Sequence[tuple[str, str]], filings: Sequence[NewItem]) -> int:
    """How many of `filings` stand at the end of what was heard before: a hook may tell of a turn twice."""
    messages = [(new_item.role, new_item.text) for new_item in filings]
    return next((n for n in range(len(messages), 0, -1) if list(earlier_messages[-n:]) == messages[:n]), 0)


def _in_transcripts(connection: Connection, session: str) -> set[tuple[str, str]]:
    rows = transcripts.of_session(connection, session, KIND)
    return {(role, text.strip()) for row in rows for role, text in transcripts.ending(connection, row, _LOOKED_AT)}
