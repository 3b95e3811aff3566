"""What is known about opened files: reminders for them, notes and facts that cite them, and session text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from palazzo.features.branches.branch_labels import MERGED, Checkout, with_label
from palazzo.features.search.hit_freshness import NOTHING, CitationSummary, Files
from palazzo.injection.entry_text import Entry
from palazzo.operations.caller_clock import day, zone
from palazzo.operations.injection_scope import told_of
from palazzo.store.ledger import Part

if TYPE_CHECKING:
    from palazzo.features.hooks.hook_answers import HookCall
    from palazzo.operations.injection_scope import Scope
    from palazzo.store.database import Connection

_NOTES, _FACTS, _MESSAGES = 5, 3, 2
"""The most entries of each kind: deliberate notes come before remarks in conversations."""
_LONGEST_NOTE, _LONGEST_SAID = 1_200, 500
"""The most characters of a note, and of a remark, that are shown."""


def on_files(call: HookCall, files: Sequence[str]) -> Iterator[Entry]:
    """Yield the newest of each kind about these files: reminders, notes, facts, and messages of other sessions."""
    from palazzo.features.tasks.task_results import file_names
    from palazzo.injection import proactive

    context = call.context
    scope = told_of(context, call.agent)
    names = tuple(dict.fromkeys(name for file in files for name in file_names(context, file)))
    with context.reading().database.snapshot() as connection:
        memories = _FileMemories(call, connection, scope)
        moment = proactive.ProactiveRequest("", scope.wings, context.now, scope.trusts, names)
        for due in proactive.called_for(connection, moment).reminders:
            if "file" in due.causes:
                yield Entry(Part("other", due.task.uid), "", due.task.wing, due.task.author, due.task.text, "reminder")
        for wing in scope.wings:
            # A name from a project's root is the name of another file in every other wing.
            paths_in_wing = [name for name, own in names if own in (None, wing)]
            yield from memories.notes(wing, paths_in_wing)
            yield from memories.facts(wing, paths_in_wing)
            yield from memories.messages(wing, paths_in_wing)


class _FileMemories:
    """What one answer says about files: the branch of each entry, and whether the file is unchanged."""

    def __init__(self, call: HookCall, connection: Connection, scope: Scope) -> None:
        self._asked, self._connection, self._scope = call, connection, scope
        self._context, self._zone = call.context, zone(call.context)
        self._checkout, self._files = Checkout(call.context), Files(call.context)

    def notes(self, wing: str, names: Sequence[str]) -> Iterator[Entry]:
        """Yield the notes that cite a file."""
        from palazzo.features.search.hits import find_supersessions
        from palazzo.store import anchors
        from palazzo.store.injection_worth import read_notes, worth_of

        connection = self._connection
        worth = worth_of(connection, anchors.notes_on(connection, wing, names, _NOTES))
        drawers = {row: note_worth.drawers[0] for row, note_worth in worth.items()}
        over = find_supersessions(connection, [*drawers.values()], self._context.now)
        notes = read_notes(connection, worth)
        standings = self._checkout.of_ids(connection, [note.id for note in notes.values()])
        citations = self._files.of_drawers(connection, dict.fromkeys(drawers.values(), wing))
        for row in sorted(worth, reverse=True):
            note, drawer = notes[row], drawers[row]
            branch_status = standings.get(note.id, MERGED)
            if (
                worth[row].trust in self._scope.trusts
                and drawer not in over
                and not self._checkout.hides(branch_status)
            ):
                label = _label(note.label, branch_status.label, citations.get(drawer, NOTHING))
                text, date = note.text[:_LONGEST_NOTE], day(note.at, self._zone)
                yield Entry(Part("drawer", drawer), date, wing, note.author, text, label, len(text) < len(note.text))

    def facts(self, wing: str, names: Sequence[str]) -> Iterator[Entry]:
        """Yield the facts that cite a file."""
        from palazzo.knowledge.facts_as_of import Beliefs
        from palazzo.store import anchors, fact_rows

        connection, now = self._connection, self._context.now
        rows = anchors.facts_on(connection, wing, names, now, _FACTS)
        versions = [fact_rows.read_version(connection, row) for row in rows]
        fact_list = (
            Beliefs(connection).tell([version for version in versions if version.holds_at(now)]) if versions else []
        )
        standings = self._checkout.of_ids(connection, facts=[fact.id for fact in fact_list])
        citations = self._files.of_facts(connection, {fact.id: wing for fact in fact_list})
        for fact in fact_list:
            branch_status = standings.get(fact.id, MERGED)
            if fact.trust in self._scope.trusts and not self._checkout.hides(branch_status):
                label = _label("fact", branch_status.label, citations.get(fact.id, NOTHING))
                yield Entry(
                    Part("other", fact.id), "", wing, "", f"{fact.subject} {fact.predicate} {fact.object}", label
                )

    def messages(self, wing: str, names: Sequence[str]) -> Iterator[Entry]:
        """Yield messages about a file from other sessions, or from this one before its context was cleared."""
        from palazzo.archive import archive_reader
        from palazzo.features.branches.branch_labels import find_origin
        from palazzo.features.search.hits import find_supersessions
        from palazzo.store import anchors

        connection, call = self._connection, self._asked
        own = call.hook_event.session, call.epoch_at or 0
        rows = anchors.said_of(connection, wing, names, self._scope.trusts, own, _MESSAGES)
        drawers = [*archive_reader.read_drawers(connection, rows).values()]
        over = find_supersessions(connection, [drawer.id for drawer in drawers], self._context.now)
        standings = self._checkout.standings(map(find_origin, drawers))
        citations = self._files.of_drawers(connection, {drawer.id: wing for drawer in drawers})
        for drawer in drawers:
            branch_status = standings[find_origin(drawer)]
            if drawer.id not in over and not self._checkout.hides(branch_status):
                label = _label(drawer.kind, branch_status.label, citations.get(drawer.id, NOTHING))
                place, date = f"{wing}/{drawer.place.room}", day(drawer.created_at, self._zone)
                text = drawer.text[:_LONGEST_SAID]
                speaker = drawer.author or drawer.role
                yield Entry(Part("drawer", drawer.id), date, place, speaker, text, label, len(text) < len(drawer.text))


def _label(kind: str, branch: str, summary: CitationSummary) -> str:
    return with_label(with_label(kind, branch), summary.remark)
