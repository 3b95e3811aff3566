"""How looking after documents and notes looks to a person."""

from __future__ import annotations

from collections import Counter

from palazzo.cli.hits import day
from palazzo.cli.screen import INDENT, Screen, place
from palazzo.operations.audit import AuditResult
from palazzo.operations.cleanup import CleanupResult
from palazzo.operations.dedup import DedupResult
from palazzo.operations.sync_sources import DocumentState, SyncSourcesResult
from palazzo.text.counts import agree, count_noun

_SHOWN = 20
_STATES = {"missing": "red", "ignored": "yellow", "unreachable": "cyan"}


def sync_sources(screen: Screen, result: SyncSourcesResult) -> None:
    """Show what is gone, left out or out of reach, and what that comes to."""
    for document in result.documents[:_SHOWN]:
        _document(screen, document)
    if len(result.documents) > _SHOWN:
        more = Counter(document.state for document in result.documents[_SHOWN:])
        screen.say((f"{INDENT}and {', '.join(f'{number:,} {state}' for state, number in more.items())} more", "dim"))
    screen.say(
        (f"{count_noun(result.scanned, 'document')} of {', '.join(result.tops)}: ", "bold"), f"{result.kept:,} kept"
    )
    if result.change is not None:
        screen.say(
            f"{count_noun(result.drawers, 'drawer')} {agree(result.drawers)} found no longer."
            " 'palazzo undo' takes that back."
        )
    elif result.ignored or result.missing:
        told = f"{count_noun(result.ignored + result.missing, 'document')} ({count_noun(result.drawers, 'drawer')})"
        screen.say(f"With --apply {told} would be found no longer.")
    if result.unreachable:
        screen.say((f"{count_noun(result.unreachable, 'document')} may only be out of reach, and stay.", "dim"))


def _document(screen: Screen, document: DocumentState) -> None:
    screen.say((f"{document.state}  ", _STATES[document.state]), place(document.uri), hanging=len(INDENT))
    screen.say((f"{INDENT}{document.reason}", "dim"))


def cleanup(screen: Screen, result: CleanupResult) -> None:
    """Show notes that say little, and whether they were forgotten."""
    for one in result.candidates[:_SHOWN]:
        screen.say((f"{one.reason}  ", "yellow"), " ".join(one.text.split()), hanging=len(INDENT))
        importance = "" if one.importance is None else f"  importance {one.importance:g}"
        where = f"{one.wing}/{one.room}"
        screen.say((f"{INDENT}{one.id}  {day(one.created_at)}  ", "dim"), (where, "cyan"), (importance, "dim"))
    _more(screen, len(result.candidates))
    verb = "would be forgotten" if result.dry_run else "forgotten"
    screen.say((f"{count_noun(len(result.forgotten), 'drawer')} {verb}", "bold"))


def dedup(screen: Screen, result: DedupResult) -> None:
    """Show notes that say the same, and which of each stays."""
    for one in result.clusters[:_SHOWN]:
        screen.say((f"{one.similarity:.2f}  ", "green"), " ".join(one.text.split()), hanging=len(INDENT))
        for n, origin in enumerate(one.origins):
            mark: tuple[str, str] = ("folded  ", "yellow") if n else ("stays   ", "green")
            facts = f"  {day(origin.created_at)}  {origin.author or origin.trust}"
            screen.say(INDENT, mark, (f"{origin.id}{facts}  ", "dim"), (f"{one.wing}/{origin.room}", "cyan"))
    _more(screen, len(result.clusters))
    verb = "would be folded" if result.dry_run else "folded"
    screen.say((f"{count_noun(len(result.folded), 'drawer')} {verb} into {len(result.clusters):,}", "bold"))


def audit(screen: Screen, result: AuditResult) -> None:
    """Show what could be tidied up, and by which command."""
    for one in result.findings:
        mark: tuple[str, str] = ("tidy  ", "green") if one.ok else ("look  ", "yellow")
        screen.say(mark, (one.name, "bold"), f"  {one.detail}")
        by_itself = len(one.mends) == len(one.examples)
        for n, example in enumerate(one.examples):
            screen.say((f"{INDENT}{example}", "dim"))
            if by_itself:
                screen.say(INDENT, INDENT, (one.mends[n], "bold"))
        if one.mend and not by_itself:
            screen.say(INDENT, (one.mend, "bold"))


def _more(screen: Screen, number: int) -> None:
    if number > _SHOWN:
        screen.say((f"{INDENT}and {number - _SHOWN:,} more", "dim"))
