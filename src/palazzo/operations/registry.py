"""All operations, by name. A module is imported when its operation is first needed, so start-up is short."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # the help of the whole program is quick because this module imports next to nothing
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from palazzo.operations.operation import Operation

MODULES = {
    "setup": "palazzo.features.setup.setup",
    "today": "palazzo.features.setup.today",
    "init": "palazzo.features.mining.init",
    "mine": "palazzo.features.mining.mine",
    "feed": "palazzo.features.mining.feed",
    "sync_sources": "palazzo.features.mining.sync_sources",
    "search": "palazzo.features.search.search",
    "show": "palazzo.features.search.show",
    "list_drawers": "palazzo.features.search.list_drawers",
    "check_duplicate": "palazzo.features.search.check_duplicate",
    "watch": "palazzo.features.mining.watch",
    "restore_session": "palazzo.features.mining.restore_session",
    "export": "palazzo.features.portability.export",
    "import": "palazzo.features.portability.importer",
    "wake_up": "palazzo.features.wakeup.wake_up",
    "proactive_context": "palazzo.features.wakeup.proactive_context",
    "context_summary": "palazzo.features.notes.context_summary",
    "digest": "palazzo.features.wakeup.digest",
    "diff": "palazzo.features.branches.diff",
    "sessions": "palazzo.features.sessions.session_list",
    "timeline": "palazzo.features.sessions.timeline",
    "handoff": "palazzo.features.sessions.handoff",
    "stats": "palazzo.features.sessions.stats",
    "blame": "palazzo.features.code.file_blame",
    "files": "palazzo.features.code.topic_files",
    "fix": "palazzo.features.code.error_fixes",
    "how": "palazzo.features.code.working_commands",
    "friction": "palazzo.features.code.recurring_failures",
    "remember": "palazzo.features.notes.remember",
    "update_drawer": "palazzo.features.notes.update_drawer",
    "forget": "palazzo.features.notes.forget",
    "cleanup": "palazzo.features.upkeep.cleanup",
    "dedup": "palazzo.features.upkeep.dedup",
    "quarantine_list": "palazzo.features.trust.quarantine_list",
    "quarantine_approve": "palazzo.features.trust.quarantine_approve",
    "quarantine_drop": "palazzo.features.trust.quarantine_drop",
    "undo": "palazzo.features.notes.undo",
    "erase": "palazzo.features.erase.erase",
    "kg_add": "palazzo.features.facts.kg_add",
    "kg_add_many": "palazzo.features.facts.kg_add_many",
    "kg_query": "palazzo.features.facts.kg_query",
    "kg_end": "palazzo.features.facts.kg_end",
    "kg_supersede": "palazzo.features.facts.kg_supersede",
    "kg_timeline": "palazzo.features.facts.kg_timeline",
    "kg_conflicts": "palazzo.features.facts.kg_conflicts",
    "kg_dismiss": "palazzo.features.facts.kg_dismiss",
    "kg_suggest": "palazzo.features.facts.kg_suggest",
    "kg_accept": "palazzo.features.facts.kg_accept",
    "kg_stats": "palazzo.features.facts.kg_stats",
    "kg_alias": "palazzo.features.facts.kg_alias",
    "kg_merge": "palazzo.features.facts.kg_merge",
    "kg_unmerge": "palazzo.features.facts.kg_unmerge",
    "kg_predicate": "palazzo.features.facts.kg_predicate",
    "tag": "palazzo.features.notes.tag",
    "diary_write": "palazzo.features.diary.diary_write",
    "diary_read": "palazzo.features.diary.diary_read",
    "diary_handoff": "palazzo.features.diary.diary_handoff",
    "list_agents": "palazzo.features.diary.list_agents",
    "todo_add": "palazzo.features.tasks.todo_add",
    "todo_list": "palazzo.features.tasks.todo_list",
    "todo_done": "palazzo.features.tasks.todo_done",
    "todo_drop": "palazzo.features.tasks.todo_drop",
    "remind": "palazzo.features.tasks.remind",
    "reminders": "palazzo.features.tasks.reminders",
    "checkpoint": "palazzo.features.diary.checkpoint",
    "wing_list": "palazzo.features.places.wing_list",
    "wing_rename": "palazzo.features.places.wing_rename",
    "wing_merge": "palazzo.features.places.wing_merge",
    "room_list": "palazzo.features.places.room_list",
    "room_rename": "palazzo.features.places.room_rename",
    "room_merge": "palazzo.features.places.room_merge",
    "room_move": "palazzo.features.places.room_move",
    "tunnel_add": "palazzo.features.places.tunnel_add",
    "tunnel_list": "palazzo.features.places.tunnel_list",
    "tunnel_find": "palazzo.features.places.tunnel_find",
    "tunnel_follow": "palazzo.features.places.tunnel_follow",
    "tunnel_remove": "palazzo.features.places.tunnel_remove",
    "traverse": "palazzo.features.places.traverse",
    "graph_stats": "palazzo.features.places.graph_stats",
    "taxonomy": "palazzo.features.places.taxonomy",
    "token_add": "palazzo.features.access.token_add",
    "token_list": "palazzo.features.access.token_list",
    "token_revoke": "palazzo.features.access.token_revoke",
    "service_start": "palazzo.features.service.service_start",
    "service_stop": "palazzo.features.service.service_stop",
    "service_status": "palazzo.features.service.service_status",
    "why": "palazzo.features.ledger.why",
    "pause": "palazzo.features.upkeep.pause",
    "resume": "palazzo.features.upkeep.resume",
    "status": "palazzo.features.upkeep.status",
    "memory_stats": "palazzo.features.upkeep.memory_stats",
    "instructions": "palazzo.features.hosts.instructions",
    "audit": "palazzo.features.upkeep.audit",
    "doctor": "palazzo.features.upkeep.doctor",
    "verify": "palazzo.features.upkeep.verify",
    "repair": "palazzo.features.upkeep.repair",
    "backup": "palazzo.features.backup.backup",
    "restore": "palazzo.features.backup.restore",
    "sync_init": "palazzo.features.sync.sync_init",
    "sync_now": "palazzo.features.sync.sync_now",
    "sync_push": "palazzo.features.sync.sync_push",
    "sync_pull": "palazzo.features.sync.sync_pull",
    "sync_status": "palazzo.features.sync.sync_status",
    "sync_private": "palazzo.features.sync.sync_private",
    "sync_devices": "palazzo.features.sync.sync_devices",
    "sync_key": "palazzo.features.sync.sync_key",
    "sync_remove": "palazzo.features.sync.sync_remove",
    "install": "palazzo.features.hosts.install",
    "uninstall": "palazzo.features.hosts.uninstall",
    "settings": "palazzo.features.upkeep.settings",
    "bench": "palazzo.features.bench.bench",
}
"""The modules of the operations. Each defines `OPERATION`. `command_groups` says where the help lists each command."""

INTERNAL = {"hook": "palazzo.features.hooks.hook", "session_checkpoint": "palazzo.features.diary.session_checkpoint"}
"""Operations that only programs call: they have no command and no tool."""

FOR_CLIENTS = {"status_line": "palazzo.features.ledger.status_figures"}
"""Operations that one of our clients requests from a service: they also have no command and no tool of their own."""

GROUPS = {
    "kg": "Facts: what holds, between which dates, and who stated it.",
    "diary": "Diaries: dated entries that agents wrote.",
    "todo": "To-dos: open tasks of a project.",
    "wing": "Wings: projects, people and agents, and their names.",
    "room": "Rooms: topics within wings, with their names and places.",
    "tunnel": "Tunnels: links between rooms.",
    "quarantine": "Quarantine: notes and facts that agents wrote after reading untrusted content, pending your review.",
    "service": "Background service: one warm process that answers quickly and indexes changes.",
    "token": "Tokens: access to the palace over HTTP.",
    "sync": "Sync: one palace on several machines, through a folder or a git repository.",
}
"""Descriptions of groups: first words of operations that are subcommands (`kg_add` is typed `kg add`)."""
_OF_NO_GROUP = ("sync_sources",)
"""Operations that begin with a group's name but do not belong to the group."""


def split_command_name(name: str) -> tuple[str, ...]:
    """Return an operation's name as a person types it, word by word."""
    group, _, rest = name.partition("_")
    words = (group, rest) if rest and group in GROUPS and name not in _OF_NO_GROUP else (name,)
    return tuple(word.replace("_", "-") for word in words)


def operation(name: str) -> Operation[Any, Any]:
    """Return the operation of that name; KeyError if there is none."""
    definition: Operation[Any, Any] = importlib.import_module((MODULES | INTERNAL | FOR_CLIENTS)[name]).OPERATION
    return definition


def operations() -> Iterator[Operation[Any, Any]]:
    """Yield every operation."""
    return (operation(name) for name in MODULES)
