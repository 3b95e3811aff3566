"""update_drawer: replace a drawer's text, or move the drawer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from palazzo.archive import acts, archive_reader, identity, notes
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.notes import Note
from palazzo.errors import UsageError
from palazzo.features.notes.contract import UpdateDrawerRequest, UpdateDrawerResult
from palazzo.features.service.background_process import start_embedding
from palazzo.index import rule_tags
from palazzo.model import Place
from palazzo.operations import cited_files, source_filter
from palazzo.operations.arguments import place_name, speaker, where_it_leads
from palazzo.operations.caller_taint import change_actor, whom_to_believe
from palazzo.security.note_taint import assess_trust
from palazzo.settings.setting_keys import TRUSTS
from palazzo.store import anchors, change_groups, items, place_rows, taint_queries

if TYPE_CHECKING:
    from palazzo.archive.notes import PreparedNote
    from palazzo.model import Drawer, Micros
    from palazzo.operations.context import Context
    from palazzo.security.note_taint import TrustAssessment
    from palazzo.store.database import Connection

_ALTERNATIVES = {
    "todo": "close the to-do with 'palazzo todo drop' and add another",
    "reminder": "drop it with 'palazzo reminders drop' and set another",
    "diary": "write another entry with 'palazzo diary write'",
}
"""What to do instead, by kind: entries of these kinds are more than a text."""


def update_drawer(context: Context, request: UpdateDrawerRequest) -> UpdateDrawerResult:
    """Replace a drawer's text, or move it."""
    if request.text is None and request.wing is None and request.room is None and not request.still_holds:
        raise UsageError("Nothing to change: give the new text, --wing, --room or --still-holds.")
    with context.reading().database.snapshot() as connection:
        drawers = _read_drawers(connection, request.id)
    place = _place(context, request, drawers[0])
    current_text = archive_reader.join_spans([drawer.text for drawer in drawers])
    if request.still_holds:
        request = replace(request, text=current_text if request.text is None else request.text)
        _check_cites(context, drawers[0])
    if request.still_holds or (request.text is not None and request.text != current_text):
        return _replace_drawers(context, request, drawers, place)
    return _move_drawers(context, drawers, place)


def _read_drawers(connection: Connection, prefix: str) -> list[Drawer]:
    drawers = []
    for drawer_id in source_filter.resolve_drawers(connection, [prefix]):
        drawer = archive_reader.read_drawer(connection, archive_reader.resolve_drawer(connection, drawer_id))
        if drawer.kind in _ALTERNATIVES:
            raise UsageError(f"{drawer.id} cannot be changed this way: {_ALTERNATIVES[drawer.kind]}.")
        drawers.append(drawer)
    return drawers


def _place(context: Context, request: UpdateDrawerRequest, drawer: Drawer) -> Place:
    """Return the target place; a wing or room that is not named stays."""
    wing = drawer.place.wing if request.wing is None else place_name("--wing", request.wing)
    room = drawer.place.room if request.room is None else place_name("--room", request.room)
    return Place(*where_it_leads(context, wing, room))


# --- filed elsewhere ---------------------------------------------------------------------------------------


def _move_drawers(context: Context, drawers: Sequence[Drawer], place: Place) -> UpdateDrawerResult:
    to_move = [drawer.id for drawer in drawers if drawer.place != place]
    change = None
    if to_move:
        with context.writing().database.transaction() as connection:
            now = context.now
            change = identity.new_id(now)
            actor = change_actor(context)
            group = change_groups.begin(connection, bytes.fromhex(change), actor, "update drawer", now, "")
            rows = [archive_reader.resolve_drawer(connection, drawer_id) for drawer_id in to_move]
            detail = {"wing": place.wing, "room": place.room, "row": str(place_rows.room_id(connection, place))}
            acts.act_on_drawers(connection, "move", rows, actor, now, detail, group)
            change_groups.count(connection, group, len(rows))
    ids = tuple(str(drawer.id) for drawer in drawers)
    item = str(drawers[0].spans[0].item)
    return UpdateDrawerResult(ids[0], item, ids, (), place.wing, place.room, change)


# --- said better -------------------------------------------------------------------------------------------


def _replace_drawers(
    context: Context, request: UpdateDrawerRequest, drawers: Sequence[Drawer], place: Place
) -> UpdateDrawerResult:
    belief = _trust_in_text(context, drawers, request.wing)
    database = context.writing().database
    new_note = notes.prepare(_note(context, request, drawers, place, belief), context.now, Guard.of(database))
    with database.transaction() as connection:
        now = context.now
        change = identity.new_id(now)
        actor = change_actor(context)
        group = change_groups.begin(connection, bytes.fromhex(change), actor, "update drawer", now, "")
        old = [archive_reader.resolve_drawer(connection, drawer.id) for drawer in drawers]
        acts.act_on_drawers(connection, "forget", old, actor, now, {"reason": "replaced"}, group)
        row = _file(connection, new_note, _stated_tags(drawers), actor, group, now)
        change_groups.count(connection, group, len(old) + 1)
    start_embedding(context)
    with database.snapshot() as connection:
        new = tuple(archive_reader.drawers_of_item(connection, row))
    old_ids = tuple(str(drawer.id) for drawer in drawers)
    return UpdateDrawerResult(new[0], new_note.id, new, old_ids, place.wing, place.room, change)


def _note(
    context: Context, request: UpdateDrawerRequest, drawers: Sequence[Drawer], place: Place, belief: TrustAssessment
) -> Note:
    """Return a note with the new text and the data of the old one."""
    meta = _meta(context, drawers[0])
    field_names = ("importance", "metadata", "anchors", "cited")
    about: dict[str, object] = {name: meta[name] for name in field_names if name in meta}
    if request.still_holds:
        about = {name: value for name, value in about.items() if name not in ("anchors", "cited")}
        about |= anchors.to_meta(cited_files.refresh_anchors(context, anchors.from_meta(meta)))
    about["replaces"] = [drawer.id for drawer in drawers]
    return Note(
        request.text or "",
        place,
        speaker(request.by),
        belief,
        str(meta.get("label", "")),
        context.project.branch,
        context.project.commit,
        about=about,
    )


def _meta(context: Context, drawer: Drawer) -> Mapping[str, Any]:
    """Return the data stored with a note; empty for anything else."""
    if drawer.kind != "note":
        return {}
    uid = bytes.fromhex(drawer.spans[0].item)
    with context.reading().database.snapshot() as connection:
        return items.read_item(connection, items.known_items(connection, [uid])[uid]).meta


def _check_cites(context: Context, drawer: Drawer) -> None:
    """Raise UsageError if a note cites no files, or if its files cannot be checked from here."""
    if not _meta(context, drawer).get("anchors"):
        raise UsageError(f"{drawer.id} was filed without --anchor, so there is no citation to renew.")
    if drawer.place.wing != context.home:
        raise UsageError(f"{drawer.id} cites files of '{drawer.place.wing}': run this in that project.")


def _trust_in_text(context: Context, drawers: Sequence[Drawer], wing: str | None) -> TrustAssessment:
    """Return the trust of the new text: a person's for a person, for an agent no more than that of what it read."""
    belief = whom_to_believe(context, wing, *(drawer.place.wing for drawer in drawers))
    if belief.trust == "user":
        return belief
    read = [span.item for drawer in drawers if drawer.trust == "external" for span in drawer.spans]
    with context.reading().database.snapshot() as connection:
        untrusted_ids = [
            uid for item in dict.fromkeys(read) for uid in taint_queries.taint_of(connection, item) or (item,)
        ]
    trust = max((belief.trust, *(drawer.trust for drawer in drawers)), key=TRUSTS.index)
    return assess_trust(trust, [*belief.tainted_by, *untrusted_ids])


def _stated_tags(drawers: Sequence[Drawer]) -> list[str]:
    return [
        tag for tag in dict.fromkeys(tag for drawer in drawers for tag in drawer.tags) if not rule_tags.by_rule(tag)
    ]


def _file(connection: Connection, note: PreparedNote, tags: Sequence[str], actor: str, group: int, now: Micros) -> int:
    row = notes.file(connection, note, now)
    change_groups.add(connection, group, "note", [row])
    for tag in tags:
        acts.act_on_item(connection, "tag", row, actor, now, {"tag": tag}, group)
    return row
