"""The scope of automatic injection: which wings may be injected, and the lowest trust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive import diary_entries
from palazzo.frozen_class import frozen
from palazzo.model import USERS_WING
from palazzo.security.trust_order import trusted_down_to
from palazzo.store import place_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@frozen
class Scope:
    """The wings included (the project's, the agent's own and the one called `user`), and the accepted trust levels."""

    wings: tuple[str, ...]
    trusts: frozenset[str]


def told_of(context: Context, agent: str | None, wing: str | None = None) -> Scope:
    """Return the wings and trusts that an agent here may receive; `wing` replaces the project's."""
    agent_wings = () if agent is None else diary_entries.wings_of(diary_entries.agent_name(agent))
    with context.reading().database.snapshot() as connection:
        wing_names = set(place_rows.wing_names(connection))
    wings = dict.fromkeys(name for name in (wing or context.home, *agent_wings, USERS_WING) if name in wing_names)
    trusts = trusted_down_to(context.settings.text("auto_inject_trust"))
    return Scope(tuple(name for name in wings if name is not None), frozenset(trusts))
