"""Terminal output of notes: what was filed, replaced, tagged, forgotten or undone."""

from __future__ import annotations

from palazzo.features.notes.contract import (
    Change,
    ContextSummaryResult,
    ForgetResult,
    RememberResult,
    TagResult,
    UndoResult,
    UpdateDrawerResult,
)
from palazzo.features.screen import INDENT, Screen
from palazzo.features.search.list_view import rows
from palazzo.text.count_phrases import agree, count_noun


def remember(screen: Screen, result: RememberResult) -> None:
    """Show the note's place, its id, and an earlier note with the same content."""
    verb = "Remembered in " if result.filed else "This text is already stored in "
    screen.say(verb, (f"{result.wing}/{result.room}", "cyan"), f": {result.id}")
    if result.filed and result.duplicate_of:
        earlier = "The same" if result.is_copy else "Similar"
        screen.say((f"{earlier} text was already stored: ", "yellow"), f"palazzo show {result.duplicate_of}")


def forget(screen: Screen, result: ForgetResult) -> None:
    """Show what was forgotten, or would be."""
    verb = "would be forgotten" if result.dry_run else "forgotten"
    facts = f" and {count_noun(len(result.facts), 'fact')}" if result.facts else ""
    screen.say((f"{count_noun(len(result.forgotten), 'drawer')}{facts} {verb}", "bold"))
    for drawer, text in result.sample:
        screen.say((f"{INDENT}{drawer}  ", "dim"), text)
    if len(result.forgotten) > len(result.sample):
        screen.say((f"{INDENT}and {len(result.forgotten) - len(result.sample):,} more", "dim"))


def undo(screen: Screen, result: UndoResult) -> None:
    """Show what was undone, whose change it was, and the later changes of others; or the last changes."""
    if result.undone is not None:
        screen.say(("Took back:", "bold"))
        _show_change(screen, result.undone)
        if result.later:
            count = count_noun(len(result.later), "later change")
            names = ", ".join(dict.fromkeys(change.actor for change in result.later))
            stands = agree(len(result.later), "stands", "stand")
            screen.say(
                (f"{count} by {names} {stands}: ", "yellow"),
                "'palazzo undo --list' shows the ids, 'palazzo undo ID' takes one back.",
                wrap_indent=0,
            )
        return
    if not result.changes:
        screen.say("There are no changes yet, so there is nothing to undo.")
    for change in result.changes:
        _show_change(screen, change)


def _show_change(screen: Screen, change: Change) -> None:
    """Show a change: its id, its time and whose it is; what it did; and the text that it concerns, with its id."""
    mark = ("  undone", "dim") if change.undone else ""
    screen.say((change.id, "dim"), f"  {change.at[:10]} {change.at[11:19]}Z  ", (change.actor, "cyan"), mark)
    screen.say(f"{INDENT}{_describe_change(change)}", wrap_indent=len(INDENT))
    if change.text:
        screen.trim(f"{INDENT}{change.text}")
    if change.subject:
        screen.say((f"{INDENT}concerns {change.subject}", "dim"))


def _describe_change(change: Change) -> str:
    """Return what a change did: its verb, its object, and the number of objects if more than one."""
    verb = f"undo of {change.summary}" if change.undoes is not None else f"{change.verb} {change.summary}".strip()
    return f"{verb} ({change.size:,})" if change.size > 1 else verb


def tag(screen: Screen, result: TagResult) -> None:
    """Show what was tagged, or the tags in use."""
    if result.action == "list":
        rows = [
            (tag_row.tag, f"{tag_row.drawers:,}", ("by rule" if tag_row.by_rule else "", "dim"))
            for tag_row in result.tags
        ]
        screen.table(("tag", "drawers", ""), rows, right=(1,))
        return
    verb = "tagged" if result.action == "add" else "no longer tagged"
    screen.say((f"{count_noun(len(result.drawers), 'drawer')} {verb}", "bold"))


def context_summary(screen: Screen, result: ContextSummaryResult) -> None:
    """Show decisions, lessons learned, and other notes."""
    sections = (("Decided", result.decisions), ("Learned", result.learnings), ("Noted", result.context))
    for title, notes in sections:
        if notes:
            screen.say((f"{title}:", "bold"))
            rows(screen, notes)
    if not any(notes for _, notes in sections):
        screen.say(("There are no notes: 'palazzo remember' files one.", "dim"))


def update_drawer(screen: Screen, result: UpdateDrawerResult) -> None:
    """Show the new drawer, and what it replaces."""
    place = (f"{result.wing}/{result.room}", "cyan")
    if result.change is None:
        screen.say("Already up to date in ", place, f": {result.id}")
    elif result.replaced:
        screen.say("Replaced in ", place, f": {result.id}")
        screen.say((f"{INDENT}instead of {' '.join(result.replaced)}", "dim"))
    else:
        screen.say("Filed in ", place, f": {result.id}")
