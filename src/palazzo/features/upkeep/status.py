"""status: show the content and the state of the palace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo import __version__
from palazzo.model import Micros
from palazzo.operations import point_in_time as past
from palazzo.operations.operation import PERSON_ONLY, About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_BATCH_WINDOW = 600_000_000
"""Microseconds before the latest item; items archived within that time are reported together with it."""
EmbedderState = Literal["ready", "building", "empty", "changed"]


@dataclass(frozen=True, slots=True)
class StatusRequest:
    """The time of the status, if not now."""

    as_of: Annotated[str | None, About(past.HELP)] = None


@dataclass(frozen=True, slots=True)
class WingStatus:
    """A wing's live drawers, by room and in total."""

    rooms: dict[str, int]
    drawers: int


@dataclass(frozen=True, slots=True)
class EmbedderStatus:
    """The embedder, and its progress.

    `ready`: every passage has a vector. `building`: some vectors are pending. `empty`: there are no passages yet.
    `changed`: the settings name a different embedder from the one that made the vectors.
    """

    id: str
    dimension: int | None
    state: EmbedderState


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """The background service."""

    running: bool
    pid: int | None


@dataclass(frozen=True, slots=True)
class InjectedStatus:
    """What hooks injected: the number of injections, tokens and entries, and how many of these were used.

    `used_share` is from 0 to 1, null if nothing was injected; the milliseconds are the time it took to prepare an
    injection.
    """

    injections: int
    tokens: int
    given: int
    used: int
    used_share: float | None
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class FiledStatus:
    """The latest ingest: when the newest item was archived, and how many items in the ten minutes before."""

    at: Micros
    items: int


@dataclass(frozen=True, slots=True)
class StatusResult:
    """The contents and the state of the palace. `entities` are those of facts, `mentions` are names in drawers.

    `connections` are pairs of entities joined by a fact, and of rooms joined by a tunnel; connections that are found by
    shared names alone are counted by `graph-stats`.

    `mentions` are the present ones, and null if another day was requested.
    """

    palace: str
    version: str
    schema: int
    items: int
    drawers: int
    facts: int
    wings: dict[str, WingStatus]
    embedder: EmbedderStatus
    size_bytes: int
    service: ServiceStatus
    open_todos: int
    tunnels: int
    entities: int
    connections: int
    mentions: int | None
    filed: FiledStatus | None
    injected: InjectedStatus | None
    """Null if another day was requested."""
    quarantine: int | None
    """Drawers and facts that agents wrote after reading untrusted content, pending review; null as `injected`."""
    paused: bool
    paused_until: Micros | None
    """Also null if the pause lasts until 'palazzo resume'."""
    backup_at: Micros | None
    """The time of the last backup; null if none is known."""
    unfinished_imports: tuple[str, ...] = ()
    """Files whose import was interrupted, or is still running: import them again to complete it."""
    sync_failed: dict[str, str] = field(default_factory=dict)
    """Remotes with which the service's last sync attempt failed, and the reason."""
    set_aside: int = 0
    """Texts that a consumer could not process; 'palazzo verify' lists them."""
    pending: Annotated[int, PERSON_ONLY] = 0
    embedding: Annotated[bool, PERSON_ONLY] = False
    """Whether a process is computing vectors now."""
    off: Annotated[bool, PERSON_ONLY] = False
    as_of: Annotated[Micros | None, PERSON_ONLY] = None
    note: Annotated[str, PERSON_ONLY] = ""


def status(context: Context, request: StatusRequest) -> StatusResult:
    """Show the palace's contents and state; with --as-of, the contents that had been recorded or said by then."""
    from palazzo import locks
    from palazzo.features.service.background_process import lock_file
    from palazzo.features.sync import automatic_sync
    from palazzo.operations import backup_files
    from palazzo.operations.pause_state import pause_of
    from palazzo.store import (
        dead_letters,
        entity_rows,
        fact_rows,
        mention_rows,
        palace_overview,
        schema,
        taint_queries,
        task_rows,
        tunnel_rows,
        unfinished_imports,
        vector_rows,
    )

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
        pending = vector_rows.count_pending(connection)
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
    from palazzo.store import ledger

    totals = ledger.totals(connection)
    share = round(totals.used / totals.given, 4) if totals.given else None
    p50, p95 = totals.took_p50 / 1_000, totals.took_p95 / 1_000
    return InjectedStatus(totals.injections, totals.tokens, totals.given, totals.used, share, p50, p95)


def _service(context: Context) -> ServiceStatus:
    from palazzo.features.service.service_state import state_of

    state = state_of(context)
    return ServiceStatus(state.running, state.pid)


def _embedder(context: Context, connection: Connection, pending: int) -> EmbedderStatus:
    """Return the embedder that computed the vectors, else the one that would."""
    from palazzo.index.passage_embedding import current_embedder
    from palazzo.store import palace_overview

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
    from palazzo.store import palace_overview

    last_ingest = palace_overview.last_filed(connection, _BATCH_WINDOW)
    return None if last_ingest is None else FiledStatus(*last_ingest)


def configured_embedder(context: Context) -> str:
    """Return the id of the embedder that the settings name; for a server, the part that is known without a request."""
    from urllib.parse import urlsplit

    spec = context.embedder_spec
    if spec.kind == "openai":
        return f"openai:{urlsplit(spec.base_url).netloc.rpartition('@')[2]}/{spec.model}/"
    from palazzo.index.minilm import MiniLM

    return MiniLM.id


OPERATION = Operation(
    "status",
    StatusRequest,
    StatusResult,
    status,
    scope="read",
    examples=("palazzo status", "palazzo status --as-of 'last month'"),
)
