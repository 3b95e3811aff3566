"""All operations, by name. A module is imported when its operation is first asked for: start-up is short."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from palazzo.operations.operation import Operation

MODULES = {
    "init": "palazzo.operations.init",
    "mine": "palazzo.operations.mine",
    "feed": "palazzo.operations.feed",
    "sync_sources": "palazzo.operations.sync_sources",
    "search": "palazzo.operations.search",
    "show": "palazzo.operations.show",
    "list_drawers": "palazzo.operations.list_drawers",
    "check_duplicate": "palazzo.operations.check_duplicate",
    "watch": "palazzo.operations.watch",
    "restore_session": "palazzo.operations.restore_session",
    "export": "palazzo.operations.export",
    "import": "palazzo.operations.importing",
    "wake_up": "palazzo.operations.wake_up",
    "proactive_context": "palazzo.operations.proactive_context",
    "context_summary": "palazzo.operations.context_summary",
    "digest": "palazzo.operations.digest",
    "diff": "palazzo.operations.diff",
    "remember": "palazzo.operations.remember",
    "update_drawer": "palazzo.operations.update_drawer",
    "forget": "palazzo.operations.forget",
    "cleanup": "palazzo.operations.cleanup",
    "dedup": "palazzo.operations.dedup",
    "quarantine_list": "palazzo.operations.quarantine_list",
    "quarantine_approve": "palazzo.operations.quarantine_approve",
    "quarantine_drop": "palazzo.operations.quarantine_drop",
    "undo": "palazzo.operations.undo",
    "erase": "palazzo.operations.erase",
    "kg_add": "palazzo.operations.kg_add",
    "kg_add_many": "palazzo.operations.kg_add_many",
    "kg_query": "palazzo.operations.kg_query",
    "kg_end": "palazzo.operations.kg_end",
    "kg_supersede": "palazzo.operations.kg_supersede",
    "kg_timeline": "palazzo.operations.kg_timeline",
    "kg_conflicts": "palazzo.operations.kg_conflicts",
    "kg_dismiss": "palazzo.operations.kg_dismiss",
    "kg_suggest": "palazzo.operations.kg_suggest",
    "kg_accept": "palazzo.operations.kg_accept",
    "kg_stats": "palazzo.operations.kg_stats",
    "kg_alias": "palazzo.operations.kg_alias",
    "kg_merge": "palazzo.operations.kg_merge",
    "kg_unmerge": "palazzo.operations.kg_unmerge",
    "kg_predicate": "palazzo.operations.kg_predicate",
    "tag": "palazzo.operations.tag",
    "diary_write": "palazzo.operations.diary_write",
    "diary_read": "palazzo.operations.diary_read",
    "diary_handoff": "palazzo.operations.diary_handoff",
    "list_agents": "palazzo.operations.list_agents",
    "todo_add": "palazzo.operations.todo_add",
    "todo_list": "palazzo.operations.todo_list",
    "todo_done": "palazzo.operations.todo_done",
    "todo_drop": "palazzo.operations.todo_drop",
    "remind": "palazzo.operations.remind",
    "reminders": "palazzo.operations.reminders",
    "checkpoint": "palazzo.operations.checkpoint",
    "wing_list": "palazzo.operations.wing_list",
    "wing_rename": "palazzo.operations.wing_rename",
    "wing_merge": "palazzo.operations.wing_merge",
    "room_list": "palazzo.operations.room_list",
    "room_rename": "palazzo.operations.room_rename",
    "room_merge": "palazzo.operations.room_merge",
    "room_move": "palazzo.operations.room_move",
    "tunnel_add": "palazzo.operations.tunnel_add",
    "tunnel_list": "palazzo.operations.tunnel_list",
    "tunnel_find": "palazzo.operations.tunnel_find",
    "tunnel_follow": "palazzo.operations.tunnel_follow",
    "tunnel_remove": "palazzo.operations.tunnel_remove",
    "traverse": "palazzo.operations.traverse",
    "graph_stats": "palazzo.operations.graph_stats",
    "taxonomy": "palazzo.operations.taxonomy",
    "token_add": "palazzo.operations.token_add",
    "token_list": "palazzo.operations.token_list",
    "token_revoke": "palazzo.operations.token_revoke",
    "service_start": "palazzo.operations.service_start",
    "service_stop": "palazzo.operations.service_stop",
    "service_status": "palazzo.operations.service_status",
    "why": "palazzo.operations.why",
    "pause": "palazzo.operations.pause",
    "resume": "palazzo.operations.resume",
    "status": "palazzo.operations.status",
    "memory_stats": "palazzo.operations.memory_stats",
    "instructions": "palazzo.operations.instructions",
    "audit": "palazzo.operations.audit",
    "doctor": "palazzo.operations.doctor",
    "verify": "palazzo.operations.verify",
    "repair": "palazzo.operations.repair",
    "backup": "palazzo.operations.backup",
    "restore": "palazzo.operations.restore",
    "sync_init": "palazzo.operations.sync_init",
    "sync_now": "palazzo.operations.sync_now",
    "sync_push": "palazzo.operations.sync_push",
    "sync_pull": "palazzo.operations.sync_pull",
    "sync_status": "palazzo.operations.sync_status",
    "sync_private": "palazzo.operations.sync_private",
    "sync_devices": "palazzo.operations.sync_devices",
    "sync_key": "palazzo.operations.sync_key",
    "sync_remove": "palazzo.operations.sync_remove",
    "install": "palazzo.operations.install",
    "uninstall": "palazzo.operations.uninstall",
    "settings": "palazzo.operations.settings",
    "bench": "palazzo.operations.bench",
}
"""Each module defines `OPERATION`. The order is that of the command line's help."""

INTERNAL = {"hook": "palazzo.operations.hook", "session_checkpoint": "palazzo.operations.session_checkpoint"}
"""Operations that programs ask for and nobody types: they have no command and no tool."""

FOR_CLIENTS = {"status_line": "palazzo.operations.status_line"}
"""Operations that a client of ours asks of a service: they, too, have no command and no tool of their own."""

GROUPS = {
    "kg": "Facts: what holds, since when, until when, and who said so.",
    "diary": "Diaries: what agents wrote down, day by day.",
    "todo": "To-dos: what is to be done in a project.",
    "wing": "Wings: projects, people and agents; their names.",
    "room": "Rooms: topics within wings; their names, and where they stand.",
    "tunnel": "Tunnels: links between rooms.",
    "quarantine": "The quarantine: what agents wrote that had met words from outside, until you have judged it.",
    "service": "The background service: one warm process that answers quickly and takes in what changes.",
    "token": "Tokens: who may use the palace over HTTP, and for what.",
    "sync": "Sync: one palace on several machines, through a folder or a git repository.",
}
"""First words of operations that are commands of a command (`kg_add` is typed `kg add`): what each is about."""
_OF_NO_GROUP = ("sync_sources",)
"""Operations that begin with a group's name and do not belong to it."""


def split_command_name(name: str) -> tuple[str, ...]:
    """Return an operation's name as it is typed, word by word."""
    group, _, rest = name.partition("_")
    words = (group, rest) if rest and group in GROUPS and name not in _OF_NO_GROUP else (name,)
    return tuple(word.replace("_", "-") for word in words)


def operation(name: str) -> Operation[Any, Any]:
    """Return the operation of that name; KeyError when there is none."""
    definition: Operation[Any, Any] = importlib.import_module((MODULES | INTERNAL | FOR_CLIENTS)[name]).OPERATION
    return definition


def operations() -> Iterator[Operation[Any, Any]]:
    """Yield every operation."""
    return (operation(name) for name in MODULES)
