"""What is known of files that are opened: reminders that wait for them, notes and facts that cite them, and talk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from palazzo.attention.rendering import Entry
from palazzo.operations.branches import MERGED, Checkout, with_label
from palazzo.operations.clock import day, zone
from palazzo.operations.freshening import NOTHING, Cited, Files
from palazzo.operations.scoping import told_of
from palazzo.store.ledger import Part

if TYPE_CHECKING:
    from palazzo.operations.hook_answers import Asked
    from palazzo.operations.scoping import Scope
    from palazzo.store.database import Connection

_NOTES, _FACTS, _SAID = 5, 3, 2
"""How many of each are told of: what was noted on purpose before what was said by the way."""
_LONGEST_NOTE, _LONGEST_SAID = 1_200, 500
"""Characters of a note, and of what was said, that are told."""


def on_files(asked: Asked, files: Sequence[str]) -> Iterator[Entry]:
    """Yield what is known of these files, each kind's newest: reminders, notes, facts, and what other sessions said."""
    from palazzo.attention import proactive
    from palazzo.operations.tasks import file_names

    context = asked.context
    scope = told_of(context, asked.agent)
    names = tuple(dict.fromkeys(name for file in files for name in file_names(context, file)))
    with context.reading().database.snapshot() as connection:
        told = _Telling(asked, connection, scope)
        moment = proactive.Asked("", scope.wings, context.now, scope.trusts, names)
        for due in proactive.called_for(connection, moment).reminders:
            if "file" in due.causes:
                yield Entry(Part("other", due.task.uid), "", due.task.wing, due.task.author, due.task.text, "reminder")
        for wing in scope.wings:
            # A name from a project's root is the name of another file in every other wing.
            known = [name for name, own in names if own in (None, wing)]
            yield from told.notes(wing, known)
            yield from told.facts(wing, known)
            yield from told.said(wing, known)


class _Telling:
    """What one answer tells of files: of which branch it is, and whether the file is still as it was."""

    def __init__(self, asked: Asked, connection: Connection, scope: Scope) -> None:
        self._asked, self._connection, self._scope = asked, connection, scope
        self._context, self._zone = asked.context, zone(asked.context)
        self._checkout, self._files = Checkout(asked.context), Files(asked.context)

    def notes(self, wing: str, names: Sequence[str]) -> Iterator[Entry]:
        """Yield the notes that cite a file."""
        from palazzo.operations.hits import superseded
        from palazzo.store import anchors
        from palazzo.store.worth import read_notes, worth_of

        connection = self._connection
        worth = worth_of(connection, anchors.notes_on(connection, wing, names, _NOTES))
        drawers = {row: one.drawers[0] for row, one in worth.items()}
        over = superseded(connection, [*drawers.values()], self._context.now)
        notes = read_notes(connection, worth)
        standings = self._checkout.of_ids(connection, [note.id for note in notes.values()])
        cited = self._files.of_drawers(connection, dict.fromkeys(drawers.values(), wing))
        for row in sorted(worth, reverse=True):
            note, drawer = notes[row], drawers[row]
            seen = standings.get(note.id, MERGED)
            if worth[row].trust in self._scope.trusts and drawer not in over and not self._checkout.hides(seen):
                label = _label(note.label, seen.label, cited.get(drawer, NOTHING))
                text, when = note.text[:_LONGEST_NOTE], day(note.at, self._zone)
                yield Entry(Part("drawer", drawer), when, wing, note.author, text, label, len(text) < len(note.text))

    def facts(self, wing: str, names: Sequence[str]) -> Iterator[Entry]:
        """Yield the facts that cite a file."""
        from palazzo.graph.beliefs import Beliefs
        from palazzo.store import anchors, facts

        connection, now = self._connection, self._context.now
        rows = anchors.facts_on(connection, wing, names, now, _FACTS)
        versions = [facts.read_version(connection, row) for row in rows]
        held = Beliefs(connection).tell([one for one in versions if one.holds_at(now)]) if versions else []
        standings = self._checkout.of_ids(connection, facts=[fact.id for fact in held])
        cited = self._files.of_facts(connection, {fact.id: wing for fact in held})
        for fact in held:
            seen = standings.get(fact.id, MERGED)
            if fact.trust in self._scope.trusts and not self._checkout.hides(seen):
                label = _label("fact", seen.label, cited.get(fact.id, NOTHING))
                yield Entry(
                    Part("other", fact.id), "", wing, "", f"{fact.subject} {fact.predicate} {fact.object}", label
                )

    def said(self, wing: str, names: Sequence[str]) -> Iterator[Entry]:
        """Yield what was said of a file in other sessions, or by this one before it forgot."""
        from palazzo.archive import reading
        from palazzo.operations.branches import written
        from palazzo.operations.hits import superseded
        from palazzo.store import anchors

        connection, asked = self._connection, self._asked
        own = asked.happening.session, asked.epoch_at or 0
        rows = anchors.said_of(connection, wing, names, self._scope.trusts, own, _SAID)
        drawers = [*reading.read_drawers(connection, rows).values()]
        over = superseded(connection, [one.id for one in drawers], self._context.now)
        standings = self._checkout.standings(map(written, drawers))
        cited = self._files.of_drawers(connection, {one.id: wing for one in drawers})
        for one in drawers:
            seen = standings[written(one)]
            if one.id not in over and not self._checkout.hides(seen):
                label = _label(one.kind, seen.label, cited.get(one.id, NOTHING))
                where, when = f"{wing}/{one.place.room}", day(one.created_at, self._zone)
                text = one.text[:_LONGEST_SAID]
                who = one.author or one.role
                yield Entry(Part("drawer", one.id), when, where, who, text, label, len(text) < len(one.text))


def _label(what: str, branch: str, cited: Cited) -> str:
    return with_label(with_label(what, branch), cited.remark)
