"""Notes: words that a person or an agent files on purpose.

A note is kept whole and to the word. It stands on a shelf of its wing: a plain note, an entry of a diary, a to-do, a
reminder; what else makes it one is said by `diaries.py` and `tasks.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from palazzo.archive import identity, ingest
from palazzo.archive.ingest import IngestBatch, NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import UsageError
from palazzo.model import Anchor, ItemId, Micros, Part, Place, Source, Trust
from palazzo.security.note_taint import PERSON, TrustAssessment
from palazzo.store import anchors as anchors_store
from palazzo.store.database import Connection

LARGEST_NOTE = 1_000_000
"""Code points. What is longer is a document: mine the file instead."""
Shelf = Literal["notes", "diary", "todo", "reminder"]


@dataclass(frozen=True, slots=True)
class Note:
    """What to file. `label` is its kind (decision, learning, …); `about` is kept beside the words.

    `whom` says whom to believe for it, and what from outside its writer had met if that is against it.
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


@dataclass(frozen=True, slots=True)
class PreparedNote:
    """A note as it will be kept, ready to be written under the lock."""

    id: ItemId
    place: Place
    source: Source
    ingest_batch: IngestBatch

    @property
    def text(self) -> str:
        """The words that are kept: those that came, without what the guard takes out."""
        return self.ingest_batch.filings[0].text


def check_note(text: str) -> None:
    """Raise UsageError for a note that cannot be filed."""
    if not text.strip():
        raise UsageError("There is nothing to remember: the text is empty.")
    if len(text) > LARGEST_NOTE:
        raise UsageError(
            f"The text has {len(text):,} characters; a note may have {LARGEST_NOTE:,}. Save it as a file and mine that."
        )


def prepare(note: Note, now: Micros, guard: Guard, created_at: Micros | None = None) -> PreparedNote:
    """Make a note ready to be filed; needs no lock. Raises UsageError for one that cannot be."""
    check_note(note.text)
    uid = identity.new_id(now)
    new_item = as_filing(note, uid, now, created_at if created_at is not None else now)
    source = Source((note.shelf, note.place.wing), "note", f"palazzo:{note.shelf}/{note.place.wing}", title="")
    return PreparedNote(uid, note.place, source, ingest.prepare([new_item], guard))


def as_filing(note: Note, uid: ItemId, ordinal: int, created_at: Micros) -> NewItem:
    """Return a note as the door takes it."""
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
