"""sync_sources: list documents in the palace that are gone from disk, or that the rules exclude now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from palazzo.archive import acts, identity
from palazzo.errors import NotFound
from palazzo.features.mining.contract import DocumentState, SyncSourcesRequest, SyncSourcesResult
from palazzo.operations.arguments import check_place
from palazzo.operations.caller_taint import change_actor
from palazzo.operations.watched_sources import excluded_directories
from palazzo.settings import load
from palazzo.sources import excluded_documents
from palazzo.sources.missing_documents import Looker
from palazzo.store import change_groups, palace_overview, place_rows
from palazzo.text.file_uris import path_of

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.palace_overview import DocumentRow

State = Literal["kept", "ignored", "missing", "unreachable"]
AT_ONCE = 20
"""Documents retired in one transaction, so that other writers do not wait long."""


def sync_sources(context: Context, request: SyncSourcesRequest) -> SyncSourcesResult:
    """Compare the palace's documents with the files on disk, and with the rules for what is read."""
    with context.reading().database.snapshot() as connection:
        tops = _tops(context, connection, request)
        checks = check_documents(context, connection, tops, request.wing)
        if not checks:
            raise NotFound(f"The palace holds no documents of {_join_paths(tops)}. 'palazzo mine' indexes them.")
        sizes = _sizes(connection, [check.document for check in checks])
    removals = [check for check in checks if check.state in ("ignored", "missing")]
    change = _leave_out(context, removals) if request.apply and removals else None
    state_counts = Counter(check.state for check in checks)
    return SyncSourcesResult(
        scanned=len(checks),
        kept=state_counts["kept"],
        ignored=state_counts["ignored"],
        missing=state_counts["missing"],
        unreachable=state_counts["unreachable"],
        drawers=sum(sizes[check.document.source] for check in removals),
        dry_run=not request.apply,
        documents=tuple(
            DocumentState(check.document.uri, check.state, check.reason, sizes[check.document.source])
            for check in checks
            if check.state != "kept"
        ),
        change=change,
        tops=tuple(map(str, tops)),
    )


class _DocumentCheck(NamedTuple):
    document: DocumentRow
    state: State
    reason: str


def _tops(context: Context, connection: Connection, request: SyncSourcesRequest) -> list[Path]:
    """Return the directories, or the document, to check."""
    if request.path is not None:
        return [context.led_to(request.path).resolve()]
    if request.wing is None:
        context.check_directory()
        return [context.project_root.resolve()]
    wing, _ = check_place(connection, request.wing, None, context.notice)
    roots = [Path(root) for root in place_rows.roots_of_wing(connection, wing or "")]
    if not roots:
        raise NotFound(f"No project is known in the wing '{wing}': give the directory.")
    return roots


def _join_paths(tops: Sequence[Path]) -> str:
    return ", ".join(map(str, tops))


def check_documents(
    context: Context, connection: Connection, tops: Sequence[Path], wing: str | None
) -> list[_DocumentCheck]:
    """Return each document that search finds now, with its state, under the first directory that contains it."""
    own = load(context.settings_file, None, context.variables)
    exclusions = excluded_directories(context, own)
    wing_filter = None if wing is None else check_place(connection, wing, None)[0]
    lookers = _Lookers(connection)
    checks: dict[int, _DocumentCheck] = {}
    for top in tops:
        rules = excluded_documents.lasting_rules(top, own.texts("mine.exclude"), exclusions)
        ruled_out = dict(excluded_documents.compare(connection, top, rules, ()).out)
        documents = excluded_documents.not_left_out(connection, palace_overview.documents_at(connection, top.as_uri()))
        wings = palace_overview.wings_of_items(connection, [document.item for document in documents])
        branches = palace_overview.branches_of_items(connection, [document.item for document in documents])
        for n, document in enumerate(documents):
            context.report("looking", n + 1, len(documents))
            if document.source in checks or wing_filter not in (None, wings[document.item]):
                continue
            path = path_of(document.uri)
            presence = lookers.of(path, top).look(path, branches[document.item])
            state: State = "ignored" if document in ruled_out else presence.absence or "kept"
            checks[document.source] = _DocumentCheck(document, state, ruled_out.get(document, presence.reason))
    return list(checks.values())


class _Lookers:
    """One checker for each known project root, to tell a missing root from a deleted file."""

    def __init__(self, connection: Connection) -> None:
        self._roots = {Path(root) for root in place_rows.all_roots(connection)}
        self._lookers: dict[Path, Looker] = {}

    def of(self, path: Path, top: Path) -> Looker:
        """Return the checker of the innermost known project around a document, else of `top`."""
        root = next((above for above in path.parents if above in self._roots), top if top != path else path.parent)
        if root not in self._lookers:
            self._lookers[root] = Looker(root)
        return self._lookers[root]


def _sizes(connection: Connection, documents: Sequence[DocumentRow]) -> dict[int, int]:
    """Return how many live drawers each document has."""
    return {
        document.source: len(palace_overview.live_drawers_of_sources(connection, [document.source]))
        for document in documents
    }


def _leave_out(context: Context, checks: Sequence[_DocumentCheck]) -> str:
    """Retire documents in one change group, in batches; return the group's id."""
    database = context.writing().database
    change = identity.new_id(context.now)
    with database.transaction() as connection:
        group = change_groups.begin(
            connection, bytes.fromhex(change), change_actor(context), "sync sources", context.now, ""
        )
    retired_count = 0
    for reason in dict.fromkeys(check.reason for check in checks):
        rows = [check.document.item for check in checks if check.reason == reason]
        for start in range(0, len(rows), AT_ONCE):
            if retired_count:
                database.step()
            part = rows[start : start + AT_ONCE]
            with database.transaction() as connection:
                acts.act_on_items(
                    connection, "leave-out", part, change_actor(context), context.now, {"reason": reason}, group
                )
                change_groups.count(connection, group, len(part))
            retired_count += len(part)
            context.report("leaving out", retired_count, len(checks))
    return change
