"""The scope that a token needs for a request: read < write < admin.

An operation states its own; some requests of it need another.
"""

from __future__ import annotations

from typing import Any

from palazzo.operations.operation import Operation
from palazzo.store.token_rows import SCOPES, TokenScope

_LISTING = {"reminders": ("due", "open", "all"), "tag": ("list",)}
"""Actions of writing operations that write nothing."""
_AT_LARGE = ("source", "session", "wing", "tag", "tags", "derived_from")
"""Fields with which a `forget` forgets more than the things named by id."""


def scope_for(operation: Operation[Any, Any], request: Any) -> TokenScope:
    """Return the scope that a token needs for this request."""
    if operation.scope == "read":
        return "read"
    if getattr(request, "action", None) in _LISTING.get(operation.name, ()):
        return "read"
    if operation.name == "forget" and any(getattr(request, name, None) for name in _AT_LARGE):
        return "admin"
    if getattr(request, "anchors", ()) or getattr(request, "still_holds", False):  # a file that is cited is read
        return "admin"
    return operation.scope


def least(operation: Operation[Any, Any]) -> TokenScope:
    """Return the scope below which a token is refused, whatever it requests of the operation."""
    return "read" if operation.name in _LISTING else operation.scope


def covers(granted_scope: TokenScope, needed_scope: TokenScope) -> bool:
    """Return whether one scope includes the other."""
    return SCOPES.index(granted_scope) >= SCOPES.index(needed_scope)
