"""Hook messages: messages of a session that only hooks report, because its host keeps no transcript or no readable one.

They are ingested as messages of a separate source. A transcript that is read later contains them too, with more data
from the host. Messages that the transcript repeats word for word are then retired; all others stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from palazzo.archive import acts, identity, ingest
from palazzo.archive.ingest import IngestBatch, NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.frozen_class import frozen
from palazzo.model import Micros, Part, Place, Source, Trust
from palazzo.store import source_rows, transcripts
from palazzo.store.database import Connection

KIND = "hook"
_ACTOR = "palazzo"
_LOOKED_AT = 50
"""Number of messages at the end of a session's transcript that are searched for the words before they are filed."""
Speaker = Literal["user", "assistant"]
_TRUST: dict[Speaker, Trust] = {"user": "user", "assistant": "agent"}


@frozen
class HookMessage:
    """The words of one side in a turn."""

    role: Speaker
    text: str


def source_of(host: str, session: str, title: str = "", project: str = "") -> Source:
    """Return the source that holds the messages of a session received by hooks."""
    return Source((session,), KIND, f"palazzo:{KIND}/{host}/{session}", session, title, project)


def prepare(host: str, hook_messages: Sequence[HookMessage], now: Micros, guard: Guard) -> IngestBatch:
    """Prepare messages for ingest, in their order; needs no lock."""
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
    """Archive, in this transaction, messages that are neither here nor in the transcript; return their number."""
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
    current_place = None if row is None else source_rows.place_of_first_item(connection, row)
    return ingest.file(connection, source, current_place or place, batch.select(new), now).added


def give_way(connection: Connection, session: str, filings: Iterable[NewItem], now: Micros) -> int:
    """Retire the hook messages of a session that are among `filings` from its transcript; return their number."""
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
    """Return how many of `filings` repeat the end of the earlier messages: a hook may report a turn twice."""
    messages = [(new_item.role, new_item.text) for new_item in filings]
    return next((n for n in range(len(messages), 0, -1) if list(earlier_messages[-n:]) == messages[:n]), 0)


def _in_transcripts(connection: Connection, session: str) -> set[tuple[str, str]]:
    rows = transcripts.of_session(connection, session, KIND)
    return {(role, text.strip()) for row in rows for role, text in transcripts.ending(connection, row, _LOOKED_AT)}
