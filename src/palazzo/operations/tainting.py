"""Whom to believe for what a caller writes on purpose. (Stands in; the session's taint follows.)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.guard.taint import Believed, is_agents

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def whom_to_believe(context: Context) -> Believed:
    """Return whom to believe for what this caller states."""
    return Believed("agent" if context.trust == "user" and is_agents(context.variables) else context.trust)
