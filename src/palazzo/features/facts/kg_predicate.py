"""kg predicate: declare that a predicate has one object at a time, or list all predicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive.ingest_guard import Guard
from palazzo.errors import UsageError
from palazzo.features.facts.contract import KgPredicateRequest, KgPredicateResult, PredicateView
from palazzo.features.facts.fact_results import change
from palazzo.knowledge.conflict_detection import find_all_conflicts, is_single_valued
from palazzo.knowledge.entity_names import predicate_name
from palazzo.store import predicate_rows
from palazzo.text.names import fold

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


def kg_predicate(context: Context, request: KgPredicateRequest) -> KgPredicateResult:
    """Declare that a predicate has one object at a time; without a name, list all predicates."""
    declares = request.functional or request.many
    if request.functional and request.many:
        raise UsageError("Give --functional or --many, not both.")
    if request.name is None:
        if declares:
            raise UsageError("Name the predicate.")
        with context.reading().database.snapshot() as connection:
            return KgPredicateResult(predicate_views(connection), ())
    plain = predicate_name(request.name)
    name = Guard.of((context.writing() if declares else context.reading()).database).words(plain)
    conflicts = _declare_predicate(context, name, request.functional) if declares else ()
    with context.reading().database.snapshot() as connection:
        predicate = predicate_rows.find_predicate(connection, name, fold(name))
        views = tuple(view for view in predicate_views(connection) if predicate and view.name == predicate.name)
    return KgPredicateResult(views, conflicts)


def _declare_predicate(context: Context, name: str, functional: bool) -> tuple[str, ...]:
    with context.writing().database.transaction() as connection:
        fact_change = change(context, connection, "kg predicate")
        row = fact_change.predicate(name)
        predicate = predicate_rows.read_predicate(connection, row)
        is_many_by_default = predicate.functional is None and not is_single_valued(predicate)
        if predicate.functional is functional or (is_many_by_default and not functional):
            return ()
        fact_change.did(
            "predicate", predicate_rows.declare(connection, fact_change.new_uid(), row, functional, fact_change.now)
        )
        fact_change.count(1)
        return tuple(find_all_conflicts(fact_change, row))


def predicate_views(connection: Connection) -> tuple[PredicateView, ...]:
    """Return all predicates that are used or declared, by name."""
    counts = predicate_rows.count_facts(connection)
    return tuple(
        PredicateView(predicate.name, is_single_valued(predicate), counts.get(predicate.row, 0))
        for predicate in predicate_rows.all_predicates(connection)
        if predicate.functional or predicate.row in counts
    )
