"""kg dismiss: a conflict that is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import AmbiguousId, NotFound
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@dataclass(frozen=True, slots=True)
class KgDismissRequest:
    """Which conflicts."""

    ids: Annotated[tuple[str, ...], About("Ids of conflicts, or their beginnings.", positional=True, option="ID")]


@dataclass(frozen=True, slots=True)
class KgDismissResult:
    """The conflicts that are not shown any more."""

    dismissed: tuple[str, ...]


def kg_dismiss(context: Context, request: KgDismissRequest) -> KgDismissResult:
    """Say that a conflict is none: both facts may stand, and it is not shown again."""
    from palazzo.operations.facts import change
    from palazzo.store import conflicts

    with context.writing().database.transaction() as connection:
        found = dict(_resolve(connection, prefix) for prefix in request.ids)
        changing = change(context, connection, "kg dismiss")
        for row in found:
            conflicts.dismiss(connection, row, changing.now)
            changing.did("dismissal", row)
        changing.count(len(found))
    return KgDismissResult(tuple(found.values()))


def _resolve(connection: Connection, prefix: str) -> tuple[int, str]:
    from palazzo.archive.reading import id_bounds
    from palazzo.store import conflicts

    found = conflicts.between(connection, *id_bounds(prefix), limit=9)
    if len(found) > 1:
        raise AmbiguousId(prefix, [uid.hex() for _, uid in found])
    if not found:
        raise NotFound(f"No conflict has the id '{prefix}'. 'palazzo kg conflicts' prints ids.")
    return found[0][0], found[0][1].hex()


OPERATION = Operation("kg_dismiss", KgDismissRequest, KgDismissResult, kg_dismiss, writes=True)
