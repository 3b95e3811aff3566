"""check_duplicate: find what the palace already contains of a text, before it is filed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive.ingest_guard import Guard
from palazzo.archive.notes import check_note
from palazzo.errors import UsageError
from palazzo.features.search.contract import CheckDuplicateRequest, CheckDuplicateResult, MatchView
from palazzo.features.search.drawer_rows import beginning
from palazzo.index import duplicates
from palazzo.operations.arguments import check_place

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def check_duplicate(context: Context, request: CheckDuplicateRequest) -> CheckDuplicateResult:
    """Check whether the palace already has a text, word for word or nearly. Files nothing."""
    if not request.text.strip():
        raise UsageError("There is nothing to compare: the text is empty.")
    check_note(request.text)
    check_threshold(request.threshold)
    database = context.reading().database
    text = Guard.of(database).words(request.text)  # as it would be kept
    with database.snapshot() as connection:
        wing, _ = check_place(connection, request.wing, None, context.notice)
        candidates = duplicates.near(connection, text, wing, request.threshold)
    matches = []
    for candidate in candidates:
        drawer, excerpt = candidate.drawer, beginning(candidate.drawer.text)
        matches.append(
            MatchView(
                id=drawer.id,
                similarity=round(candidate.similarity, 3),
                wing=drawer.place.wing,
                room=drawer.place.room,
                kind=drawer.kind,
                created_at=drawer.created_at,
                text=excerpt,
                truncated=len(excerpt) < len(drawer.text),
            )
        )
    return CheckDuplicateResult(bool(matches), tuple(matches))


def check_threshold(threshold: float) -> None:
    """Raise UsageError for a threshold that no two texts can reach, or that any two reach."""
    if not 0 < threshold <= 1:
        raise UsageError(f"--threshold is {threshold:g}; it must be above 0 and at most 1.")
