"""mnemograph's event log: observations of entities and relations between them, as a sequence of events.

Learned from mnemograph 0.5.1 (`events.py`, `models.py`, `state.py`). Since 0.4 the log is a table of
`.claude/memory/mnemograph.db`, in the project or in the home directory; before, the same events were lines of
`events.jsonl` there:

    events(id TEXT, ts TEXT, op TEXT, session_id TEXT, source TEXT, data TEXT)      data is JSON

    create_entity       {id, name, type, observations: [{id, text, ts, source}], created_at, created_by}
    update_entity       {id, updates: {name, …}}             delete_entity       {id}
    add_observation     {entity_id, observation: {…}}        delete_observation  {entity_id, observation_id}
    create_relation     {id, from_entity, to_entity, type, created_at}
    delete_relation     {from_entity, to_entity, type}
    clear_graph, compact                                     everything before does not count; compact repeats it
    restore_to          {timestamp}                          events between then and this one do not count

An observation becomes a note after its entity's name, with the entity's type as its kind of note; a relation becomes a
fact. What no longer counts at the end of the log is imported too: an observation as a note that is forgotten at once, a
relation as a fact that has ended. `source` is `user` where a person filed it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.importers import Fact, Note, SkippedRecord, StoreRecord
from palazzo.importers.json_documents import head, is_directory, key_of, object_at, objects_at, present, text_at
from palazzo.importers.mcp_memory import about_entity
from palazzo.model import Micros, Trust
from palazzo.sources.formats.jsonl_rows import JsonObject, objects_in_head, parse_line
from palazzo.sources.formats.source_times import moment
from palazzo.store.foreign_database import MAGIC, ForeignDatabase
from palazzo.sync.carried_files import lines

NAME, OLDER_NAME = "mnemograph.db", "events.jsonl"
_COLUMNS = ("id", "ts", "op", "session_id", "source", "data")
_FOLDER = (".claude", "memory")
"""The folder in which a project stores it."""


class Mnemograph:
    """Reads mnemograph's log, given a file or its directory."""

    name = "mnemograph"
    title = "mnemograph"

    def recognises(self, path: Path) -> bool:
        """Whether this is such a log, or a directory with one."""
        file = _file(path)
        if file.name == NAME:
            return head(file).startswith(MAGIC)
        objects, _ = objects_in_head(head(file))
        return bool(objects) and {"id", "ts", "op", "data"} <= objects[0].keys()

    def read(self, path: Path) -> Iterator[StoreRecord]:
        """Yield observations in the order of the log, then relations."""
        file = _file(path)
        graph = _GraphState(_wing(file))
        is_database = file.name == NAME or head(file).startswith(MAGIC)
        events = _rows(file) if is_database else _lines(file)
        good = []
        for event in events:
            if isinstance(event, SkippedRecord):
                yield event
            else:
                good.append(event)
        good.sort(key=lambda one: (one.at, one.id))
        dropped_times = _find_dropped_events(good)
        for event in good:
            graph.add(event, dropped_times.get(event.id))
        yield from graph.notes()
        yield from graph.facts()
        yield from graph.skipped_records


@frozen
class _Event:
    id: str
    at: Micros
    op: str
    session: str
    trust: Trust
    data: JsonObject


@dataclass(slots=True)
class _Entity:
    name: str
    kind: str
    at: Micros
    event: _Event
    is_deleted: bool = False
    observations: set[str] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Observation:
    entity: str
    text: str
    at: Micros
    event: _Event
    is_deleted: bool = False


@dataclass(slots=True)
class _Relation:
    ends: tuple[str, str, str]
    at: Micros
    event: _Event
    valid_to: Micros | None = None


@dataclass(slots=True)
class _GraphState:
    """The state of the log so far. Nothing is removed: obsolete entries are marked."""

    wing: str
    entities: dict[str, _Entity] = field(default_factory=dict)
    observations: dict[str, _Observation] = field(default_factory=dict)
    relations: dict[str, _Relation] = field(default_factory=dict)
    skipped_records: list[SkippedRecord] = field(default_factory=list)

    def add(self, event: _Event, dropped_at: Micros | None = None) -> None:
        """Process the next event; `lost` is the time of the restore that discarded it, if any."""
        data = event.data
        match event.op:
            case "create_entity":
                self._create(event, dropped_at)
            case "add_observation":
                if (entity := text_at(data, "entity_id")) in self.entities:
                    self._observe(entity, object_at(data, "observation"), event, dropped_at)
            case "create_relation":
                self._relate(event, dropped_at)
            case "restore_to" | "update_weight":
                pass  # a restore is told by what is lost; a weight is how much something is used, not what is known
            case _ if dropped_at is None:
                self._change(event)

    def notes(self) -> Iterator[Note]:
        """Return the observations of entities; for one with no observation and no relation, its name."""
        for key, observation in self.observations.items():
            entity = self.entities[observation.entity]
            yield self._note(
                key,
                about_entity(entity.name, observation.text),
                entity,
                observation.event,
                observation.at,
                observation.is_deleted,
            )
        for key, entity in self.entities.items():
            if not entity.observations and not entity.relations:
                yield self._note(key, entity.name, entity, entity.event, entity.at, entity.is_deleted)

    def facts(self) -> Iterator[StoreRecord]:
        """Return the relations between known entities."""
        for key, relation in self.relations.items():
            subject, target = self.entities.get(relation.ends[0]), self.entities.get(relation.ends[2])
            if subject is None or target is None:
                yield SkippedRecord("relations", "of an entity that the log does not create", key)
            else:
                yield Fact(
                    key,
                    subject.name,
                    relation.ends[1],
                    target.name,
                    self.wing,
                    valid_to=relation.valid_to,
                    stated_at=relation.at,
                    trust=relation.event.trust,
                )

    def _note(self, key: str, text: str, entity: _Entity, event: _Event, at: Micros, is_deleted: bool) -> Note:
        about = present({"entity": entity.name, "session": event.session})
        return Note(
            key, text, self.wing, created_at=at, label=entity.kind, trust=event.trust, title=entity.name, about=about,
            is_gone=is_deleted,
        )  # fmt: skip

    def _create(self, event: _Event, dropped_at: Micros | None) -> None:
        data = event.data
        own, name = text_at(data, "id"), text_at(data, "name").strip()
        if not own or not name:
            self.skipped_records.append(SkippedRecord("entities", "without an id or a name", event.id))
            return
        entity = self.entities.get(own)
        if entity is None:
            at = moment(data.get("created_at"))
            self.entities[own] = _Entity(
                name, text_at(data, "type"), event.at if at is None else at, event, dropped_at is not None
            )
        elif dropped_at is None:  # again, behind a compact
            entity.name, entity.kind, entity.is_deleted = name, text_at(data, "type"), False
        for observation in objects_at(data, "observations"):
            self._observe(own, observation or {}, event, dropped_at)

    def _observe(self, entity: str, record: JsonObject, event: _Event, dropped_at: Micros | None) -> None:
        text, at = text_at(record, "text"), moment(record.get("ts"))
        if not text.strip():
            self.skipped_records.append(SkippedRecord("observations", "without words", event.id))
            return
        own = text_at(record, "id") or key_of(event.id, entity, text)
        stored_observation = self.observations.get(own)
        if stored_observation is None:
            observation = _Observation(entity, text, event.at if at is None else at, event, dropped_at is not None)
            self.observations[own] = observation
            self.entities[entity].observations.add(own)
        elif dropped_at is None:
            stored_observation.text, stored_observation.is_deleted = text, False

    def _relate(self, event: _Event, dropped_at: Micros | None) -> None:
        data = event.data
        ends = _ends(data)
        if not all(ends):
            self.skipped_records.append(SkippedRecord("relations", "an endpoint or the type is missing", event.id))
            return
        own, at = text_at(data, "id") or key_of(event.id, *ends), moment(data.get("created_at"))
        relation = self.relations.get(own)
        if relation is None:
            self.relations[own] = _Relation(ends, event.at if at is None else at, event, dropped_at)
            for end in (ends[0], ends[2]):
                if entity := self.entities.get(end):
                    entity.relations.add(own)
        elif dropped_at is None:
            relation.valid_to = None

    def _change(self, event: _Event) -> None:
        data = event.data
        match event.op:
            case "update_entity":
                if entity := self.entities.get(text_at(data, "id")):
                    updates = object_at(data, "updates")
                    entity.name = text_at(updates, "name").strip() or entity.name
                    entity.kind = text_at(updates, "type") or entity.kind
            case "delete_entity":
                if entity := self.entities.get(text_at(data, "id")):
                    self._end(entity, event.at)
            case "delete_observation":
                if observation := self.observations.get(text_at(data, "observation_id")):
                    observation.is_deleted = True
            case "delete_relation":
                ends = _ends(data)
                entity = self.entities.get(ends[0])
                for relation in (self.relations[own] for own in sorted(entity.relations if entity else ())):
                    if relation.valid_to is None and relation.ends == ends:
                        relation.valid_to = event.at
                        break
            case "clear_graph" | "compact":
                for entity in self.entities.values():
                    self._end(entity, event.at)
            case _:
                self.skipped_records.append(SkippedRecord("events", "of an unknown kind", event.id))

    def _end(self, entity: _Entity, at: Micros) -> None:
        if entity.is_deleted:
            return
        entity.is_deleted = True
        for own in entity.observations:
            self.observations[own].is_deleted = True
        for own in entity.relations:
            relation = self.relations[own]
            relation.valid_to = at if relation.valid_to is None else relation.valid_to


def _ends(data: JsonObject) -> tuple[str, str, str]:
    return text_at(data, "from_entity"), text_at(data, "type"), text_at(data, "to_entity")


def _find_dropped_events(events: list[_Event]) -> dict[str, Micros]:
    """Return, by event ID, when a restore discarded each event that no longer counts."""
    live_events: list[_Event] = []
    dropped_times: dict[str, Micros] = {}
    for event in events:
        if event.op == "restore_to" and (restore_time := moment(event.data.get("timestamp"))) is not None:
            while live_events and live_events[-1].at > restore_time:
                dropped_times[live_events.pop().id] = event.at
        else:
            live_events.append(event)
    return dropped_times


def _rows(file: Path) -> Iterator[_Event | SkippedRecord]:
    with ForeignDatabase(file).snapshot() as connection:
        columns = {str(row[1]) for row in connection.execute("PRAGMA table_info(events)")}
        if missing := [name for name in _COLUMNS if name not in columns]:
            raise SourceUnreadable(
                f"{file} has no table 'events' with a column '{missing[0]}': it is not a supported mnemograph log."
            )
        rows = list(connection.execute(f"SELECT {', '.join(_COLUMNS)} FROM events ORDER BY ts, id"))
    for own, at, op, session, source, data in rows:
        record = parse_line(data.encode("utf-8", "surrogatepass")) if isinstance(data, str) else None
        event = {"id": own, "ts": at, "op": op, "session_id": session, "source": source, "data": record}
        yield _event(event, str(own))


def _lines(file: Path) -> Iterator[_Event | SkippedRecord]:
    for line in lines(file):
        record = parse_line(line.text)
        key = f"line {line.number}"
        yield _event(record, key) if isinstance(record, dict) else SkippedRecord("events", record.reason, key)


def _event(record: JsonObject, key: str) -> _Event | SkippedRecord:
    at, data = moment(record.get("ts")), record.get("data")
    own, op = text_at(record, "id"), text_at(record, "op")
    if at is None or not own or not op or not isinstance(data, dict):
        return SkippedRecord("events", "an id, a time, what happened or its data is missing", key)
    trust: Trust = "user" if record.get("source") == "user" else "agent"
    return _Event(own, at, op, text_at(record, "session_id"), trust, data)


def _file(path: Path) -> Path:
    """Return the log that a path names: itself, or the one in that directory or in its `.claude/memory`."""
    if not is_directory(path):
        return path
    folders = (path, path.joinpath(*_FOLDER))
    files = [folder / name for name in (NAME, OLDER_NAME) for folder in folders if (folder / name).is_file()]
    return files[0] if files else path / NAME


def _wing(file: Path) -> str:
    """Return the project of a log: the directory of `.claude/memory`, "" for that of the home directory."""
    *above, first, second, _ = ("", "", "", *file.absolute().parts)
    is_project = (first, second) == _FOLDER and file.absolute().parents[2] != Path.home()
    return above[-1] if is_project else ""
