"""How sync-sources looks to a person."""

from __future__ import annotations

from collections import Counter

from palazzo.cli.screen import INDENT, Screen, count
from palazzo.operations.sync_sources import DocumentState, SyncSourcesResult

_SHOWN = 20
_STATES = {"missing": "red", "ignored": "yellow", "unreachable": "cyan"}


def sync_sources(screen: Screen, result: SyncSourcesResult) -> None:
    """Show what is gone, left out or out of reach, and what that comes to."""
    for document in result.documents[:_SHOWN]:
        _document(screen, document)
    if len(result.documents) > _SHOWN:
        more = Counter(document.state for document in result.documents[_SHOWN:])
        screen.say((f"{INDENT}and {', '.join(f'{number:,} {state}' for state, number in more.items())} more", "dim"))
    screen.say((f"{count(result.scanned, 'document')} of {', '.join(result.tops)}: ", "bold"), f"{result.kept:,} kept")
    if result.change is not None:
        screen.say(f"{count(result.drawers, 'drawer')} are found no longer. 'palazzo undo' takes that back.")
    elif result.ignored or result.missing:
        told = f"{count(result.ignored + result.missing, 'document')} ({count(result.drawers, 'drawer')})"
        screen.say(f"With --apply {told} would be found no longer.")
    if result.unreachable:
        screen.say((f"{count(result.unreachable, 'document')} may only be out of reach, and stay.", "dim"))


def _document(screen: Screen, document: DocumentState) -> None:
    screen.say((f"{document.state}  ", _STATES[document.state]), document.uri, hanging=len(INDENT))
    screen.say((f"{INDENT}{document.reason}", "dim"))
