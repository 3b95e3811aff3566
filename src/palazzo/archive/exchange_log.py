"""Exchange log: what agents of one palace leave for each other. It is only added to; a correction is a new event.

    task.request ──> event.ack (claimed) ──> patch.ready, with an artifact ──> event.ack (applied)

An event is a short message with fields to route it by; an artifact is a text that must arrive exactly, such as a patch.
Both are archived items, so redaction, the chain, export, sync, backups and `erase` treat them like all text. They are
no drawers: search does not find them, and no hook injects them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

from palazzo.archive import identity, ingest
from palazzo.archive.ingest import IngestBatch, NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import NotFound
from palazzo.frozen_class import frozen
from palazzo.git.project_rooms import slug
from palazzo.model import Micros, Part, Place, Source, Trust
from palazzo.store import exchange_rows, source_rows
from palazzo.store.database import Connection
from palazzo.store.exchange_rows import ARTIFACT, EVENT, SOURCE_KIND, ExchangeRow

ArtifactKind = Literal["patch", "file", "log", "json", "note"]
PROJECT = "project/"
"""How the streams of projects begin; the rest is the project's wing."""
ROOM = "exchange"
"""The room of artifacts: they belong to no event's room."""


@frozen
class NewEvent:
    """An event to append. `fields` are the routing fields that are not empty, besides the author and the branch."""

    stream: str
    room: str
    author: str
    body: str
    branch: str = ""
    commit: str = ""
    fields: Mapping[str, object] = field(default_factory=dict)
    artifacts: tuple[str, ...] = ()


@frozen
class NewArtifact:
    """An artifact to store."""

    kind: ArtifactKind
    content: str
    author: str
    wing: str
    metadata: Mapping[str, object] = field(default_factory=dict)


@frozen
class PreparedEntry:
    """An event or an artifact in its final form, ready to be written under the lock."""

    kind: str
    place: Place
    batch: IngestBatch

    @property
    def uid(self) -> str:
        """The id of the item."""
        return self.batch.filings[0].id

    @property
    def is_redacted(self) -> bool:
        """Whether a secret, a private span or an erased text was removed from it."""
        return self.batch.is_changed


def place_of(stream: str, room: str) -> Place:
    """Return the wing and room of a stream and a room: a project's stream belongs to the project's wing."""
    return Place(slug(stream.removeprefix(PROJECT)), slug(room))


def prepare_event(event: NewEvent, trust: Trust, now: Micros, guard: Guard) -> PreparedEntry:
    """Prepare an event; needs no lock."""
    fields = {"stream": event.stream, "room": event.room, **event.fields, "artifacts": list(event.artifacts)}
    item = _new_item(event.body, event.author, trust, now, {EVENT: fields})
    item = replace(item, branch=event.branch, commit=event.commit)
    return PreparedEntry(EVENT, place_of(event.stream, event.room), ingest.prepare([item], guard))


def prepare_artifact(artifact: NewArtifact, trust: Trust, now: Micros, guard: Guard) -> PreparedEntry:
    """Prepare an artifact; needs no lock."""
    fields: dict[str, object] = {"kind": artifact.kind}
    if artifact.metadata:
        fields["metadata"] = dict(artifact.metadata)
    item = _new_item(artifact.content, artifact.author, trust, now, {ARTIFACT: fields})
    return PreparedEntry(ARTIFACT, Place(artifact.wing, ROOM), ingest.prepare([item], guard))


def append(connection: Connection, entries: Sequence[PreparedEntry], device: bytes, now: Micros) -> list[ExchangeRow]:
    """Append entries to the log of this device, all or none; return them as stored.

    Raises NotFound for an event that names an artifact that is neither stored nor among the entries.
    """
    source = Source((device.hex(),), SOURCE_KIND, "palazzo:exchange")
    number = exchange_rows.next_number(connection, source_rows.source_uid(source.kind, source.key))
    for n, entry in enumerate(entries):
        _check_artifacts(connection, entry)
        ingest.file(connection, source, entry.place, _number(entry.batch, number + n), now)
    rows = [exchange_rows.find(connection, entry.kind, entry.uid) for entry in entries]
    return [row for row in rows if row is not None]


def _number(batch: IngestBatch, number: int) -> IngestBatch:
    """Return a batch of one item with that ordinal, also if it must be prepared again."""
    came, filings = (tuple(replace(item, ordinal=number) for item in items) for items in (batch.came, batch.filings))
    return replace(batch, came=came, filings=filings)


def digest(content: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _new_item(text: str, author: str, trust: Trust, now: Micros, meta: Mapping[str, object]) -> NewItem:
    return NewItem(
        id=identity.new_id(now),
        text=text,
        kind="noise",
        role="author" if trust == "user" else "assistant",
        author=author,
        parts=(Part("text", 0, len(text)),),
        created_at=now,
        trust=trust,
        meta=meta,
    )


def _check_artifacts(connection: Connection, entry: PreparedEntry) -> None:
    fields = entry.batch.filings[0].meta.get(EVENT)
    ids = fields.get("artifacts") if isinstance(fields, Mapping) else None
    missing = exchange_rows.missing_artifacts(connection, ids) if isinstance(ids, list) else []
    if missing:
        raise NotFound(f"There is no artifact '{missing[0]}'. 'palazzo artifact put' stores one and prints its id.")
