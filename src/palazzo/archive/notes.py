"""Notes: words that a person or an agent files on purpose."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.archive import door, identity
from palazzo.archive.door import Filing
from palazzo.archive.guarding import Guard
from palazzo.errors import UsageError
from palazzo.model import ItemId, Micros, Part, Place, Source, Trust
from palazzo.store.database import Connection

LARGEST_NOTE = 1_000_000
"""Code points. What is longer is a document: mine the file instead."""


def check_note(text: str) -> None:
    """Raise UsageError for a note that cannot be filed."""
    if not text.strip():
        raise UsageError("There is nothing to remember: the text is empty.")
    if len(text) > LARGEST_NOTE:
        raise UsageError(
            f"The text has {len(text):,} characters; a note may have {LARGEST_NOTE:,}. Save it as a file and mine that."
        )


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
    anchors: Sequence[str] = (),
) -> tuple[ItemId, int]:
    """Archive a note at `place`; return its id and row id. `label` is its kind (decision, learning, …)."""
    check_note(text)
    uid = identity.new_id(now)
    meta: dict[str, object] = {}
    if label:
        meta["label"] = label
    if anchors:
        meta["anchors"] = list(anchors)
    filing = Filing(
        id=uid,
        text=text,
        kind="note",
        role="assistant" if trust == "agent" else "author",
        author=author,
        parts=(Part("text", 0, len(text)),),
        ordinal=now,
        created_at=created_at if created_at is not None else now,
        trust=trust,
        branch=branch,
        commit=commit,
        meta=meta,
    )
    source = Source(("notes", place.wing), "note", f"palazzo:notes/{place.wing}", title="")
    receipt = door.file(connection, source, place, door.prepare([filing], guard), now)
    return uid, receipt.rows[0]
