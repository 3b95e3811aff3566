"""Requests, results and operations of `mining`: what faces know of the feature, without its engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.host_names import WITH_HISTORY
from palazzo.hosts.installed_hosts import HostFound
from palazzo.model import Micros
from palazzo.operations.operation import PERSON_ONLY, About, Operation


@frozen
class InitRequest:
    """Create the palace, and detect this project's wing and rooms and the installed agents.

    Nothing is written into the project unless you ask for it.
    """

    directory: Annotated[
        Path, About("The project directory. Default: the working directory.", positional=True, option="DIR")
    ] = Path()
    yes: Annotated[bool, About("Ask nothing, and accept what was found.")] = False
    new: Annotated[bool, About("Create an empty palace even if an earlier one is missing.")] = False
    write_config: Annotated[bool, About("Also write palazzo.toml, with the wing and rooms, into the project.")] = False


@frozen
class InitResult:
    """The state of the palace and the project."""

    palace: str
    created: bool
    project: str
    root: str
    branch: str
    wing: str
    rooms: tuple[str, ...]
    hosts: tuple[HostFound, ...]
    config: str | None
    wing_created: bool = False
    """Whether the wing is new; it is empty then."""


INIT = Operation(
    "init",
    InitRequest,
    InitResult,
    scope="admin",
    group="Upkeep",
    summary="Create the palace, and detect this project",
    writes=True,
    steps=True,
    examples=("palazzo init", "palazzo init ~/src/shop --write-config"),
)


CANNOT_BE_READ = "it cannot be read:"
"""The beginning of the reason why nothing was read from a path that the system refuses."""


@frozen
class MineFilesRequest:
    """Index files and transcripts, byte for byte. Unchanged files are skipped.

    In a project, only its documentation is read; transcripts are read wherever they are. Keyword search finds the text
    at once, search by meaning as soon as its vectors are computed.
    """

    paths: Annotated[tuple[Path, ...], About("Files and directories.", positional=True, option="PATH")]
    mode: Annotated[
        Literal["auto", "docs", "all", "convos"],
        About("Documents only, code too, or conversations only; auto decides by content."),
    ] = "auto"
    wing: Annotated[str | None, About("File everything in this wing instead of each project's own.")] = None
    room: Annotated[str | None, About("File everything in this room.")] = None
    include: Annotated[
        tuple[str, ...], About("Read only files that match; may be given several times.", metavar="GLOB")
    ] = ()
    exclude: Annotated[
        tuple[str, ...], About("Leave out files that match; may be given several times.", metavar="GLOB")
    ] = ()
    gitignore: Annotated[bool, About("Obey ignore files.", negated_help="Also read what ignore files leave out.")] = (
        True
    )
    since: Annotated[
        str | None, About("Only conversations continued since this time: a date, or an age such as 30d.")
    ] = None
    sessions: Annotated[
        tuple[str, ...],
        About("Only the conversation with this id; may be given several times.", False, "--session", "ID"),
    ] = ()
    min_messages: Annotated[int | None, About("Skip conversations with fewer messages.")] = None
    git: Annotated[
        bool, About("Also index the commit messages, merges and tags of the repository of each directory.")
    ] = False
    dry_run: Annotated[bool, About("Only show what would be read.")] = False
    wait: Annotated[bool, About("Compute the vectors now instead of in the background.")] = False


@frozen
class SkippedFile:
    """A file that was skipped, and the reason."""

    uri: str
    reason: str


@frozen
class FailedFile:
    """A file that could not be read to the end."""

    uri: str
    error: str


@frozen
class FileView:
    """A file of a dry run, and what an actual run would do with it.

    `bytes` is null for a directory that is skipped. A document is one source, and so is each conversation: the counts
    say how many are new, grown or unchanged. `reason` says why the file is skipped, or why it cannot be read.
    """

    uri: str
    group: Literal["document", "transcript", "export", "skipped", "failed"]
    bytes: int | None
    new: int
    grown: int
    unchanged: int
    reason: str


@frozen
class MineResult:
    """The result of reading sources."""

    sources: int
    new: int
    grown: int
    unchanged: int
    skipped: tuple[SkippedFile, ...]
    items: int
    drawers: int
    failed: tuple[FailedFile, ...]
    took_s: float
    rows: int = 0
    noise: int = 0
    repeated: int = 0
    unreadable: int = 0
    """Each of the `rows` that were read is an item, noise (archived and never searched), repeated (archived before), or
    unreadable (archived byte for byte, and listed in `skipped`).
    """
    left_out: int = 0
    taken_back: int = 0
    """Documents that a rule now excludes, which are retired until the rule is removed, and documents whose rule was
    removed.
    """
    code_skipped: int = 0
    """Skipped source files that --mode all reads, unless a --mode or the project's policy was given."""
    unread: tuple[SkippedFile, ...] = ()
    """The given paths from which nothing was read, and why."""
    files: tuple[FileView, ...] = ()
    """All files of a dry run."""
    commits: int = 0
    """The new commits, merges and tags that were archived, or would be."""
    embedding_s: float = 0.0
    """The seconds of `took_s` that computing vectors took."""
    wings: Annotated[tuple[str, ...], PERSON_ONLY] = ()
    dry_run: Annotated[bool, PERSON_ONLY] = False
    pending: Annotated[int, PERSON_ONLY] = 0
    """Passages that do not have a vector yet."""
    note: Annotated[str, PERSON_ONLY] = ""
    directories: Annotated[tuple[str, ...], PERSON_ONLY] = ()
    """The directories that were entered, if nothing was new, so that the next run can compare only their entries."""


def all_failed(result: MineResult) -> bool:
    """Return whether there was something to read, and none of it could be read."""
    return bool(result.failed) and len(result.failed) == result.sources


MINE_IGNORED_OPTIONS = ("--no-repair",)
"""Options of scripts that mine with MemPalace. They ask not to repair its index; ours is always derived from the
archive.
"""


def has_failed(result: MineResult) -> bool:
    """Return whether all sources failed, or a path that was named cannot be read."""
    return all_failed(result) or any(entry.reason.startswith(CANNOT_BE_READ) for entry in result.unread)


MINE = Operation(
    "mine",
    MineFilesRequest,
    MineResult,
    scope="admin",
    group="Everyday",
    summary="Index files and transcripts",
    writes=True,
    steps=True,
    failed=has_failed,
    ignored_options=MINE_IGNORED_OPTIONS,
    examples=("palazzo mine docs", "palazzo mine ~/exports/chatgpt.zip --mode convos --dry-run"),
)


@frozen
class FeedRequest:
    """Find every agent's history on this machine and index what is new, byte for byte.

    Covers Claude Code, Codex, opencode, pi, Gemini CLI, Copilot CLI, Continue, Cursor, Goose, Kilo Code, Kiro, Qwen
    Code, Droid, Cline, Roo Code, Crush, Amp, VS Code, Zed, the local agent mode of Claude Desktop, the transcripts that
    Windsurf writes for a hook and, in the current project, Aider. Unchanged sessions are skipped; of a session that has
    grown, only the new part is read.
    """

    hosts: Annotated[
        tuple[str, ...],
        About(f"Only these hosts: {', '.join(WITH_HISTORY)}; default: all.", True, "HOST", values=WITH_HISTORY),
    ] = ()
    since: Annotated[str | None, About("Only sessions continued since this time: a date, or an age such as 30d.")] = (
        None
    )
    sessions: Annotated[
        tuple[str, ...],
        About("Only the session with this id or id prefix; may be given several times.", False, "--session", "ID"),
    ] = ()
    min_messages: Annotated[
        int | None, About("Skip sessions with fewer messages. Default: the setting min_messages.")
    ] = None
    wing: Annotated[str | None, About("File everything in this wing instead of each project's own.")] = None
    dry_run: Annotated[bool, About("Only show what exists and how much of it is new.")] = False
    wait: Annotated[bool, About("Compute the vectors now instead of in the background.")] = False


@frozen
class HistoryFed:
    """One directory in which a host stores sessions: how many, their time range, and how much of it was new."""

    host: str
    path: str
    shown_as: Annotated[str, PERSON_ONLY]
    sessions: int
    new: int
    grown: int
    unchanged: int
    bytes: int
    earliest: Micros | None
    latest: Micros | None


@frozen
class FeedResult(MineResult):
    """What was read, in total and from each history."""

    histories: tuple[HistoryFed, ...] = ()
    estimate_s: Annotated[float, PERSON_ONLY] = 0.0
    """The estimated seconds for reading the new content."""


FEED = Operation(
    "feed",
    FeedRequest,
    FeedResult,
    scope="admin",
    group="Everyday",
    summary="Index what is new in every agent's history",
    view="feed_view:feed",
    writes=True,
    steps=True,
    failed=all_failed,
    ignored_options=MINE_IGNORED_OPTIONS,
    examples=("palazzo feed", "palazzo feed claude-code codex --since 30d --dry-run"),
)


@frozen
class SyncSourcesRequest:
    """Compare the palace's documents with the files on disk, and with the rules for what is read.

    With --apply, missing or excluded documents are no longer found. They are kept, and found again when they are mined
    again, or after 'palazzo undo'. A document that may only be unreachable (a volume, another branch) never counts as
    missing.
    """

    path: Annotated[Path | None, About("A directory or a document. Default: the project's root.", positional=True)] = (
        None
    )
    wing: Annotated[str | None, About("Only documents in this wing; without a path, those of its projects.")] = None
    apply: Annotated[
        bool, About("Hide missing and excluded documents from search; without this they are only reported.")
    ] = False


@frozen
class DocumentState:
    """A document that is not simply present; `drawers` is the number of its live drawers."""

    uri: str
    state: Literal["ignored", "missing", "unreachable"]
    reason: str
    drawers: int


@frozen
class SyncSourcesResult:
    """The number of documents checked, those that are not simply present, and the number of their drawers."""

    scanned: int
    kept: int
    ignored: int
    missing: int
    unreachable: int
    drawers: int
    dry_run: bool
    documents: tuple[DocumentState, ...]
    change: str | None
    """What 'palazzo undo' takes back; null if nothing was changed."""
    tops: Annotated[tuple[str, ...], PERSON_ONLY] = ()


SYNC_SOURCES = Operation(
    "sync_sources",
    SyncSourcesRequest,
    SyncSourcesResult,
    scope="admin",
    group="Keep and move",
    summary="Compare documents with the files on disk",
    writes=True,
    examples=("palazzo sync-sources", "palazzo sync-sources docs --apply"),
)


@frozen
class WatchRequest:
    """Keep the palace current until interrupted: agents' sessions as they continue, documents as they change.

    Watches every agent's history on this machine, including those of agents installed meanwhile, and the projects whose
    documents were indexed before. It begins by catching up. The content of deleted files stays in the palace. One
    watcher is enough for a palace; a second one reports this and ends. While this command runs, the background service
    leaves watching to it.
    """

    paths: Annotated[
        tuple[Path, ...], About("More files and directories to watch.", positional=True, option="PATH")
    ] = ()


@frozen
class WatchResult:
    """What was ingested until the watch was stopped."""

    items: int
    drawers: int


WATCH = Operation(
    "watch",
    WatchRequest,
    WatchResult,
    scope="admin",
    group="Keep and move",
    summary="Keep the palace current until interrupted",
    writes=True,
    steps=True,
    examples=("palazzo watch", "palazzo watch ~/notes"),
)


@frozen
class RestoreSessionRequest:
    """Write a session's transcript where its host can resume it, with the files of its sub-agents.

    In the host's own directory of sessions (Claude Code's `projects`, Codex's and pi's `sessions`, Gemini CLI's `tmp`,
    Copilot CLI's `session-state`) each file goes where the host looks for it; in any other directory it keeps its name.
    A session of opencode becomes a file for `opencode import`. An existing file that differs is not overwritten.
    """

    id: Annotated[
        str,
        About("Session id or id prefix; KIND:ID#FILE for one of several.", positional=True),
    ]
    directory: Annotated[
        Path,
        About("The host's directory of sessions, or any other directory.", positional=True, option="DIR"),
    ]
    dry_run: Annotated[bool, About("Only show what would be written.")] = False


@frozen
class FileRestored:
    """One file. `there` means that it already existed with the same bytes."""

    path: Path
    size: int
    modified_at: Micros
    standing: Literal["written", "there", "would"]


@frozen
class RestoreSessionResult:
    """What was written; `note` is a remark on it."""

    session: str
    kind: str
    files: tuple[FileRestored, ...]
    note: str
    dry_run: Annotated[bool, PERSON_ONLY] = False


RESTORE_SESSION = Operation(
    "restore_session",
    RestoreSessionRequest,
    RestoreSessionResult,
    scope="admin",
    group="Keep and move",
    summary="Write a session's transcript for its host",
    examples=("palazzo restore-session 3f2a91 ~/.claude/projects --dry-run",),
)


@frozen
class WatchEvent:
    """An event of the watch. `uris` are its sources, `detail` is a sentence if there is something to report."""

    event: Literal["watching", "caught-up", "read", "failed", "found", "looking"]
    at: Micros
    uris: tuple[str, ...] = ()
    items: int = 0
    drawers: int = 0
    took_s: float = 0.0
    detail: str = ""
