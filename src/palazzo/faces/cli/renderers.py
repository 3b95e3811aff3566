"""Renderers: which function shows the result of which operation on the terminal."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from palazzo.features.screen import Screen

RENDERERS = {
    "setup": "palazzo.features.setup.view:setup",
    "today": "palazzo.features.setup.view:today",
    "sync_sources": "palazzo.features.upkeep.tidy_view:sync_sources",
    "search": "palazzo.features.search.view:search",
    "show": "palazzo.features.search.view:show",
    "list_drawers": "palazzo.features.search.list_view:list_drawers",
    "check_duplicate": "palazzo.features.search.list_view:check_duplicate",
    "watch": "palazzo.features.erase.view:watch",
    "restore_session": "palazzo.features.erase.view:restore_session",
    "export": "palazzo.features.portability.view:export",
    "import": "palazzo.features.portability.view:import_",
    "wake_up": "palazzo.features.search.view:wake_up",
    "proactive_context": "palazzo.features.wakeup.view:proactive_context",
    "context_summary": "palazzo.features.wakeup.view:context_summary",
    "digest": "palazzo.features.wakeup.digest_view:digest",
    "diff": "palazzo.features.wakeup.digest_view:diff",
    "init": "palazzo.features.mining.view:init",
    "sync_init": "palazzo.features.sync.view:sync_init",
    "sync_now": "palazzo.features.sync.view:sync_now",
    "sync_push": "palazzo.features.sync.view:sync_push",
    "sync_pull": "palazzo.features.sync.view:sync_pull",
    "sync_status": "palazzo.features.sync.view:sync_status",
    "sync_private": "palazzo.features.sync.view:sync_private",
    "sync_devices": "palazzo.features.sync.view:sync_devices",
    "sync_key": "palazzo.features.sync.view:sync_key",
    "sync_remove": "palazzo.features.sync.view:sync_remove",
    "install": "palazzo.features.hosts.view:install",
    "uninstall": "palazzo.features.hosts.view:uninstall",
    "mine": "palazzo.features.mining.view:mine",
    "feed": "palazzo.features.mining.feed_view:feed",
    "remember": "palazzo.features.mining.view:remember",
    "update_drawer": "palazzo.features.search.list_view:update_drawer",
    "forget": "palazzo.features.mining.view:forget",
    "quarantine_list": "palazzo.features.trust.view:quarantine_list",
    "quarantine_approve": "palazzo.features.trust.view:quarantine_approve",
    "quarantine_drop": "palazzo.features.trust.view:quarantine_drop",
    "cleanup": "palazzo.features.upkeep.tidy_view:cleanup",
    "dedup": "palazzo.features.upkeep.tidy_view:dedup",
    "undo": "palazzo.features.mining.view:undo",
    "erase": "palazzo.features.erase.view:erase",
    "kg_add": "palazzo.features.facts.view:kg_add",
    "kg_add_many": "palazzo.features.facts.view:kg_add_many",
    "kg_query": "palazzo.features.facts.view:kg_query",
    "kg_end": "palazzo.features.facts.view:kg_end",
    "kg_supersede": "palazzo.features.facts.view:kg_supersede",
    "kg_timeline": "palazzo.features.facts.view:kg_timeline",
    "kg_conflicts": "palazzo.features.facts.view:kg_conflicts",
    "kg_dismiss": "palazzo.features.facts.view:kg_dismiss",
    "kg_suggest": "palazzo.features.facts.suggestion_view:kg_suggest",
    "kg_accept": "palazzo.features.facts.suggestion_view:kg_accept",
    "kg_stats": "palazzo.features.facts.view:kg_stats",
    "kg_alias": "palazzo.features.facts.view:kg_alias",
    "kg_merge": "palazzo.features.facts.view:kg_merge",
    "kg_unmerge": "palazzo.features.facts.view:kg_unmerge",
    "kg_predicate": "palazzo.features.facts.view:kg_predicate",
    "tag": "palazzo.features.mining.view:tag",
    "diary_write": "palazzo.features.diary.view:diary_write",
    "diary_read": "palazzo.features.diary.view:diary_read",
    "diary_handoff": "palazzo.features.diary.view:diary_handoff",
    "list_agents": "palazzo.features.diary.view:list_agents",
    "todo_add": "palazzo.features.tasks.view:todo_add",
    "todo_list": "palazzo.features.tasks.view:todo_list",
    "todo_done": "palazzo.features.tasks.view:todo_done",
    "todo_drop": "palazzo.features.tasks.view:todo_drop",
    "remind": "palazzo.features.tasks.view:remind",
    "reminders": "palazzo.features.tasks.view:reminders",
    "checkpoint": "palazzo.features.diary.view:checkpoint",
    "wing_list": "palazzo.features.places.view:wing_list",
    "wing_rename": "palazzo.features.places.view:wing_rename",
    "wing_merge": "palazzo.features.places.view:wing_merge",
    "room_list": "palazzo.features.places.view:room_list",
    "room_rename": "palazzo.features.places.view:room_rename",
    "room_merge": "palazzo.features.places.view:room_merge",
    "room_move": "palazzo.features.places.view:room_move",
    "tunnel_add": "palazzo.features.places.view:tunnel_add",
    "tunnel_list": "palazzo.features.places.view:tunnel_list",
    "tunnel_find": "palazzo.features.places.view:tunnel_find",
    "tunnel_follow": "palazzo.features.places.view:tunnel_follow",
    "tunnel_remove": "palazzo.features.places.view:tunnel_remove",
    "traverse": "palazzo.features.places.view:traverse",
    "graph_stats": "palazzo.features.places.view:graph_stats",
    "taxonomy": "palazzo.features.places.view:taxonomy",
    "token_add": "palazzo.features.access.view:token_add",
    "token_list": "palazzo.features.access.view:token_list",
    "token_revoke": "palazzo.features.access.view:token_revoke",
    "service_start": "palazzo.features.service.view:service_start",
    "service_stop": "palazzo.features.service.view:service_stop",
    "service_status": "palazzo.features.service.view:service_status",
    "why": "palazzo.features.ledger.view:why",
    "pause": "palazzo.features.ledger.view:pause",
    "resume": "palazzo.features.ledger.view:resume",
    "status": "palazzo.features.upkeep.view:status",
    "memory_stats": "palazzo.features.wakeup.view:memory_stats",
    "instructions": "palazzo.features.wakeup.view:instructions",
    "audit": "palazzo.features.upkeep.tidy_view:audit",
    "doctor": "palazzo.features.upkeep.view:doctor",
    "verify": "palazzo.features.upkeep.view:verify",
    "repair": "palazzo.features.upkeep.view:repair",
    "backup": "palazzo.features.backup.view:backup",
    "restore": "palazzo.features.backup.view:restore",
    "settings": "palazzo.features.upkeep.view:settings",
    "bench": "palazzo.features.bench.view:bench",
}


EVENTS = {"watch": "palazzo.features.erase.view:watch_event"}
"""The same for events during an operation."""


def renderer(name: str) -> Callable[[Screen, Any], None]:
    """Return the renderer of an operation's result."""
    return _function(RENDERERS[name])


def event_renderer(name: str) -> Callable[[Screen, Any], None]:
    """Return the renderer of an operation's events."""
    return _function(EVENTS[name])


def _function(entry_point: str) -> Callable[[Screen, Any], None]:
    module, _, function = entry_point.partition(":")
    handler: Callable[[Screen, Any], None] = getattr(importlib.import_module(module), function)
    return handler
