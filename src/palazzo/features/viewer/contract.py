"""Requests, results and operations of `viewer`: what faces know of the feature, without its engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from palazzo.features.sessions.contract import DecisionView, SessionView
from palazzo.features.wakeup.contract import DigestResult
from palazzo.frozen_class import frozen
from palazzo.model import Freshness, Micros
from palazzo.operations.operation import About, Operation

LONGEST_STRETCH = 200_000
"""The most characters of an item that are read at once."""


@frozen
class ViewRequest:
    """Open the viewer: pages in your browser that show what the palace holds, from this machine only.

    The background service serves the pages while one of them is open.
    """

    port: Annotated[int | None, About("Port of the viewer, instead of 8378 or a free one.", metavar="N")] = None
    no_browser: Annotated[bool, About("Only print the link; do not start a browser.")] = False
    read_only: Annotated[bool, About("Refuse every change in the pages that this link opens.")] = False
    export: Annotated[
        Path | None,
        About(
            "Write pages into this directory instead: files that open without a server. If the name ends in '.html', "
            "all pages are written into this one file.",
            metavar="PATH",
        ),
    ] = None
    sessions: Annotated[tuple[str, ...], About("With --export: this session.", option="--session", metavar="ID")] = ()
    wing: Annotated[str | None, About("With --export: the sessions and the map of this wing.")] = None
    facts: Annotated[bool, About("With --export: the facts.")] = False


@frozen
class ViewResult:
    """The link, which can be used once and expires after five minutes, and whether a browser was started with it.

    Of an export, the files that were written, and how many secrets were redacted in them that the palace still has; it
    has no link.
    """

    link: str
    port: int
    read_only: bool
    browser: bool
    files: tuple[str, ...] = ()
    redacted: int = 0
    notice: str = ""
    """Why pages that were open before do not go on, if so."""


VIEW = Operation(
    "view",
    ViewRequest,
    ViewResult,
    scope="admin",
    group="Look back",
    summary="Open the viewer in a browser",
    engine="open_viewer:view",
    view="view:show_link",
    examples=("palazzo view", "palazzo view --export pages --session 3f2a91"),
)


@frozen
class SessionConversationRequest:
    """Read a part of a session as a conversation. A transcript is preferred to what hooks reported of the session."""

    session: Annotated[str, About("Id or id prefix of the session.")]
    offset: Annotated[int, About("Number of messages to skip.")] = 0
    limit: Annotated[int, About("Maximum number of messages.")] = 100
    around: Annotated[str | None, About("The id of a message, or of a drawer, that must be among them.")] = None


@frozen
class PartText:
    """A part of a message: prose, thoughts, a tool call or its result; `length` counts the characters of all of it."""

    kind: str
    name: str
    text: str
    length: int
    start: int
    failed: bool
    trust: str


@frozen
class MessageView:
    """A message: who said it, when, in which thread, and its parts in order."""

    id: str
    number: int
    role: str
    author: str
    thread: str
    standing: str
    created_at: Micros
    trust: str
    branch: str
    parts: tuple[PartText, ...]


@frozen
class SessionConversationResult:
    """Some messages of a session, the number of the first of them, and how many the session has."""

    session: str
    title: str
    host: str
    messages: tuple[MessageView, ...]
    offset: int
    total: int
    target: str = ""
    """The id of the message that was asked for by `around`."""
    was_told: bool = False
    """Whether hooks gave its agent anything."""


SESSION_CONVERSATION = Operation(
    "session_conversation",
    SessionConversationRequest,
    SessionConversationResult,
    scope="read",
    callers="clients",
)


@frozen
class SessionPageRequest:
    """List some sessions by day or week, newest first, without waiting for digests that are not made yet."""

    week: Annotated[bool, About("By week instead of by day.")] = False
    wing: Annotated[str | None, About("Only sessions of this wing.")] = None
    since: Annotated[str | None, About("Only sessions that were active since then.")] = None
    until: Annotated[str | None, About("Only sessions that began before then.")] = None
    branch: Annotated[str | None, About("Only sessions with words from this branch.")] = None
    host: Annotated[str | None, About("Only sessions of this host.")] = None
    limit: Annotated[int, About("Maximum number of sessions.")] = 30
    before: Annotated[str | None, About("The `next` of the page before: only sessions after that one.")] = None


@frozen
class SessionPeriod:
    """Some sessions that ended on a local day or in a week, what they decided, and how many the whole period has."""

    first_day: str
    last_day: str
    sessions: tuple[SessionView, ...]
    decided: tuple[DecisionView, ...]
    total: int


@frozen
class SessionPageResult:
    """The periods of some sessions, the number of sessions on all pages, and where the next page begins.

    `next` is empty on the last page. `note` says that digests are still being made, if so. `by_day` counts the sessions
    of all pages by the local day on which they ended; only the first page has it.
    """

    periods: tuple[SessionPeriod, ...]
    total: int
    next: str
    note: str
    by_day: dict[str, int]


SESSION_PAGE = Operation(
    "session_page",
    SessionPageRequest,
    SessionPageResult,
    engine="session_listing:session_page",
    scope="read",
    callers="clients",
)


@frozen
class SessionDigestRequest:
    """Return the digest of a session as far as it is made, without waiting for other sessions."""

    session: Annotated[str, About("Id or id prefix of the session.")]


@frozen
class SessionDigestResult:
    """The digest, and whether it is complete; if not, the service is making it."""

    digest: DigestResult
    complete: bool


SESSION_DIGEST = Operation(
    "session_digest",
    SessionDigestRequest,
    SessionDigestResult,
    engine="session_listing:session_digest",
    scope="read",
    callers="clients",
)


@frozen
class PageFiguresRequest:
    """Return what filters can be set to, and exchanges by day."""


@frozen
class PageFiguresResult:
    """The wings by name, the hosts by their number of sessions, the live drawers, and exchanges by local day."""

    wings: tuple[str, ...]
    hosts: dict[str, int]
    drawers: int
    by_day: dict[str, int]


PAGE_FIGURES = Operation(
    "page_figures",
    PageFiguresRequest,
    PageFiguresResult,
    scope="read",
    callers="clients",
)


@frozen
class ContentFiguresRequest:
    """Count drawers by kind, age and trust, and drawers, words and bytes over time."""


@frozen
class ContentFiguresResult:
    """The live drawers by kind, age and trust, and what the palace had at the end of local days.

    Drawers and words are those that are live now, by the day on which they were said.
    """

    by_kind: dict[str, int]
    by_age: dict[str, int]
    by_trust: dict[str, int]
    drawers: dict[str, int]
    words: dict[str, int]
    archived: dict[str, int]
    """The bytes of archived text, as they are stored."""
    sizes: dict[str, int]
    """The bytes of the palace's file by local date: the archive, and what is derived from it."""


CONTENT_FIGURES = Operation(
    "content_figures",
    ContentFiguresRequest,
    ContentFiguresResult,
    engine="page_figures:content_figures",
    scope="read",
    callers="clients",
)


@frozen
class ItemTextRequest:
    """Read a stretch of an item's text."""

    id: Annotated[str, About("Id or id prefix of the item.")]
    start: Annotated[int, About("Number of characters to skip.")] = 0
    length: Annotated[int, About("Maximum number of characters.")] = LONGEST_STRETCH


@frozen
class ItemTextResult:
    """A stretch of the text of an item, and how many characters the item has; `session` is empty for documents."""

    id: str
    text: str
    start: int
    total: int
    role: str
    trust: str
    title: str
    session: str
    created_at: Micros


ITEM_TEXT = Operation(
    "item_text",
    ItemTextRequest,
    ItemTextResult,
    scope="read",
    callers="clients",
)


@frozen
class InjectionListRequest:
    """List the sessions that hooks gave something, and what was given by day."""

    limit: Annotated[int, About("Maximum number of sessions.")] = 50
    offset: Annotated[int, About("Number of sessions to skip.")] = 0


@frozen
class InjectedSessionView:
    """A session that was given something: when, how often, how many tokens and entries, and how many were used."""

    host: str
    session: str
    first_at: Micros
    last_at: Micros
    injections: int
    tokens: int
    entries: int
    used: int
    title: str
    """What the session is about; empty if it is not in the palace."""


@frozen
class InjectionDay:
    """The injections of a local day: how many, their tokens, and their average time in milliseconds."""

    injections: int
    tokens: int
    average_ms: float


@frozen
class InjectionListResult:
    """Some sessions, the number of all, and the days with injections by their local date."""

    sessions: tuple[InjectedSessionView, ...]
    total: int
    by_day: dict[str, InjectionDay]


INJECTION_LIST = Operation(
    "injection_list",
    InjectionListRequest,
    InjectionListResult,
    scope="read",
    callers="clients",
)


@frozen
class ChangedCitationsRequest:
    """List the notes and facts of the current project that cite files which have moved, changed or gone."""


@frozen
class ChangedCitation:
    """A citation by a note or a fact (`id`, `text`): the path and the place in it, its state, and its place now.

    Places are `PATH` or `PATH:L1-L2`; `now` is empty if it is not known.
    """

    id: str
    text: str
    path: str
    cited: str
    freshness: Freshness
    now: str


@frozen
class ChangedCitationsResult:
    """The current project's wing, null outside of projects, and the citations, notes first, oldest first."""

    wing: str | None
    citations: tuple[ChangedCitation, ...]


CHANGED_CITATIONS = Operation(
    "changed_citations",
    ChangedCitationsRequest,
    ChangedCitationsResult,
    scope="read",
    callers="clients",
)


@frozen
class DerivationBacklogRequest:
    """Return which consumers of the change log have changes to process. The background process is started for them."""

    consumers: Annotated[tuple[str, ...], About("Names of consumers.")]


@frozen
class DerivationBacklogResult:
    """Those of the consumers whose data is not complete."""

    pending: tuple[str, ...]


DERIVATION_BACKLOG = Operation(
    "derivation_backlog",
    DerivationBacklogRequest,
    DerivationBacklogResult,
    scope="read",
    callers="clients",
)


@frozen
class RecentChangesRequest:
    """Return what has changed since a point of the change log."""

    since: Annotated[int | None, About("Number of the last change that is known.")] = None


@frozen
class ChangedSession:
    """A session that got messages, and its title."""

    session: str
    title: str


@frozen
class RecentChangesResult:
    """The newest change and injection by number, how far digests are made, and the sessions that got messages.

    `erased` says whether text was erased.
    """

    newest: int
    injection: int
    digest: int
    sessions: tuple[ChangedSession, ...]
    erased: bool = False


RECENT_CHANGES = Operation(
    "recent_changes",
    RecentChangesRequest,
    RecentChangesResult,
    scope="read",
    callers="clients",
)
