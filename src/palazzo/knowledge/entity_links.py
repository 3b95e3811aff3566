"""Links between names and entities: aliases, and merges that can be undone."""

from __future__ import annotations

from palazzo.errors import NotFound, UsageError
from palazzo.knowledge.conflict_detection import find_conflicts
from palazzo.knowledge.fact_change import Change
from palazzo.knowledge.facts_as_of import Beliefs, Match
from palazzo.security.display_names import shown_name
from palazzo.store import entity_rows
from palazzo.text.names import fold


def add_alias(change: Change, name: str, entity: str) -> bool:
    """Make `name` an alias of an entity; return whether that is new. Raises UsageError."""
    name = change.redact_erased(name)
    beliefs = Beliefs(change.connection)
    target = require_entity(beliefs, entity)
    match = beliefs.find(name)
    if match is not None and beliefs.root(match.entity) == beliefs.root(target.entity):
        if entity_rows.alias(change.connection, name, beliefs.known_at) or match.kind == "name":
            return False
    elif match is not None:
        raise UsageError(
            f"'{name}' is already known as {beliefs.name(match.entity)}, so it cannot be an alias of "
            f"{beliefs.name(target.entity)}; 'palazzo kg merge' merges the two."
        )
    link = entity_rows.create_link(
        change.connection, change.new_uid(), "alias", target.entity, change.now, name=name, name_key=fold(name)
    )
    change.did("link+", link)
    return True


def remove_alias(change: Change, name: str) -> str:
    """Remove the alias `name` of another entity; return the name of that entity. Raises NotFound."""
    beliefs = Beliefs(change.connection)
    link = entity_rows.alias(change.connection, name, beliefs.known_at)
    if link is None:
        raise NotFound(f"'{name}' is not an alias. 'palazzo kg alias' lists the aliases.")
    entity_rows.retire_link(change.connection, link.row, change.now)
    change.did("link-", link.row)
    return beliefs.name(link.entity)


def merge(change: Change, source_name: str, into: str) -> tuple[str, str, list[str]]:
    """Merge `source_name` into the entity `into`; return both names, and conflicts that this reveals.

    Nothing is rewritten: facts stay with the entity they were stated about, and `unmerge` shows them there again.
    """
    beliefs = Beliefs(change.connection)
    first, second = require_entity(beliefs, source_name), require_entity(beliefs, into)
    merged = entity_rows.merge_of(change.connection, first.entity, beliefs.known_at)
    if merged is not None:
        raise UsageError(
            f"'{source_name}' is already merged into {beliefs.name(first.entity)}; 'palazzo kg unmerge' reverts that."
        )
    if beliefs.root(second.entity) == beliefs.root(first.entity):
        raise UsageError(f"'{source_name}' and '{into}' are already the same entity.")
    names = beliefs.name(first.entity), beliefs.name(second.entity)
    link = entity_rows.create_link(
        change.connection, change.new_uid(), "merge", second.entity, change.now, merged_entity=first.entity
    )
    change.did("link+", link)
    new_beliefs = Beliefs(change.connection)
    conflicts = [
        uid for version in new_beliefs.about(second.entity, "subject") for uid in find_conflicts(change, version)
    ]
    return *names, list(dict.fromkeys(conflicts))


def unmerge(change: Change, source_name: str) -> tuple[str, str, list[str]]:
    """Undo a merge of `source_name`; return its name, that of the entity it was merged into, and new conflicts.

    Facts that had one object may have two now.
    """
    beliefs = Beliefs(change.connection)
    entity = entity_rows.entity_named(change.connection, source_name)
    if entity is None or entity_rows.merge_of(change.connection, entity, beliefs.known_at) is None:
        entity = require_entity(beliefs, source_name).entity
    link = entity_rows.merge_of(change.connection, entity, beliefs.known_at)
    if link is None:
        raise NotFound(f"'{source_name}' is not merged into another entity. 'palazzo kg merge' lists the merges.")
    into = beliefs.name(entity)
    entity_rows.retire_link(change.connection, link.row, change.now)
    change.did("link-", link.row)
    new_beliefs = Beliefs(change.connection)
    conflicts = [uid for version in new_beliefs.about(entity, "object") for uid in find_conflicts(change, version)]
    return new_beliefs.name(entity), into, list(dict.fromkeys(conflicts))


def require_entity(beliefs: Beliefs, name: str) -> Match:
    """Return the entity that `name` means; raises NotFound with similar names."""
    match = beliefs.find(name)
    if match is None:
        near = ", ".join(map(shown_name, beliefs.near(name)))
        raise NotFound(
            f"Nothing is known about '{name}'. " + (f"Near it: {near}." if near else "'palazzo kg add' adds a fact.")
        )
    return match
