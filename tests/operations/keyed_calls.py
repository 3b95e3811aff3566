"""A furnished palace, and for every operation that is kept by its key a call that writes something in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.operations.registry import operation
from palazzo.store.database import Database

Ids = Mapping[str, str]
Fields = Mapping[str, Any]

CALLS: Mapping[str, Callable[[Ids], Fields]] = {
    "remember": lambda ids: {"text": "The cache is warm at dawn.", "tags": ("cache",), "room": "notes"},
    "update_drawer": lambda ids: {"id": ids["note"], "text": "The gateway listens on port 9443."},
    "forget": lambda ids: {"ids": (ids["note"],)},
    "undo": lambda ids: {},
    "cleanup": lambda ids: {},
    "dedup": lambda ids: {"wing": "twice"},
    "sync_private": lambda ids: {"wings": ("other",)},
    "sync_remove": lambda ids: {"remote": "default"},
    "sync_sources": lambda ids: {"path": Path(ids["project"]), "apply": True},
    "kg_add": lambda ids: {"subject": "Nina", "predicate": "owns", "object": "billing", "sources": (ids["note"],)},
    "kg_add_many": lambda ids: {
        "facts": "\n".join(
            json.dumps({"subject": f"host {n}", "predicate": "runs", "object": "linux"}) for n in range(3)
        )
    },
    "kg_end": lambda ids: {"subject": "Ada", "predicate": "works at", "object": "Initech"},
    "kg_supersede": lambda ids: {"subject": "Ada", "predicate": "works at", "old": "Initech", "new": "Hooli"},
    "kg_dismiss": lambda ids: {"ids": (ids["suggestion"],)},
    "kg_accept": lambda ids: {"ids": (ids["suggestion"],)},
    "kg_alias": lambda ids: {"name": "Countess", "entity": "Ada"},
    "kg_merge": lambda ids: {"name": "Initech", "into": "Hooli"},
    "kg_unmerge": lambda ids: {"name": "Bobby"},
    "kg_predicate": lambda ids: {"name": "works at", "functional": True},
    "tag": lambda ids: {"action": "add", "tag": "kept", "ids": (ids["note"],)},
    "feedback": lambda ids: {"id": ids["note"], "verdict": "outdated"},
    "diary_write": lambda ids: {"agent": "Codex", "text": "Today the cache was warmed."},
    "todo_add": lambda ids: {"text": "Warm the cache."},
    "todo_done": lambda ids: {"ids": (ids["todo"],)},
    "todo_drop": lambda ids: {"ids": (ids["todo"],)},
    "remind": lambda ids: {"text": "Look at the cache.", "topic": "cache"},
    "reminders": lambda ids: {"action": "done", "ids": (ids["reminder"],)},
    "checkpoint": lambda ids: {
        "document": json.dumps(
            {
                "items": [{"content": "The queue is drained by noon.", "room": "notes"}],
                "diary": {"agent": "Codex", "entry": "Drained the queue."},
                "facts": [{"subject": "queue", "predicate": "drained by", "object": "noon"}],
            }
        )
    },
    "event_append": lambda ids: {
        "type": "status.report",
        "body": "The gateway is up.",
        "artifacts": (ids["artifact"],),
    },
    "event_ack": lambda ids: {"id": ids["event"], "status": "claimed"},
    "event_task": lambda ids: {
        "goal": "Mend it.",
        "to": "Codex",
        "branch": "main",
        "commit": "1234567",
        "done": "It is up.",
    },
    "event_patch": lambda ids: {"content": "diff\n"},
    "artifact_put": lambda ids: {"kind": "log", "content": "built\n"},
    "wing_rename": lambda ids: {"wing": "shop", "name": "store"},
    "wing_merge": lambda ids: {"wing": "shop", "into": "other"},
    "room_rename": lambda ids: {"room": "shop/notes", "name": "papers"},
    "room_merge": lambda ids: {"room": "shop/notes", "into": "shop/ports"},
    "room_move": lambda ids: {"room": "shop/ports", "wing": "other"},
    "tunnel_add": lambda ids: {"source": "shop/notes", "target": "other/notes", "label": "again"},
    "tunnel_remove": lambda ids: {"id": ids["tunnel"]},
    "quarantine_approve": lambda ids: {"ids": (ids["unjudged"],)},
    "quarantine_drop": lambda ids: {"ids": (ids["unjudged"],)},
    "token_revoke": lambda ids: {"token": "laptop"},
}
"""The fields of each one's request. An operation that is added has a row here, or says that it works in steps."""


def context(path: Path, **more: Any) -> Context:
    """What calls on the palace at `path` run in; nothing is started beside them."""
    home = path.parent
    return Context(palace=path, cwd=home, variables={"PALAZZO_SERVICE": "off", "HOME": str(home)}, **more)


def run(path: Path, name: str, fields: Fields) -> Any:
    """Run an operation without a key."""
    found = operation(name)
    with context(path) as surroundings:
        return found.run(surroundings, found.request(**fields))


def furnish(path: Path) -> Ids:
    """Make a palace with something for every call, and return the ids of that."""
    note = run(path, "remember", {"text": "The gateway listens on port 8443.", "wing": "shop", "room": "notes"})
    run(path, "remember", {"text": "All ports are in one file.", "wing": "shop", "room": "ports"})
    run(path, "remember", {"text": "Elsewhere.", "wing": "other", "room": "notes"})
    for end in ("", "!"):
        run(path, "remember", {"text": f"The nightly backup runs at three o'clock{end}", "wing": "twice"})
    with context(path) as surroundings:
        unjudged = surroundings.writing().remember("Ports are open.", Place("other", "notes"), trust="external")
    project = path.parent / "project"
    project.mkdir()
    (project / "kept.md").write_text("# Kept\n\nThis document stays where it is.\n")
    (project / "gone.md").write_text("# Gone\n\nThis document is deleted again.\n")
    run(path, "mine", {"paths": (project,)})
    (project / "gone.md").unlink()
    run(path, "kg_add", {"subject": "Ada", "predicate": "works at", "object": "Initech"})
    run(path, "kg_add", {"subject": "Hooli", "predicate": "makes", "object": "phones"})
    run(path, "kg_add", {"subject": "Bobby", "predicate": "likes", "object": "tea"})
    run(path, "kg_add", {"subject": "Robert", "predicate": "likes", "object": "tea"})
    run(path, "kg_merge", {"name": "Bobby", "into": "Robert"})
    run(path, "token_add", {"name": "laptop"})
    meeting = path.parent / "meeting"
    meeting.mkdir()
    run(path, "sync_init", {"address": str(meeting)})
    return {
        "suggestion": run(path, "kg_suggest", {}).suggestions[0].id,
        "todo": run(path, "todo_add", {"text": "Mend the gateway."}).todo.id,
        "reminder": run(path, "remind", {"text": "Mend it.", "topic": "gateway"}).reminder.id,
        "tunnel": run(path, "tunnel_add", {"source": "shop/ports", "target": "other/notes"}).tunnel.id,
        "event": run(path, "event_append", {"type": "task.request"}).event.id,
        "artifact": run(path, "artifact_put", {"kind": "log", "content": "failed\n"}).artifact.id,
        "note": note.drawers[0],
        "unjudged": unjudged.item,
        "project": str(project),
    }


def rows(path: Path) -> dict[str, int]:
    """How many rows each table has, but for the calls that are known."""
    database = Database(path, "read")
    with database.snapshot() as connection:
        named = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('call', 'sqlite_sequence')"
        tables = [str(name) for (name,) in connection.execute(named) if not str(name).startswith("keyword")]
        counted = {table: int(next(connection.execute(f"SELECT count(*) FROM {table}"))[0]) for table in tables}
    database.close()
    return counted
