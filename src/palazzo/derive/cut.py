"""The cutter: the consumer that keeps drawers, their passages and the keyword index true to the archive.

It runs at the end of every write transaction, so an item and the drawers cut from it commit together. It
re-cuts from the segment in which something changed and compares with what is there: equal drawers stay,
missing ones are added, the others are retired. Acts are applied by the spans they address.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from palazzo.archive.identity import drawer_uid
from palazzo.archive.reading import join_spans
from palazzo.derive import cutting
from palazzo.derive.acting import ActsOnItems
from palazzo.derive.cutting import CutItem, CutSpan, Draft
from palazzo.model import Source
from palazzo.store import acts, changes, drawers, items, keywords, places, sources, vectors
from palazzo.store.acts import Act, ActSpan
from palazzo.store.changes import Change, ChangeKind
from palazzo.store.database import Connection
from palazzo.store.drawers import DrawerRow, Known, PassageRow
from palazzo.text.formats import document_kind
from palazzo.text.words import index_form

_NO_END = (1 << 63) - 1


class Cutter:
    """Cuts items into drawers; see the module."""

    name = "cut"
    version = 1
    kinds: tuple[ChangeKind, ...] = ("item", "revision", "act")

    def apply(self, connection: Connection, log: list[Change]) -> None:
        """Re-cut what these changes touch."""
        touched = _Touched(connection)
        for change in log:
            touched.add(change)
        touched.add_items([change.ref for change in log if change.kind == "item"])
        for (source, thread), ordinal in touched.threads.items():
            recut_thread(connection, source, thread, ordinal)
        for source in touched.documents:
            recut_document(connection, source)
        for item in touched.notes:
            recut_note(connection, item)


class _Touched:
    """What a list of changes touches: threads from an ordinal on, documents, notes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.threads: dict[tuple[int, str], int] = {}
        self.documents: dict[int, None] = {}
        self.notes: dict[int, None] = {}

    def add(self, change: Change) -> None:
        if change.kind == "revision":
            for (source,) in self._connection.execute("SELECT source FROM revision WHERE id = ?", (change.ref,)):
                self.documents[int(source)] = None
        elif change.kind == "act":
            self.add_items(acts.items_of_act(self._connection, change.ref))

    def add_items(self, rows: Sequence[int]) -> None:
        for row in rows:
            found = self._connection.execute("SELECT kind, source, thread, ordinal FROM item WHERE id = ?", (row,))
            for kind, source, thread, ordinal in found:
                if kind == "message":
                    key = (int(source), str(thread))
                    self.threads[key] = min(self.threads.get(key, int(ordinal)), int(ordinal))
                elif kind == "document":
                    self.documents[int(source)] = None
                elif kind == "note":
                    self.notes[row] = None


def recut_thread(connection: Connection, source: int, thread: str, ordinal: int) -> None:
    """Cut a thread again from the segment that holds `ordinal` to its end."""
    rows = _thread_rows(connection, source, thread, _human_before(connection, source, thread, ordinal))
    starts = _segment_starts([role for _, role, _ in rows])
    first = next((start for start in reversed(starts) if rows[start][2] <= ordinal), 0)
    if rows:
        _recut_rows(connection, source, thread, rows[first:], None)


def segment_ordinals(connection: Connection, source: int, thread: str) -> list[int]:
    """Return the ordinals at which the segments of a thread begin."""
    rows = _thread_rows(connection, source, thread, -1)
    return [rows[start][2] for start in _segment_starts([role for _, role, _ in rows])]


def recut_between(connection: Connection, source: int, thread: str, start: int, until: int) -> None:
    """Cut the segments of a thread that begin at `start` or later, but before `until`."""
    rows = _thread_rows(connection, source, thread, start, until)
    if rows:
        _recut_rows(connection, source, thread, rows, until)


def _recut_rows(
    connection: Connection, source: int, thread: str, rows: Sequence[tuple[int, str, int]], until: int | None
) -> None:
    start = rows[0][2]
    cut_items, on = _load(connection, [row for row, _, _ in rows])
    work = _Comparison(connection, source, on, drawers.drawers_between(connection, source, thread, start, until))
    turn = drawers.last_turn_before(connection, source, thread, start)
    for segment in cutting.segments(cut_items):
        turn += segment[0].role == "user"
        for draft in cutting.cut_segment(segment):
            work.keep(replace(draft, number=turn), f"turn {turn}")
    work.finish("replaced", _recorded_at(connection, rows[-1][0]))


def recut_document(connection: Connection, source: int, whole: bool = False) -> None:
    """Cut a document's versions: the current one is live, those before it are retired.

    Only the last two can have changed, unless `whole` asks for all.
    """
    history = sources.revisions(connection, source)
    described = sources.read_source(connection, source)
    for n, (item, _) in enumerate(history):
        ended = history[n + 1][1] if n + 1 < len(history) else None
        if whole or n >= len(history) - 2:
            _recut_version(connection, source, described, item, ended)


def _recut_version(connection: Connection, source: int, described: Source, item: int, ended: int | None) -> None:
    cut_items, on = _load(connection, [item])
    work = _Comparison(connection, source, on, _drawers_of_item(connection, item))
    for draft in cutting.cut_section(cut_items[0], document_kind(described.key[-1]), described.title):
        work.keep(draft, _line_locator(draft), ended)
    work.finish("replaced", _recorded_at(connection, item))


def recut_note(connection: Connection, item: int) -> None:
    """Cut a note."""
    cut_items, on = _load(connection, [item])
    (source,) = next(connection.execute("SELECT source FROM item WHERE id = ?", (item,)))
    work = _Comparison(connection, source, on, _drawers_of_item(connection, item))
    for draft in cutting.cut_note(cut_items[0], sources.read_source(connection, source).title):
        work.keep(draft, "note")
    work.finish("replaced", _recorded_at(connection, item))


def reindex(connection: Connection, row: int) -> None:
    """Put a live drawer into the keyword index as its row and its spans say."""
    found = connection.execute(
        "SELECT room, wing, kind, title, author, created_at, room.name FROM drawer JOIN room ON room.id = drawer.room"
        " WHERE drawer.id = ?",
        (row,),
    )
    for room, wing, kind, title, author, created, name in found:
        spans = drawers.drawer_spans(connection, row)
        texts = items.read_texts(connection, (item for item, _, _ in spans))
        body = join_spans([texts[item][start:end] for item, start, end in spans])
        context = f"{title} {author} {_spoken_date(created)} {name}"
        scope = keywords.scope_tokens(wing, room, kind)
        keywords.index(connection, row, index_form(body), index_form(context), scope)


def _recorded_at(connection: Connection, item: int) -> int:
    """Return when an item was recorded."""
    return int(next(connection.execute("SELECT recorded_at FROM item WHERE id = ?", (item,)))[0])


# --- loading -----------------------------------------------------------------------------------------------


def _human_before(connection: Connection, source: int, thread: str, ordinal: int) -> int:
    rows = connection.execute(
        "SELECT ordinal FROM item WHERE source = ? AND thread = ? AND ordinal <= ? AND kind = 'message'"
        " AND standing = 'said' AND role = 'user' ORDER BY ordinal DESC LIMIT 1",
        (source, thread, ordinal),
    )
    for (at,) in rows:
        return int(at)
    return -1


def _thread_rows(
    connection: Connection, source: int, thread: str, start: int, until: int | None = None
) -> list[tuple[int, str, int]]:
    """Return (row id, role, ordinal) of what was said in a thread from `start` on, and before `until`."""
    rows = connection.execute(
        "SELECT id, role, ordinal FROM item WHERE source = ? AND thread = ? AND ordinal >= ? AND kind = 'message'"
        " AND standing = 'said' AND ordinal < ? ORDER BY ordinal, id",
        (source, thread, start, _NO_END if until is None else until),
    )
    return [(int(a), str(b), int(c)) for a, b, c in rows]


def _segment_starts(roles: Sequence[str]) -> list[int]:
    """Return where `cutting.segments` begins a segment, from the roles alone."""
    starts: list[int] = []
    for n, role in enumerate(roles):
        if not starts or role == "user" or n - starts[-1] >= cutting.SEGMENT_ITEMS:
            starts.append(n)
    return starts


def _load(connection: Connection, rows: Sequence[int]) -> tuple[list[CutItem], ActsOnItems]:
    loaded = []
    for row in rows:
        found = next(
            connection.execute(
                "SELECT uid, role, author, text, text_codec, parts, trust, ordinal FROM item WHERE id = ?",
                (row,),
            )
        )
        uid, role, author, text, codec, parts, trust, ordinal = found
        loaded.append(
            CutItem(
                row,
                bytes(uid),
                role,
                author,
                items.decode_text(text, codec),
                items.load_parts(parts),
                trust,
                ordinal,
            )
        )
    on = ActsOnItems(acts.acts_on(connection, [item.uid for item in loaded]))
    return [replace(item, holes=on.holes(item.uid)) for item in loaded], on


# --- comparing with what is there --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Lead:
    """What a drawer takes over from the items it is cut from."""

    thread: str
    created_at: int
    recorded_at: int
    branch: str
    commit: str
    room: int


class _Comparison:
    """Makes the drawers of one stretch equal to what the cutter says they are."""

    def __init__(self, connection: Connection, source: int, on: ActsOnItems, there: dict[bytes, Known]) -> None:
        self._connection, self._source, self._on, self._there = connection, source, on, there
        self._kept: set[bytes] = set()

    def keep(self, draft: Draft, locator: str, ended: int | None = None) -> None:
        """Make sure that the drawer of `draft` is there, and retired exactly if it `ended`."""
        uid = drawer_uid([(span.item.uid, span.start, span.end) for span in draft.spans])
        if uid in self._kept:  # parts that overlap: the words are in a drawer already
            return
        self._kept.add(uid)
        known = self._there.pop(uid, None)
        row = self._drawer_row(uid, draft, locator, ended)
        if known is None:
            known = self._elsewhere(uid)
        if known is None:
            self._insert(row, draft)
        else:
            self._mend(known, row, _passage_rows(draft.passages))
            self._adjust(known, row)

    def _elsewhere(self, uid: bytes) -> Known | None:
        """Find a drawer that its place did not lead to: one whose spans were lost."""
        row = drawers.find_drawer(self._connection, uid)
        return None if row is None else drawers.known_drawers(self._connection, [row]).get(uid)

    def finish(self, why: str, at: int) -> None:
        """Retire what the cutter no longer makes, and keep what was forgotten as retired rows."""
        for uid, spans in self._on.forgotten().items():
            self._keep_forgotten(uid, spans)
        for known in self._there.values():
            if known.retired_why is None:
                self._retire(known.row, at, why)

    def _keep_forgotten(self, uid: bytes, spans: Sequence[tuple[Act, ActSpan]]) -> None:
        known = self._there.pop(uid, None)
        act = spans[0][0]
        if known is not None:
            if known.retired_why is None:
                self._retire(known.row, act.at, "forgotten")
            return
        if drawers.find_drawer(self._connection, uid) is not None:
            return
        self._insert_forgotten(uid, act, [span for _, span in spans])

    def _insert_forgotten(self, uid: bytes, act: Act, spans: Sequence[ActSpan]) -> None:
        rows = items.known_items(self._connection, [span.item_uid for span in spans])
        if len(rows) < len({span.item_uid for span in spans}):
            return
        lead = rows[spans[0].item_uid]
        (item,), _ = _load(self._connection, [lead])
        bare = Draft("note", (CutSpan(item, spans[0].start, spans[0].end),), (), item.role, item.trust)
        row = self._drawer_row(uid, bare, "forgotten", act.at)
        row = replace(
            row,
            retired_why="forgotten",
            spans=tuple((rows[span.item_uid], span.start, span.end) for span in spans),
        )
        drawers.insert_drawer(self._connection, row)

    def _drawer_row(self, uid: bytes, draft: Draft, locator: str, ended: int | None) -> DrawerRow:
        lead = self._lead(draft)
        moved = self._on.place(draft.spans)
        return DrawerRow(
            uid=uid,
            kind=draft.kind,
            source=self._source,
            thread=lead.thread,
            ordinal=draft.spans[0].item.ordinal,
            turn=draft.number,
            room=places.room_id(self._connection, moved) if moved else lead.room,
            role=draft.role,
            author=draft.author,
            title=draft.title,
            created_at=lead.created_at,
            recorded_at=lead.recorded_at,
            trust=draft.trust,
            branch=lead.branch,
            commit=lead.commit,
            locator=locator,
            spans=tuple((span.item.row, span.start, span.end) for span in draft.spans),
            tags=self._on.tags(draft.spans),
            retired_at=ended,
            retired_why="replaced" if ended is not None else None,
        )

    def _lead(self, draft: Draft) -> _Lead:
        found = next(
            self._connection.execute(
                "SELECT thread, created_at, branch, commit_id, room FROM item WHERE id = ?",
                (draft.spans[0].item.row,),
            )
        )
        thread, created, branch, commit, room = found
        recorded = max(_recorded_at(self._connection, row) for row in {span.item.row for span in draft.spans})
        return _Lead(thread, created, recorded, branch, commit, room)

    def _insert(self, row: DrawerRow, draft: Draft) -> None:
        drawer = drawers.insert_drawer(self._connection, row)
        drawers.delete_passages(self._connection, drawer)  # of a lost drawer that had this row id
        drawers.insert_passages(self._connection, drawer, _passage_rows(draft.passages))
        if row.retired_at is None:
            self._show(drawer)
            changes.append(self._connection, "drawer+", [drawer])

    def _adjust(self, known: Known, row: DrawerRow) -> None:
        """Bring a drawer that is there up to date: its room, tags, title, and whether it is retired."""
        if known.tags != row.tags:
            drawers.set_tags(self._connection, known.row, row.tags)
        if (known.turn, known.locator) != (row.turn, row.locator):
            drawers.renumber(self._connection, known.row, row.turn, row.locator)
        if row.retired_at is not None:
            if known.retired_why is None:
                self._retire(known.row, row.retired_at, "replaced")
            return
        moved = (known.room, known.title) != (row.room, row.title)
        if moved:
            drawers.refile(self._connection, known.row, row.room, row.title)
        if known.retired_why is not None:
            drawers.revive(self._connection, known.row)
            self._show(known.row)
            changes.append(self._connection, "drawer+", [known.row])
        elif moved:
            self._show(known.row)
            changes.append(self._connection, "drawer~", [known.row])

    def _mend(self, known: Known, row: DrawerRow, passages: Sequence[PassageRow]) -> None:
        """Give a drawer that is there the spans and passages it should have, where they were lost or have changed."""
        if drawers.drawer_spans(self._connection, known.row) != list(row.spans):
            drawers.set_spans(self._connection, known.row, row.spans)
        if drawers.passages(self._connection, known.row) == passages:
            return
        vectors.forgo_vectors(self._connection, known.row)
        drawers.delete_passages(self._connection, known.row)
        drawers.insert_passages(self._connection, known.row, passages)
        if known.retired_why is None:
            vectors.await_vectors(self._connection, known.row)
            changes.append(self._connection, "drawer~", [known.row])

    def _show(self, drawer: int) -> None:
        """Put a drawer into the keyword index and its passages on the list for vectors."""
        vectors.await_vectors(self._connection, drawer)
        reindex(self._connection, drawer)

    def _retire(self, drawer: int, at: int, why: str) -> None:
        drawers.retire(self._connection, drawer, at, why)
        keywords.remove(self._connection, drawer)
        vectors.forgo_vectors(self._connection, drawer)
        changes.append(self._connection, "drawer-", [drawer])


def _drawers_of_item(connection: Connection, item: int) -> dict[bytes, Known]:
    mine = {int(row) for (row,) in connection.execute("SELECT drawer FROM drawer_span WHERE item = ?", (item,))}
    return drawers.known_drawers(connection, mine)


def _passage_rows(passages: Sequence[CutSpan]) -> list[PassageRow]:
    return [PassageRow(span.item.row, span.start, span.end, text_hash(span.text)) for span in passages]


def text_hash(text: str) -> bytes:
    """Return what a vector belongs to: 16 bytes of the text's hash."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _spoken_date(micros: int) -> str:
    """Return a date the ways people ask for it; '' for the epoch, which stands for "not known"."""
    if not micros:
        return ""
    moment = datetime.fromtimestamp(micros / 1e6, UTC)
    return f"{moment:%Y-%m-%d} {moment.day} {moment:%B} {moment.year} {moment:%A}"


def _line_locator(draft: Draft) -> str:
    span = draft.spans[0]
    first = span.item.text.count("\n", 0, span.start) + 1
    last = first + span.item.text.count("\n", span.start, span.end)
    return f"line {first}" if first == last else f"lines {first}-{last}"
