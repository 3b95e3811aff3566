"""remember: file a note."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.archive import acts, archive_reader, identity, notes
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.notes import Note, check_note
from palazzo.errors import UsageError
from palazzo.features.notes.contract import RememberRequest, RememberResult
from palazzo.features.service.background_process import start_embedding
from palazzo.git.project_rooms import CONVERSATIONS, room_for_conversation
from palazzo.index import duplicates
from palazzo.model import Place
from palazzo.operations.arguments import label, moment, place_name, speaker, where_it_leads, wing_to_file_in
from palazzo.operations.caller_taint import change_actor, whom_to_believe
from palazzo.operations.cited_files import anchors
from palazzo.store import change_groups, items

if TYPE_CHECKING:
    from palazzo.archive.notes import PreparedNote
    from palazzo.model import Drawer, Micros, Trust
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

NOTES = "notes"
"""The default room of notes, if no room of the project fits."""
LARGEST_METADATA = 20_000
"""The most characters of JSON that may be stored as metadata of a note."""
DEEPEST_METADATA = 50
"""The deepest nesting of metadata: SQLite reads a thousand levels, Python's reader as many as its stack holds."""


def remember(context: Context, request: RememberRequest) -> RememberResult:
    """File a note, word for word. When this returns, the note is on disk."""
    note, tags, at = _note(context, request)
    database = context.writing().database
    guard = Guard.of(database)
    draft = notes.prepare(note, context.now, guard, at)
    with database.snapshot() as connection:
        near = duplicates.near(connection, draft.text, note.place.wing)
        is_copy = bool(near) and duplicates.same(connection, draft.text, note.place.wing) is not None
    with database.transaction() as connection:
        same = _same(connection, draft, note.attribution.trust) if request.once else None
        if same is None:
            row = _file(context, connection, draft, [guard.words(tag) for tag in tags])
    if same is not None:
        return _build_duplicate_result(context, same)
    start_embedding(context)
    return _build_result(context, draft, row, near[0].drawer.id if near else None, is_copy)


def _note(context: Context, request: RememberRequest) -> tuple[Note, tuple[str, ...], Micros | None]:
    """Return the note, its tags, and when it was said. Raises UsageError before anything is written."""
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
    at = moment(text, context.now, "--at")
    if at is not None and at > context.now:
        raise UsageError(f"--at: '{text}' is in the future; leave it out for what is said now.")
    return at


def _same(connection: Connection, note: PreparedNote, trust: Trust) -> Drawer | None:
    return duplicates.same(connection, note.text, note.place.wing, trust=trust)


def _file(context: Context, connection: Connection, note: PreparedNote, tags: Sequence[str]) -> int:
    actor, now = change_actor(context), context.now
    group = change_groups.begin(connection, bytes.fromhex(identity.new_id(now)), actor, "remember", now, "")
    row = notes.file(connection, note, now)
    change_groups.add(connection, group, "note", [row])
    change_groups.count(connection, group, 1)
    for tag in tags:
        acts.act_on_item(connection, "tag", row, actor, now, {"tag": tag}, group)
    return row


def _build_result(context: Context, note: PreparedNote, row: int, like: str | None, is_copy: bool) -> RememberResult:
    with context.reading().database.snapshot() as connection:
        drawers = tuple(archive_reader.drawers_of_item(connection, row))
    return RememberResult(note.id, drawers, note.place.wing, note.place.room, True, like, is_copy)


def _build_duplicate_result(context: Context, drawer: Drawer) -> RememberResult:
    """Return the result for a note that exists already."""
    item = drawer.spans[0].item
    with context.reading().database.snapshot() as connection:
        row = items.known_items(connection, [bytes.fromhex(item)])[bytes.fromhex(item)]
        drawers = tuple(archive_reader.drawers_of_item(connection, row))
    return RememberResult(item, drawers, drawer.place.wing, drawer.place.room, False, drawer.id, True)


def room_to_file_in(context: Context, room: str | None, text: str) -> str:
    """Return the requested room, else the project's room that fits the text best."""
    if room is not None:
        return place_name("--room", room)
    room_name = room_for_conversation(context.place_finder.config(context.project), text)
    return NOTES if room_name == CONVERSATIONS else room_name
