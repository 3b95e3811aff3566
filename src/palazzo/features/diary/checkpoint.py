"""checkpoint: save notes, a diary entry and facts together, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from palazzo.archive import acts, archive_reader, diary_entries, identity, notes
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.notes import Note, check_note
from palazzo.errors import UsageError
from palazzo.features.diary import checkpoint_document
from palazzo.features.diary import checkpoint_document as document
from palazzo.features.diary.checkpoint_document import nothing_saved
from palazzo.features.diary.contract import (
    CheckpointPart,
    CheckpointRequest,
    CheckpointResult,
    DuplicateView,
    SavedFact,
    SavedNote,
)
from palazzo.features.facts.contract import ACTOR
from palazzo.features.facts.fact_results import change, statement
from palazzo.features.notes.remember import room_to_file_in
from palazzo.features.service.background_process import start_embedding
from palazzo.frozen_class import frozen
from palazzo.index import duplicates
from palazzo.knowledge import assertions
from palazzo.model import Place
from palazzo.operations.arguments import label, place_name, speaker, wing_to_file_in
from palazzo.operations.caller_taint import change_actor, whom_to_believe
from palazzo.security.note_taint import AGENT, PERSON
from palazzo.store import change_groups, place_rows

if TYPE_CHECKING:
    from palazzo.archive.notes import PreparedNote
    from palazzo.features.diary.checkpoint_document import CheckpointParts, EntryGiven, FactGiven, ItemGiven
    from palazzo.knowledge.assertions import Statement
    from palazzo.model import Drawer, Micros, Trust
    from palazzo.operations.context import Context
    from palazzo.security.note_taint import TrustAssessment
    from palazzo.store.database import Connection

_EXCERPT_LENGTH = 80


def checkpoint(context: Context, request: CheckpointRequest) -> CheckpointResult:
    """Save notes, a diary entry and facts in one step: all of them, or none if one is invalid."""
    return save(context, request, whom_to_believe(context, *_wings_named(request.document)))


def _wings_named(document: str) -> tuple[str, ...]:
    """Return the wings that the parts of a document name; `save` reports errors in the document."""
    document_parts = checkpoint_document.parts(document)
    parts = [
        part for part in (*document_parts.items, *document_parts.facts, document_parts.diary) if isinstance(part, dict)
    ]
    return tuple(str(part[name]) for part in parts for name in ("wing", "project") if part.get(name))


def save(context: Context, request: CheckpointRequest, assessment: TrustAssessment) -> CheckpointResult:
    """Save a checkpoint whose trust has already been determined."""
    parts = document.parts(request.document)
    plan = _make_plan(context, parts, assessment)
    writer = _CheckpointWriter(context, plan)
    with context.writing().database.transaction() as connection:
        writer.save(connection, parts)
    start_embedding(context)
    return writer.result()


# --- what is to be saved -----------------------------------------------------------------------------------


@frozen
class _NoteToSave:
    """A note that is ready to be saved, and similar drawers that existed before."""

    part: CheckpointPart
    number: int
    note: PreparedNote
    tags: tuple[str, ...]
    near: tuple[tuple[Drawer, float], ...]


@frozen
class _Plan:
    notes: tuple[_NoteToSave, ...]
    facts: tuple[Statement, ...]
    trust: Trust


def _make_plan(context: Context, parts: CheckpointParts, assessment: TrustAssessment) -> _Plan:
    """Read and prepare all parts; raise UsageError that names all invalid ones, before anything is written."""
    problems = document.Problems()
    items = [
        (n, problems.reading(parts.name("item", n), partial(_item, part))) for n, part in enumerate(parts.items, 1)
    ]
    entry = None if parts.diary is None else problems.reading(parts.name("diary"), partial(_entry, parts.diary))
    facts = [
        problems.reading(parts.name("fact", n), partial(document.fact, part)) for n, part in enumerate(parts.facts, 1)
    ]
    problems.raise_any()
    stated_by = ACTOR if entry is None else entry.agent
    statements = [
        problems.reading(parts.name("fact", n), partial(_statement, context, part, stated_by, assessment))
        for n, part in enumerate(filter(None, facts), 1)
    ]
    problems.raise_any()
    notes = _prepare_notes(context, [(n, part) for n, part in items if part is not None], entry, assessment)
    return _Plan(notes, tuple(filter(None, statements)), assessment.trust)


def _item(value: object) -> ItemGiven:
    item = document.item(value)
    check_note(item.content)
    for option, name in (("wing", item.wing), ("room", item.room)):
        if name is not None:
            place_name(option, name)
    if item.kind is not None:
        label("The kind", item.kind)
    for tag in item.tags:
        label("A tag", tag)
    if item.by is not None:
        speaker(item.by)
    return item


def _entry(value: object) -> EntryGiven:
    entry = document.entry(value)
    diary_entries.agent_name(entry.agent)
    diary_entries.topic_name(entry.topic)
    check_note(entry.text)
    if entry.project is not None:
        place_name("project", entry.project)
    return entry


def _statement(context: Context, fact: FactGiven, stated_by: str, assessment: TrustAssessment) -> Statement:
    return statement(
        context,
        (fact.subject, fact.predicate, fact.object),
        wing=fact.wing,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        confidence=fact.confidence,
        sources=fact.sources,
        stated_by=stated_by,
        belief=assessment,
        everywhere=fact.everywhere,
    )


def _prepare_notes(
    context: Context, items: Sequence[tuple[int, ItemGiven]], entry: EntryGiven | None, assessment: TrustAssessment
) -> tuple[_NoteToSave, ...]:
    """Redact and pack the notes to file, and search for similar ones: everything that needs no lock."""
    if not items and entry is None:
        return ()
    database = context.writing().database
    guard = Guard.of(database)
    project = context.project
    pending_notes: list[_NoteToSave] = []
    author = ""
    writer = AGENT if entry is not None and assessment == PERSON else assessment
    if entry is not None:
        with database.snapshot() as connection:
            author = diary_entries.find_spelling(connection, diary_entries.agent_name(entry.agent))
    for number, item in items:
        kind = label("The kind", item.kind) if item.kind is not None else ""
        by = author if item.by is None else speaker(item.by)
        note = Note(item.content, _place(context, item), by, writer, kind, project.branch, project.commit)
        tags = tuple(dict.fromkeys(label("A tag", tag) for tag in item.tags))
        pending_notes.append(_with_near(context, "item", number, notes.prepare(note, context.now, guard), tags))
    if entry is not None:
        about = wing_to_file_in(context, entry.project)
        place = diary_entries.place_of(author)
        note = Note(entry.text, place, author, writer, branch=project.branch, commit=project.commit)
        diary_note = diary_entries.prepare(note, diary_entries.topic_name(entry.topic), about, context.now, guard)
        pending_notes.append(_NoteToSave("diary", 1, diary_note, (), ()))
    return tuple(pending_notes)


def _place(context: Context, item: ItemGiven) -> Place:
    return Place(wing_to_file_in(context, item.wing), room_to_file_in(context, item.room, item.content))


def _with_near(
    context: Context, part: CheckpointPart, number: int, note: PreparedNote, tags: tuple[str, ...]
) -> _NoteToSave:
    with context.writing().database.snapshot() as connection:
        near = duplicates.near(connection, note.text, note.place.wing)
    return _NoteToSave(part, number, note, tags, tuple((neighbour.drawer, neighbour.similarity) for neighbour in near))


# --- saving ------------------------------------------------------------------------------------------------


class _CheckpointWriter:
    """Saves one checkpoint in one transaction and one change group."""

    def __init__(self, context: Context, plan: _Plan) -> None:
        self._context, self._plan = context, plan
        self._now: Micros = context.now
        self._group: int | None = None
        self._change: str | None = None
        self._filed: list[tuple[_NoteToSave, int]] = []
        self._first: dict[tuple[str, CheckpointPart, str], _NoteToSave] = {}
        self._duplicates: list[DuplicateView] = []
        self._facts: list[SavedFact] = []

    def save(self, connection: Connection, parts: CheckpointParts) -> None:
        """Write everything; if anything fails, the caller's transaction is rolled back."""
        for pending_note in self._plan.notes:
            if not self._is_there(connection, pending_note):
                self._file(connection, pending_note)
        if self._plan.facts:
            self._state(connection, parts)

    def result(self) -> CheckpointResult:
        """Return what was saved, after the commit."""
        added = []
        with self._context.reading().database.snapshot() as connection:
            for pending_note, row in self._filed:
                place = place_rows.leads_to(connection, pending_note.note.place)
                drawers = tuple(archive_reader.drawers_of_item(connection, row))
                added.append(
                    SavedNote(
                        pending_note.part, pending_note.number, pending_note.note.id, drawers, place.wing, place.room
                    )
                )
        return CheckpointResult(self._change, tuple(added), tuple(self._duplicates), tuple(self._facts))

    def _is_there(self, connection: Connection, pending_note: _NoteToSave) -> bool:
        """Return whether the same note is stored, or was an earlier part; report that one and near copies."""
        text, place = pending_note.note.text, pending_note.note.place
        kind: Literal["note", "diary"] = "note" if pending_note.part == "item" else "diary"
        same = duplicates.same(connection, text, place.wing, kind, self._plan.trust)
        if same is not None:
            self._duplicates.append(_duplicate(pending_note, same, 1.0, is_filed=False))
            return True
        earlier_note = self._first.setdefault((place.wing, pending_note.part, text), pending_note)
        if earlier_note is not pending_note:
            view = DuplicateView(
                pending_note.part,
                pending_note.number,
                earlier_note.note.id,
                1.0,
                False,
                *_place_names(earlier_note),
                _begins(text),
            )
            self._duplicates.append(view)
            return True
        self._duplicates.extend(
            _duplicate(pending_note, drawer, similarity, is_filed=True) for drawer, similarity in pending_note.near
        )
        return False

    def _file(self, connection: Connection, pending_note: _NoteToSave) -> None:
        group = self._begin_group(connection)
        row = notes.file(connection, pending_note.note, self._now)
        change_groups.add(connection, group, "note", [row])
        change_groups.count(connection, group, 1)
        if pending_note.tags:
            guard = Guard.at(connection, self._context.writing().database.redacts)
            for tag in pending_note.tags:
                acts.act_on_item(
                    connection, "tag", row, change_actor(self._context), self._now, {"tag": guard.words(tag)}, group
                )
        self._filed.append((pending_note, row))

    def _state(self, connection: Connection, parts: CheckpointParts) -> None:
        fact_change = change(self._context, connection, "checkpoint", self._group)
        for n, new_statement in enumerate(self._plan.facts, 1):
            try:
                added = assertions.add(fact_change, new_statement)
            except UsageError as error:
                raise UsageError(nothing_saved(f"{parts.name('fact', n)}: {error}")) from None
            fact_result = SavedFact(n, added.version.uid, added.new, added.changed, tuple(added.conflicts))
            self._facts.append(fact_result)
        fact_change.count(sum(fact.new or bool(fact.changed) for fact in self._facts))
        if self._group is None and fact_change.group is not None:
            self._group, self._change = fact_change.group, _uid(connection, fact_change.group)

    def _begin_group(self, connection: Connection) -> int:
        if self._group is None:
            uid = bytes.fromhex(identity.new_id(self._now))
            self._group = change_groups.begin(connection, uid, change_actor(self._context), "checkpoint", self._now, "")
            self._change = uid.hex()
        return self._group


def _uid(connection: Connection, group: int) -> str:
    return change_groups.read(connection, group).uid


def _duplicate(pending_note: _NoteToSave, drawer: Drawer, similarity: float, *, is_filed: bool) -> DuplicateView:
    return DuplicateView(
        pending_note.part,
        pending_note.number,
        drawer.id,
        round(similarity, 3),
        is_filed,
        drawer.place.wing,
        drawer.place.room,
        _begins(drawer.text),
    )


def _place_names(pending_note: _NoteToSave) -> tuple[str, str]:
    return pending_note.note.place.wing, pending_note.note.place.room


def _begins(text: str) -> str:
    words = " ".join(text[: 4 * _EXCERPT_LENGTH].split())
    return words if len(words) <= _EXCERPT_LENGTH else f"{words[:_EXCERPT_LENGTH]}…"
