"""kg alias: add other names of an entity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class KgAliasRequest:
    """An alias and its entity; without arguments, all aliases are listed."""

    name: Annotated[str | None, About("The other name, the alias.", positional=True)] = None
    entity: Annotated[str | None, About("The entity that the alias means.", positional=True)] = None
    remove: Annotated[bool, About("Remove the alias.")] = False


@dataclass(frozen=True, slots=True)
class AliasView:
    """An alias, and the entity that it stands for."""

    name: str
    entity: str


@dataclass(frozen=True, slots=True)
class KgAliasResult:
    """The alias that was added or removed, if any, and all aliases."""

    added: AliasView | None
    removed: AliasView | None
    aliases: tuple[AliasView, ...]


def kg_alias(context: Context, request: KgAliasRequest) -> KgAliasResult:
    """Make a name an alias of an entity; without arguments, list aliases."""
    from palazzo.features.facts.fact_results import change, name_to_find
    from palazzo.knowledge import entity_links
    from palazzo.knowledge.facts_as_of import Beliefs
    from palazzo.operations.caller_taint import unless_tainted
    from palazzo.store import entity_rows

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
    from palazzo.knowledge.facts_as_of import Beliefs
    from palazzo.store import entity_rows

    with context.reading().database.snapshot() as connection:
        beliefs = Beliefs(connection)
        links = entity_rows.links(connection, "alias", beliefs.known_at)
        return tuple(AliasView(link.name, beliefs.name(link.entity)) for link in links)


OPERATION = Operation(
    "kg_alias",
    KgAliasRequest,
    KgAliasResult,
    kg_alias,
    scope="write",
    writes=True,
    examples=("palazzo kg alias gateway api", "palazzo kg alias"),
)
