"""Notes: texts that a person or an agent files deliberately.

A note is kept whole and unchanged. It belongs to a shelf of its wing: a plain note, a diary entry, a to-do, or a
reminder. `diary_entries.py` and `task_notes.py` define what else these kinds need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal

from palazzo.archive import identity, ingest
from palazzo.archive.ingest import IngestBatch, NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.model import Anchor, ItemId, Micros, Part, Place, Source, Trust
from palazzo.security.note_taint import PERSON, TrustAssessment
from palazzo.store import anchors as anchors_store
from palazzo.store.database import Connection

LARGEST_NOTE = 1_000_000
"""In code points. Longer text is a document: mine the file instead."""
Shelf = Literal["notes", "diary", "todo", "reminder"]


@frozen
class Note:
    """A note to file. `label` is its kind (decision, learning, …); `about` is stored with the text.

    `attribution` gives the trust for it, and any untrusted content that its writer had read and that lowers the trust.
    """

    text: str
    place: Place
    author: str = ""
    attribution: TrustAssessment = PERSON
    label: str = ""
    branch: str = ""
    commit: str = ""
    anchors: Sequence[Anchor] = ()
    shelf: Shelf = "notes"
    about: Mapping[str, object] = field(default_factory=dict)


@frozen
class PreparedNote:
    """A note in its final form, ready to be written under the lock."""

    id: ItemId
    place: Place
    source: Source
    ingest_batch: IngestBatch

    @property
    def text(self) -> str:
        """Return the text that is kept: the incoming text after redaction."""
        return self.ingest_batch.filings[0].text


def check_note(text: str) -> None:
    """Raise UsageError for a note that cannot be filed."""
    if not text.strip():
        raise UsageError("There is nothing to remember: the text is empty.")
    if len(text) > LARGEST_NOTE:
        raise UsageError(
            f"The text has {len(text):,} characters; a note can have at most {LARGEST_NOTE:,}. Save it as a file and "
            "index it with 'palazzo mine'."
        )


def prepare(note: Note, now: Micros, guard: Guard, created_at: Micros | None = None) -> PreparedNote:
    """Prepare a note for ingest; needs no lock. Raises UsageError for a note that cannot be filed."""
    check_note(note.text)
    uid = identity.new_id(now)
    new_item = as_filing(note, uid, now, created_at if created_at is not None else now)
    source = Source((note.shelf, note.place.wing), "note", f"palazzo:{note.shelf}/{note.place.wing}", title="")
    return PreparedNote(uid, note.place, source, ingest.prepare([new_item], guard))


def as_filing(note: Note, uid: ItemId, ordinal: int, created_at: Micros) -> NewItem:
    """Return a note in the form that the ingest takes."""
    meta: dict[str, object] = dict(note.about)
    if note.shelf != "notes":
        meta["shelf"] = note.shelf
    if note.label:
        meta["label"] = note.label
    meta.update(anchors_store.to_meta(note.anchors))
    if note.attribution.tainted_by:
        meta["tainted_by"] = list(note.attribution.tainted_by)
    return NewItem(
        id=uid,
        text=note.text,
        kind="note",
        role="assistant" if note.attribution.trust == "agent" or note.attribution.tainted_by else "author",
        author=note.author,
        parts=(Part("text", 0, len(note.text)),),
        ordinal=ordinal,
        created_at=created_at,
        trust=note.attribution.trust,
        branch=note.branch,
        commit=note.commit,
        meta=meta,
    )


def file(connection: Connection, note: PreparedNote, now: Micros) -> int:
    """Archive a prepared note; return its row id."""
    return ingest.file(connection, note.source, note.place, note.ingest_batch, now).rows[0]


def file_note(
    connection: Connection,
    text: str,
    place: Place,
    now: Micros,
    guard: Guard,
    *,
    author: str = "",
    trust: Trust = "user",
    label: str = "",
    created_at: Micros | None = None,
    branch: str = "",
    commit: str = "",
    anchors: Sequence[Anchor] = (),
) -> tuple[ItemId, int]:
    """Archive a plain note at `place`; return its id and row id."""
    note = Note(text, place, author, TrustAssessment(trust), label, branch, commit, anchors)
    ready_note = prepare(note, now, guard, created_at)
    return ready_note.id, file(connection, ready_note, now)
