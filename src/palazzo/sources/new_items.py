"""Conversion of a format reader's rows into new items for ingest: ids, trust, and the archive kind of each row."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial

from palazzo.archive import identity
from palazzo.archive.ingest import NewItem
from palazzo.model import ItemId, Micros, Trust
from palazzo.sources.formats import Identity, Message, Noise, Row, Unreadable

_BY_ROLE: dict[str, Trust] = {"user": "user", "assistant": "agent", "tool": "tool", "system": "tool", "author": "repo"}


@dataclass(slots=True)
class Clockwork:
    """The time of rows that state none: that of the previous row, otherwise the file's own."""

    last: Micros

    def at(self, row_time: Micros | None) -> Micros:
        """Return the time of a row that says `row_time`."""
        if row_time is not None:
            self.last = row_time
        return self.last


def filing_of(kind: str, version: int, source: Identity, row: Row, clockwork: Clockwork) -> NewItem:
    """Return the new item for a row of the source."""
    match row.content:
        case Message():
            return _of_message(kind, version, source, row, row.content, clockwork)
        case Noise(reason) | Unreadable(reason):
            return NewItem(
                id=_id_at(source, row.position, row.raw),
                text="",
                kind="noise",
                role="system",
                raw=row.raw,
                standing="meta",
                ordinal=row.position,
                created_at=clockwork.at(None),
                trust="tool",
                decoder=version,
                meta={"noise": reason},
                name=partial(name_by_row, source),
            )


def _of_message(kind: str, version: int, source: Identity, row: Row, message: Message, clockwork: Clockwork) -> NewItem:
    trust = "agent" if message.role == "user" and source.led_by_agent else _BY_ROLE[message.role]
    meta = _meta(source, message)
    return NewItem(
        id=_message_id(kind, source, row, message),
        text=message.text,
        kind=message.kind,
        role=message.role,
        raw=row.raw,
        standing=message.standing,
        author=message.author,
        parts=message.parts,
        thread=message.thread,
        ordinal=row.position,
        created_at=clockwork.at(message.created_at),
        trust=trust,
        branch=message.branch,
        commit=message.commit,
        decoder=version,
        meta=meta,
        name=None if message.uuid and message.kind != "document" else partial(name_by_words, source),
    )


def _meta(source: Identity, message: Message) -> dict[str, object]:
    """Return a message's other metadata; what its source or its author already says is left out."""
    works_for = source.parent_session if source.led_by_agent else ""
    fields = {"uuid": message.uuid, "parent": message.parent, "cwd": message.cwd, "works_for": works_for}
    redundant_values = {"session_id": source.session_id, "model": message.author}
    extra_fields = {name: value for name, value in message.meta.items() if redundant_values.get(name) != value}
    return {**extra_fields, **{name: value for name, value in fields.items() if value}}


def _message_id(kind: str, source: Identity, row: Row, message: Message) -> ItemId:
    if message.kind == "document":
        return identity.version_id(source.key, message.text)
    if message.uuid:
        return identity.message_id(kind, message.namespace or source.session_id, message.uuid)
    return identity.positioned_id(source.key, message.thread, row.position, message.text)


def name_by_words(source: Identity, new_item: NewItem) -> ItemId:
    """Return the ID of a message that has none of its own, derived from the text that is kept."""
    if new_item.kind == "document":
        return identity.version_id(source.key, new_item.text)
    return identity.positioned_id(source.key, new_item.thread, new_item.ordinal, new_item.text)


def name_by_row(source: Identity, new_item: NewItem) -> ItemId:
    """Return the ID of a row that the host wrote for itself, derived from the bytes that are kept."""
    return _id_at(source, new_item.ordinal, new_item.raw or b"")


def _id_at(source: Identity, position: int, raw: bytes) -> ItemId:
    return identity.positioned_id(source.key, "noise", position, hashlib.blake2b(raw, digest_size=16).hexdigest())
