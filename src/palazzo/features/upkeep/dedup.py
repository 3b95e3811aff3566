"""dedup: find notes that say the same, and fold them into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.archive import acts, archive_reader, identity
from palazzo.features.search.check_duplicate import check_threshold
from palazzo.features.search.drawer_rows import beginning
from palazzo.features.upkeep.contract import ClusterView, DedupRequest, DedupResult, OriginView
from palazzo.index import duplicates, rule_tags
from palazzo.operations.arguments import check_place
from palazzo.operations.caller_taint import change_actor
from palazzo.operations.taint_marks import marks_taint
from palazzo.store import change_groups, drawer_listing
from palazzo.store.folded_notes import INTO

if TYPE_CHECKING:
    from palazzo.index.duplicates import Cluster
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@marks_taint
def dedup(context: Context, request: DedupRequest) -> DedupResult:
    """Find notes of a wing that say the same, and forget all but one of each: the oldest of the most trusted."""
    check_threshold(request.threshold)
    with context.reading().database.snapshot() as connection:
        cluster_list = clusters(context, connection, request.threshold, request.wing)
        views = tuple(_view(connection, cluster) for cluster in cluster_list)
    change = None if request.dry_run or not cluster_list else _fold(context, cluster_list)
    copy_ids = tuple(drawer.id for cluster in cluster_list for copy in cluster.copies for drawer in copy.drawers)
    return DedupResult(views, copy_ids, request.dry_run, change)


def clusters(context: Context, connection: Connection, threshold: float, wing: str | None = None) -> list[Cluster]:
    """Return the groups of notes that say the same, wing by wing."""
    wing_name, _ = check_place(connection, wing, None, context.notice)
    rows_by_wing = drawer_listing.notes_by_wing(connection)
    wings = list(rows_by_wing) if wing_name is None else [wing_name]
    cluster_list: list[Cluster] = []
    for n, name in enumerate(wings):
        context.report("comparing", n, len(wings), name)
        cluster_list += duplicates.clusters(connection, rows_by_wing.get(name, ()), threshold)
    return cluster_list


def _view(connection: Connection, cluster: Cluster) -> ClusterView:
    first = cluster.survivor.drawers[0]
    text = beginning(cluster.survivor.text)
    origins = tuple(
        OriginView(
            id=note.drawers[0].id,
            room=note.drawers[0].place.room,
            created_at=note.drawers[0].created_at,
            author=note.drawers[0].author,
            trust=note.drawers[0].trust,
            source=note.drawers[0].source.uri,
        )
        for note in (cluster.survivor, *cluster.copies)
    )
    return ClusterView(
        survivor=first.id,
        copies=tuple(copy.drawers[0].id for copy in cluster.copies),
        similarity=round(cluster.similarity, 3),
        wing=first.place.wing,
        room=first.place.room,
        text=text,
        truncated=len(text) < len(cluster.survivor.text),
        origins=origins,
    )


def _fold(context: Context, cluster_list: Sequence[Cluster]) -> str:
    """Forget the copies: each cluster in its own transaction, all in one change group; return the id of the group."""
    database = context.writing().database
    change = identity.new_id(context.now)
    with database.transaction() as connection:
        group = change_groups.begin(connection, bytes.fromhex(change), change_actor(context), "dedup", context.now, "")
    for n, cluster in enumerate(cluster_list):
        if n:
            database.step()
        copies = [drawer for copy in cluster.copies for drawer in copy.drawers]
        own = cluster.survivor.drawers
        missing_tags = dict.fromkeys(tag for drawer in copies for tag in drawer.tags if tag not in own[0].tags)
        with database.transaction() as connection:
            survivor_rows = [archive_reader.resolve_drawer(connection, drawer.id) for drawer in own]
            for tag in (tag for tag in missing_tags if not rule_tags.by_rule(tag)):
                acts.act_on_drawers(
                    connection, "tag", survivor_rows, change_actor(context), context.now, {"tag": tag}, group
                )
            rows = [archive_reader.resolve_drawer(connection, drawer.id) for drawer in copies]
            detail = {"reason": f"says the same as {own[0].id}", INTO: str(own[0].spans[0].item)}
            acts.act_on_drawers(connection, "forget", rows, change_actor(context), context.now, detail, group)
            change_groups.count(connection, group, len(rows))
        context.report("folding", n + 1, len(cluster_list))
    return change
