"""show: read a drawer, an item, a session or a fact in full."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.model import Freshness, Micros, Visibility
from palazzo.operations import past
from palazzo.operations.facts import FactView
from palazzo.operations.hits import CitationView, HitSource, SupersededView, TurnView, source_of, superseded, title_of
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.operations.past import AsOf
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.archive.restoring import SessionName
    from palazzo.model import Drawer, Item
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

MOST_NEIGHBOURS = 1000


@dataclass(frozen=True, slots=True)
class ShowRequest:
    """What to read."""

    id: Annotated[
        str,
        About(
            "Id of a drawer, an item, a session or a fact, or its beginning; KIND:ID#FILE for one of several.",
            positional=True,
        ),
    ]
    context: Annotated[int, About("Also show this many drawers before and after.")] = 0
    raw: Annotated[bool, About("Write the source's own bytes instead, and nothing else.")] = False
    as_of: Annotated[str | None, About(past.HELP)] = None


@dataclass(frozen=True, slots=True)
class SpanView:
    """A stretch of an item, counted in code points."""

    item: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FoldedView:
    """A note that said the same and was folded into another: where it was from."""

    id: str
    wing: str
    room: str
    created_at: Micros
    author: str
    trust: str
    source: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A drawer or an item, whole."""

    id: str
    kind: str
    text: str
    wing: str
    room: str
    title: str
    created_at: Micros
    recorded_at: Micros
    retired_at: Micros | None
    role: str
    author: str
    source: HitSource
    trust: str
    branch: str
    commit: str
    tags: tuple[str, ...] = ()
    spans: tuple[SpanView, ...] = ()
    drawers: tuple[str, ...] = ()
    superseded: SupersededView | None = None
    visibility: Visibility = "merged"
    freshness: Freshness = "unknown"
    citations: tuple[CitationView, ...] = ()
    """What it cites of the project's files, the worst first; `freshness` is said of them all."""
    cited: Annotated[str, PERSON_ONLY] = ""
    """What a reader should know of that: `changed since: src/a.py:10-20`."""
    label: str = ""
    """What is said of its branch where that is not known to be part of what is checked out: `unmerged: feature/x`."""
    filed_as: str = ""
    importance: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    """Of a note: what it was filed as, how important it is, and whatever else was said of it."""
    replaces: tuple[str, ...] = ()
    """Drawers instead of which a note was filed."""
    folded: tuple[FoldedView, ...] = ()
    """Notes that said the same, and were folded into this one by 'palazzo dedup'."""
    truncated: bool = False
    """Whether words are left out that were said after the moment as of which was asked."""
    turns: tuple[TurnView, ...] = ()
    """Who says each part of a drawer's text, where several do."""
    later: Annotated[int, PERSON_ONLY] = 0
    """How many characters those are."""


@dataclass(frozen=True, slots=True)
class ShowResult:
    """What the id names: a drawer with its neighbours, an item, all of a session, or a fact's versions."""

    kind: Literal["drawer", "item", "session", "fact"]
    id: str
    entries: tuple[Shown, ...]
    before: tuple[Shown, ...] = ()
    after: tuple[Shown, ...] = ()
    raw: Annotated[bytes | None, PERSON_ONLY] = None
    as_of: Micros | None = None
    note: Annotated[str, PERSON_ONLY] = ""
    versions: tuple[FactView, ...] = ()
    """What was believed of a fact, oldest first; those but the last were retired."""


def show(context: Context, request: ShowRequest) -> ShowResult:
    """Read a drawer, item, session or fact in full, with where it came from.

    With --raw a session is its transcript, byte for byte: of a file that was rewritten the latest whole version; of a
    session that is no file of its own (a database, an export) its records, one line of JSON each.
    """
    from palazzo.operations.using import note_fetched

    found = _read(context, request)
    note_fetched(context, _ids(found))
    return found


def _ids(found: ShowResult) -> Iterator[str]:
    """The ids of what is shown whole: its own, and of a drawer and an item those of each other."""
    yield found.id
    if found.kind in ("drawer", "item"):
        for entry in found.entries:
            yield from entry.drawers
            yield from (span.item for span in entry.spans)


def _read(context: Context, request: ShowRequest) -> ShowResult:
    from palazzo.archive import restoring

    if not 0 <= request.context <= MOST_NEIGHBOURS:
        raise UsageError(f"--context is {request.context}; it must be between 0 and {MOST_NEIGHBOURS:,}.")
    if not request.id.strip():
        raise UsageError("The id is empty. 'palazzo search' prints ids.")
    when = past.as_of(request.as_of, context.now)
    if request.raw and when.before is not None:
        raise UsageError("--raw writes what the source holds, which has no earlier state; leave out --as-of.")
    with (
        context.reading().database.snapshot() as connection
    ):  # an id that nothing has, or several have, whenever it was
        _resolve(connection, restoring.named(connection, request.id).id)
    with past.reading(context, when) as connection:
        name = restoring.named(connection, request.id)
        try:
            kind, row, session = _resolve(connection, name.id)
        except NotFound:
            raise _not_yet(request.id, when) from None
        if kind == "fact":
            return _fact(connection, row, request, when, context.now)
        if kind == "session":
            found = _session(connection, session, name, request)
        elif kind == "item":
            found = _item(connection, row, request)
        else:
            found = _drawer(connection, row, request)
        if when.before is not None and not found.entries:
            raise _not_yet(request.id, when)
        found = _cited(context, connection, found)
    return _labelled(context, replace(found, as_of=when.asked, note=when.note))


def _cited(context: Context, connection: Connection, found: ShowResult) -> ShowResult:
    """The same with how what it cites stands; a session cites too much."""
    from palazzo.operations.freshening import Files, first

    if found.kind == "session":
        return found
    wings = {uid: entry.wing for entry in found.entries for uid in (entry.id, *entry.drawers)}
    known = Files(context).of_drawers(connection, wings)
    told = [(entry, first(known, (entry.id, *entry.drawers))) for entry in found.entries]
    entries = (
        replace(entry, freshness=one.freshness, citations=one.citations, cited=one.remark) for entry, one in told
    )
    return replace(found, entries=tuple(entries))


def _labelled(context: Context, found: ShowResult) -> ShowResult:
    """The same, with how each branch stands towards what is checked out."""
    from palazzo.operations.branches import Checkout
    from palazzo.store.written import Written

    written = [Written(one.branch, one.commit, one.wing) for one in (*found.entries, *found.before, *found.after)]
    standings = Checkout(context).standings(written)

    def labelled(entries: tuple[Shown, ...]) -> tuple[Shown, ...]:
        told = [(one, standings[Written(one.branch, one.commit, one.wing)]) for one in entries]
        return tuple(replace(one, visibility=seen.visibility, label=seen.label) for one, seen in told)

    return replace(found, entries=labelled(found.entries), before=labelled(found.before), after=labelled(found.after))


def _not_yet(named: str, when: AsOf) -> NotFound:
    """What is said of something that was said after the moment as of which was asked."""
    return NotFound(f"'{named}' was not there yet at {to_iso(when.asked or Micros(0))}: it was said later.")


def _resolve(connection: Connection, prefix: str) -> tuple[str, int, str]:
    """Return (kind, row id, session id) of what `prefix` names among drawers, items, sessions and facts."""
    from palazzo.archive import reading, restoring

    sessions = restoring.session_ids(connection, prefix)
    facts = _facts(connection, prefix)
    told = [f"{uid} (fact)" for _, uid in facts]
    try:
        kind, row = reading.resolve(connection, prefix)
        if facts:
            raise AmbiguousId(prefix, [f"{_id_of(connection, kind, row)} ({kind})", *told])
    except NotFound:
        if len(facts) + len(sessions) > 1:
            raise AmbiguousId(prefix, [*told, *(f"{session} (session)" for session in sessions)]) from None
        if facts:
            return "fact", facts[0][0], ""
        if not sessions:
            raise
        return "session", 0, sessions[0]
    if sessions and sessions != [prefix]:
        raise AmbiguousId(prefix, [f"{_id_of(connection, kind, row)} ({kind})", *(f"{s} (session)" for s in sessions)])
    return ("session", 0, prefix) if sessions else (kind, row, "")


def _facts(connection: Connection, prefix: str) -> list[tuple[int, str]]:
    """(row id, id) of the facts whose id begins with `prefix`."""
    from palazzo.archive.reading import id_bounds
    from palazzo.store import facts

    try:
        low, high = id_bounds(prefix)
    except NotFound:  # no beginning of an id, but perhaps of a session's
        return []
    return [(row, uid.hex()) for row, uid in facts.facts_between(connection, low, high, 9)]


def _id_of(connection: Connection, kind: str, row: int) -> str:
    from palazzo.archive import reading
    from palazzo.store import items

    return reading.read_drawer(connection, row).id if kind == "drawer" else items.read_item(connection, row).id


def _drawer(connection: Connection, row: int, request: ShowRequest) -> ShowResult:
    from palazzo.archive import reading
    from palazzo.store import drawers
    from palazzo.store.entities import LATEST
    from palazzo.store.past import left_out

    found = reading.read_drawer(connection, row)
    later = 0 if connection.as_of is None else left_out(connection, [row]).get(row, 0)
    told = superseded(connection, [found.id], LATEST if connection.as_of is None else connection.as_of)
    before, after = reading.neighbours(connection, row, request.context) if request.context else ([], [])
    item, *_ = drawers.drawer_spans(connection, row)[0]
    return ShowResult(
        "drawer",
        found.id,
        (
            replace(
                _spoken(connection, row, later), superseded=told.get(found.id), **_of_note(found.kind, connection, item)
            ),
        ),
        tuple(_spoken(connection, one) for one in before),
        tuple(_spoken(connection, one) for one in after),
        _raw_of_items(connection, list(dict.fromkeys(span.item for span in found.spans))) if request.raw else None,
    )


def _item(connection: Connection, row: int, request: ShowRequest) -> ShowResult:
    from palazzo.archive import reading
    from palazzo.archive.titles import shown_title_of_session
    from palazzo.store import items

    found = items.read_item(connection, row)
    title = shown_title_of_session(connection, found.source.session_id, found.source.title)
    entry = _of_item(found, title, tuple(reading.drawers_of_item(connection, row)))
    entry = replace(entry, **_of_note(found.kind, connection, row))
    return ShowResult("item", found.id, (entry,), raw=_raw_of_items(connection, [found.id]) if request.raw else None)


def _of_note(kind: str, connection: Connection, item: int) -> dict[str, Any]:
    """What was said of a note besides its words, as fields of `Shown`; nothing for what is none."""
    from palazzo.store import labels

    if kind != "note":
        return {}
    label = labels.label_of(connection, item)
    return {
        "filed_as": label.filed_as,
        "importance": label.importance,
        "metadata": labels.metadata_of(connection, item),
        "replaces": labels.replaced_by(connection, item),
        "folded": tuple(_folded(connection, item)),
    }


def _folded(connection: Connection, item: int) -> Iterator[FoldedView]:
    from palazzo.store import folded, items

    for row in folded.folded_into(connection, items.read_item(connection, item).id):
        one = items.read_item(connection, row)
        yield FoldedView(one.id, one.place.wing, one.place.room, one.created_at, one.author, one.trust, one.source.uri)


def _fact(connection: Connection, row: int, request: ShowRequest, when: AsOf, now: Micros) -> ShowResult:
    """A fact with every version of it; as of then, those that had been recorded."""
    from palazzo.graph.beliefs import Beliefs
    from palazzo.operations.facts import views
    from palazzo.store import facts
    from palazzo.store.entities import LATEST

    if request.raw:
        raise UsageError("A fact has no bytes of its own: leave --raw out, or show one of its sources.")
    known_at = LATEST if when.before is None else when.before
    known = [one for one in facts.versions_of(connection, row) if one.recorded_at <= known_at]
    if not known:
        raise _not_yet(request.id, when)
    versions = views(Beliefs(connection, known_at), known, now if when.before is None else when.before)
    return ShowResult("fact", versions[0].id, (), as_of=when.asked, note=when.note, versions=versions)


def _session(connection: Connection, session: str, name: SessionName, request: ShowRequest) -> ShowResult:
    from palazzo.archive import reading, restoring
    from palazzo.archive.titles import shown_title_of_session

    if request.raw:
        files = restoring.files_of_session(connection, session, name)
        if len(files) > 1:
            raise AmbiguousId(request.id, [file.label for file in files])
        return ShowResult("session", session, (), raw=files[0].read(connection))
    said = [item for item in reading.read_session(connection, session) if item.source.session_id == session]
    title = next((item.source.title for item in said if item.source.title), "")
    title = shown_title_of_session(connection, session, title)
    messages = tuple(_of_item(item, title) for item in said if name.kind in ("", item.source.kind))
    return ShowResult("session", session, messages)


def _raw_of_items(connection: Connection, ids: list[str]) -> bytes:
    """The items' bytes as their source wrote them; a note has none, and gives its text."""
    from palazzo.store import items

    found = items.known_items(connection, [bytes.fromhex(one) for one in ids])
    parts = []
    for one in ids:
        row = found[bytes.fromhex(one)]
        raw = items.read_raw(connection, row)
        parts.append(items.read_item(connection, row).text.encode("utf-8", "surrogatepass") if raw is None else raw)
    return b"".join(parts)


def _spoken(connection: Connection, row: int, later: int = 0) -> Shown:
    """A drawer, with who says what in it."""
    from palazzo.archive import reading
    from palazzo.recall.present import Hit
    from palazzo.recall.window import with_speakers

    drawer = reading.read_drawer(connection, row)
    (hit,) = with_speakers(connection, [Hit(drawer, 0.0, drawer.text, False, row=row)])
    turns = tuple(TurnView(turn.role, turn.author, turn.start, turn.end) for turn in hit.turns)
    return replace(_of_drawer(drawer, later), turns=turns)


def _of_drawer(drawer: Drawer, later: int = 0) -> Shown:
    return Shown(
        id=drawer.id,
        kind=drawer.kind,
        text=drawer.text,
        wing=drawer.place.wing,
        room=drawer.place.room,
        title=title_of(drawer),
        created_at=drawer.created_at,
        recorded_at=drawer.recorded_at,
        retired_at=drawer.retired_at,
        role=drawer.role,
        author=drawer.author,
        source=source_of(drawer),
        trust=drawer.trust,
        branch=drawer.branch,
        commit=drawer.commit,
        tags=drawer.tags,
        spans=tuple(SpanView(span.item, span.start, span.end) for span in drawer.spans),
        truncated=later > 0,
        later=later,
    )


def _of_item(item: Item, title: str, drawers: tuple[str, ...] = ()) -> Shown:
    return Shown(
        id=item.id,
        kind=item.kind,
        text=item.text,
        wing=item.place.wing,
        room=item.place.room,
        title=title,
        created_at=item.created_at,
        recorded_at=item.recorded_at,
        retired_at=None,
        role=item.role,
        author=item.author,
        source=HitSource(item.source.uri, item.source.kind, item.source.session_id, f"row {item.ordinal}"),
        trust=item.trust,
        branch=item.branch,
        commit=item.commit,
        drawers=drawers,
    )


OPERATION = Operation("show", ShowRequest, ShowResult, show, warm=True)
