"""session_conversation: read a part of a session as a conversation, message by message, with tool calls apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from palazzo.archive import archive_reader, transcript_restore
from palazzo.archive.session_titles import shown_title_of_session
from palazzo.errors import NotFound, UsageError
from palazzo.features.sessions.session_rows import host_of
from palazzo.features.viewer.contract import (
    MessageView,
    PartText,
    SessionConversationRequest,
    SessionConversationResult,
)
from palazzo.model import Part
from palazzo.store import conversation_rows, drawers, items, source_rows

if TYPE_CHECKING:
    from palazzo.model import Item
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

MOST_MESSAGES = 500
LONGEST_PART = 20_000
"""The most characters of one part that a conversation contains; `item_text` reads the rest."""


def session_conversation(context: Context, request: SessionConversationRequest) -> SessionConversationResult:
    """Read a part of a session; a transcript is preferred to what hooks reported of it."""
    if not 1 <= request.limit <= MOST_MESSAGES or request.offset < 0:
        raise UsageError(f"The limit must be between 1 and {MOST_MESSAGES}, and the offset 0 or more.")
    with context.reading().database.snapshot() as connection:
        name = transcript_restore.parse_session_name(connection, request.session)
        session = transcript_restore.find_session(connection, name)
        sources = source_rows.read_sources(connection, source_rows.sources_of_session(connection, session))
        own = {row: source for row, source in sources.items() if source.session_id == session}
        transcripts = [row for row, source in own.items() if source.kind != "hook"] or list(own)
        rows = conversation_rows.message_rows(connection, transcripts)
        target = None if request.around is None else _target_row(connection, request.around)
        if target is not None and target not in rows:
            raise NotFound("The session does not have this message (any more).")
        offset = request.offset if target is None else rows.index(target) // request.limit * request.limit
        target_id = "" if target is None else items.read_item(connection, target).id
        messages = tuple(
            _message(items.read_item(connection, row), number)
            for number, row in enumerate(rows[offset : offset + request.limit], offset + 1)
        )
        first = own[transcripts[0]]
        title = shown_title_of_session(connection, session, first.title)
        was_told = conversation_rows.was_given_something(connection, session)
    return SessionConversationResult(
        session, title, host_of(first.kind, first.uri), messages, offset, len(rows), target_id, was_told
    )


def _target_row(connection: Connection, prefix: str) -> int:
    """Return the row of the item that an id names, or of the first item of the drawer that it names."""
    kind, row = archive_reader.resolve(connection, prefix)
    return row if kind == "item" else drawers.drawer_spans(connection, row)[0][0]


def _message(item: Item, number: int) -> MessageView:
    return MessageView(
        id=item.id,
        number=number,
        role=item.role,
        author=item.author,
        thread=item.thread,
        standing=item.standing,
        created_at=item.created_at,
        trust=item.trust,
        branch=item.branch,
        parts=tuple(_part(item, part) for part in list_parts(item)),
    )


def list_parts(item: Item) -> Iterator[Part]:
    """Yield the parts of a message, in order; text outside its parts, or a message without parts, is prose."""
    end = 0
    for part in sorted(item.parts, key=lambda part: part.start):
        if item.text[end : part.start].strip():
            yield Part("text", end, part.start)
        yield part
        end = max(end, part.end)
    if item.text[end:].strip():
        yield Part("text", end, len(item.text))


def _part(item: Item, part: Part) -> PartText:
    text = item.text[part.start : min(part.end, part.start + LONGEST_PART)]
    trust = part.trust or item.trust
    return PartText(part.kind, part.name, text, part.end - part.start, part.start, part.failed, trust)
