"""dedup: find notes that say the same, and fold them into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.tasks.task_results import ACTOR
from palazzo.model import Micros
from palazzo.operations.filters import InWing
from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.index.duplicates import Cluster
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@dataclass(frozen=True, slots=True)
class DedupRequest:
    """The similarity threshold, where to look, and whether to fold the notes."""

    threshold: Annotated[float, About("Minimum share that each note must contain of the other, from 0 to 1.")] = 0.85
    wing: InWing = None
    dry_run: Annotated[bool, About("Only report which notes would be forgotten.")] = False


@dataclass(frozen=True, slots=True)
class OriginView:
    """A note of a cluster: its first drawer, its time, its author, and its trust level."""

    id: str
    room: str
    created_at: Micros
    author: str
    trust: str
    source: str


@dataclass(frozen=True, slots=True)
class ClusterView:
    """Notes of one wing that say the same: the one that remains, the copies folded into it, and the origins of all."""

    survivor: str
    copies: tuple[str, ...]
    similarity: float
    """The similarity of the least similar copy."""
    wing: str
    room: str
    text: str
    truncated: bool
    origins: tuple[OriginView, ...]


@dataclass(frozen=True, slots=True)
class DedupResult:
    """The clusters, and the drawers that are no longer found (or would not be)."""

    clusters: tuple[ClusterView, ...]
    folded: tuple[str, ...]
    dry_run: bool
    change: str | None


@marks_taint
def dedup(context: Context, request: DedupRequest) -> DedupResult:
    """Find notes of a wing that say the same, and forget all but one of each: the oldest of the most trusted.

    The kept note gets the tags of all, and 'palazzo show' lists their origins. Notes with different figures, or with a
    negation in only one, do not say the same. The text of the others is kept, and 'palazzo undo' restores all of them
    at once.
    """
    from palazzo.features.search.check_duplicate import check_threshold

    check_threshold(request.threshold)
    with context.reading().database.snapshot() as connection:
        cluster_list = clusters(context, connection, request.threshold, request.wing)
        views = tuple(_view(connection, cluster) for cluster in cluster_list)
    change = None if request.dry_run or not cluster_list else _fold(context, cluster_list)
    copy_ids = tuple(drawer.id for cluster in cluster_list for copy in cluster.copies for drawer in copy.drawers)
    return DedupResult(views, copy_ids, request.dry_run, change)


def clusters(context: Context, connection: Connection, threshold: float, wing: str | None = None) -> list[Cluster]:
    """Return the groups of notes that say the same, wing by wing."""
    from palazzo.index import duplicates
    from palazzo.operations.arguments import check_place
    from palazzo.store import place_rows

    wing_name, _ = check_place(connection, wing, None, context.notice)
    wings = place_rows.wing_names(connection) if wing_name is None else [wing_name]
    cluster_list: list[Cluster] = []
    for n, name in enumerate(wings):
        context.report("comparing", n, len(wings), name)
        cluster_list += duplicates.clusters(connection, name, threshold)
    return cluster_list


def _view(connection: Connection, cluster: Cluster) -> ClusterView:
    from palazzo.features.search.drawer_rows import beginning

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
    from palazzo.archive import acts, archive_reader, identity
    from palazzo.index import rule_tags
    from palazzo.store import change_groups
    from palazzo.store.folded_notes import INTO

    database = context.writing().database
    change = identity.new_id(context.now)
    with database.transaction() as connection:
        group = change_groups.begin(connection, bytes.fromhex(change), ACTOR, "dedup", context.now, "")
    for n, cluster in enumerate(cluster_list):
        if n:
            database.step()
        copies = [drawer for copy in cluster.copies for drawer in copy.drawers]
        own = cluster.survivor.drawers
        missing_tags = dict.fromkeys(tag for drawer in copies for tag in drawer.tags if tag not in own[0].tags)
        with database.transaction() as connection:
            survivor_rows = [archive_reader.resolve_drawer(connection, drawer.id) for drawer in own]
            for tag in (tag for tag in missing_tags if not rule_tags.by_rule(tag)):
                acts.act_on_drawers(connection, "tag", survivor_rows, ACTOR, context.now, {"tag": tag}, group)
            rows = [archive_reader.resolve_drawer(connection, drawer.id) for drawer in copies]
            detail = {"reason": f"says the same as {own[0].id}", INTO: str(own[0].spans[0].item)}
            acts.act_on_drawers(connection, "forget", rows, ACTOR, context.now, detail, group)
            change_groups.count(connection, group, len(rows))
        context.report("folding", n + 1, len(cluster_list))
    return change


OPERATION = Operation(
    "dedup",
    DedupRequest,
    DedupResult,
    dedup,
    scope="admin",
    view="tidy_view:dedup",
    writes=True,
    destructive=True,
    changes_nothing=lambda result: not result.folded,
    examples=("palazzo dedup --dry-run", "palazzo dedup --wing api --threshold 0.9"),
)
