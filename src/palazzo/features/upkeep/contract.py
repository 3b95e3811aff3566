"""Requests, results and operations of `upkeep`: what faces know of the feature, without its engine."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from palazzo.features.sessions.contract import Resumption
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations import point_in_time as past
from palazzo.operations.check_finding import Diagnosis
from palazzo.operations.damage import SalvageView
from palazzo.operations.filters import InWing
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.settings import KEYS, Value


@frozen
class FixResult:
    """A command that was run, or could not be run; `detail` is its result, or the reason."""

    command: str
    done: bool
    detail: str


CleanupReason = Literal["short", "unimportant"]


@frozen
class CleanupRequest:
    """Forget very short or low-importance notes.

    A note that has a kind, tags, facts or tunnels that depend on it never counts as too short. 'palazzo undo' restores
    all of them at once.
    """

    threshold: Annotated[float, About("Notes below this importance are candidates, from 0 to 1.")] = 0.2
    min_length: Annotated[
        int,
        About(
            "Notes shorter than this many characters are candidates; a Chinese, Japanese or Korean character "
            "counts as two."
        ),
    ] = 20
    wing: InWing = None
    dry_run: Annotated[bool, About("Only report what would be forgotten.")] = False


@frozen
class CandidateView:
    """A drawer of a short or unimportant note."""

    id: str
    wing: str
    room: str
    text: str
    reason: CleanupReason
    importance: float | None
    length: int
    created_at: Micros


@frozen
class CleanupResult:
    """The candidates, and the drawers that were forgotten (or would be)."""

    candidates: tuple[CandidateView, ...]
    forgotten: tuple[str, ...]
    dry_run: bool
    change: str | None


CLEANUP = Operation(
    "cleanup",
    CleanupRequest,
    CleanupResult,
    scope="admin",
    group="Arrange",
    summary="Forget very short or low-importance notes",
    view="tidy_view:cleanup",
    writes=True,
    destructive=True,
    changes_nothing=lambda result: not result.forgotten,
    examples=("palazzo cleanup --dry-run", "palazzo cleanup --wing api --threshold 0.1"),
)


@frozen
class DedupRequest:
    """Find notes of a wing that say the same, and forget all but one of each: the oldest of the most trusted.

    The kept note gets the tags of all, and 'palazzo show' lists their origins. Notes with different figures, or with a
    negation in only one, do not say the same. The text of the others is kept, and 'palazzo undo' restores all of them
    at once.
    """

    threshold: Annotated[float, About("Minimum share that each note must contain of the other, from 0 to 1.")] = 0.85
    wing: InWing = None
    dry_run: Annotated[bool, About("Only report which notes would be forgotten.")] = False


@frozen
class OriginView:
    """A note of a cluster: its first drawer, its time, its author, and its trust level."""

    id: str
    room: str
    created_at: Micros
    author: str
    trust: str
    source: str


@frozen
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


@frozen
class DedupResult:
    """The clusters, and the drawers that are no longer found (or would not be)."""

    clusters: tuple[ClusterView, ...]
    folded: tuple[str, ...]
    dry_run: bool
    change: str | None


DEDUP = Operation(
    "dedup",
    DedupRequest,
    DedupResult,
    scope="admin",
    group="Arrange",
    summary="Forget notes that say the same as another",
    view="tidy_view:dedup",
    writes=True,
    destructive=True,
    changes_nothing=lambda result: not result.folded,
    examples=("palazzo dedup --dry-run", "palazzo dedup --wing api --threshold 0.9"),
)


@frozen
class PauseRequest:
    """Stop capture and injection, everywhere this palace is used, for a time or until 'palazzo resume'.

    Agents can still search and file notes. Transcripts of that time are not ingested later either, except by 'palazzo
    mine' of such a file.
    """

    duration: Annotated[
        str | None,
        About(
            "How long (30m, 2 hours), or until when (17:00, tomorrow 9:00); without it, until 'palazzo resume'.",
            positional=True,
            aliases=("--for",),
        ),
    ] = None


@frozen
class PauseResult:
    """The end of the pause; null if it lasts until 'palazzo resume'."""

    palace: str
    until: Micros | None


PAUSE = Operation(
    "pause",
    PauseRequest,
    PauseResult,
    scope="admin",
    group="Agents",
    summary="Stop capture and injection for a time",
    examples=("palazzo pause 1h", "palazzo pause 'tomorrow 9:00'"),
)


@frozen
class ResumeRequest:
    """Resume a session in its host; without an id, resume capture and injection after 'palazzo pause'.

    A session that its host has deleted is restored first. The host is started in the session's directory if this is a
    terminal; otherwise, and with --print, the command is printed.
    """

    session: Annotated[
        str | None, About("Id or id prefix of a session to resume; without it, end a pause.", positional=True)
    ] = None
    print: Annotated[bool, About("Only print the command that resumes the session.")] = False


@frozen
class ResumeResult:
    """Whether the palace was paused and PALAZZO_OFF still keeps it off; or how the session is resumed."""

    palace: str
    was_paused: bool
    off: bool
    resumption: Resumption | None = None


RESUME = Operation(
    "resume",
    ResumeRequest,
    ResumeResult,
    scope="admin",
    group="Look back",
    summary="Continue a session in its host, or end a pause",
    examples=("palazzo resume",),
)

EmbedderState = Literal["ready", "building", "empty", "changed"]


@frozen
class StatusRequest:
    """Show the palace's contents and state; with --as-of, the contents that had been recorded or said by then."""

    as_of: Annotated[str | None, About(past.HELP)] = None


@frozen
class WingStatus:
    """A wing's live drawers, by room and in total."""

    rooms: dict[str, int]
    drawers: int


@frozen
class EmbedderStatus:
    """The embedder, and its progress.

    `ready`: every passage and every title has a vector. `building`: some vectors are pending. `empty`: there are no
    passages yet. `changed`: the settings name a different embedder from the one that made the vectors.
    """

    id: str
    dimension: int | None
    state: EmbedderState


@frozen
class ServiceStatus:
    """The background service; `viewer_trouble` says why open pages of the viewer do not go on, if so."""

    running: bool
    pid: int | None
    viewer_trouble: str = ""


@frozen
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


@frozen
class FiledStatus:
    """The latest ingest: when the newest item was archived, and how many items in the ten minutes before."""

    at: Micros
    items: int


@frozen
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


STATUS = Operation(
    "status",
    StatusRequest,
    StatusResult,
    scope="read",
    group="Upkeep",
    summary="Show what the palace holds, and its state",
    examples=("palazzo status", "palazzo status --as-of 'last month'"),
)


@frozen
class MemoryStatsRequest:
    """Count the memory's contents by kind, tag, age and trust, and list the most mentioned names."""

    wing: Annotated[str | None, About("Only this wing.")] = None
    limit: Annotated[int, About("Maximum number of tags and of names.")] = 10


@frozen
class NameCount:
    """A name that drawers mention, its kind, and the number of drawers."""

    name: str
    kind: str
    drawers: int


@frozen
class MemoryStatsResult:
    """Counts of live drawers, except `items` (archived), `retired` (no longer found), `facts`, and the file's size."""

    wing: str | None
    items: int
    drawers: int
    retired: int
    facts: int
    by_kind: dict[str, int]
    filed_as: dict[str, int]
    by_tag: dict[str, int]
    by_age: dict[str, int]
    """Drawers by age: within the last day, week, month or year, or older."""
    by_trust: dict[str, int]
    entities: tuple[NameCount, ...]
    size_bytes: int


MEMORY_STATS = Operation(
    "memory_stats",
    MemoryStatsRequest,
    MemoryStatsResult,
    scope="read",
    group="Look back",
    summary="Count contents by kind, tag, age and trust",
    examples=("palazzo memory-stats --wing api",),
)


@frozen
class AuditRequest:
    """Find what could be tidied up, and suggest a fix for each finding. Changes nothing.

    It looks for notes that say little or the same, deleted documents, rooms with one drawer, wings with similar names,
    contradictory facts, and notes and facts of the current project whose cited files have changed.
    """

    threshold: Annotated[float, About("Minimum similarity of two names of wings, or of two notes, from 0 to 1.")] = 0.75


@frozen
class AuditFinding:
    """One finding of the audit: the count, some examples, and the command to run next, if any.

    `mends` lists one command for each example that is fixed separately; `mend` is the first of them.
    """

    name: str
    ok: bool
    count: int
    detail: str
    examples: tuple[str, ...]
    mend: str
    mends: tuple[str, ...] = ()


@frozen
class AuditResult:
    """All findings, and whether everything is tidy."""

    ok: bool
    findings: tuple[AuditFinding, ...]


AUDIT = Operation(
    "audit",
    AuditRequest,
    AuditResult,
    scope="read",
    group="Upkeep",
    summary="Find what could be tidied up",
    view="tidy_view:audit",
    examples=("palazzo audit",),
)


@frozen
class DoctorRequest:
    """Check everything that Palazzo needs here, and suggest a fix for each problem.

    Changes nothing without --fix. --fix starts the service, rebuilds derived data, writes Palazzo's own settings
    entries again and makes the palace private, each only if that fixes a problem; other problems are left to you. Exit
    code 1 if there is a problem.
    """

    secrets: Annotated[bool, About("Also check everything archived for secrets, with today's rules.")] = False
    canaries: Annotated[
        bool,
        About(
            "Start the programs configured in hosts, to check that they answer.",
            negated_help="Do not start the programs configured in hosts to check that they answer.",
        ),
    ] = True
    fix: Annotated[bool, About("Fix what needs no confirmation, and check again.")] = False


@frozen
class DoctorResult:
    """All findings, and whether everything is in order; with --fix, also the fixes that were applied first."""

    ok: bool
    findings: tuple[Diagnosis, ...]
    fixed: tuple[FixResult, ...] = ()


DOCTOR = Operation(
    "doctor",
    DoctorRequest,
    DoctorResult,
    scope="read",
    group="Upkeep",
    summary="Check everything Palazzo needs, and suggest fixes",
    failed=lambda result: not result.ok,
    examples=("palazzo doctor", "palazzo doctor --fix"),
)


@frozen
class VerifyRequest:
    """Check that the palace file is sound, nothing archived is lost, and derived data is correct.

    Changes nothing. 'palazzo repair' repairs derived data.
    """


@frozen
class CheckView:
    """One check: its name, whether it passed, and its detail."""

    name: str
    ok: bool
    detail: str


@frozen
class VerifyResult:
    """All checks, and whether all passed."""

    ok: bool
    checks: tuple[CheckView, ...]


VERIFY = Operation(
    "verify",
    VerifyRequest,
    VerifyResult,
    scope="admin",
    group="Upkeep",
    summary="Check that nothing is damaged or lost",
    failed=lambda result: not result.ok,
    examples=("palazzo verify",),
)

DerivedPart = Literal["drawers", "fts", "vectors", "all"]

RepairPart = DerivedPart | Literal["file"]


@frozen
class RepairRequest:
    """Rebuild drawers, the keyword index or vectors from the archive, and check the palace again.

    Texts that could not be processed are processed again. The archive is not changed. Vectors are computed in the
    background afterwards. If pages of the file are damaged, a new file is made from everything that can be read. It
    replaces the palace in one step; the damaged file is kept beside it, and what is lost is named.
    """

    rebuild: Annotated[
        Literal["drawers", "fts", "vectors", "all"] | None,
        About("Rebuild this part. Default: what the checks find wrong."),
    ] = None
    dry_run: Annotated[bool, About("Only show what would be rebuilt.")] = False


@frozen
class RepairResult:
    """What was rebuilt (or would be), and the results of the checks afterwards."""

    rebuilt: tuple[RepairPart, ...]
    dry_run: bool
    ok: bool
    checks: tuple[CheckView, ...]
    retried_texts: int = 0
    """How many texts that had been set aside were processed again."""
    set_aside: int = 0
    """How many texts are set aside now."""
    unproven: tuple[str, ...] = ()
    """Items whose text is missing without a known erasure. This is recorded now, and `verify` lists them."""
    linked: int = 0
    """How many items got a link in this device's chain because no chain contained them."""
    salvage: SalvageView | None = None
    """What could not be read because pages of the file were damaged; null if none was."""


REPAIR = Operation(
    "repair",
    RepairRequest,
    RepairResult,
    scope="admin",
    group="Upkeep",
    summary="Rebuild drawers, keywords or vectors",
    writes=True,
    steps=True,
    failed=lambda result: not result.ok,
    examples=("palazzo repair", "palazzo repair --rebuild fts --dry-run"),
)


@frozen
class SettingsRequest:
    """Show the effective settings and where each was written, or write one to your own config.toml."""

    action: Annotated[str | None, About("get or set. Default: get.", positional=True, values=("get", "set"))] = None
    key: Annotated[
        str | None, About("Name of the setting.", positional=True, values=tuple(known.name for known in KEYS))
    ] = None
    value: Annotated[str | None, About("The new value; a list is separated by commas.", positional=True)] = None


@frozen
class SettingView:
    """One setting. Secrets are masked with asterisks."""

    key: str
    value: Value
    origin: str
    default: Value
    allowed: str
    help: str
    shown: Annotated[str, PERSON_ONLY] = ""


@frozen
class SettingsResult:
    """The effective settings, and the problems in the files that define them."""

    settings: tuple[SettingView, ...]
    problems: tuple[str, ...]
    written: Annotated[str, PERSON_ONLY] = ""
    """The file that was written, if any."""
    single: Annotated[bool, PERSON_ONLY] = False


SETTINGS = Operation(
    "settings",
    SettingsRequest,
    SettingsResult,
    scope="admin",
    group="Upkeep",
    summary="Show the effective settings, or write one",
    examples=("palazzo settings", "palazzo settings set save_interval 20"),
)


IMPORTS = "imports"
"""The check that fails without any damage; its detail says what to do."""
