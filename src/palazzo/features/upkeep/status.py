"""status: show the content and the state of the palace."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from palazzo import __version__, locks
from palazzo.features.service.background_process import lock_file
from palazzo.features.service.service_state import state_of
from palazzo.features.sync import automatic_sync
from palazzo.features.upkeep.contract import (
    EmbedderState,
    EmbedderStatus,
    FiledStatus,
    InjectedStatus,
    ServiceStatus,
    StatusRequest,
    StatusResult,
    WingStatus,
)
from palazzo.index.granite import Granite
from palazzo.index.minilm import MiniLM
from palazzo.index.passage_embedding import current_embedder
from palazzo.operations import backup_files
from palazzo.operations import point_in_time as past
from palazzo.operations.pause_state import pause_of
from palazzo.store import (
    dead_letters,
    entity_rows,
    fact_rows,
    ledger,
    mention_rows,
    palace_overview,
    schema,
    taint_queries,
    task_rows,
    tunnel_rows,
    unfinished_imports,
    vector_rows,
)

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_BATCH_WINDOW = 600_000_000
"""Microseconds before the latest item; items archived within that time are reported together with it."""


def status(context: Context, request: StatusRequest) -> StatusResult:
    """Show the palace's contents and state; with --as-of, the contents that had been recorded or said by then."""
    pause = pause_of(context)
    point_in_time = past.as_of(request.as_of, context.now)
    with past.reading(context, point_in_time) as connection:
        counts = palace_overview.drawers_by_place(connection)
        if (
            point_in_time.end_time is not None
        ):  # wings have no time of their own: those without a drawer may not have been there
            counts = {wing: rooms for wing, rooms in counts.items() if rooms}
        tunnel_count = tunnel_rows.count(connection, point_in_time.end_time)
        wings = {wing: WingStatus(rooms, sum(rooms.values())) for wing, rooms in counts.items()}
        pending = vector_rows.count_pending_vectors(connection)
        return StatusResult(
            palace=str(context.palace_path),
            version=__version__,
            schema=schema.version(connection),
            items=palace_overview.count_items(connection),
            drawers=sum(wing.drawers for wing in wings.values()),
            facts=fact_rows.count(connection, point_in_time.end_time),
            wings=wings,
            embedder=_embedder(context, connection, pending),
            size_bytes=palace_overview.size_in_bytes(connection),
            service=_service(context),
            open_todos=task_rows.count_open(connection, "todo"),
            tunnels=tunnel_count,
            entities=entity_rows.count_known(
                connection, entity_rows.LATEST if point_in_time.end_time is None else point_in_time.end_time
            ),
            connections=tunnel_count + fact_rows.count_connections(connection, point_in_time.end_time),
            mentions=mention_rows.count(connection) if point_in_time.end_time is None else None,
            filed=_find_last_ingest(connection),
            injected=_measure_injections(connection) if point_in_time.end_time is None else None,
            quarantine=taint_queries.count_waiting(connection) if point_in_time.end_time is None else None,
            paused=pause is not None,
            paused_until=None if pause is None else pause.until,
            backup_at=None if (made_last := backup_files.newest(context.palace_path)) is None else made_last.at,
            unfinished_imports=tuple(unfinished_imports.paths(connection)),
            sync_failed={remote.name: remote.failure for remote in automatic_sync.failed(context)},
            set_aside=dead_letters.count(connection),
            pending=pending,
            embedding=locks.is_held(lock_file(context.palace_path)),
            off=context.settings.flag("off"),
            as_of=point_in_time.requested_time,
            note=point_in_time.note,
        )


def _measure_injections(connection: Connection) -> InjectedStatus:
    totals = ledger.totals(connection)
    share = round(totals.used / totals.given, 4) if totals.given else None
    p50, p95 = totals.took_p50 / 1_000, totals.took_p95 / 1_000
    return InjectedStatus(totals.injections, totals.tokens, totals.given, totals.used, share, p50, p95)


def _service(context: Context) -> ServiceStatus:
    state = state_of(context)
    return ServiceStatus(state.running, state.pid, state.viewer_trouble)


def _embedder(context: Context, connection: Connection, pending: int) -> EmbedderStatus:
    """Return the embedder that computed the vectors, else the one that would."""
    current = current_embedder(connection)
    configured_id = configured_embedder(context)
    if current is None:
        state: EmbedderState = "building" if palace_overview.any_passages(connection) else "empty"
        return EmbedderStatus(configured_id, None, state)
    _, name, dimension = current
    if not name.startswith(configured_id):
        return EmbedderStatus(name, dimension, "changed")
    return EmbedderStatus(name, dimension, "building" if pending else "ready")


def _find_last_ingest(connection: Connection) -> FiledStatus | None:
    last_ingest = palace_overview.last_filed(connection, _BATCH_WINDOW)
    return None if last_ingest is None else FiledStatus(*last_ingest)


def configured_embedder(context: Context) -> str:
    """Return the id of the embedder that the settings name; for a server, the part that is known without a request."""
    spec = context.embedder_spec
    if spec.kind == "openai":
        return f"openai:{urlsplit(spec.base_url).netloc.rpartition('@')[2]}/{spec.model}/"

    return Granite.id if spec.kind == "granite" else MiniLM.id
