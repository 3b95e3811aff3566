"""Citation consumer: which files drawers cite, kept up to date in the background.

Notes are processed drawer by drawer, sessions whole. A session is read whole, since the file contents that its tools
showed determine what was changed and mentioned later. The citations follow from the primary data alone; whether the
cited lines are still there is checked when a drawer is shown (`git/freshness`).
"""

from __future__ import annotations

import json
import ntpath
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from types import ModuleType

from palazzo.index.failure_isolation import drawer_label, session_label
from palazzo.knowledge.session_citations import Citation, LocatedMessage, Reader, mentions, take
from palazzo.model import Anchor
from palazzo.sessions import session_reader
from palazzo.sources.ignored_paths import refusal_of_directory
from palazzo.store import anchors, digest_rows, items, place_rows, redaction_state
from palazzo.store.anchors import DrawerAnchor
from palazzo.store.change_log import Change, ChangeKind
from palazzo.store.database import Connection
from palazzo.store.json_columns import decode_string, string_at
from palazzo.text import cited_lines

MOST = 32
"""Maximum citations of one drawer: a search through a project reads as many files at once as a host allows."""
_WORTH = {"stated": 0, "edited": 1, "mentioned": 2, "read": 3}
"""Priority of citations when there are too many; the lowest number is kept first."""
_LONGEST_PATH = 400
_NOTES = ("note", "diary", "todo", "reminder")


class AnchorConsumer:
    """The consumer that stores citations.

    Its things are sessions (twice their source's row id) and drawers of notes (twice their row id plus one), so that
    both have one order.
    """

    name = anchors.CONSUMER
    version = 1
    kinds: tuple[ChangeKind, ...] = ("drawer+", "drawer-", "drawer~", "reset")
    at_once = 8

    def find_affected_things(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the sessions and the notes' drawers that these changes concern."""
        return _things(
            connection, "d.id IN (SELECT value FROM json_each(?))", [json.dumps([change.ref for change in log])]
        )

    def everything(self, connection: Connection) -> list[int]:
        """Return all sessions, the drawers of notes, and everything with stored citations."""
        return _things(connection, "d.retired_at IS NULL OR d.id IN (SELECT drawer FROM anchor)")

    def make(self, connection: Connection, things: Sequence[int]) -> dict[int, list[DrawerAnchor]] | None:
        """Process these again."""
        output = {thing: expected(connection, thing) for thing in things}
        return None if all(rows == load_citations(connection, thing) for thing, rows in output.items()) else output

    def keep(self, connection: Connection, things: Sequence[int], output: dict[int, list[DrawerAnchor]]) -> None:
        """Store their citations; in a session that has grown, most drawers keep theirs."""
        for thing in things:
            old_rows, new_rows = _by_drawer(load_citations(connection, thing)), _by_drawer(output[thing])
            changed = sorted(
                entry for entry in old_rows.keys() | new_rows.keys() if old_rows.get(entry) != new_rows.get(entry)
            )
            anchors.drop(connection, changed)
            anchors.insert(connection, (entry for drawer in changed for entry in new_rows.get(drawer, ())))

    def drop(self, connection: Connection, things: Sequence[int]) -> None:
        """Remove the citations of these."""
        anchors.drop(connection, [drawer for thing in things for drawer in _drawers_of(connection, thing)])

    def label(self, connection: Connection, thing: int) -> str:
        """Return the name of a session, or of a note's drawer, for a person."""
        row, is_note = divmod(thing, 2)
        return drawer_label(connection, row) if is_note else session_label(connection, row)


ANCHOR_CONSUMER = AnchorConsumer()


def expected(connection: Connection, thing: int) -> list[DrawerAnchor]:
    """Return the citations in a session (or in a note's drawer), computed from the text."""
    row, is_note = divmod(thing, 2)
    return _of_note(connection, row) if is_note else _of_session(connection, row)


def load_citations(connection: Connection, thing: int) -> list[DrawerAnchor]:
    """Return its stored citations."""
    return anchors.of_rows(connection, _drawers_of(connection, thing))


def _by_drawer(rows: Iterable[DrawerAnchor]) -> dict[int, list[DrawerAnchor]]:
    rows_by_drawer: dict[int, list[DrawerAnchor]] = {}
    for row in rows:
        rows_by_drawer.setdefault(row.drawer, []).append(row)
    return rows_by_drawer


def _things(connection: Connection, condition: str, values: Sequence[str] = ()) -> list[int]:
    rows = connection.execute(
        "SELECT DISTINCT CASE WHEN s.session_id <> '' THEN 2 * s.id ELSE 2 * d.id + 1 END FROM drawer d JOIN source "
        f"s ON s.id = d.source WHERE (s.session_id <> '' OR d.kind IN {_NOTES}) AND ({condition}) ORDER BY 1",
        values,
    )
    return [int(thing) for (thing,) in rows]


def _drawers_of(connection: Connection, thing: int) -> list[int]:
    row, is_note = divmod(thing, 2)
    if is_note:
        return [row]
    return [int(drawer) for (drawer,) in connection.execute("SELECT id FROM drawer WHERE source = ?", (row,))]


# --- notes -------------------------------------------------------------------------------------------------


def _of_note(connection: Connection, drawer: int) -> list[DrawerAnchor]:
    """Return the citations given with a note, and those of the files whose lines it names."""
    unique_anchors: dict[Anchor, None] = {}
    for item, start, end, meta in connection.execute(
        "SELECT p.item, p.start, p.end, i.meta FROM drawer_span p JOIN drawer d ON d.id = p.drawer"
        " JOIN item i ON i.id = p.item WHERE d.id = ? AND d.retired_at IS NULL ORDER BY p.n",
        (drawer,),
    ):
        stated_anchors = anchors.from_meta(json.loads(meta))
        unique_anchors.update(
            dict.fromkeys(reference for reference in stated_anchors if anchors.can_be_kept(reference.path))
        )
        file_mentions = mentions(items.read_texts(connection, [item])[item][start:end])
        located_mentions = ((project_path(reference.path, "", ()), reference) for reference in file_mentions)
        unique_anchors.update(
            dict.fromkeys(
                Anchor(path, reference.first, reference.last, how="mentioned")
                for path, reference in located_mentions
                if path
            )
        )
    explicit_spans = {
        (reference.path, reference.first, reference.last) for reference in unique_anchors if reference.how == "stated"
    }
    fit = [
        reference
        for reference in unique_anchors
        if reference.how == "stated" or (reference.path, reference.first, reference.last) not in explicit_spans
    ]
    return [DrawerAnchor(drawer, reference) for reference in _most(fit)]


# --- sessions ----------------------------------------------------------------------------------------------


def _of_session(connection: Connection, source: int) -> list[DrawerAnchor]:
    digest = partial(cited_lines.digest, redaction_state.fingerprint_key(connection))
    resolve = _resolver(connection, source)
    spans = _spans(connection, source)
    citations_by_drawer: dict[int, list[Citation]] = {}
    for thread in digest_rows.threads_of(connection, source):
        read = session_reader.thread(connection, source, thread)
        directories = _directories(connection, source, thread)
        messages = (LocatedMessage(entry, directories.get(entry.item, "")) for entry in read.messages)
        for entry in Reader(resolve, digest).citations(messages):
            spots = [spot for spot in entry.spots if not read.is_forgotten([spot])]
            if len(spots) < len(entry.spots):  # what is forgotten says nothing of the file
                entry = replace(entry, anchor=replace(entry.anchor, digest=b"", lines=0, blob=""), whole=None)
            for drawer in sorted({drawer for spot in spots for drawer in _find_drawers_at(spans, spot)}):
                take(citations_by_drawer.setdefault(drawer, []), entry)
    return [
        DrawerAnchor(drawer, entry)
        for drawer in sorted(citations_by_drawer)
        for entry in _most([entry.anchor for entry in citations_by_drawer[drawer]])
    ]


def _most(candidates: Iterable[Anchor]) -> list[Anchor]:
    """Return the citations to keep, in order: each once, the last ones of the most significant kinds."""
    once = list(dict.fromkeys(candidates))
    if len(once) <= MOST:
        return once
    best = sorted(enumerate(once), key=lambda pair: (_WORTH[pair[1].how], -pair[0]))[:MOST]
    return [anchor for _, anchor in sorted(best)]


def _spans(connection: Connection, source: int) -> dict[int, list[tuple[int, int, int]]]:
    """Return the spans of a source's live drawers by item: from, to, drawer."""
    spans_by_item: dict[int, list[tuple[int, int, int]]] = {}
    for item, start, end, drawer in connection.execute(
        "SELECT p.item, p.start, p.end, p.drawer FROM drawer d JOIN drawer_span p ON p.drawer = d.id"
        " WHERE d.source = ? AND d.retired_at IS NULL",
        (source,),
    ):
        spans_by_item.setdefault(int(item), []).append((int(start), int(end), int(drawer)))
    return spans_by_item


def _find_drawers_at(spans: dict[int, list[tuple[int, int, int]]], spot: tuple[int, int, int]) -> Iterator[int]:
    item, low, high = spot
    return (drawer for start, end, drawer in spans.get(item, ()) if start < high and low < end)


def _directories(connection: Connection, source: int, thread: str) -> dict[int, str]:
    """Return the directory of each message of a thread; a message without one gets that of its neighbours."""
    rows = [
        (int(row), decode_string(cwd))
        for row, cwd in connection.execute(
            f"SELECT id, {string_at('meta', '$.cwd')} FROM item WHERE source = ? AND thread = ?"
            " AND kind = 'message' ORDER BY ordinal, id",
            (source, thread),
        )
    ]
    at = next((cwd for _, cwd in rows if cwd), "")
    directory_by_row = {}
    for row, cwd in rows:
        at = cwd or at
        directory_by_row[row] = at
    return directory_by_row


# --- names -------------------------------------------------------------------------------------------------


def _resolver(connection: Connection, source: int) -> partial[str | None]:
    (project,) = next(connection.execute("SELECT project FROM source WHERE id = ?", (source,)))
    began = connection.execute(
        f"SELECT {string_at('meta', '$.cwd')} FROM item WHERE source = ? AND json_extract(meta, '$.cwd') <> ''"
        " ORDER BY thread, ordinal LIMIT 1",
        (source,),
    )
    home = next((decode_string(cwd) for (cwd,) in began), "")
    roots = tuple(place_rows.roots_of_project(connection, project)) if project else ()
    return partial(project_path, roots=roots, home=home)


_OF_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def project_path(name: str, cwd: str, roots: Sequence[str], home: str = "") -> str | None:
    """Return a file's path from its project's root, as `name` calls it in the directory `cwd`, whatever the system.

    Return None for files outside every project, and for files that programs created. If no root holds the file, the
    directory in which the session began (`home`) is used, else `cwd`.
    """
    system = ntpath if _OF_WINDOWS.match(cwd) or _OF_WINDOWS.match(name) else posixpath
    if name.startswith("~"):
        return None
    if system is posixpath and "/" not in name:
        name = name.replace("\\", "/")
    path = str(system.normpath(system.join(cwd, name)))
    if system.isabs(path):
        root = next(filter(None, (_innermost(system, path, directories) for directories in (roots, [home], [cwd]))), "")
        if not root:
            return None
        path = path[len(root) :]
    path = path.replace(system.sep, "/").lstrip("/")
    parts = path.split("/")
    if parts[0] in ("..", ".", "") or len(path) > _LONGEST_PATH or any(map(refusal_of_directory, parts[:-1])):
        return None
    if not anchors.can_be_kept(path):
        return None
    return path


def _innermost(system: ModuleType, path: str, directories: Iterable[str]) -> str:
    """Return the longest of these directories that holds a path; empty if none does."""
    normal_paths = (str(system.normpath(directory)) for directory in directories if directory)
    folded_path = system.normcase(path)
    inside = [
        directory
        for directory in normal_paths
        if folded_path.startswith(system.normcase(directory).rstrip("/\\") + system.sep)
    ]
    return max(inside, key=len, default="")
