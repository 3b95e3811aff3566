"""Store import of notes, diary entries, to-dos and reminders of another memory, filed through ingest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from palazzo.archive import acts, diary_entries, imported_notes, task_notes
from palazzo.archive import notes as filed_notes
from palazzo.archive.imported_notes import ImportStatus
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.git.project_rooms import slug
from palazzo.importers import DiaryEntry, Note, StoreRecord, Task
from palazzo.importers.json_documents import key_of, plain
from palazzo.importers.store_import_state import Change, room_of, what_of, wing_of
from palazzo.model import Micros, Place
from palazzo.security.note_taint import TrustAssessment
from palazzo.store import change_groups, drawers
from palazzo.store import task_rows as tasks_store
from palazzo.store.database import Connection, Database
from palazzo.store.task_rows import TaskState
from palazzo.text.names import tidy

NOTES = "notes"
"""The room for notes whose store has no rooms."""
_LONGEST_TAG = 64
TextEntry = Note | DiaryEntry | Task


@frozen
class _ToFile:
    """A thing with text, as a Palazzo note, and its state here."""

    thing: TextEntry
    note: imported_notes.ImportedNote
    tags: tuple[str, ...]


class NoteFiler:
    """Files things with text. `cited` are keys of notes that facts or tunnels cite."""

    def __init__(self, database: Database, change: Change, wing: str | None, note_keys: frozenset[str]) -> None:
        self._database, self._change, self._wing, self._cited = database, change, wing, note_keys
        self._rows: dict[str, int] = {}
        self._heard: dict[str, str] = {}
        with database.snapshot() as connection:
            self._undone = change_groups.taken_back(connection, "note")
            self._agents = {diary_entries.wing_of(agent.name): agent.name for agent in diary_entries.agents(connection)}

    def row_of(self, key: str) -> int | None:
        """Return the row id of a cited note, None for one that was not imported."""
        return self._rows.get(key)

    def look(self, batch: Sequence[StoreRecord]) -> None:
        """Count what importing a batch would do."""
        pairs = self._find_statuses(self._to_file(batch))
        closures = self._closed_since(pairs)
        for entry, status in pairs:
            self._count(entry, status, status.row in closures)

    def file(self, batch: Sequence[StoreRecord]) -> None:
        """Import the text entries of a batch, in one transaction."""
        pairs = self._find_statuses(self._to_file(batch))
        new = [(entry, status) for entry, status in pairs if status.row is None]
        guard = Guard.of(self._database)
        batches = imported_notes.prepare(
            self._change.store, [(entry.note, status.generation) for entry, status in new], guard
        )
        closures = self._closed_since(pairs)
        obsolete_rows: list[int] = []
        for entry, status in pairs:
            if status.row is not None:
                self._record_row(entry, status.row)
                self._count(entry, status, status.row in closures)
                obsolete_rows += [status.row] if _is_gone(entry) else []
        if closures:
            with self._database.transaction() as connection:
                for task, state in closures.values():
                    self._close_task(connection, task, state)
                change_groups.count(connection, self._change.group(connection), len(closures))
        if new:
            with self._database.transaction() as connection:
                obsolete_rows += self._file(connection, new, batches, guard)
        if obsolete_rows:  # what is to be forgotten are drawers, which the end of that transaction has cut
            with self._database.transaction() as connection:
                self._forget(connection, obsolete_rows)

    def _file(
        self,
        connection: Connection,
        new: Sequence[tuple[_ToFile, ImportStatus]],
        batches: Sequence[imported_notes.Batch],
        guard: Guard,
    ) -> list[int]:
        """Import notes; return those that their store no longer counts."""
        now, change = self._change.clock(), self._change
        new_rows: list[int] = []
        rows_by_tag: dict[str, list[int]] = {}
        replaced_rows: list[int] = []
        obsolete_rows: list[int] = []
        for number, row, is_new in imported_notes.file(connection, batches, now):
            entry, status = new[number]
            self._record_row(entry, row)
            self._count(entry, status if is_new else ImportStatus(row))
            if not is_new:  # somebody else took the same store over meanwhile
                continue
            new_rows.append(row)
            for tag in entry.tags:
                rows_by_tag.setdefault(guard.words(tag), []).append(row)
            if isinstance(entry.thing, Task):
                self._open_task(connection, entry.thing, row)
            obsolete_rows += [row] if _is_gone(entry) else []
            replaced_rows += status.earlier_rows
        change.did(connection, "note", new_rows)
        for tag, rows in rows_by_tag.items():
            acts.act_on_items(connection, "tag", rows, change.actor, now, {"tag": tag}, change.group(connection))
        self._forget(connection, replaced_rows)
        return obsolete_rows

    def _forget(self, connection: Connection, rows: Sequence[int]) -> None:
        live = [drawer for row in rows for drawer in drawers.live_drawers_of_item(connection, row)]
        if live:
            change = self._change
            group = change.group(connection)
            acts.act_on_drawers(connection, "forget", live, change.actor, change.clock(), {"reason": "replaced"}, group)

    def _open_task(self, connection: Connection, task: Task, row: int) -> None:
        own = tasks_store.create(connection, row, task.kind, task.due_at)
        if task.state != "open":
            self._close_task(connection, own, task.state)

    def _close_task(self, connection: Connection, task: int, state: TaskState) -> None:
        row = tasks_store.set_state(connection, task, state, self._change.clock())
        change_groups.add(connection, self._change.group(connection), "state", [row])

    def _record_row(self, entry: _ToFile, row: int) -> None:
        if entry.thing.key in self._cited:
            self._rows[entry.thing.key] = row

    def _count(self, entry: _ToFile, status: ImportStatus, is_closed: bool = False) -> None:
        is_changed = is_closed or (status.row is None and bool(status.earlier_rows))
        self._change.tally.count(
            what_of(entry.thing), "changed" if is_changed else "new" if status.row is None else "there"
        )

    def _closed_since(self, pairs: Sequence[tuple[_ToFile, ImportStatus]]) -> dict[int, tuple[int, TaskState]]:
        """Return tasks open here that their store has closed since: (task, state) by the note's row id."""
        with self._database.snapshot() as connection:
            return {
                status.row: (task.row, entry.thing.state)
                for entry, status in pairs
                if isinstance(entry.thing, Task) and entry.thing.state != "open" and status.row is not None
                for task in tasks_store.of_items(connection, [status.row])
                if task.state == "open" and not tasks_store.was_closed(connection, task.row)
            }

    def _find_statuses(self, entries: Sequence[_ToFile]) -> list[tuple[_ToFile, ImportStatus]]:
        store = self._change.store
        guard = Guard.of(self._database)
        new_items = guard.filings([imported_notes.as_filing(store, entry.note) for entry in entries])
        with self._database.snapshot() as connection:
            statuses = imported_notes.find_import_statuses(
                connection,
                store,
                [(entry.note.key, new_item.text) for entry, new_item in zip(entries, new_items, strict=True)],
                self._undone,
            )
        return list(zip(entries, statuses, strict=True))

    # --- as notes of ours ----------------------------------------------------------------------------------

    def _to_file(self, batch: Iterable[StoreRecord]) -> list[_ToFile]:
        """Return the text entries of a batch, each once, without empty ones."""
        entries: list[_ToFile] = []
        for thing in batch:
            if not isinstance(thing, TextEntry):
                continue
            if not thing.text.strip():
                self._change.tally.leave(what_of(thing), "they are empty", thing.key)
                continue
            text_key = key_of(thing.text)
            earlier_key = self._heard.get(thing.key)
            if earlier_key is None:
                self._heard[thing.key] = text_key
                entries.append(self._as_ours(thing))
            elif earlier_key == text_key:
                self._change.tally.count(what_of(thing), "merged")
            else:  # two things of one id, which no store should have: none of them is lost
                entries.extend(self._to_file([replace(thing, key=f"{thing.key} {text_key}")]))
        return entries

    def _as_ours(self, thing: TextEntry) -> _ToFile:
        if isinstance(thing, Note):
            note, tags = self._of_note(thing), thing.tags
        elif isinstance(thing, DiaryEntry):
            note, tags = self._of_entry(thing), ()
        else:
            note, tags = self._of_task(thing), thing.tags
        return _ToFile(thing, imported_notes.ImportedNote(thing.key, note, self._time(thing)), self._tags(tags))

    def _of_note(self, note: Note) -> filed_notes.Note:
        place = Place(self._wing_of(note.wing), room_of(self._change.tally, note.room, NOTES))
        extra_fields = {"origin": note.origin, "topic": note.title}
        about = {**plain(dict(note.about)), **{name: value for name, value in extra_fields.items() if value}}
        label = self._short("kinds", note.label)
        belief = TrustAssessment(note.trust)
        return filed_notes.Note(note.text, place, note.author, belief, label, note.branch, note.commit, about=about)

    def _of_entry(self, entry: DiaryEntry) -> filed_notes.Note:
        agent = self._agent(entry.agent)
        project = self._wing_of(entry.wing) if entry.wing else ""
        topic = tidy(entry.topic)[: diary_entries.LONGEST_TOPIC]
        about = {**plain(dict(entry.about)), "topic": topic if topic.isprintable() and topic else diary_entries.GENERAL}
        if project:
            about["project"] = project
        return filed_notes.Note(
            entry.text, diary_entries.place_of(agent), agent, TrustAssessment(entry.trust), shelf="diary", about=about
        )

    def _of_task(self, task: Task) -> filed_notes.Note:
        place = Place(self._wing_of(task.wing), task_notes.ROOMS[task.kind])
        about = {**plain(dict(task.about)), **({"topic": task.topic} if task.topic else {})}
        return filed_notes.Note(
            task.text, place, task.author, TrustAssessment(task.trust), shelf=task.kind, about=about
        )

    def _wing_of(self, wing_name: str) -> str:
        return wing_of(self._change.tally, wing_name, self._change.store, self._wing)

    def _agent(self, agent_name: str) -> str:
        """Return the agent's name as it may be written here, in its first spelling."""
        try:
            name = diary_entries.agent_name(agent_name)
        except UsageError:
            name = slug(agent_name, slug(self._change.store))
        return self._change.tally.record_name(
            "agent", agent_name, self._agents.setdefault(diary_entries.wing_of(name), name)
        )

    def _tags(self, tags: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, (self._short("tags", tag) for tag in tags))))

    def _short(self, kind: str, name: str) -> str:
        """Return a tag or a kind as it is stored; '' for an invalid one."""
        plain = tidy(name).lower()
        if plain and (len(plain) > _LONGEST_TAG or not plain.isprintable()):
            self._change.tally.leave(kind, f"they are not names of at most {_LONGEST_TAG} characters on one line")
            return ""
        return plain

    def _time(self, thing: TextEntry) -> Micros:
        """Return the time of writing; the current time if the store has none."""
        if thing.created_at is None:
            self._change.tally.leave(
                "times", "the store does not say when it was written: the current time is used", thing.key
            )
            return self._change.clock()
        return thing.created_at


def _is_gone(entry: _ToFile) -> bool:
    return isinstance(entry.thing, Note) and entry.thing.is_gone
