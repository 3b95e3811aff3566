"""check_duplicate: find what the palace already contains of a text, before it is filed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.model import Micros
from palazzo.operations.filters import InWing
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class CheckDuplicateRequest:
    """The text, the wing to search, and the similarity threshold."""

    text: Annotated[str, About("The text; - reads it from standard input.", positional=True, stdin=True)]
    wing: InWing = None
    threshold: Annotated[
        float, About("Minimum share of the text's three-word sequences that a drawer must contain, from 0 to 1.")
    ] = 0.9


@dataclass(frozen=True, slots=True)
class MatchView:
    """A drawer that says the same, or nearly. `text` is the beginning of its text if `truncated` is set."""

    id: str
    similarity: float
    wing: str
    room: str
    kind: str
    created_at: Micros
    text: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class CheckDuplicateResult:
    """Whether the palace holds the text, and the matching drawers, most similar first."""

    is_duplicate: bool
    matches: tuple[MatchView, ...]


def check_duplicate(context: Context, request: CheckDuplicateRequest) -> CheckDuplicateResult:
    """Check whether the palace already has a text, word for word or nearly. Files nothing."""
    from palazzo.archive.ingest_guard import Guard
    from palazzo.archive.notes import check_note
    from palazzo.features.search.drawer_rows import beginning
    from palazzo.index import duplicates
    from palazzo.operations.arguments import check_place

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


OPERATION = Operation(
    "check_duplicate",
    CheckDuplicateRequest,
    CheckDuplicateResult,
    check_duplicate,
    scope="read",
    view="list_view:check_duplicate",
    examples=('palazzo check-duplicate "The API listens on port 8443."', "palazzo check-duplicate - < note.txt"),
)
