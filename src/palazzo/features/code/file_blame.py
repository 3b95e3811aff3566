"""blame: what earlier sessions did to a file, decided about it and noted on it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from palazzo.archive.session_titles import shown_titles
from palazzo.errors import UsageError
from palazzo.features.branches.branch_labels import MERGED, Checkout
from palazzo.features.code.code_scope import CodeScope, read_scope, widening_options
from palazzo.features.code.contract import (
    BlameRequest,
    BlameResult,
    Certainty,
    FileCommit,
    FileDecision,
    FileNote,
    FileSession,
)
from palazzo.features.code.current_lines import CurrentLines
from palazzo.features.code.decision_links import introduced_identifiers, words_of_line
from palazzo.features.code.edit_texts import read_edits
from palazzo.features.code.line_origin import LineAttribution, attribute_line
from palazzo.features.code.linked_decisions import FileSubject, linked_decisions
from palazzo.features.search.hit_freshness import NOTHING, Files
from palazzo.features.search.hits import find_supersessions
from palazzo.features.tasks.task_results import file_names
from palazzo.git import commit_log
from palazzo.model import AnchorKind
from palazzo.operations.arguments import exists
from palazzo.store import anchors, commit_rows, digest_rows, file_touches, source_rows
from palazzo.store.injection_worth import read_notes, worth_of
from palazzo.store.write_contexts import CommitPlace
from palazzo.text.count_phrases import count_noun
from palazzo.text.surrogates import well_formed

if TYPE_CHECKING:
    from palazzo.features.branches.branch_labels import BranchStatus
    from palazzo.features.code.edit_texts import EditText
    from palazzo.features.code.linked_decisions import LinkedDecision
    from palazzo.model import Anchor
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.file_touches import FileTouch

_PLACE = re.compile(r"(?P<path>.+?):L?(?P<line>[1-9]\d{0,8})", re.DOTALL)
_HOWS: tuple[AnchorKind, ...] = ("edited", "read", "mentioned")
"""The order in which a session's ways to touch a file are listed."""
_MOST_FILES = 20
"""Maximum number of files that one ending of a path may mean in an error message."""
_MOST_COMPARED = 400
"""Maximum number of citations whose lines are located in the file of today, the newest."""


def blame(context: Context, request: BlameRequest) -> BlameResult:
    """Show which sessions read or edited a file, what was decided about it, and the notes that cite it."""
    scope = read_scope(context, request)
    palace = context.reading()
    palace.follow_anchors()
    palace.follow_digests(lambda done, total: context.report("digesting sessions", done, total))
    with palace.database.snapshot() as connection:
        place = _find_place(context, connection, request.path, scope)
        history = _History(context, connection, scope, place)
        sessions = history.sessions()
        decisions = history.decisions(request.limit)
        notes = history.notes(request.limit)
        commits = history.commits(request.limit)
        unlocated = history.count_unlocated()
        attribution = history.line_attribution
    has_any = sessions or decisions or notes or commits
    return BlameResult(
        path=place.path,
        line=place.line,
        wing=scope.wing,
        sessions=tuple(sessions[: request.limit]),
        decisions=tuple(decisions),
        notes=tuple(notes),
        total=len(sessions),
        commits=tuple(commits),
        unlocated=unlocated,
        line_text=attribution.recorded_text,
        unattributed=attribution.obstacle,
        advice="" if has_any else _advice(request, scope, place, unlocated, attribution),
    )


def _advice(
    request: BlameRequest, scope: CodeScope, place: _FilePlace, unlocated: int, attribution: LineAttribution
) -> str:
    suggestions = [f"the whole file with 'palazzo blame {place.path}'"] if place.line is not None else []
    wider = widening_options(request, scope)
    suggestions += [wider] if wider else []
    subject = f"line {place.line:,} of {place.path}" if place.line is not None else place.path
    obstacle = "" if attribution.is_compared else attribution.obstacle
    unknown = f"{count_noun(unlocated, 'session')} edited the file at lines that are not known" if unlocated else ""
    if remarks := "; ".join(filter(None, (obstacle, unknown))):
        subject += f" ({remarks})"
    advice = f": try {' or '.join(suggestions)}" if suggestions else ""
    if place.is_missing:
        return f"{place.path} does not exist here, and nothing is recorded about it{advice}."
    return f"Nothing is recorded about {subject}{advice}."


# --- the file ----------------------------------------------------------------------------------------------


class _FilePlace(NamedTuple):
    """The file's path for display, the names by which citations know it, and a line of it."""

    path: str
    names: tuple[str, ...]
    line: int | None
    is_missing: bool = False
    """Whether the file is looked for here, and neither exists nor is cited."""


def _find_place(context: Context, connection: Connection, typed_path: str, scope: CodeScope) -> _FilePlace:
    """Return the file that a person names: by its path from here, from the project's root, or by its last names."""
    place = _PLACE.fullmatch(typed_path)
    if place is not None and exists(context, typed_path):  # a file whose name ends so
        place = None
    path, line = (place["path"], int(place["line"])) if place else (typed_path, None)
    if not path.strip() or "\0" in path:
        raise UsageError("The path is empty or contains a NUL: name a file, such as src/cart.py.")
    own_names = [name for name, _ in file_names(context, path)]
    names = tuple(dict.fromkeys([*own_names, *map(well_formed, own_names)]))  # hosts record a bad byte as U+FFFD
    ending = path.replace("\\", "/").removeprefix("./").rstrip("/")
    is_here = scope.wing in (None, context.home) and exists(context, path)
    if is_here or file_touches.are_cited(connection, names, scope.wings):
        return _FilePlace(names[0], names, line)
    candidates = file_touches.paths_ending_in(connection, ending, scope.wings, _MOST_FILES)
    if len(candidates) > 1 and ending not in candidates:
        raise UsageError(
            f"'{path}' may mean {len(candidates)} files: {', '.join(candidates[:8])}. Give more of the path."
        )
    if candidates:
        found_path = ending if ending in candidates else candidates[0]
        return _FilePlace(found_path, (found_path,), line)
    return _FilePlace(names[0], names, line, is_missing=scope.wing in (None, context.home))


# --- what is recorded --------------------------------------------------------------------------------------


class _History:
    """What one answer says about a file."""

    def __init__(self, context: Context, connection: Connection, scope: CodeScope, place: _FilePlace) -> None:
        self._context, self._connection, self._scope, self._place = context, connection, scope, place
        self._checkout: Checkout = Checkout(context)
        touches = file_touches.of_paths(connection, place.names, scope.wings, scope.since, scope.until)
        self._origins: Mapping[CommitPlace, BranchStatus] = self._checkout.standings(map(_origin, touches))
        self._every_touch = [touch for touch in touches if not self._checkout.hides(self._origins[_origin(touch)])]
        self._lines = CurrentLines(context, connection)
        self._edits_somewhere: list[FileTouch] = []
        self._touches = self._every_touch
        if place.line is not None:
            self._lines.locate([(touch.anchor, touch.wing) for touch in self._every_touch[:_MOST_COMPARED]])
            self._edits_somewhere = [touch for touch in self._every_touch if _is_edit_somewhere(touch.anchor)]
            self._touches = [
                touch for touch in self._every_touch if self._is_of_origin(touch) or self._concerns_line(touch.anchor)
            ]

    def _is_of_origin(self, touch: FileTouch) -> bool:
        origin = self.line_attribution.origin
        return origin is not None and touch.drawer == origin.edit.touch.drawer

    def _concerns_line(self, anchor: Anchor) -> bool:
        """Return whether a citation concerns the line: its lines contain it, or the whole file was written.

        If it is known which edit wrote the line, the other edits that wrote the whole file do not count.
        """
        if anchor.first == 0:
            return self.line_attribution.origin is None and anchor.how == "edited" and bool(anchor.digest)
        return self._place.line is not None and self._lines.contain(anchor, self._place.line)

    def count_unlocated(self) -> int:
        """Return the number of other sessions that edited the file at lines that are not known."""
        return len({touch.session for touch in self._edits_somewhere} - {touch.session for touch in self._touches})

    # --- the line ------------------------------------------------------------------------------------------

    @cached_property
    def _edits(self) -> Sequence[EditText]:
        return read_edits(self._connection, self._every_touch, self._place.names)

    @cached_property
    def line_attribution(self) -> LineAttribution:
        """Which edit wrote the line; empty if no line was given."""
        if self._place.line is None:
            return LineAttribution()
        home = self._context.home
        is_own = home is not None and self._scope.wing in (None, home)
        lines = self._lines.read_file(self._place.path) if is_own else ()
        own_edits = [edit for edit in self._edits if edit.touch.wing == home]
        return attribute_line(lines, self._place.line, own_edits)

    # --- sessions ------------------------------------------------------------------------------------------

    def sessions(self) -> list[FileSession]:
        """Return the sessions that touched the file: first the one that wrote the line, then the newest."""
        touches_by_session: dict[str, list[FileTouch]] = {}
        for touch in self._touches:
            touches_by_session.setdefault(touch.session, []).append(touch)
        sources = source_rows.read_sources(self._connection, {touch.source for touch in self._touches})
        titles = shown_titles(self._connection, {row: source.title for row, source in sources.items()})
        views = [self._session(touches, titles[touches[0].source]) for touches in touches_by_session.values()]
        return sorted(views, key=lambda view: view.session != self._origin_session)

    @property
    def _origin_session(self) -> str:
        origin = self.line_attribution.origin
        return "" if origin is None else origin.edit.touch.session

    def _session(self, touches: Sequence[FileTouch], title: str) -> FileSession:
        newest = touches[0]
        hows = {touch.anchor.how for touch in touches}
        edits = [touch.anchor for touch in touches if touch.anchor.how == "edited"]
        certainty, reason = self._connection_with_line(newest.session, edits)
        origin = self.line_attribution.origin
        return FileSession(
            session=newest.session,
            host=newest.host,
            title=title,
            wing=newest.wing,
            last_at=newest.at,
            how=tuple(how for how in _HOWS if how in hows),
            lines=self._lines.names(edits),
            branch=newest.branch,
            label=self._origins[_origin(newest)].label,
            drawer=origin.edit.touch.uid if origin and newest.session == self._origin_session else newest.uid,
            certainty=certainty,
            reason=reason,
        )

    def _connection_with_line(self, session: str, edits: Sequence[Anchor]) -> tuple[Certainty, str]:
        """Return how sure it is that a session's edits made the line what it is, and why."""
        if self._place.line is None or not edits:
            return "", ""
        origin = self.line_attribution.origin
        if origin is not None and session == self._origin_session:
            return "sure" if origin.is_certain else "likely", origin.act
        if any(self._lines.are_located(anchor) for anchor in edits):
            certainty: Certainty = "weak" if self.line_attribution.is_compared else "likely"
            return certainty, "edited lines around it, which are as they were then"
        if any(anchor.first > 0 for anchor in edits):
            return "weak", "edited lines with this number at that time"
        return "weak", "wrote the whole file"

    # --- commits -------------------------------------------------------------------------------------------

    def commits(self, limit: int) -> list[FileCommit]:
        """Return the archived commits that changed the file, newest first; for a line the one that wrote it."""
        wing, path, line = self._context.home, self._place.path, self._place.line
        if wing is None or self._scope.wing not in (None, wing) or "repo" not in self._scope.trusts:
            return []
        root = self._context.project_root
        if line is None:
            hashes = commit_log.commits_of_file(root, path, limit)
        else:
            lines = self._lines.read_file(path)
            hashes = [commit_log.commit_of_line(root, path, line, lines[line - 1])] if line <= len(lines) else []
        return [
            FileCommit(row.drawer, row.commit, row.at, row.author, row.text, row.trust)
            for row in commit_rows.of_hashes(self._connection, wing, hashes)
            if self._scope.covers(row.at)
        ]

    # --- decisions and notes -------------------------------------------------------------------------------

    def decisions(self, limit: int) -> list[FileDecision]:
        """Return the decisions about the file, those with the closest connection first."""
        identifiers = introduced_identifiers(self._edits)
        is_line = self._place.line is not None
        if is_line:
            identifiers = words_of_line(identifiers, self.line_attribution.text)
        subject = FileSubject(self._place.path, self._touches, identifiers, is_line)
        wings = sorted({touch.wing for touch in self._every_touch} or self._scope.wings)
        decisions = linked_decisions(self._connection, self._scope, subject, wings, limit)
        return [self._decision(decision) for decision in decisions]

    def _decision(self, decision: LinkedDecision) -> FileDecision:
        line = decision.line
        return FileDecision(
            id=digest_rows.drawer_with(self._connection, line.quote) or line.quote.item,
            session=line.session,
            wing=line.wing,
            at=line.said_at,
            by=line.role,
            text=line.words,
            links=tuple(link.label for link in decision.links),
            trust="external" if line.is_untrusted else "user" if line.role == "user" else "agent",
        )

    def notes(self, limit: int) -> list[FileNote]:
        """Return the notes that cite the file, newest first, with the state of what they cite."""
        views = [view for wing in self._scope.wings for view in self._notes_of_wing(wing, limit)]
        return sorted(views, key=lambda view: -view.at)[:limit]

    def _notes_of_wing(self, wing: str, limit: int) -> Iterable[FileNote]:
        connection = self._connection
        worth = worth_of(connection, anchors.notes_on(connection, wing, self._place.names, limit))
        drawers = {row: note_worth.drawers[0] for row, note_worth in worth.items()}
        notes = read_notes(connection, worth)
        superseded = find_supersessions(connection, [*drawers.values()], self._context.now)
        standings = self._checkout.of_ids(connection, [note.id for note in notes.values()])
        citations = Files(self._context).of_drawers(connection, dict.fromkeys(drawers.values(), wing))
        cited = self._cited_lines(drawers.values(), wing)
        for row, note in notes.items():
            drawer, status = drawers[row], standings.get(note.id, MERGED)
            if (
                drawer in cited
                and worth[row].trust in self._scope.trusts
                and self._scope.covers(note.at)
                and not self._checkout.hides(status)
            ):
                summary = citations.get(drawer, NOTHING)
                yield FileNote(
                    id=drawer,
                    wing=wing,
                    at=note.at,
                    author=note.author,
                    filed_as=note.label,
                    text=note.text,
                    lines=cited[drawer],
                    trust=worth[row].trust,
                    freshness=summary.freshness,
                    remark=summary.remark,
                    label=status.label,
                    is_superseded=drawer in superseded,
                )

    def _cited_lines(self, drawers: Collection[str], wing: str) -> Mapping[str, tuple[str, ...]]:
        """Return the lines of the file that each note cites; a note that does not concern the line is absent."""
        own_anchors = {
            drawer: [anchor for anchor in group if anchor.path in self._place.names]
            for drawer, group in anchors.of_drawers(self._connection, drawers).items()
        }
        if self._place.line is not None:
            self._lines.locate([(anchor, wing) for group in own_anchors.values() for anchor in group])
            own_anchors = {
                drawer: [anchor for anchor in group if self._concerns_line(anchor)]
                for drawer, group in own_anchors.items()
            }
        return {drawer: self._lines.names(group) for drawer, group in own_anchors.items() if group}


def _is_edit_somewhere(anchor: Anchor) -> bool:
    return anchor.how == "edited" and anchor.first <= 0 and not anchor.digest


def _origin(touch: FileTouch) -> CommitPlace:
    return CommitPlace(touch.branch, touch.commit, touch.wing)
