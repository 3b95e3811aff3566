"""A palace that has something for every tool of every profile, and calls of those tools.

A tool's call is made from its input schema: what it requires is given by the argument's name, so that the tools of a
profile join by themselves as long as they call things as others do.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.archive.conversations import SESSION, file_rows, said

from palazzo.features.hooks.contract import HookRequest
from palazzo.features.hooks.hook import hook
from palazzo.model import Place
from palazzo.operations import registry
from palazzo.operations.context import Context
from palazzo.palace import Palace

NOTES = {
    Place("acme", "notes"): "The deploy port is 8443, since the proxy holds 443.",
    Place("web", "login"): "Retries double after each failure, and stop after five.",
}
GIVEN: Mapping[str, Any] = {
    "query": "deploy port",
    "text": "Said {n}: the crane of berth {n} is oiled on day {n}.",
    "content": "Said {n}: the crane of berth {n} is oiled on day {n}.",
    "entry": "Oiled crane {n}.",
    "context": "which port does the deploy use",
    "tags": ["cranes"],
    "id": "{note}",
    "drawer_id": "{note}",
    "ids": ["{note}"],
    "items": [{"wing": "acme", "room": "notes", "content": "Checked {n}: berth {n} is free."}],
    "paths": ["."],
    "agent_name": "claude",
    "wing": "acme",
    "room": "notes",
    "start_room": "notes",
    "source": "acme/notes",
    "target": "web/login",
    "source_wing": "acme",
    "source_room": "notes",
    "target_wing": "web",
    "target_room": "login",
    "tunnel_id": "{tunnel}",
    "entity": "the quay",
    "subject": "crane {n}",
    "predicate": "stands at",
    "object": "berth {n}",
    "old": "berth {n}",
    "new": "berth {n} b",
    "old_object": "berth {n}",
    "new_object": "berth {n} b",
    "drawer_ids": ["{note}"],
    "hallway_id": "quay-crane",
    "source_file": "page.md",
    "branches": "main..cranes",
    "session": "{session}",
    "memory_id": "{note}",
    "entity_name": "the quay",
    "todo_id": "{todo}",
    "parent_id": "{todo}",
    "comment_id": "{note}",
    "reminder_id": "{reminder}",
    "trigger_type": "context",
    "backup_id": 1,
    "project": "acme",
    "name": "acme",
    "pattern": "crane",
    "direction": "up",
    "from_memory_id": "{note}",
    "to_memory_id": "{note}",
    "relation": "RelatedTo",
    "edge_id": "{note}",
    "verdict": "confirm",
    "memory_ids": ["{note}"],
    "outcome": "neutral",
    "path": "page.md",
    "topic": "cranes",
    "error": "Error: crane {n} creaks",
    "tool": "pytest",
    "type": "task.reply",
    "stream": "project/acme",
    "to": "codex",
    "from_agent": "claude",
    "to_agent": "codex",
    "event_id": "{event}",
    "artifact_id": "{artifact}",
    "kind": "log",
    "created_by": "claude",
    "goal": "Oil crane {n}.",
    "done": "It does not creak.",
    "branch": "main",
    "commit": "1234567",
    "base_commit": "1234567",
}
"""What an argument of that name is given; `{n}` is new each time, what else stands in braces is made for the call."""
OF_ONE_TOOL: Mapping[str, Mapping[str, Any]] = {
    "checkpoint": {"items": [{"content": "Checked {n}: berth {n} is free."}], "diary": {"entry": "Checked {n}."}},
    "remind": {"topic": "cranes"},
    "remind_done": {"ids": ["{reminder}"]},
    "todo_done": {"ids": ["{todo}"]},
    "traverse": {"room": "acme/notes"},
    "tunnel_follow": {"room": "acme/notes"},
    "tunnel_remove": {"id": "{tunnel}"},
    "update_drawer": {"text": "Put right {n}: crane {n} was oiled."},
    "mempalace_update_drawer": {"content": "Put right {n}: crane {n} was oiled."},
    "feed": {"dry_run": True},
    "export": {"path": "cranes.jsonl"},
    "import": {"path": "memory.jsonl"},
    "import_memories": {"path": "memory.jsonl"},
    "forget": {"dry_run": False},
    "set_reminder": {"keywords": ["cranes"]},
    "update_todo": {"status": "cancelled"},
    "update_todo_comment": {"todo_id": "{remarked}", "comment_id": "{remark}"},
    "delete_todo_comment": {"todo_id": "{remarked}", "comment_id": "{remark}"},
    "event_ack": {"id": "{event}"},
    "event_wait": {"timeout_ms": 1},
    "mempalace_event_wait": {"timeout_ms": 1},
    "artifact_get": {"id": "{artifact}"},
    "feedback": {"verdict": "helpful"},
    "undo": {"list": True},
    "mempalace_diary_write": {"entry": "Oiled crane {n}."},
    "mempalace_mine": {"source": "page.md"},
    "mempalace_delete_by_source": {"dry_run": True},
}
"""Beside it, what a tool is given in particular; arguments that it does not have in some profile are left out."""


class Stock:
    """A palace in a file, and things in it that calls speak of. Another process serves it meanwhile."""

    def __init__(self, palace: Path, project: Path) -> None:
        self.palace, self.project = palace, project
        self._number = itertools.count(1)
        self._remark = ""
        project.mkdir(exist_ok=True)
        (project / "page.md").write_text("# Cranes\n\nEach berth has one.\n")
        told = {"type": "entity", "name": "crane", "entityType": "machine", "observations": ["It lifts."]}
        (project / "memory.jsonl").write_text(json.dumps(told) + "\n")
        with Palace.open(palace) as opened:
            for place, note in NOTES.items():
                opened.remember(note, place)
            file_rows(opened, [said(0, "user", "which crane is broken"), said(1, "assistant", "Crane 3 is broken.")])
        self._do("remember", text="All cranes are painted yellow.", wing="acme", tags=("cranes",))
        self._do("mine", paths=(Path("page.md"),))
        self._do("kg_add", subject="the quay", predicate="has", object="nine berths")
        (palace.parent / "remote").mkdir(exist_ok=True)
        self._do("sync_init", address=str(palace.parent / "remote"))

    def arguments(self, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments for a call of a tool that must succeed; what they speak of is made now."""
        given = {one: GIVEN.get(one) for one in schema.get("required", ())}
        given |= {one: value for one, value in OF_ONE_TOOL.get(name, {}).items() if one in schema["properties"]}
        if strange := [one for one, value in given.items() if value is None]:
            pytest.fail(f"Say in {Path(__file__).name} what {name} is given for {', '.join(strange)}.")
        told, number = json.dumps(given), next(self._number)
        for thing, make in self._makers(number).items():
            if f"{{{thing}}}" in told:
                told = told.replace(f"{{{thing}}}", make())
        if "predicate" in given and not name.endswith("kg_add"):  # it speaks of a fact that there is
            self._do("kg_add", subject=f"crane {number}", predicate="stands at", object=f"berth {number}")
        filled: dict[str, Any] = json.loads(told.replace("{n}", str(number)))
        return filled

    def _makers(self, number: int) -> Mapping[str, Callable[[], str]]:
        return {
            "note": lambda: self._do("remember", text=f"Made {number}: crane {number} creaks.", wing="acme").drawers[0],
            "session": self._session,
            "todo": lambda: self._do("todo_add", text=f"Oil crane {number}.", wing="acme").todo.id,
            "remarked": lambda: self._todo_with_comment(number),
            "remark": lambda: self._remark,
            "reminder": lambda: self._do("remind", text=f"Oil crane {number}.", topic="cranes").reminder.id,
            "event": lambda: self._do("event_append", type="task.request", body=f"Oil crane {number}.").event.id,
            "artifact": lambda: self._do("artifact_put", kind="log", content=f"Creaked {number}.").artifact.id,
            "tunnel": lambda: self._do("tunnel_add", source="acme/notes", target="web/login").tunnel.id,
        }

    def _todo_with_comment(self, number: int) -> str:
        """A to-do with a comment, as the profile shodh keeps it, whose id is `_remark` from now on."""
        todo = self._do("todo_add", text=f"Grease crane {number}.", wing="acme").todo.id
        comment = self._do(
            "remember", text=f"Grease {number} is there.", kind="comment", tags=(f"todo-{todo}",), wing="acme"
        )
        self._remark = str(comment.drawers[0])
        return str(todo)

    def _session(self) -> str:
        """A session that is recorded, and began with a hook."""
        self._do("remember", text="We decided to oil cranes on Mondays.", kind="decision")
        request = HookRequest("codex", "session-start", SESSION.session_id)
        with Context(self.palace, self.project, {"HOME": str(self.project), "PALAZZO_SERVICE": "off"}) as context:
            hook(context, request)
        return SESSION.session_id

    def _do(self, name: str, **fields: Any) -> Any:
        with Context(self.palace, self.project, {"HOME": str(self.project), "PALAZZO_SERVICE": "off"}) as context:
            operation = registry.operation(name)
            return operation.run(context, operation.request(**fields))
