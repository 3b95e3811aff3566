"""remember: file a note."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.features.service.background_process import start_embedding
from palazzo.features.tasks.task_results import ACTOR
from palazzo.operations.arguments import label, place_name, speaker, where_it_leads, wing_to_file_in
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.archive.notes import Note, PreparedNote
    from palazzo.model import Drawer, Micros, Trust
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

NOTES = "notes"
"""The default room of notes, if no room of the project fits."""
LARGEST_METADATA = 20_000
"""The most characters of JSON that may be stored as metadata of a note."""
DEEPEST_METADATA = 50
"""The deepest nesting of metadata: SQLite reads a thousand levels, Python's reader as many as its stack holds."""


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """The note, and its place."""

    text: Annotated[str, About("The text to remember; - reads it from standard input.", positional=True, stdin=True)]
    wing: Annotated[str | None, About("File it in this wing. Default: the project's.")] = None
    room: Annotated[str | None, About("File it in this room.")] = None
    kind: Annotated[str | None, About("The kind: decision, learning, error, task, or a word of your own.")] = None
    tags: Annotated[tuple[str, ...], About("A tag; may be given several times.", option="--tag")] = ()
    anchors: Annotated[
        tuple[str, ...],
        About(
            "A file that the note is about, with line numbers; may be given several times.",
            option="--anchor",
            metavar="PATH[:L1-L2]",
        ),
    ] = ()
    by: Annotated[str, About("The author: an agent's or a person's name.", metavar="NAME")] = ""
    importance: Annotated[float | None, About("The importance, from 0 to 1.")] = None
    metadata: Annotated[str | None, About("Additional data to store with the note, as a JSON object.")] = None
    at: Annotated[str | None, About("When it was said, if not now: a date, or an age such as 3d.", metavar="WHEN")] = (
        None
    )
    once: Annotated[bool, About("File nothing if the wing already has a note with exactly this text.")] = False


@dataclass(frozen=True, slots=True)
class RememberResult:
    """The saved note; with `once`, the existing note if there was one."""

    id: str
    drawers: tuple[str, ...]
    wing: str
    room: str
    filed: bool
    duplicate_of: str | None
    """A drawer of the wing that already said the same, or nearly."""


def remember(context: Context, request: RememberRequest) -> RememberResult:
    """File a note, word for word. When this returns, the note is on disk."""
    from palazzo.archive import notes
    from palazzo.archive.ingest_guard import Guard
    from palazzo.index import duplicates

    note, tags, at = _note(context, request)
    database = context.writing().database
    guard = Guard.of(database)
    draft = notes.prepare(note, context.now, guard, at)
    with database.snapshot() as connection:
        near = duplicates.near(connection, draft.text, note.place.wing)
    with database.transaction() as connection:
        same = _same(connection, draft, note.attribution.trust) if request.once else None
        if same is None:
            row = _file(connection, draft, [guard.words(tag) for tag in tags], context.now)
    if same is not None:
        return _build_duplicate_result(context, same)
    start_embedding(context)
    return _build_result(context, draft, row, near[0].drawer.id if near else None)


def _note(context: Context, request: RememberRequest) -> tuple[Note, tuple[str, ...], Micros | None]:
    """Return the note, its tags, and when it was said. Raises UsageError before anything is written."""
    from palazzo.archive.notes import Note, check_note
    from palazzo.model import Place
    from palazzo.operations.caller_taint import whom_to_believe
    from palazzo.operations.cited_files import anchors

    check_note(request.text)
    kind = label("--kind", request.kind) if request.kind is not None else ""
    tags = tuple(dict.fromkeys(label("--tag", tag) for tag in request.tags))
    file_anchors = anchors(context, request.anchors)
    belief = whom_to_believe(context, request.wing)
    by, about, at = speaker(request.by), _about(request), _said_at(context, request.at)
    wing = wing_to_file_in(context, request.wing)
    place = Place(*where_it_leads(context, wing, room_to_file_in(context, request.room, request.text)))
    project = context.project
    note = Note(request.text, place, by, belief, kind, project.branch, project.commit, file_anchors, about=about)
    return note, tags, at


def _about(request: RememberRequest) -> dict[str, object]:
    """Return the importance and metadata to store with the text."""
    about: dict[str, object] = {}
    if request.importance is not None:
        if not 0 <= request.importance <= 1:
            raise UsageError(f"--importance is {request.importance:g}; it must be between 0 and 1.")
        about["importance"] = request.importance
    if request.metadata is not None:
        about["metadata"] = _object(request.metadata)
    return about


def _object(text: str) -> dict[str, object]:
    if len(text) > LARGEST_METADATA:
        raise UsageError(f"--metadata has {len(text):,} characters; the limit is {LARGEST_METADATA:,}.")
    try:
        metadata = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict) or _is_deeper(metadata, DEEPEST_METADATA):
        raise UsageError('--metadata: give a JSON object, such as {"ticket": "SHOP-12"}.')
    return metadata


def _no_number(name: str) -> None:
    raise ValueError(name)


def _is_deeper(value: object, levels: int) -> bool:
    """Return whether JSON is nested more deeply than the given number of levels."""
    if not isinstance(value, dict | list):
        return False
    children = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(child, levels - 1) for child in children)


def _said_at(context: Context, text: str | None) -> Micros | None:
    from palazzo.operations.arguments import moment

    at = moment(text, context.now, "--at")
    if at is not None and at > context.now:
        raise UsageError(f"--at: '{text}' is in the future; leave it out for what is said now.")
    return at


def _same(connection: Connection, note: PreparedNote, trust: Trust) -> Drawer | None:
    from palazzo.index import duplicates

    return duplicates.same(connection, note.text, note.place.wing, trust=trust)


def _file(connection: Connection, note: PreparedNote, tags: Sequence[str], now: Micros) -> int:
    from palazzo.archive import acts, identity, notes
    from palazzo.store import change_groups

    group = change_groups.begin(connection, bytes.fromhex(identity.new_id(now)), ACTOR, "remember", now, "")
    row = notes.file(connection, note, now)
    change_groups.add(connection, group, "note", [row])
    change_groups.count(connection, group, 1)
    for tag in tags:
        acts.act_on_item(connection, "tag", row, ACTOR, now, {"tag": tag}, group)
    return row


def _build_result(context: Context, note: PreparedNote, row: int, like: str | None) -> RememberResult:
    from palazzo.archive import archive_reader

    with context.reading().database.snapshot() as connection:
        drawers = tuple(archive_reader.drawers_of_item(connection, row))
    return RememberResult(note.id, drawers, note.place.wing, note.place.room, True, like)


def _build_duplicate_result(context: Context, drawer: Drawer) -> RememberResult:
    """Return the result for a note that exists already."""
    from palazzo.archive import archive_reader
    from palazzo.store import items

    item = drawer.spans[0].item
    with context.reading().database.snapshot() as connection:
        row = items.known_items(connection, [bytes.fromhex(item)])[bytes.fromhex(item)]
        drawers = tuple(archive_reader.drawers_of_item(connection, row))
    return RememberResult(item, drawers, drawer.place.wing, drawer.place.room, False, drawer.id)


def room_to_file_in(context: Context, room: str | None, text: str) -> str:
    """Return the requested room, else the project's room that fits the text best."""
    from palazzo.git.project_rooms import CONVERSATIONS, room_for_conversation

    if room is not None:
        return place_name("--room", room)
    room_name = room_for_conversation(context.place_finder.config(context.project), text)
    return NOTES if room_name == CONVERSATIONS else room_name


OPERATION = Operation(
    "remember",
    RememberRequest,
    RememberResult,
    remember,
    scope="write",
    writes=True,
    examples=(
        'palazzo remember "We chose SQLite: it needs no server." --kind decision',
        "git log -1 | palazzo remember - --tag release",
    ),
)
