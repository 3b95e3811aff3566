"""show: show a drawer, an item, a session or a fact in full."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from palazzo.archive import archive_reader, transcript_restore
from palazzo.archive.archive_reader import id_bounds
from palazzo.archive.session_titles import shown_title_of_session
from palazzo.errors import AmbiguousId, NotFound, PalazzoError, UsageError
from palazzo.features.branches.branch_labels import Checkout
from palazzo.features.facts.fact_results import views
from palazzo.features.ledger.usage import note_fetched
from palazzo.features.search.contract import FoldedView, ShowEntry, ShowRequest, ShowResult, SpanView, TurnView
from palazzo.features.search.hit_freshness import Files, first
from palazzo.features.search.hits import find_supersessions, source_of, title_of
from palazzo.features.search.team_hits import read_shared
from palazzo.index.hit_window import with_speakers
from palazzo.index.presentation import Hit
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.model import Micros
from palazzo.operations import point_in_time as past
from palazzo.operations.point_in_time import AsOf
from palazzo.operations.shared_views import HitSource
from palazzo.store import drawers, fact_rows, folded_notes, items, note_labels
from palazzo.store.drawer_history import left_out
from palazzo.store.entity_rows import LATEST
from palazzo.store.write_contexts import CommitPlace
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.archive.transcript_restore import SessionName
    from palazzo.model import Drawer, Item
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

MOST_NEIGHBOURS = 1000


def show(context: Context, request: ShowRequest) -> ShowResult:
    """Read a drawer, item, session or fact in full, with its sources."""
    try:
        result = _read(context, request)
    except NotFound as error:
        if request.raw or request.as_of is not None:
            raise
        return _read_shared(context, request, error)
    note_fetched(context, _ids(result))
    return result


def _read_shared(context: Context, request: ShowRequest, error: NotFound) -> ShowResult:
    """Return the drawer that teammates share under an id that is not of this palace.

    Raises `error` if there is none, and NotFound with both reasons if the team cannot be asked.
    """
    try:
        id_bounds(request.id)
        hits = read_shared(context, request.id)
    except NotFound:  # no beginning of an id
        raise error from None
    except PalazzoError as reason:
        raise NotFound(f"{error} {reason}") from None
    if not hits:
        raise error
    if len(hits) > 1:
        raise AmbiguousId(request.id, [f"{hit.id} (teammate {hit.person})" for hit in hits])
    (hit,) = hits
    entry = ShowEntry(
        id=hit.id,
        kind=hit.kind,
        text=hit.text,
        wing=hit.wing,
        room=hit.room,
        title=hit.title,
        created_at=hit.created_at,
        recorded_at=hit.recorded_at,
        retired_at=None,
        role=hit.role,
        author=hit.author,
        source=hit.source,
        trust=hit.trust,
        branch=hit.branch,
        commit=hit.commit,
        visibility=hit.visibility,
    )
    return ShowResult("drawer", hit.id, (entry,))


def _ids(result: ShowResult) -> Iterator[str]:
    """Yield the ids of what is shown in full: its own, and for a drawer or an item those of each other."""
    yield result.id
    if result.kind in ("drawer", "item"):
        for entry in result.entries:
            yield from entry.drawers
            yield from (span.item for span in entry.spans)


def _read(context: Context, request: ShowRequest) -> ShowResult:
    if not 0 <= request.context <= MOST_NEIGHBOURS:
        raise UsageError(f"--context is {request.context}; it must be between 0 and {MOST_NEIGHBOURS:,}.")
    if not request.id.strip():
        raise UsageError("The id is empty. 'palazzo search' prints ids.")
    point_in_time = past.as_of(request.as_of, context.now)
    if request.raw and point_in_time.end_time is not None:
        raise UsageError("--raw writes the source's bytes, which have no earlier state; leave out --as-of.")
    with (
        context.reading().database.snapshot() as connection
    ):  # an id that nothing has, or several have, whenever it was
        _resolve(connection, transcript_restore.parse_session_name(connection, request.id).id)
    with past.reading(context, point_in_time) as connection:
        name = transcript_restore.parse_session_name(connection, request.id)
        try:
            kind, row, session = _resolve(connection, name.id)
        except NotFound:
            raise _not_yet(request.id, point_in_time) from None
        if kind == "fact":
            return _fact(connection, row, request, point_in_time, context.now)
        if kind == "session":
            result = _session(connection, session, name, request)
        elif kind == "item":
            result = _item(connection, row, request)
        else:
            result = _drawer(connection, row, request)
        if point_in_time.end_time is not None and not result.entries:
            raise _not_yet(request.id, point_in_time)
        result = _add_citations(context, connection, result)
    return _add_branch_labels(context, replace(result, as_of=point_in_time.requested_time, note=point_in_time.note))


def _add_citations(context: Context, connection: Connection, result: ShowResult) -> ShowResult:
    """Return the result with the freshness of its citations, except for a session, which cites too much."""
    if result.kind == "session":
        return result
    wings = {uid: entry.wing for entry in result.entries for uid in (entry.id, *entry.drawers)}
    citations_by_id = Files(context).of_drawers(connection, wings)
    entry_citations = [(entry, first(citations_by_id, (entry.id, *entry.drawers))) for entry in result.entries]
    entries = (
        replace(entry, freshness=citation.freshness, citations=citation.citations, cited=citation.remark)
        for entry, citation in entry_citations
    )
    return replace(result, entries=tuple(entries))


def _add_branch_labels(context: Context, result: ShowResult) -> ShowResult:
    """Return the result with the branch status of each entry, relative to what is checked out."""
    origins = [
        CommitPlace(entry.branch, entry.commit, entry.wing)
        for entry in (*result.entries, *result.before, *result.after)
    ]
    standings = Checkout(context).standings(origins)

    def label_entries(entries: tuple[ShowEntry, ...]) -> tuple[ShowEntry, ...]:
        entry_statuses = [(entry, standings[CommitPlace(entry.branch, entry.commit, entry.wing)]) for entry in entries]
        return tuple(
            replace(entry, visibility=branch_status.visibility, label=branch_status.label)
            for entry, branch_status in entry_statuses
        )

    return replace(
        result,
        entries=label_entries(result.entries),
        before=label_entries(result.before),
        after=label_entries(result.after),
    )


def _not_yet(requested_id: str, point_in_time: AsOf) -> NotFound:
    """Return the error for something that was said after the requested time."""
    return NotFound(
        f"'{requested_id}' did not exist yet at {to_iso(point_in_time.requested_time or Micros(0))}: it was said later."
    )


def _resolve(connection: Connection, prefix: str) -> tuple[str, int, str]:
    """Return (kind, row id, session id) of the drawer, item, session or fact that `prefix` names."""
    sessions = transcript_restore.session_ids(connection, prefix)
    facts = _facts(connection, prefix)
    fact_labels = [f"{uid} (fact)" for _, uid in facts]
    try:
        kind, row = archive_reader.resolve(connection, prefix)
        if facts:
            raise AmbiguousId(prefix, [f"{_id_of(connection, kind, row)} ({kind})", *fact_labels])
    except NotFound:
        if len(facts) + len(sessions) > 1:
            raise AmbiguousId(prefix, [*fact_labels, *(f"{session} (session)" for session in sessions)]) from None
        if facts:
            return "fact", facts[0][0], ""
        if not sessions:
            raise
        return "session", 0, sessions[0]
    if sessions and sessions != [prefix]:
        raise AmbiguousId(prefix, [f"{_id_of(connection, kind, row)} ({kind})", *(f"{s} (session)" for s in sessions)])
    return ("session", 0, prefix) if sessions else (kind, row, "")


def _facts(connection: Connection, prefix: str) -> list[tuple[int, str]]:
    """Return (row id, id) of the facts whose id begins with `prefix`."""
    try:
        low, high = id_bounds(prefix)
    except NotFound:  # no beginning of an id, but perhaps of a session's
        return []
    return [(row, uid.hex()) for row, uid in fact_rows.facts_between(connection, low, high, 9)]


def _id_of(connection: Connection, kind: str, row: int) -> str:
    return archive_reader.read_drawer(connection, row).id if kind == "drawer" else items.read_item(connection, row).id


def _drawer(connection: Connection, row: int, request: ShowRequest) -> ShowResult:
    drawer = archive_reader.read_drawer(connection, row)
    later = 0 if connection.as_of is None else left_out(connection, [row]).get(row, 0)
    replacements = find_supersessions(connection, [drawer.id], LATEST if connection.as_of is None else connection.as_of)
    preceding_rows, following_rows = (
        archive_reader.neighbours(connection, row, request.context) if request.context else ([], [])
    )
    item, *_ = drawers.drawer_spans(connection, row)[0]
    return ShowResult(
        "drawer",
        drawer.id,
        (
            replace(
                _read_drawer_entry(connection, row, later),
                superseded=replacements.get(drawer.id),
                **_of_note(drawer.kind, connection, item),
            ),
        ),
        tuple(_read_drawer_entry(connection, neighbour) for neighbour in preceding_rows),
        tuple(_read_drawer_entry(connection, neighbour) for neighbour in following_rows),
        _raw_of_items(connection, list(dict.fromkeys(span.item for span in drawer.spans))) if request.raw else None,
    )


def _item(connection: Connection, row: int, request: ShowRequest) -> ShowResult:
    item = items.read_item(connection, row)
    title = shown_title_of_session(connection, item.source.session_id, item.source.title)
    entry = _of_item(item, title, tuple(archive_reader.drawers_of_item(connection, row)))
    entry = replace(entry, **_of_note(item.kind, connection, row))
    return ShowResult("item", item.id, (entry,), raw=_raw_of_items(connection, [item.id]) if request.raw else None)


def _of_note(kind: str, connection: Connection, item: int) -> dict[str, Any]:
    """Return the data of a note other than its text, as fields of `ShowEntry`; empty for anything else."""
    if kind != "note":
        return {}
    label = note_labels.label_of(connection, item)
    return {
        "filed_as": label.filed_as,
        "importance": label.importance,
        "metadata": note_labels.metadata_of(connection, item),
        "replaces": note_labels.replaced_by(connection, item),
        "folded": tuple(_read_duplicates(connection, item)),
    }


def _read_duplicates(connection: Connection, item: int) -> Iterator[FoldedView]:
    for row in folded_notes.folded_into(connection, items.read_item(connection, item).id):
        duplicate = items.read_item(connection, row)
        yield FoldedView(
            duplicate.id,
            duplicate.place.wing,
            duplicate.place.room,
            duplicate.created_at,
            duplicate.author,
            duplicate.trust,
            duplicate.source.uri,
        )


def _fact(connection: Connection, row: int, request: ShowRequest, point_in_time: AsOf, now: Micros) -> ShowResult:
    """Return a fact with every version of it; as of a past time, the versions recorded by then."""
    if request.raw:
        raise UsageError("A fact has no bytes of its own: leave out --raw, or show one of its sources.")
    known_at = LATEST if point_in_time.end_time is None else point_in_time.end_time
    recorded_versions = [
        version for version in fact_rows.versions_of(connection, row) if version.recorded_at <= known_at
    ]
    if not recorded_versions:
        raise _not_yet(request.id, point_in_time)
    versions = views(
        Beliefs(connection, known_at),
        recorded_versions,
        now if point_in_time.end_time is None else point_in_time.end_time,
    )
    return ShowResult(
        "fact", versions[0].id, (), as_of=point_in_time.requested_time, note=point_in_time.note, versions=versions
    )


def _session(connection: Connection, session: str, name: SessionName, request: ShowRequest) -> ShowResult:
    if request.raw:
        files = transcript_restore.files_of_session(connection, session, name)
        if len(files) > 1:
            raise AmbiguousId(request.id, [file.label for file in files])
        return ShowResult("session", session, (), raw=files[0].read(connection))
    session_items = [
        item for item in archive_reader.read_session(connection, session) if item.source.session_id == session
    ]
    title = next((item.source.title for item in session_items if item.source.title), "")
    title = shown_title_of_session(connection, session, title)
    messages = tuple(_of_item(item, title) for item in session_items if name.kind in ("", item.source.kind))
    return ShowResult("session", session, messages)


def _raw_of_items(connection: Connection, ids: list[str]) -> bytes:
    """Return the items' bytes as their source wrote them; for a note, which has none, its text."""
    rows_by_id = items.known_items(connection, [bytes.fromhex(item_id) for item_id in ids])
    parts = []
    for item_id in ids:
        row = rows_by_id[bytes.fromhex(item_id)]
        raw = items.read_raw(connection, row)
        parts.append(items.read_item(connection, row).text.encode("utf-8", "surrogatepass") if raw is None else raw)
    return b"".join(parts)


def _read_drawer_entry(connection: Connection, row: int, later: int = 0) -> ShowEntry:
    """Return a drawer, with the speaker of each part of its text."""
    drawer = archive_reader.read_drawer(connection, row)
    (hit,) = with_speakers(connection, [Hit(drawer, 0.0, drawer.text, False, row=row)])
    turns = tuple(TurnView(turn.role, turn.author, turn.start, turn.end) for turn in hit.turns)
    return replace(_of_drawer(drawer, later), turns=turns)


def _of_drawer(drawer: Drawer, later: int = 0) -> ShowEntry:
    return ShowEntry(
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


def _of_item(item: Item, title: str, drawers: tuple[str, ...] = ()) -> ShowEntry:
    return ShowEntry(
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
