"""Requests, results and operations of `code`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.model import AnchorKind, Freshness, Micros
from palazzo.operations.filters import External, Since, Until
from palazzo.operations.operation import PERSON_ONLY, About, Operation

FixOutcome = Literal["fixed", "not fixed", "unknown"]


@frozen
class PastFailure:
    """A command that failed, and what was changed before it passed.

    `passed_as` is the command that passed, if it differs. `outcome` is unknown if a later command may have passed it
    without a trace. `times` counts the failures with the same words and the same fix. An error without lines was
    untrusted content.
    """

    id: str
    session: str
    wing: str
    room: str
    failed_at: Micros
    passed_at: Micros | None
    outcome: FixOutcome
    command: str
    error: tuple[str, ...]
    edited: tuple[str, ...]
    ran: tuple[str, ...]
    passed_as: str
    times: int = 1
    trust: str = "tool"
    label: str = ""
    """The branch label, if the session was on a branch that is not part of the current checkout."""

    @property
    def key(self) -> tuple[str, Micros, str]:
        """Return what identifies the failure: its item, its time and its command."""
        return self.id, self.failed_at, self.command


InCodeWing = Annotated[str | None, About("In this wing instead of the project's.")]

Everywhere = Annotated[bool, About("In all wings, not only the project's.")]

Certainty = Literal["sure", "likely", "weak", ""]


@frozen
class BlameRequest:
    """Show which sessions read or edited a file, what was decided about it, and the notes that cite it.

    With a line, show only what concerns that line. Its present text is looked for in what sessions wrote; edits are
    followed to where their lines are now.
    """

    path: Annotated[str, About("The file, or one line of it: PATH or PATH:LINE.", positional=True)]
    wing: InCodeWing = None
    everywhere: Everywhere = False
    since: Since = None
    until: Until = None
    limit: Annotated[int, About("Maximum number of sessions, of decisions and of notes.")] = 10
    external: External = True


@frozen
class FileSession:
    """A session that touched the file. `how` is edited, read, mentioned; `lines` are the edited lines, if known.

    Lines are those of today if they were found in the file, else those of that time. `drawer` is the newest one
    that touched the file. For a line, `reason` says how an edit concerns it, and `certainty` how sure that is.
    """

    session: str
    host: str
    title: str
    wing: str
    last_at: Micros
    how: tuple[AnchorKind, ...]
    lines: tuple[str, ...]
    branch: str
    label: str
    drawer: str
    certainty: Certainty = ""
    reason: str = ""


@frozen
class FileDecision:
    """A decision from a session's digest. `links` say how it is connected with the file, the closest link first."""

    id: str
    session: str
    wing: str
    at: Micros
    by: str
    text: str
    links: tuple[str, ...]
    trust: str


@frozen
class FileNote:
    """A note that cites the file. `remark` says which cited lines are not as they were; `label` is the branch label."""

    id: str
    wing: str
    at: Micros
    author: str
    filed_as: str
    text: str
    lines: tuple[str, ...]
    trust: str
    freshness: Freshness
    remark: str
    label: str
    is_superseded: bool


@frozen
class FileCommit:
    """A commit that changed a file, or wrote the line: its drawer, its hash, and its message."""

    id: str
    commit: str
    at: Micros
    author: str
    text: str
    trust: str


@frozen
class BlameResult:
    """What is known about a file, newest first; decisions most connected first. `wing` is null for all wings.

    `path` is relative to the root of the project. `total` counts the sessions before the limit. With a line, the
    session that wrote it comes first if an edit's text shows it: `line_text` is that text, else `unattributed` says
    why not; `unlocated` counts other sessions that edited the file at lines that are not known.
    """

    path: str
    line: int | None
    wing: str | None
    sessions: tuple[FileSession, ...]
    decisions: tuple[FileDecision, ...]
    notes: tuple[FileNote, ...]
    total: int
    commits: tuple[FileCommit, ...] = ()
    """Archived commits of the current branch that changed the file, or wrote the line; `palazzo mine --git` archives
    them.
    """
    unlocated: int = 0
    line_text: str = ""
    unattributed: str = ""
    advice: Annotated[str, PERSON_ONLY] = ""


BLAME = Operation(
    "blame",
    BlameRequest,
    BlameResult,
    engine="file_blame:blame",
    scope="read",
    group="Look back",
    summary="Show which sessions touched a file, and why",
    examples=("palazzo blame src/cart.py", "palazzo blame src/cart.py:42 --everywhere"),
)


@frozen
class FilesRequest:
    """Show which files sessions read, edited or mentioned when they were about a topic.

    Files of the exchanges about the topic come first, then other files that the same sessions edited.
    """

    topic: Annotated[str, About("The topic, in your own words.", positional=True, words=True)]
    wing: InCodeWing = None
    everywhere: Everywhere = False
    since: Since = None
    until: Until = None
    limit: Annotated[int, About("Maximum number of files.")] = 15
    external: External = True


@frozen
class TopicFile:
    """A file, and how sessions touched it. `exchanges` counts those about the topic that did.

    With 0 exchanges, only another part of these sessions edited it. `drawer` is where it was touched: in the exchange
    that is the most about the topic, else the newest edit. `relevance` orders files and has no unit.
    """

    path: str
    wing: str
    how: tuple[AnchorKind, ...]
    exchanges: int
    sessions: tuple[str, ...]
    last_at: Micros
    drawer: str
    relevance: float


@frozen
class FilesResult:
    """The files, most relevant first. `wing` is null if all were searched; `total` is before the limit.

    `exchanges` counts the exchanges about the topic, whether they touched files or not.
    """

    topic: str
    wing: str | None
    files: tuple[TopicFile, ...]
    exchanges: int
    total: int
    advice: Annotated[str, PERSON_ONLY] = ""


FILES = Operation(
    "files",
    FilesRequest,
    FilesResult,
    engine="topic_files:find_files",
    scope="read",
    group="Look back",
    summary="List the files that a topic is about",
    warm=True,
    examples=('palazzo files "retry budget"',),
)


@frozen
class FixRequest:
    """Show what fixed an error before: the failure, the command, and what was changed before it passed.

    Compares the lines of the error with those that failed commands reported in earlier sessions.
    """

    error: Annotated[
        str,
        About(
            "The error message, of one or several lines; - reads it from standard input.", positional=True, stdin=True
        ),
    ]
    wing: InCodeWing = None
    everywhere: Everywhere = False
    since: Since = None
    until: Until = None
    limit: Annotated[int, About("Maximum number of earlier failures.")] = 5
    external: External = True


@frozen
class FixResult:
    """Earlier failures with this error, fixed ones first, then the newest. `wing` is null if all were searched.

    `match` is `same` if they report the same error apart from numbers and paths, `similar` if they only share its
    words. `total` counts the failures before the limit.
    """

    wing: str | None
    match: Literal["same", "similar", "none"]
    failures: tuple[PastFailure, ...]
    total: int
    advice: Annotated[str, PERSON_ONLY] = ""


FIX = Operation(
    "fix",
    FixRequest,
    FixResult,
    engine="error_fixes:find_fixes",
    scope="read",
    group="Look back",
    summary="Show what fixed an error before",
    warm=True,
    examples=("palazzo fix \"ModuleNotFoundError: No module named 'yaml'\"", "make 2>&1 | palazzo fix -"),
)


@frozen
class HowRequest:
    """Show commands with a program that worked here: how often, when last, and with which exit status.

    Reads the newest 1,000 calls of agents' sessions. Commands that differ only in their arguments are one.
    """

    tool: Annotated[
        str, About("The program, or a program and its subcommand: docker compose.", positional=True, words=True)
    ]
    wing: InCodeWing = None
    everywhere: Everywhere = False
    since: Since = None
    until: Until = None
    limit: Annotated[int, About("Maximum number of commands.")] = 10
    external: External = True


@frozen
class WorkingCommand:
    """A command line that passed; `shape` is what the other runs of the program had in common with it.

    `worked` and `failed` count the runs. Of lines that passed, it is the newest of those with the fewest commands.
    `exit_status` is that of its run, null if its host states none. `id` is the message that ran it.
    """

    shape: str
    command: str
    worked: int
    failed: int
    last_at: Micros
    exit_status: int | None
    session: str
    host: str
    wing: str
    id: str
    trust: str = "agent"


@frozen
class HowResult:
    """Commands with a program that passed, the newest and most frequent first. `wing` is null if all were read.

    `total` counts their shapes before the limit; `failed_only` counts the runs of shapes that never passed.
    """

    tool: str
    wing: str | None
    commands: tuple[WorkingCommand, ...]
    total: int
    failed_only: int
    advice: Annotated[str, PERSON_ONLY] = ""


HOW = Operation(
    "how",
    HowRequest,
    HowResult,
    engine="working_commands:find_working_commands",
    scope="read",
    group="Look back",
    summary="Show commands of a tool that worked here",
    examples=("palazzo how docker", "palazzo how pytest --since 30d"),
)


@frozen
class FrictionRequest:
    """Show what fails again and again: errors and commands, how often, in how many sessions, and whether fixed.

    An error counts once for each time that it came up; retries in a row count as one.
    """

    wing: InCodeWing = None
    everywhere: Everywhere = False
    since: Since = None
    until: Until = None
    limit: Annotated[int, About("Maximum number of errors and commands.")] = 10
    external: External = True


@frozen
class RecurringFailure:
    """An error message that was reported several times, or a command that failed with several errors.

    `fixed` counts the failures after which the same command passed in the same session. `example` is the newest failure
    that was fixed, else the newest one.
    """

    kind: Literal["error", "command"]
    failures: int
    sessions: int
    fixed: int
    first_at: Micros
    last_at: Micros
    example: PastFailure


@frozen
class FrictionResult:
    """What fails again and again, most frequent first. `wing` is null if all were read; `total` is before the limit."""

    wing: str | None
    groups: tuple[RecurringFailure, ...]
    total: int
    advice: Annotated[str, PERSON_ONLY] = ""


FRICTION = Operation(
    "friction",
    FrictionRequest,
    FrictionResult,
    engine="recurring_failures:find_recurring_failures",
    scope="read",
    group="Look back",
    summary="Show what fails again and again",
    examples=("palazzo friction", "palazzo friction --since 30d --everywhere"),
)
