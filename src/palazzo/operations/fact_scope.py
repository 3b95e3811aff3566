"""In which wing a fact is stated, asked for, ended and superseded where nobody names one.

Inside a project that is the project's wing. Outside of any project it is the wing `user`: what is stated there is about
the person. A fact holds everywhere only where somebody says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.model import USERS_WING

if TYPE_CHECKING:
    from palazzo.graph.stating import Triple
    from palazzo.model import Micros
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@dataclass(frozen=True, slots=True)
class FactScope:
    """The wings whose facts are meant, the nearest first (None: what holds everywhere).

    `others` says whether facts of all other wings are meant as well, after those.
    """

    wings: tuple[str | None, ...]
    others: bool = False

    def includes(self, wing: str | None) -> bool:
        """Return whether facts of that wing are meant."""
        return self.others or wing in self.wings


def check_scope(wing: str | None, everywhere: bool) -> None:
    """Raise UsageError where both a wing and everywhere are named."""
    if everywhere and wing is not None:
        raise UsageError("Give --wing for one wing, or --everywhere; not both.")


def wing_to_state_in(context: Context) -> str:
    """Return the wing in which a fact holds that is stated without one. The project is then known to be its."""
    from palazzo.operations.remember import wing_to_file_in

    context.writing()
    if not context.is_in_project:
        return USERS_WING
    if context.home is None:
        wing = wing_to_file_in(context, None)
        del context.home  # asked before the project was recorded
        return wing
    return context.home


def scope_to_ask(context: Context, connection: Connection, wing: str | None, everywhere: bool) -> FactScope:
    """Return whose facts a question is about; `everywhere` means those of all wings."""
    from palazzo.operations.search import check_place

    check_scope(wing, everywhere)
    if wing is not None:
        named, _ = check_place(connection, wing, None, context.notice)
        return FactScope((named, None))
    if everywhere:
        return FactScope((), others=True)
    return _nearest(context)


def scope_to_change(context: Context, wing: str | None, everywhere: bool) -> FactScope:
    """Return which fact is ended or superseded; `everywhere` means the one that holds everywhere."""
    check_scope(wing, everywhere)
    if everywhere or wing is not None:
        return FactScope((wing,))
    return _nearest(context)


def _nearest(context: Context) -> FactScope:
    if not context.is_in_project:
        return FactScope((USERS_WING, None), others=True)
    return FactScope((*([context.home] if context.home else []), USERS_WING, None))


def wing_of_fact_to_change(connection: Connection, triple: Triple, at: Micros, scope: FactScope) -> str | None:
    """Return the nearest wing (None: everywhere) in which a fact holds that is to end at `at`.

    Where it holds in none, that is the nearest wing of all. Raises UsageError where it holds in several other wings.
    """
    from palazzo.graph import stating

    holding = stating.wings_where_it_holds(connection, triple, at)
    near = next((wing for wing in scope.wings if wing in holding), scope.wings[0])
    elsewhere = sorted({wing for wing in holding if wing is not None}) if scope.others else []
    if near in holding or not elsewhere:
        return near
    if len(elsewhere) > 1:
        raise UsageError(f"'{triple}' holds in several wings: name one of {', '.join(elsewhere)} with --wing.")
    return elsewhere[0]
