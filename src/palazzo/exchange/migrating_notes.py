"""Notes, diary entries, to-dos and reminders of another memory, filed by the door."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from palazzo.archive import brought, deeds, diaries, tasks
from palazzo.archive import notes as filed_notes
from palazzo.archive.brought import Standing
from palazzo.archive.guarding import Guard
from palazzo.errors import UsageError
from palazzo.exchange.migration import Change, room_of, what_of, wing_of
from palazzo.exchange.stores import Brought, DiaryEntry, Note, Task
from palazzo.exchange.stores.json_documents import key_of, plain
from palazzo.guard.taint import Believed
from palazzo.model import Micros, Place
from palazzo.scope.rooms import slug
from palazzo.store import drawers, groups
from palazzo.store import tasks as tasks_store
from palazzo.store.database import Connection, Database
from palazzo.store.tasks import TaskState
from palazzo.text.names import tidy

NOTES = "notes"
"""The room of notes whose store knows no rooms."""
_LONGEST_TAG = 64
Worded = Note | DiaryEntry | Task


@dataclass(frozen=True, slots=True)
class _ToFile:
    """A thing with words, as a note of ours, and how it stands here."""

    thing: Worded
    note: brought.Brought
    tags: tuple[str, ...]


class NoteFiler:
    """Files what has words. `cited` are keys of notes that facts or tunnels cite."""

    def __init__(self, database: Database, change: Change, wing: str | None, cited: frozenset[str]) -> None:
        self._database, self._change, self._wing, self._cited = database, change, wing, cited
        self._rows: dict[str, int] = {}
        self._heard: dict[str, str] = {}
        with database.snapshot() as connection:
            self._undone = groups.taken_back(connection, "note")
            self._agents = {diaries.wing_of(agent.name): agent.name for agent in diaries.agents(connection)}

    def row_of(self, key: str) -> int | None:
        """Return the row id of a note that is cited, None for one that did not come over."""
        return self._rows.get(key)

    def look(self, batch: Sequence[Brought]) -> None:
        """Count what filing a batch would do."""
        found = self._standing(self._to_file(batch))
        closed = self._closed_since(found)
        for one, how in found:
            self._count(one, how, how.row in closed)

    def file(self, batch: Sequence[Brought]) -> None:
        """File the things with words of a batch, in one transaction."""
        found = self._standing(self._to_file(batch))
        new = [(one, how) for one, how in found if how.row is None]
        guard = Guard.of(self._database)
        prepared = brought.prepare(self._change.store, [(one.note, how.generation) for one, how in new], guard)
        closed = self._closed_since(found)
        gone: list[int] = []
        for one, how in found:
            if how.row is not None:
                self._known(one, how.row)
                self._count(one, how, how.row in closed)
                gone += [how.row] if _is_gone(one) else []
        if closed:
            with self._database.transaction() as connection:
                for task, state in closed.values():
                    self._close_task(connection, task, state)
                groups.count(connection, self._change.group(connection), len(closed))
        if new:
            with self._database.transaction() as connection:
                gone += self._file(connection, new, prepared, guard)
        if gone:  # what is to be forgotten are drawers, which the end of that transaction has cut
            with self._database.transaction() as connection:
                self._forget(connection, gone)

    def _file(
        self,
        connection: Connection,
        new: Sequence[tuple[_ToFile, Standing]],
        prepared: Sequence[brought.Batch],
        guard: Guard,
    ) -> list[int]:
        """File notes; return those that their store no longer counts."""
        now, change = self._change.clock(), self._change
        filed: list[int] = []
        tagged: dict[str, list[int]] = {}
        before: list[int] = []
        gone: list[int] = []
        for number, row, is_new in brought.file(connection, prepared, now):
            one, how = new[number]
            self._known(one, row)
            self._count(one, how if is_new else Standing(row))
            if not is_new:  # somebody else took the same store over meanwhile
                continue
            filed.append(row)
            for tag in one.tags:
                tagged.setdefault(guard.words(tag), []).append(row)
            if isinstance(one.thing, Task):
                self._open_task(connection, one.thing, row)
            gone += [row] if _is_gone(one) else []
            before += how.before
        change.did(connection, "note", filed)
        for tag, rows in tagged.items():
            deeds.act_on_items(connection, "tag", rows, change.actor, now, {"tag": tag}, change.group(connection))
        self._forget(connection, before)
        return gone

    def _forget(self, connection: Connection, rows: Sequence[int]) -> None:
        live = [drawer for row in rows for drawer in drawers.live_drawers_of_item(connection, row)]
        if live:
            change = self._change
            group = change.group(connection)
            deeds.act_on_drawers(
                connection, "forget", live, change.actor, change.clock(), {"reason": "replaced"}, group
            )

    def _open_task(self, connection: Connection, task: Task, row: int) -> None:
        own = tasks_store.create(connection, row, task.kind, task.due_at)
        if task.state != "open":
            self._close_task(connection, own, task.state)

    def _close_task(self, connection: Connection, task: int, state: TaskState) -> None:
        row = tasks_store.set_state(connection, task, state, self._change.clock())
        groups.add(connection, self._change.group(connection), "state", [row])

    def _known(self, one: _ToFile, row: int) -> None:
        if one.thing.key in self._cited:
            self._rows[one.thing.key] = row

    def _count(self, one: _ToFile, how: Standing, is_closed: bool = False) -> None:
        is_changed = is_closed or (how.row is None and bool(how.before))
        self._change.tally.count(what_of(one.thing), "changed" if is_changed else "new" if how.row is None else "there")

    def _closed_since(self, found: Sequence[tuple[_ToFile, Standing]]) -> dict[int, tuple[int, TaskState]]:
        """Tasks that are open here and that their store has closed since: (task, state) by the row id of the note."""
        with self._database.snapshot() as connection:
            return {
                how.row: (task.row, one.thing.state)
                for one, how in found
                if isinstance(one.thing, Task) and one.thing.state != "open" and how.row is not None
                for task in tasks_store.of_items(connection, [how.row])
                if task.state == "open" and not tasks_store.was_closed(connection, task.row)
            }

    def _standing(self, chosen: Sequence[_ToFile]) -> list[tuple[_ToFile, Standing]]:
        store = self._change.store
        guard = Guard.of(self._database)
        kept = guard.filings([brought.as_filing(store, one.note) for one in chosen])
        with self._database.snapshot() as connection:
            found = brought.standing(
                connection,
                store,
                [(one.note.key, filing.text) for one, filing in zip(chosen, kept, strict=True)],
                self._undone,
            )
        return list(zip(chosen, found, strict=True))

    # --- as notes of ours ----------------------------------------------------------------------------------

    def _to_file(self, batch: Iterable[Brought]) -> list[_ToFile]:
        """The things with words of a batch, each once; what is empty is left."""
        found: list[_ToFile] = []
        for one in batch:
            if not isinstance(one, Worded):
                continue
            if not one.text.strip():
                self._change.tally.leave(what_of(one), "they are empty", one.key)
                continue
            said = key_of(one.text)
            before = self._heard.get(one.key)
            if before is None:
                self._heard[one.key] = said
                found.append(self._as_ours(one))
            elif before == said:
                self._change.tally.count(what_of(one), "merged")
            else:  # two things of one id, which no store should have: none of them is lost
                found.extend(self._to_file([replace(one, key=f"{one.key} {said}")]))
        return found

    def _as_ours(self, one: Worded) -> _ToFile:
        if isinstance(one, Note):
            note, tags = self._of_note(one), one.tags
        elif isinstance(one, DiaryEntry):
            note, tags = self._of_entry(one), ()
        else:
            note, tags = self._of_task(one), one.tags
        return _ToFile(one, brought.Brought(one.key, note, self._time(one)), self._tags(tags))

    def _of_note(self, one: Note) -> filed_notes.Note:
        place = Place(self._wing_of(one.wing), room_of(self._change.tally, one.room, NOTES))
        beside = {"origin": one.origin, "topic": one.title}
        about = {**plain(dict(one.about)), **{name: value for name, value in beside.items() if value}}
        label = self._short("kinds", one.label)
        whom = Believed(one.trust)
        return filed_notes.Note(one.text, place, one.author, whom, label, one.branch, one.commit, about=about)

    def _of_entry(self, one: DiaryEntry) -> filed_notes.Note:
        agent = self._agent(one.agent)
        project = self._wing_of(one.wing) if one.wing else ""
        topic = tidy(one.topic)[: diaries.LONGEST_TOPIC]
        about = {**plain(dict(one.about)), "topic": topic if topic.isprintable() and topic else diaries.GENERAL}
        if project:
            about["project"] = project
        return filed_notes.Note(
            one.text, diaries.place_of(agent), agent, Believed(one.trust), shelf="diary", about=about
        )

    def _of_task(self, one: Task) -> filed_notes.Note:
        place = Place(self._wing_of(one.wing), tasks.ROOMS[one.kind])
        about = {**plain(dict(one.about)), **({"topic": one.topic} if one.topic else {})}
        return filed_notes.Note(one.text, place, one.author, Believed(one.trust), shelf=one.kind, about=about)

    def _wing_of(self, named: str) -> str:
        return wing_of(self._change.tally, named, self._change.store, self._wing)

    def _agent(self, named: str) -> str:
        """The agent's name as it may be written here, spelled as it was first."""
        try:
            name = diaries.agent_name(named)
        except UsageError:
            name = slug(named, slug(self._change.store))
        return self._change.tally.called("agent", named, self._agents.setdefault(diaries.wing_of(name), name))

    def _tags(self, tags: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, (self._short("tags", tag) for tag in tags))))

    def _short(self, what: str, name: str) -> str:
        """A tag or a kind as it is kept; '' for what is none."""
        plain = tidy(name).lower()
        if plain and (len(plain) > _LONGEST_TAG or not plain.isprintable()):
            self._change.tally.leave(what, f"they are no names of at most {_LONGEST_TAG} characters on one line")
            return ""
        return plain

    def _time(self, one: Worded) -> Micros:
        """When it was written; now where the store says nothing."""
        if one.created_at is None:
            self._change.tally.leave("times", "the store does not say when it was written: now counts", one.key)
            return self._change.clock()
        return one.created_at


def _is_gone(one: _ToFile) -> bool:
    return isinstance(one.thing, Note) and one.thing.is_gone
