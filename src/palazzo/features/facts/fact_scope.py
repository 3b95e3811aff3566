"""The wing in which a fact is stated, queried, ended or superseded if the caller names none.

Inside a project it is the project's wing. Outside any project it is the wing `user`, whose facts are about the person.
A fact holds everywhere only if the caller says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.knowledge import assertions
from palazzo.model import USERS_WING
from palazzo.operations.arguments import check_place, wing_to_file_in

if TYPE_CHECKING:
    from palazzo.knowledge.assertions import Triple
    from palazzo.model import Micros
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@frozen
class FactScope:
    """The wings whose facts are included, nearest first; None stands for facts that hold everywhere.

    `includes_all_wings` says that the facts of all other wings follow.
    """

    wings: tuple[str | None, ...]
    includes_all_wings: bool = False

    def includes(self, wing: str | None) -> bool:
        """Return whether the scope includes facts of this wing."""
        return self.includes_all_wings or wing in self.wings


def check_scope(wing: str | None, everywhere: bool) -> None:
    """Raise UsageError if both a wing and `everywhere` are given."""
    if everywhere and wing is not None:
        raise UsageError("Give --wing for one wing, or --everywhere; not both.")


def wing_to_state_in(context: Context) -> str:
    """Return the wing for a fact stated without one. Records the project with its wing if it has none yet."""
    context.writing()
    if not context.is_in_project:
        return USERS_WING
    if context.home is not None:
        return context.home
    wing = wing_to_file_in(context, None)
    del context.home  # cached before the project was recorded
    return wing


def scope_to_ask(context: Context, connection: Connection, wing: str | None, everywhere: bool) -> FactScope:
    """Return the scope of a query; `everywhere` includes all wings."""
    check_scope(wing, everywhere)
    if wing is not None:
        wing_name, _ = check_place(connection, wing, None, context.notice)
        return FactScope((wing_name, None))
    if everywhere:
        return FactScope((), includes_all_wings=True)
    return _nearest(context)


def scope_to_change(context: Context, wing: str | None, everywhere: bool) -> FactScope:
    """Return the scope in which a fact is ended or superseded; `everywhere` means the fact that holds everywhere."""
    check_scope(wing, everywhere)
    if everywhere or wing is not None:
        return FactScope((wing,))
    return _nearest(context)


def _nearest(context: Context) -> FactScope:
    if not context.is_in_project:
        return FactScope((USERS_WING, None), includes_all_wings=True)
    return FactScope((*([context.home] if context.home else []), USERS_WING, None))


def wing_of_fact_to_change(connection: Connection, triple: Triple, at: Micros, scope: FactScope) -> str | None:
    """Return the nearest wing (None: everywhere) in which the fact holds at `at`.

    If it holds in none, return the nearest wing of the scope. Raises UsageError if it holds in several other wings.
    """
    wings_of_fact = assertions.wings_where_it_holds(connection, triple, at)
    nearest = next((wing for wing in scope.wings if wing in wings_of_fact), scope.wings[0])
    other_wings = sorted({wing for wing in wings_of_fact if wing is not None}) if scope.includes_all_wings else []
    if nearest in wings_of_fact or not other_wings:
        return nearest
    if len(other_wings) > 1:
        raise UsageError(f"'{triple}' holds in several wings: name one of {', '.join(other_wings)} with --wing.")
    return other_wings[0]
