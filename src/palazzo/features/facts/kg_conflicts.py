"""kg conflicts: list facts or statements that cannot both be true."""

from __future__ import annotations

import contextlib
import shlex
from typing import TYPE_CHECKING

from palazzo.errors import PalaceUnusable
from palazzo.features.facts.contract import ConflictView, KgConflictsRequest, KgConflictsResult, Settlement, SideView
from palazzo.features.facts.fact_results import iso, now_in, views
from palazzo.features.facts.kg_suggest import follow_claims
from palazzo.knowledge import conflict_detection
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.operations.shared_views import FactView
from palazzo.store import fact_rows, items
from palazzo.store.database import Database

if TYPE_CHECKING:
    from palazzo.model import Micros
    from palazzo.operations.context import Context
    from palazzo.store.conflict_rows import Claim, Conflict


def kg_conflicts(context: Context, request: KgConflictsRequest) -> KgConflictsResult:
    """Show facts and recorded text that contradict each other, with their sources."""
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
    earlier, later = _side(beliefs, conflict.earlier, now), _side(beliefs, conflict.later, now)
    settlement = _settle(earlier.fact, later.fact) if stands and earlier.fact and later.fact else None
    return ConflictView(
        id=conflict.uid,
        kind=conflict.kind,
        found_at=iso(conflict.found_at) or "",
        standing=stands,
        dismissed_at=iso(conflict.dismissed_at),
        earlier=earlier,
        later=later,
        mend=None if settlement is None else _command(settlement),
        settlement=settlement,
    )


def _settle(earlier: FactView, later: FactView) -> Settlement | None:
    """Return how the fact that began later, or was stated later, supersedes the other."""
    if (earlier.subject, earlier.predicate) != (later.subject, later.predicate):
        return None
    began = earlier.valid_from or "", later.valid_from or ""
    old, new = (later, earlier) if began[0] > began[1] else (earlier, later)
    at = new.valid_from if began[0] != began[1] else None
    return Settlement(old.subject, old.predicate, old.object, new.object, old.scope, old.scope is None, at or None)


def _command(settlement: Settlement) -> str:
    """Return the command that settles a conflict."""
    options = ["--everywhere"] if settlement.wing is None else ["--wing", settlement.wing]
    options += ["--at", settlement.at] if settlement.at else []
    words = [settlement.subject, settlement.predicate, settlement.old, settlement.new]
    end_of_options = ["--"] if any(word.startswith("-") for word in words) else []
    return shlex.join(["palazzo", "kg", "supersede", *options, *end_of_options, *words])


def _side(beliefs: Beliefs, side: Claim, now: Micros) -> SideView:
    fact = text = None
    if side.fact is not None:
        last = fact_rows.versions_of(beliefs.connection, side.fact)[-1]
        (fact,) = views(beliefs, [last], now)
    if side.item is not None:
        uid = bytes.fromhex(side.item)
        row = items.known_items(beliefs.connection, [uid])[uid]
        text = items.read_texts(beliefs.connection, [row])[row][side.start : side.end]
    return SideView(fact, side.item, side.start, side.end, text)
