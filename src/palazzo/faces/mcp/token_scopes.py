"""The scope that a token needs for an operation: read < write < admin. An operation not listed here needs admin.

Over HTTP the client is on another machine. So every operation that reads or writes files of the server's own machine at
a path that the client gives needs admin, whatever it does to the palace: a client that may mine any file may read it.
"""

from __future__ import annotations

from typing import Any

from palazzo.operations.operation import Operation
from palazzo.store.token_rows import SCOPES, TokenScope

READING = frozenset(
    {
        "audit", "check_duplicate", "context_summary", "diary_handoff", "diary_read", "diff", "digest", "doctor",
        "graph_stats", "instructions", "kg_conflicts", "kg_query", "kg_stats", "kg_suggest", "kg_timeline",
        "list_agents", "list_drawers", "memory_stats", "proactive_context", "quarantine_list", "room_list", "search",
        "show", "status", "sync_status", "taxonomy", "today", "todo_list", "traverse", "tunnel_find", "tunnel_follow",
        "tunnel_list", "wake_up", "why", "wing_list",
    }
)  # fmt: skip
WRITING = frozenset(
    {
        "checkpoint", "diary_write", "forget", "kg_accept", "kg_add", "kg_add_many", "kg_alias", "kg_dismiss", "kg_end",
        "kg_merge", "kg_predicate", "kg_supersede", "kg_unmerge", "remember", "remind", "reminders", "tag", "todo_add",
        "todo_done", "todo_drop", "tunnel_add", "tunnel_remove", "undo", "update_drawer",
    }
)  # fmt: skip
"""Operations that change single things, each of which `undo` can revert."""
ADMINS = frozenset(
    {
        "backup", "bench", "cleanup", "dedup", "erase", "export", "feed", "import", "init", "install", "mine", "pause",
        "quarantine_approve", "quarantine_drop", "repair", "restore", "restore_session", "resume", "room_merge",
        "room_move", "room_rename", "service_start", "service_status", "service_stop", "settings", "setup",
        "sync_devices", "sync_init", "sync_key", "sync_now", "sync_private", "sync_pull", "sync_push", "sync_remove",
        "sync_sources", "token_add", "token_list", "token_revoke", "uninstall", "verify", "watch",
        "wing_merge", "wing_rename",
    }
)  # fmt: skip
"""Listed explicitly so that a new operation has to choose: settings, files of this machine, bulk changes, long work."""

_LISTING = {"reminders": ("due", "open", "all"), "tag": ("list",)}
"""Actions of writing operations that write nothing."""
_AT_LARGE = ("source", "session", "wing", "tag", "tags", "derived_from")
"""Fields with which a `forget` forgets more than the things named by id."""


def scope_for(operation: Operation[Any, Any], request: Any) -> TokenScope:
    """Return the scope that a token needs for this request."""
    if operation.name in READING and not operation.writes:
        return "read"
    if getattr(request, "action", None) in _LISTING.get(operation.name, ()):
        return "read"
    if operation.name == "forget" and any(getattr(request, name, None) for name in _AT_LARGE):
        return "admin"
    if getattr(request, "anchors", ()) or getattr(request, "still_holds", False):  # a file that is cited is read
        return "admin"
    return "write" if operation.name in WRITING else "admin"


def least(operation: Operation[Any, Any]) -> TokenScope:
    """Return the scope below which a token is refused, whatever it requests of the operation."""
    if operation.name in READING | _LISTING.keys():
        return "read"
    return "write" if operation.name in WRITING else "admin"


def covers(granted_scope: TokenScope, needed_scope: TokenScope) -> bool:
    """Return whether one scope includes the other."""
    return SCOPES.index(granted_scope) >= SCOPES.index(needed_scope)
