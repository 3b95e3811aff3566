"""Which function shows the result of which operation to a person."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from palazzo.cli.screen import Screen

RENDERERS = {
    "sync_sources": "palazzo.cli.tidying:sync_sources",
    "search": "palazzo.cli.finding:search",
    "show": "palazzo.cli.finding:show",
    "list_drawers": "palazzo.cli.listing:list_drawers",
    "check_duplicate": "palazzo.cli.listing:check_duplicate",
    "watch": "palazzo.cli.keeping:watch",
    "restore_session": "palazzo.cli.keeping:restore_session",
    "export": "palazzo.cli.exchanging:export",
    "import": "palazzo.cli.exchanging:import_",
    "wake_up": "palazzo.cli.finding:wake_up",
    "proactive_context": "palazzo.cli.telling:proactive_context",
    "context_summary": "palazzo.cli.telling:context_summary",
    "digest": "palazzo.cli.digesting:digest",
    "diff": "palazzo.cli.digesting:diff",
    "init": "palazzo.cli.filing:init",
    "sync_init": "palazzo.cli.syncing:sync_init",
    "sync_now": "palazzo.cli.syncing:sync_now",
    "sync_push": "palazzo.cli.syncing:sync_push",
    "sync_pull": "palazzo.cli.syncing:sync_pull",
    "sync_status": "palazzo.cli.syncing:sync_status",
    "sync_private": "palazzo.cli.syncing:sync_private",
    "sync_devices": "palazzo.cli.syncing:sync_devices",
    "sync_key": "palazzo.cli.syncing:sync_key",
    "sync_remove": "palazzo.cli.syncing:sync_remove",
    "install": "palazzo.cli.installing:install",
    "uninstall": "palazzo.cli.installing:uninstall",
    "mine": "palazzo.cli.filing:mine",
    "feed": "palazzo.cli.feeding:feed",
    "remember": "palazzo.cli.filing:remember",
    "update_drawer": "palazzo.cli.listing:update_drawer",
    "forget": "palazzo.cli.filing:forget",
    "quarantine_list": "palazzo.cli.judging:quarantine_list",
    "quarantine_approve": "palazzo.cli.judging:quarantine_approve",
    "quarantine_drop": "palazzo.cli.judging:quarantine_drop",
    "cleanup": "palazzo.cli.tidying:cleanup",
    "dedup": "palazzo.cli.tidying:dedup",
    "undo": "palazzo.cli.filing:undo",
    "erase": "palazzo.cli.keeping:erase",
    "kg_add": "palazzo.cli.knowing:kg_add",
    "kg_add_many": "palazzo.cli.knowing:kg_add_many",
    "kg_query": "palazzo.cli.knowing:kg_query",
    "kg_end": "palazzo.cli.knowing:kg_end",
    "kg_supersede": "palazzo.cli.knowing:kg_supersede",
    "kg_timeline": "palazzo.cli.knowing:kg_timeline",
    "kg_conflicts": "palazzo.cli.knowing:kg_conflicts",
    "kg_dismiss": "palazzo.cli.knowing:kg_dismiss",
    "kg_suggest": "palazzo.cli.suggesting:kg_suggest",
    "kg_accept": "palazzo.cli.suggesting:kg_accept",
    "kg_stats": "palazzo.cli.knowing:kg_stats",
    "kg_alias": "palazzo.cli.knowing:kg_alias",
    "kg_merge": "palazzo.cli.knowing:kg_merge",
    "kg_unmerge": "palazzo.cli.knowing:kg_unmerge",
    "kg_predicate": "palazzo.cli.knowing:kg_predicate",
    "tag": "palazzo.cli.filing:tag",
    "diary_write": "palazzo.cli.diaries:diary_write",
    "diary_read": "palazzo.cli.diaries:diary_read",
    "diary_handoff": "palazzo.cli.diaries:diary_handoff",
    "list_agents": "palazzo.cli.diaries:list_agents",
    "todo_add": "palazzo.cli.tasks:todo_add",
    "todo_list": "palazzo.cli.tasks:todo_list",
    "todo_done": "palazzo.cli.tasks:todo_done",
    "todo_drop": "palazzo.cli.tasks:todo_drop",
    "remind": "palazzo.cli.tasks:remind",
    "reminders": "palazzo.cli.tasks:reminders",
    "checkpoint": "palazzo.cli.diaries:checkpoint",
    "wing_list": "palazzo.cli.structuring:wing_list",
    "wing_rename": "palazzo.cli.structuring:wing_rename",
    "wing_merge": "palazzo.cli.structuring:wing_merge",
    "room_list": "palazzo.cli.structuring:room_list",
    "room_rename": "palazzo.cli.structuring:room_rename",
    "room_merge": "palazzo.cli.structuring:room_merge",
    "room_move": "palazzo.cli.structuring:room_move",
    "tunnel_add": "palazzo.cli.structuring:tunnel_add",
    "tunnel_list": "palazzo.cli.structuring:tunnel_list",
    "tunnel_find": "palazzo.cli.structuring:tunnel_find",
    "tunnel_follow": "palazzo.cli.structuring:tunnel_follow",
    "tunnel_remove": "palazzo.cli.structuring:tunnel_remove",
    "traverse": "palazzo.cli.structuring:traverse",
    "graph_stats": "palazzo.cli.structuring:graph_stats",
    "taxonomy": "palazzo.cli.structuring:taxonomy",
    "token_add": "palazzo.cli.tokens:token_add",
    "token_list": "palazzo.cli.tokens:token_list",
    "token_revoke": "palazzo.cli.tokens:token_revoke",
    "service_start": "palazzo.cli.servicing:service_start",
    "service_stop": "palazzo.cli.servicing:service_stop",
    "service_status": "palazzo.cli.servicing:service_status",
    "why": "palazzo.cli.seeing:why",
    "pause": "palazzo.cli.seeing:pause",
    "resume": "palazzo.cli.seeing:resume",
    "status": "palazzo.cli.operating:status",
    "memory_stats": "palazzo.cli.telling:memory_stats",
    "instructions": "palazzo.cli.telling:instructions",
    "audit": "palazzo.cli.tidying:audit",
    "doctor": "palazzo.cli.operating:doctor",
    "verify": "palazzo.cli.operating:verify",
    "repair": "palazzo.cli.operating:repair",
    "backup": "palazzo.cli.backing_up:backup",
    "restore": "palazzo.cli.backing_up:restore",
    "settings": "palazzo.cli.operating:settings",
    "bench": "palazzo.cli.benching:bench",
}


EVENTS = {"watch": "palazzo.cli.keeping:watch_event"}
"""The same for what happens while an operation goes on."""


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
