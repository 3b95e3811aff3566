"""Requests, results and operations of `notes`: what faces know of the feature, without its engine."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.operations.shared_views import DrawerRow


@frozen
class ContextSummaryRequest:
    """Show the notes that describe the present state: decisions, learnings and other notes.

    Each is shown by its own beginning; nothing is paraphrased. The newest 200 notes are considered, or those nearest to
    the topic. Superseded notes and untrusted content are left out.
    """

    topic: Annotated[str | None, About("Topic; all topics if omitted.", positional=True)] = None
    wing: Annotated[str | None, About("Wing to look in; by default the project's wing, or else all.")] = None
    limit: Annotated[int, About("Maximum number of notes of each kind.")] = 5


@frozen
class ContextSummaryResult:
    """Notes by kind: decisions, learnings, and all others. Newest first, or nearest to the topic first."""

    wing: str | None
    decisions: tuple[DrawerRow, ...]
    learnings: tuple[DrawerRow, ...]
    context: tuple[DrawerRow, ...]


CONTEXT_SUMMARY = Operation(
    "context_summary",
    ContextSummaryRequest,
    ContextSummaryResult,
    scope="read",
    group="Agents",
    summary="Show decisions, learnings and other notes",
    warm=True,
    examples=("palazzo context-summary", "palazzo context-summary retries --limit 3"),
)


@frozen
class RememberRequest:
    """File a note, word for word. When this returns, the note is on disk."""

    text: Annotated[str, About("The text to remember; - reads it from standard input.", positional=True, stdin=True)]
    wing: Annotated[str | None, About("File it in this wing. Default: the project's.")] = None
    room: Annotated[str | None, About("File it in this room.")] = None
    kind: Annotated[str | None, About("The kind: decision, learning, error, task, or a word of your own.")] = None
    tags: Annotated[tuple[str, ...], About("A tag; may be given several times.", option="--tag")] = ()
    anchors: Annotated[
        tuple[str, ...],
        About(
            "A file that the note is about, with line numbers; may be given several times.",
            option="--anchor",
            metavar="PATH[:L1-L2]",
        ),
    ] = ()
    by: Annotated[str, About("The author: an agent's or a person's name.", metavar="NAME")] = ""
    importance: Annotated[float | None, About("The importance, from 0 to 1.")] = None
    metadata: Annotated[str | None, About("Additional data to store with the note, as a JSON object.")] = None
    at: Annotated[str | None, About("When it was said, if not now: a date, or an age such as 3d.", metavar="WHEN")] = (
        None
    )
    once: Annotated[bool, About("File nothing if the wing already has a note with exactly this text.")] = False


@frozen
class RememberResult:
    """The saved note; with `once`, the existing note if there was one."""

    id: str
    drawers: tuple[str, ...]
    wing: str
    room: str
    filed: bool
    duplicate_of: str | None
    """A drawer of the wing that already said the same, or nearly."""
    is_copy: bool = False
    """Whether a note of the wing already had exactly this text."""


REMEMBER = Operation(
    "remember",
    RememberRequest,
    RememberResult,
    scope="write",
    group="Everyday",
    summary="File a note, word for word",
    writes=True,
    examples=(
        'palazzo remember "We chose SQLite: it needs no server." --kind decision',
        "git log -1 | palazzo remember - --tag release",
    ),
)


@frozen
class UpdateDrawerRequest:
    """Replace a drawer's text, or move it.

    Archived text is never rewritten: the new text is filed as a note that names what it replaces, with the kind, the
    tags and the other data of the old one. A drawer that is only moved keeps its id.
    """

    id: Annotated[str, About("Id or id prefix of a drawer or a note.", positional=True)]
    text: Annotated[
        str | None,
        About(
            "The new text; - reads it from standard input. The old text is kept, but no longer found.",
            positional=True,
            stdin=True,
            aliases=("--text",),
        ),
    ] = None
    wing: Annotated[str | None, About("Move it to this wing.")] = None
    room: Annotated[str | None, About("Move it to this room.")] = None
    by: Annotated[str, About("The author: an agent's or a person's name.", metavar="NAME")] = ""
    still_holds: Annotated[
        bool,
        About(
            "State that the note still holds although files that it cites have changed; it then cites their "
            "current state."
        ),
    ] = False


@frozen
class UpdateDrawerResult:
    """The drawers that are found now; `id` is the first of them."""

    id: str
    item: str
    drawers: tuple[str, ...]
    replaced: tuple[str, ...]
    """Drawers that are no longer found."""
    wing: str
    room: str
    change: str | None
    """What 'palazzo undo' takes back; null if nothing changed."""


UPDATE_DRAWER = Operation(
    "update_drawer",
    UpdateDrawerRequest,
    UpdateDrawerResult,
    scope="write",
    group="Arrange",
    summary="Replace a drawer's text, or move it",
    writes=True,
    examples=(
        'palazzo update-drawer 3f2a91 "The API listens on port 9443."',
        "palazzo update-drawer 3f2a91 --room deploy",
    ),
)


@frozen
class ForgetRequest:
    """Retire drawers, so that searches no longer find them and rebuilds do not restore them.

    The archive keeps the text; the ids still resolve, and 'palazzo undo' restores the drawers.
    """

    ids: Annotated[tuple[str, ...], About("Drawer or note ids, or id prefixes.", positional=True, option="ID")] = ()
    source: Annotated[str | None, About("Everything that came from this file, directory, address or session.")] = None
    session: Annotated[str | None, About("Everything of the session with this id or id prefix.")] = None
    wing: Annotated[str | None, About("Everything filed in this wing.")] = None
    tags: Annotated[
        tuple[str, ...],
        About("Everything with this tag; if given several times, with any of the tags.", option="--tag"),
    ] = ()
    derived_from: Annotated[
        str | None,
        About(
            "This page (address or id) or untrusted source, and everything that agents said, wrote and stated after "
            "reading it.",
            metavar="URL|ID|SOURCE",
        ),
    ] = None
    dry_run: Annotated[bool, About("Only show what would be forgotten.")] = False
    skip_missing: Annotated[bool, About("Skip ids that name no live drawer, instead of failing.", hidden=True)] = False
    only_file: Annotated[bool, About("With --source: only the file or address itself.", hidden=True)] = False


@frozen
class ForgetResult:
    """The drawers that were retired (or would be), and the facts that have no author left.

    `by_id` has the drawers of each given id, `missing` the reason for each id that was skipped, and `places` the number
    of drawers by wing/room.
    """

    forgotten: tuple[str, ...]
    facts: tuple[str, ...]
    dry_run: bool
    sample: Annotated[tuple[tuple[str, str], ...], PERSON_ONLY] = ()
    """The first few: (id, beginning of the text)."""
    by_id: Annotated[dict[str, tuple[str, ...]], PERSON_ONLY] = field(default_factory=dict)
    missing: Annotated[dict[str, str], PERSON_ONLY] = field(default_factory=dict)
    places: Annotated[dict[str, int], PERSON_ONLY] = field(default_factory=dict)


FORGET = Operation(
    "forget",
    ForgetRequest,
    ForgetResult,
    scope="write",
    group="Arrange",
    summary="Hide drawers from search; 'undo' restores them",
    writes=True,
    destructive=True,
    examples=("palazzo forget 3f2a91", "palazzo rm --source docs/old.md --dry-run"),
)

UNDO_LIMIT = 20


@frozen
class UndoRequest:
    """Undo your last change: forget, remember, move, tag, facts. An erase cannot be undone.

    Changes that an agent made stay: undo them by their ids, which --list shows. Nothing is deleted, and the undone
    change stays on record. Run it again to undo your change before.
    """

    id: Annotated[str | None, About("The change to undo instead of the last one.", positional=True)] = None
    list: Annotated[bool, About("Only list the last changes.")] = False
    limit: Annotated[int, About("Maximum number of changes to list.")] = UNDO_LIMIT


@frozen
class Change:
    """The effects of one command: its size, its time, and whether it was taken back."""

    id: str
    actor: str
    at: str
    verb: str
    size: int
    summary: str
    undone: bool
    undoes: str | None
    after_untrusted: bool = False
    """Whether it was made by an agent whose session had read untrusted content."""
    subject: str = ""
    """The id of the first note, drawer or task that it concerns; empty for facts and places, which `summary` names."""
    text: str = ""
    """The beginning of that note's, drawer's or task's text."""


@frozen
class UndoResult:
    """The change that was taken back, if any; and the last changes, if requested.

    `later` are the changes of others that were made after the one that was taken back, and that stand.
    """

    undone: Change | None
    changes: tuple[Change, ...] = ()
    later: tuple[Change, ...] = ()


UNDO = Operation(
    "undo",
    UndoRequest,
    UndoResult,
    scope="write",
    group="Everyday",
    summary="Undo your last change",
    writes=True,
    examples=("palazzo undo", "palazzo undo --list"),
)


@frozen
class TagRequest:
    """Add a tag to drawers, remove it, or list the tags in use.

    Rules tag branches, file types and errors: branch:main, type:md, error.
    """

    action: Annotated[Literal["add", "remove", "list"], About("The action to take.", positional=True)]
    tag: Annotated[str | None, About("The tag.", positional=True)] = None
    ids: Annotated[tuple[str, ...], About("Drawer or note ids, or id prefixes.", positional=True, option="ID")] = ()


@frozen
class TagCount:
    """A tag, its number of live drawers, and whether a rule assigns it."""

    tag: str
    drawers: int
    by_rule: bool


@frozen
class TagResult:
    """The drawers whose tags were changed, or the tags in use."""

    action: str
    drawers: tuple[str, ...]
    tags: tuple[TagCount, ...]


TAG = Operation(
    "tag",
    TagRequest,
    TagResult,
    scope="write",
    group="Arrange",
    summary="Add tags, remove them, or list them",
    writes=True,
    examples=("palazzo tag add storage 3f2a91", "palazzo tag list"),
)
