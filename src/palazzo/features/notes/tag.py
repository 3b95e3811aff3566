"""tag: add, remove and list tags, which are short names on drawers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive import archive_reader
from palazzo.errors import UsageError
from palazzo.features.notes.contract import TagCount, TagRequest, TagResult
from palazzo.index import rule_tags
from palazzo.operations import source_filter
from palazzo.operations.arguments import label
from palazzo.operations.caller_taint import change_actor, unless_tainted
from palazzo.operations.source_filter import AT_ONCE, known_tags
from palazzo.store import tag_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


def tag(context: Context, request: TagRequest) -> TagResult:
    """Add a tag to drawers, remove it, or list the tags in use."""
    if request.action == "list":
        return _list_tags(context, request)
    if request.tag is None or not request.ids:
        raise UsageError(f"Name the tag and the drawers: palazzo tag {request.action} TAG ID…")
    name = label("The tag", request.tag)
    unless_tainted(context, "change tags")
    palace = context.reading()
    with palace.database.snapshot() as connection:
        ids = _to_change(connection, request, name)
    _act(context, request.action, name, ids)
    return TagResult(request.action, tuple(ids), ())


def _to_change(connection: Connection, request: TagRequest, name: str) -> list[str]:
    """Return the drawers that have the tag, if it is to be removed, or that lack it, if it is to be added."""
    is_removal = request.action == "remove"
    if is_removal and rule_tags.by_rule(name):
        raise UsageError(f"'{name}' is given by a rule, from the content, and cannot be removed.")
    ids = source_filter.resolve_drawers(connection, request.ids)
    rows = {drawer_id: archive_reader.resolve_drawer(connection, drawer_id) for drawer_id in ids}
    target_ids = [
        drawer_id for drawer_id in ids if (name in tag_rows.tags_of(connection, rows[drawer_id])) == is_removal
    ]
    if is_removal and not target_ids:
        raise UsageError(f"None of these drawers has the tag '{name}'. 'palazzo show ID' shows a drawer's tags.")
    return target_ids


def _act(context: Context, action: str, name: str, ids: list[str]) -> None:
    if not ids:
        return
    palace = context.writing()
    actor = change_actor(context)
    group = palace.begin_group(actor, "tag" if action == "add" else "untag")
    for start in range(0, len(ids), AT_ONCE):
        act = palace.tag if action == "add" else palace.untag
        act(ids[start : start + AT_ONCE], name, actor, group=group)
        context.report("tagging", min(start + AT_ONCE, len(ids)), len(ids))


def _list_tags(context: Context, request: TagRequest) -> TagResult:
    if request.ids:
        raise UsageError("To list tags, give no ids: palazzo tag list [TAG].")
    with context.reading().database.snapshot() as connection:
        if request.tag is not None:
            known_tags(connection, (request.tag,))
        tag_name = request.tag and request.tag.strip().lower()
        tag_counts = [pair for pair in tag_rows.live_tags(connection) if tag_name in (None, pair[0])]
    return TagResult("list", (), tuple(TagCount(name, count, rule_tags.by_rule(name)) for name, count in tag_counts))
