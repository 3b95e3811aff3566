"""kg unmerge: split two entities that were merged by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class KgUnmergeRequest:
    """The merge to undo."""

    name: Annotated[str, About("The entity that was merged into another.", positional=True)]


@dataclass(frozen=True, slots=True)
class KgUnmergeResult:
    """The entity that is separate again, the entity that it was merged into, and the conflicts that this revealed."""

    name: str
    was: str
    conflicts: tuple[str, ...]


@marks_taint
def kg_unmerge(context: Context, request: KgUnmergeRequest) -> KgUnmergeResult:
    """Separate two merged entities: each has the facts again that were stated about it."""
    from palazzo.features.facts.fact_results import change, name_to_find
    from palazzo.knowledge import entity_links

    name = name_to_find(context, request.name, writing=True)
    with context.writing().database.transaction() as connection:
        fact_change = change(context, connection, "kg unmerge")
        entity, was, conflicts = entity_links.unmerge(fact_change, name)
        fact_change.count(1)
    return KgUnmergeResult(entity, was, tuple(conflicts))


OPERATION = Operation(
    "kg_unmerge",
    KgUnmergeRequest,
    KgUnmergeResult,
    kg_unmerge,
    scope="write",
    writes=True,
    examples=("palazzo kg unmerge api-server",),
)
