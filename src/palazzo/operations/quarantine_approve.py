"""quarantine approve: a person lets what came from outside, or was written after it, be told to agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class QuarantineApproveRequest:
    """What to approve."""

    ids: Annotated[
        tuple[str, ...], About("Ids of notes, drawers or facts, or their beginnings.", positional=True, option="ID")
    ]


@dataclass(frozen=True, slots=True)
class QuarantineApproveResult:
    """What is believed now: drawers, and facts. `change` is what 'palazzo undo' takes back."""

    drawers: tuple[str, ...]
    facts: tuple[str, ...]
    change: str


def quarantine_approve(context: Context, request: QuarantineApproveRequest) -> QuarantineApproveResult:
    """Believe what is in quarantine. Only a person can, not an agent; 'palazzo undo' takes it back.

    A note or a fact then counts as its agent's, words from outside count as a tool's.
    """
    from palazzo.archive import deeds, reading
    from palazzo.operations.choosing import AT_ONCE
    from palazzo.operations.facts import ACTOR, change
    from palazzo.operations.quarantine import judged, only_a_person
    from palazzo.store import facts, groups

    only_a_person(context, "approves")
    with context.reading().database.snapshot() as connection:
        chosen = judged(connection, request.ids)
    palace = context.writing()
    group = palace.begin_group(ACTOR, "quarantine approve")
    for start in range(0, len(chosen.drawers), AT_ONCE):
        with palace.database.transaction() as connection:
            rows = [reading.resolve_drawer(connection, one) for one in chosen.drawers[start : start + AT_ONCE]]
            deeds.act_on_drawers(connection, "approve", rows, ACTOR, context.now, {}, group)
            groups.count(connection, group, len(rows))
    with palace.database.transaction() as connection:
        changing = change(context, connection, "quarantine approve", group)
        for one in chosen.facts:
            sources = facts.sources_of(connection, [one.row])[one.row]
            changing.retire(one)
            believed = (source._replace(trust="agent") if source.trust == "external" else source for source in sources)
            changing.record(one.fact, one.valid_from, one.valid_to, one.confidence, believed, one.superseded_by)
        changing.count(len(chosen.facts))
        uid = groups.read(connection, group).uid
    return QuarantineApproveResult(chosen.drawers, tuple(one.uid for one in chosen.facts), uid)


OPERATION = Operation(
    "quarantine_approve", QuarantineApproveRequest, QuarantineApproveResult, quarantine_approve, writes=True
)
