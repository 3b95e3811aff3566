"""Requests, results and operations of `team`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated, Literal

from palazzo.features.search.contract import HitView
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations.operation import PERSON_ONLY, About, Operation

INVITATION = "PALAZZO_TEAM_INVITATION"
_DEVICE_HELP = "Sign on by a code, without a browser on this machine."


@frozen
class TeamJoinRequest:
    """Join a team, with an invitation from whoever runs its server, or by signing on. Nothing is shared by that.

    Without an invitation, you sign on at the identity provider that the server names: in your browser, or with
    --device by a code that you enter in a browser on any machine.
    """

    url: Annotated[str, About("The address of the team server.", positional=True)]
    invitation: Annotated[
        str | None,
        About(
            f"Read the invitation from this file, or from standard input with -; otherwise from {INVITATION}.",
            option="--invitation-file",
            metavar="FILE",
            file=True,
        ),
    ] = None
    name: Annotated[str, About("The name of this device, for the server's log.")] = ""
    device: Annotated[bool, About(_DEVICE_HELP)] = False


@frozen
class TeamJoinResult:
    """The server, and who this palace's owner is there."""

    url: str
    person: str


@frozen
class SignOnStepView:
    """What to do in order to sign on, an event: open an address, and enter a code there if there is one."""

    address: str
    code: str
    is_opened: bool


# Never keyed: a keyed call keeps what it was asked, and that is an invitation.
TEAM_JOIN = Operation(
    "team_join",
    TeamJoinRequest,
    TeamJoinResult,
    scope="admin",
    engine="team_account:team_join",
    steps=True,
    examples=(
        "palazzo team join https://palazzo.example.org",
        "palazzo team join https://palazzo.example.org --device",
        "palazzo team join https://palazzo.example.org --invitation-file -",
    ),
)


@frozen
class TeamLoginRequest:
    """Sign on again at the team's server, when this device's token has expired. What is shared stays as it is."""

    device: Annotated[bool, About(_DEVICE_HELP)] = False


TEAM_LOGIN = Operation(
    "team_login",
    TeamLoginRequest,
    TeamJoinResult,
    scope="admin",
    engine="team_account:team_login",
    steps=True,
    examples=("palazzo team login", "palazzo team login --device"),
)


@frozen
class TeamShareRequest:
    """Share a wing with the team, or send what is new in the wings that are shared.

    Entries from now on are shared, unless you name a time or say --with-past. Only drawers and where they come from are
    sent: no facts, tasks or paths, nothing private, forgotten or with a secret. What you forget or move away later is
    withdrawn by the next share.
    """

    wing: Annotated[str | None, About("The wing. Default: all wings that are shared already.", positional=True)] = None
    since: Annotated[str | None, About("Share entries from this time on, such as 2026-11-01.")] = None
    with_past: Annotated[bool, About("Share entries of all times.")] = False
    dry_run: Annotated[bool, About("Only show what would be sent; the server is not asked.")] = False


@frozen
class SharedWing:
    """What was sent of a wing (or would be): records by kind, what stays by reason, and whether some was withdrawn."""

    wing: str
    records: dict[str, int]
    withheld: dict[str, int]
    sent: int
    segments: int
    bytes: int
    withdrawn: bool
    created: bool
    approvals: int = 0
    """How many notes whose approval was sent, or taken back."""


@frozen
class TeamShareResult:
    """What was sent of each wing."""

    dry_run: bool
    wings: tuple[SharedWing, ...]


TEAM_SHARE = Operation(
    "team_share",
    TeamShareRequest,
    TeamShareResult,
    scope="admin",
    engine="team_sharing:team_share",
    steps=True,
    examples=("palazzo team share shop --with-past --dry-run", "palazzo team share shop", "palazzo team share"),
)


@frozen
class TeamUnshareRequest:
    """Withdraw all that this device has sent of a wing. What others sent of it stays theirs."""

    wing: Annotated[str, About("The wing.", positional=True)]


@frozen
class TeamUnshareResult:
    """The wing, and whether the server had anything of it."""

    wing: str
    withdrawn: bool


TEAM_UNSHARE = Operation(
    "team_unshare",
    TeamUnshareRequest,
    TeamUnshareResult,
    scope="admin",
    engine="team_sharing:team_unshare",
    steps=True,
    examples=("palazzo team unshare shop",),
)


@frozen
class TeamMemberRequest:
    """Let a teammate read or write a wing that you own, or end that."""

    wing: Annotated[str, About("The wing, as the team knows it.", positional=True)]
    person: Annotated[str, About("The teammate.", positional=True)]
    role: Annotated[
        Literal["reader", "writer", "maintainer", "owner", "none"],
        About("What they may do: each role includes those before it.", positional=True),
    ] = "reader"


@frozen
class TeamMemberResult:
    """Who may now do what in which wing."""

    wing: str
    person: str
    role: str


TEAM_MEMBER = Operation(
    "team_member",
    TeamMemberRequest,
    TeamMemberResult,
    scope="admin",
    engine="team_account:team_member",
    steps=True,
    examples=("palazzo team member shop Ben writer", "palazzo team member shop Ben none"),
)


@frozen
class TeamStatusRequest:
    """Show the team that this palace has joined: its wings, your role in them, and which of yours are shared."""


@frozen
class TeamWing:
    """A wing of the team: its name there, your role, and the wing of this palace that is shared as it, if one is."""

    name: str
    role: str
    shared_as: str


@frozen
class TeamStatusResult:
    """The team; `problem` says why the server does not answer, if so. Without a team, `url` is empty.

    `shared_at` is when all shared wings were last sent, `failure` what went wrong since.
    """

    url: str
    person: str
    wings: tuple[TeamWing, ...]
    problem: str
    shared_at: Micros | None = None
    failure: str = ""


TEAM_STATUS = Operation(
    "team_status",
    TeamStatusRequest,
    TeamStatusResult,
    scope="read",
    engine="team_account:team_status",
    examples=("palazzo team status",),
)


@frozen
class TeamLogRequest:
    """Show what was done on the team server: by you, and by anybody in wings that you maintain. Newest first."""

    limit: Annotated[int, About("Maximum number of lines.")] = 20


@frozen
class TeamLogLine:
    """One line of the log."""

    at: Micros
    person: str
    verb: str
    wing: str
    detail: str


@frozen
class TeamLogResult:
    """The newest lines of the log."""

    lines: tuple[TeamLogLine, ...]


TEAM_LOG = Operation(
    "team_log",
    TeamLogRequest,
    TeamLogResult,
    scope="admin",
    engine="team_account:team_log",
    examples=("palazzo team log --limit 50",),
)


@frozen
class TeamSearchRequest:
    """Search what teammates share with you. Your own palace is searched by 'palazzo search'."""

    query: Annotated[str, About("What to look for.", positional=True, words=True)]
    wing: Annotated[str | None, About("Only in this wing of the team.")] = None
    limit: Annotated[int, About("Maximum number of hits.")] = 5


@frozen
class TeamHitView:
    """A drawer of a teammate: whose it is, how far it is trusted (`teammate`, `repo`, `tool` or `external`)."""

    id: str
    wing: str
    person: str
    trust: str
    kind: str
    author: str
    room: str
    title: str
    branch: str
    created_at: Micros
    score: float
    text: str


@frozen
class TeamSearchResult:
    """The best hits, best first. `problem` says why a tool could not ask."""

    hits: tuple[TeamHitView, ...]
    problem: str = ""
    readable: Annotated[tuple[HitView, ...], PERSON_ONLY] = ()
    """The same hits as a person reads them: with their strength, and the sentence that says most."""
    matched_words: Annotated[tuple[str, ...], PERSON_ONLY] = ()
    searched_at: Annotated[Micros, PERSON_ONLY] = Micros(0)


TEAM_SEARCH = Operation(
    "team_search",
    TeamSearchRequest,
    TeamSearchResult,
    scope="read",
    engine="team_sharing:team_search",
    examples=("palazzo team search why do we retry twice",),
)


@frozen
class TeamApproveRequest:
    """Approve notes that teammates' agents wrote after reading untrusted content, in wings that you maintain.

    Read each first: 'palazzo show ID'. An approval is of exactly these words. Your own notes are approved in your own
    palace ('palazzo quarantine approve'), and your next share says so.
    """

    ids: Annotated[
        tuple[str, ...], About("Ids of notes, or their beginnings, as a search shows them.", positional=True)
    ]
    revoke: Annotated[bool, About("Take back what maintainers have approved.")] = False


@frozen
class TeamApproveResult:
    """The ids of the notes that were approved, or whose approval was taken back."""

    notes: tuple[str, ...]
    revoked: bool


TEAM_APPROVE = Operation(
    "team_approve",
    TeamApproveRequest,
    TeamApproveResult,
    scope="admin",
    engine="team_approval:team_approve",
    steps=True,
    examples=("palazzo team approve d697f17a", "palazzo team approve d697f17a --revoke"),
)


@frozen
class TeamErasuresRequest:
    """Show where withdrawn words still are: of your withdrawals, and of all in wings that you maintain. Newest first.

    With --json, these are certificates. What teammates withdrew is removed from this palace's record of what agents
    were told.
    """

    limit: Annotated[int, About("Maximum number of withdrawals.")] = 10


@frozen
class ScratchCopyView:
    """A worker's machine that has a copy of the wing, and whether the words are gone from it."""

    machine: str
    is_clean: bool


@frozen
class ClientNoticeView:
    """A member's device, and when it acknowledged that it has removed what it had."""

    person: str
    device: str
    acknowledged_at: Micros | None


@frozen
class ErasureView:
    """A withdrawal: what was deleted (segments by name, drawers by id), and from where its words are gone.

    `rows_at`: from search; `heap_at`: from the tables' files; `log_position` and `is_log_passed`: whether a restart of
    PostgreSQL still needs its write-ahead log; `backups_until`: the day on which backups no longer have them.
    `is_complete` says that nothing but backups has them.
    """

    id: int
    wing: str
    person: str
    device: str
    asked_at: Micros
    segments: tuple[str, ...]
    bytes: int
    drawers: tuple[str, ...]
    rows_at: Micros | None
    heap_at: Micros | None
    log_position: str
    is_log_passed: bool
    backups_until: str
    scratch: tuple[ScratchCopyView, ...]
    clients: tuple[ClientNoticeView, ...]
    is_complete: bool


@frozen
class TeamErasuresResult:
    """The newest withdrawals, and how many texts of this palace's ledger were removed because of others'."""

    erasures: tuple[ErasureView, ...]
    removed_here: int


TEAM_ERASURES = Operation(
    "team_erasures",
    TeamErasuresRequest,
    TeamErasuresResult,
    scope="admin",
    engine="team_erasures:team_erasures",
    steps=True,
    examples=("palazzo team erasures", "palazzo team erasures --json > erased.json"),
)
