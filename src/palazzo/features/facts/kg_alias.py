"""kg alias: add other names of an entity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.facts.contract import AliasView, KgAliasRequest, KgAliasResult
from palazzo.features.facts.fact_results import change, name_to_find
from palazzo.knowledge import entity_links
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.operations.caller_taint import unless_tainted
from palazzo.store import entity_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def kg_alias(context: Context, request: KgAliasRequest) -> KgAliasResult:
    """Make a name an alias of an entity; without arguments, list aliases."""
    if request.name is None:
        if request.remove:
            raise UsageError("Name the alias to remove.")
        return KgAliasResult(None, None, _aliases(context))
    if request.remove == (request.entity is not None):
        raise UsageError("Give an alias and the entity that it means, or an alias and --remove.")
    unless_tainted(context, "change names")
    name = name_to_find(context, request.name, writing=True)
    added = removed = None
    with context.writing().database.transaction() as connection:
        if request.entity is None:
            fact_change = change(context, connection, "kg alias")
            removed = AliasView(name, entity_links.remove_alias(fact_change, name))
        else:
            entity = name_to_find(context, request.entity, writing=True)
            fact_change = change(context, connection, "kg alias")
            new = entity_links.add_alias(fact_change, name, entity)
            alias = entity_rows.alias(connection, name, fact_change.now)
            entity_name = Beliefs(connection).name(alias.entity) if alias else name
            added = AliasView(name, entity_name) if new else None
        fact_change.count(int(removed is not None or added is not None))
    return KgAliasResult(added, removed, _aliases(context))


def _aliases(context: Context) -> tuple[AliasView, ...]:
    with context.reading().database.snapshot() as connection:
        beliefs = Beliefs(connection)
        links = entity_rows.links(connection, "alias", beliefs.known_at)
        return tuple(AliasView(link.name, beliefs.name(link.entity)) for link in links)
