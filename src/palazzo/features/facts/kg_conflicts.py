"""kg conflicts: list facts or statements that cannot both be true."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.facts.fact_results import FactView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.knowledge.facts_as_of import Beliefs
    from palazzo.model import Micros
    from palazzo.operations.context import Context
    from palazzo.store.conflict_rows import Claim, Conflict
    from palazzo.store.database import Database


@dataclass(frozen=True, slots=True)
class KgConflictsRequest:
    """Which conflicts to show."""

    all: Annotated[bool, About("Also show conflicts that are settled or dismissed.")] = False


@dataclass(frozen=True, slots=True)
class SideView:
    """One side of a conflict: a fact, or an item with its exact words."""

    fact: FactView | None
    item: str | None
    start: int | None
    end: int | None
    text: str | None


@dataclass(frozen=True, slots=True)
class ConflictView:
    """Two statements that contradict each other, the rule that found the conflict, and whether it is still open.

    `mend` is the command that supersedes the earlier fact with the later one; null for conflicts of texts and for
    conflicts that are no longer open.
    """

    id: str
    kind: str
    found_at: str
    standing: bool
    dismissed_at: str | None
    earlier: SideView
    later: SideView
    mend: str | None


@dataclass(frozen=True, slots=True)
class KgConflictsResult:
    """The conflicts, newest first."""

    conflicts: tuple[ConflictView, ...]
    count: int
    note: str = ""
    """Which texts were not compared; empty if none."""


def kg_conflicts(context: Context, request: KgConflictsRequest) -> KgConflictsResult:
    """Show facts and recorded text that contradict each other, with their sources.

    A conflict deletes nothing. It is settled when one of the two is ended or superseded; 'palazzo kg dismiss' marks it
    as no conflict.
    """
    from palazzo.features.facts.fact_results import now_in
    from palazzo.features.facts.kg_suggest import follow_claims
    from palazzo.knowledge import conflict_detection
    from palazzo.knowledge.facts_as_of import Beliefs

    note = follow_claims(context)
    _compare_facts(context.reading().database)
    now = now_in(context)
    with context.reading().database.snapshot() as connection:
        beliefs = Beliefs(connection)
        conflict_views = tuple(
            _view(beliefs, conflict, stands, now)
            for conflict, stands in conflict_detection.list_conflicts(connection)
            if stands or request.all
        )
    return KgConflictsResult(conflict_views, len(conflict_views), note)


def _compare_facts(database: Database) -> None:
    """Find conflicts between facts that an earlier version stored. A read-only palace is left unchanged."""
    from palazzo.errors import PalaceUnusable
    from palazzo.knowledge import conflict_detection
    from palazzo.store.database import Database

    with database.snapshot() as connection:
        if conflict_detection.has_compared_all(connection):
            return
    if database.mode == "write":
        with database.commit_separately(), database.transaction() as connection:
            conflict_detection.compare_all(connection)
        return
    with (
        contextlib.suppress(PalaceUnusable),
        contextlib.closing(Database(database.path)) as writable,
        writable.transaction() as connection,
    ):
        conflict_detection.compare_all(connection)


def _view(beliefs: Beliefs, conflict: Conflict, stands: bool, now: Micros) -> ConflictView:
    from palazzo.features.facts.fact_results import iso

    earlier, later = _side(beliefs, conflict.earlier, now), _side(beliefs, conflict.later, now)
    return ConflictView(
        id=conflict.uid,
        kind=conflict.kind,
        found_at=iso(conflict.found_at) or "",
        standing=stands,
        dismissed_at=iso(conflict.dismissed_at),
        earlier=earlier,
        later=later,
        mend=_mend(earlier.fact, later.fact) if stands and earlier.fact and later.fact else None,
    )


def _mend(earlier: FactView, later: FactView) -> str | None:
    """Return the command by which the fact that began later, or was stated later, supersedes the other."""
    import shlex

    if (earlier.subject, earlier.predicate) != (later.subject, later.predicate):
        return None
    began = earlier.valid_from or "", later.valid_from or ""
    old, new = (later, earlier) if began[0] > began[1] else (earlier, later)
    options = ["--everywhere"] if old.scope is None else ["--wing", old.scope]
    options += ["--at", new.valid_from] if began[0] != began[1] and new.valid_from else []
    words = [old.subject, old.predicate, old.object, new.object]
    end_of_options = ["--"] if any(word.startswith("-") for word in words) else []
    return shlex.join(["palazzo", "kg", "supersede", *options, *end_of_options, *words])


def _side(beliefs: Beliefs, side: Claim, now: Micros) -> SideView:
    from palazzo.features.facts.fact_results import views
    from palazzo.store import fact_rows, items

    fact = text = None
    if side.fact is not None:
        last = fact_rows.versions_of(beliefs.connection, side.fact)[-1]
        (fact,) = views(beliefs, [last], now)
    if side.item is not None:
        uid = bytes.fromhex(side.item)
        row = items.known_items(beliefs.connection, [uid])[uid]
        text = items.read_texts(beliefs.connection, [row])[row][side.start : side.end]
    return SideView(fact, side.item, side.start, side.end, text)


OPERATION = Operation(
    "kg_conflicts",
    KgConflictsRequest,
    KgConflictsResult,
    kg_conflicts,
    scope="read",
    examples=("palazzo kg conflicts",),
)
