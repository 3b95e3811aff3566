"""remember: file a note."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import NotFound, UsageError
from palazzo.operations.background import start_embedding
from palazzo.operations.operation import About, Operation
from palazzo.operations.tag import label

if TYPE_CHECKING:
    from palazzo.operations.context import Context

NOTES = "notes"
"""The room of notes that no room of the project fits."""
_LINES = re.compile(r":L?(\d+)(?:-L?(\d+))?$")


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """What to file, and where."""

    text: Annotated[str, About("What to remember; - reads it from standard input.", positional=True, stdin=True)]
    wing: Annotated[str | None, About("File it in this wing instead of the project's.")] = None
    room: Annotated[str | None, About("File it in this room.")] = None
    kind: Annotated[str | None, About("What it is: decision, learning, error, task, or a word of your own.")] = None
    tags: Annotated[tuple[str, ...], About("A tag; may be given several times.", option="--tag")] = ()
    anchors: Annotated[
        tuple[str, ...],
        About(
            "A file it is about, and its lines; may be given several times.", option="--anchor", metavar="PATH[:L1-L2]"
        ),
    ] = ()


@dataclass(frozen=True, slots=True)
class RememberResult:
    """The note as it was filed."""

    id: str
    drawers: tuple[str, ...]
    wing: str
    room: str


def remember(context: Context, request: RememberRequest) -> RememberResult:
    """File a note, to the word. When this returns, the note is on disk."""
    from palazzo.archive.notes import check_note
    from palazzo.model import Place

    check_note(request.text)
    kind = label("--kind", request.kind) if request.kind is not None else ""
    tags = tuple(dict.fromkeys(label("--tag", tag) for tag in request.tags))
    anchors = tuple(_anchor(context, anchor) for anchor in request.anchors)
    palace = context.writing()
    project = context.project
    place = Place(
        *where_it_leads(
            context, wing_to_file_in(context, request.wing), room_to_file_in(context, request.room, request.text)
        )
    )
    found = palace.remember(
        request.text, place, label=kind, tags=tags, anchors=anchors, branch=project.branch, commit=project.commit
    )
    start_embedding(context)
    return RememberResult(found.item, found.drawers, place.wing, place.room)


def wing_to_file_in(context: Context, wing: str | None) -> str:
    """Return the wing that was asked for, else the project's, which is then known to be its."""
    if wing is not None:
        return place_name("--wing", wing)
    with context.writing().database.transaction() as connection:
        context.placing.record(connection, context.project)
    return context.project_wing


def room_to_file_in(context: Context, room: str | None, text: str) -> str:
    """Return the room that was asked for, else the project's that fits the text best."""
    from palazzo.scope.rooms import CONVERSATIONS, room_for_conversation

    if room is not None:
        return place_name("--room", room)
    found = room_for_conversation(context.placing.config(context.project), text)
    return NOTES if found == CONVERSATIONS else found


def where_it_leads(context: Context, wing: str, room: str = "") -> tuple[str, str]:
    """Return where what is filed in that wing and room goes: where they lead, if they are former names."""
    from palazzo.model import Place
    from palazzo.store import places

    if not context.has_palace:
        return wing, room
    with context.reading().database.snapshot() as connection:
        place = places.leads_to(connection, Place(wing, room))
    if place != Place(wing, room):
        context.notice(f"'{wing}{room and f'/{room}'}' is '{place.wing}{room and f'/{place.room}'}' now.")
    return place.wing, place.room


def place_name(option: str, name: str) -> str:
    """Return a wing's or room's name as it is kept; UsageError when nothing of it can be."""
    from palazzo.scope.rooms import slug

    kept = slug(name, "")
    if not kept:
        raise UsageError(f"{option}: '{name}' is no name; use letters, digits, - and _.")
    return kept


def _anchor(context: Context, said: str) -> str:
    """`PATH[:L1-L2]` with the path from the project's root, wherever it was given from."""
    lines = _LINES.search(said)
    named = said[: lines.start()] if lines else said
    path = (context.cwd / Path(named).expanduser()).absolute()
    if not path.exists():
        raise NotFound(f"--anchor: {named} does not exist.")
    if lines and lines[2] and int(lines[2]) < int(lines[1]):
        raise UsageError(f"--anchor: the lines of '{said}' are inverted.")
    root = context.project_root
    known = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    return f"{known}:{lines[1]}-{lines[2] or lines[1]}" if lines else known


OPERATION = Operation("remember", RememberRequest, RememberResult, remember, writes=True)
