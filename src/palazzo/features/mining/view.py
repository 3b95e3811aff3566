"""Terminal output of init, mine, remember, forget and undo."""

from __future__ import annotations

from collections import Counter

from palazzo.features.mining import dry_run_view
from palazzo.features.mining.init import InitResult
from palazzo.features.mining.mine import MineResult
from palazzo.features.notes.forget import ForgetResult
from palazzo.features.notes.remember import RememberResult
from palazzo.features.notes.tag import TagResult
from palazzo.features.notes.undo import Change, UndoResult
from palazzo.features.screen import INDENT, Screen, place
from palazzo.security.display_names import quoted_name
from palazzo.text.count_phrases import agree, count_noun

_MOST_LISTED = 10


def init(screen: Screen, result: InitResult) -> None:
    """Show what was found, and the next steps."""
    facts = [
        ("palace", f"{result.palace} ({'created' if result.created else 'there already'})"),
        ("project", f"{result.root}{f', branch {quoted_name(result.branch)}' if result.branch else ''}"),
        ("known as", result.project),
        ("wing", result.wing),
        ("rooms", ", ".join(result.rooms) or "none yet"),
        ("agents here", ", ".join(host.name for host in result.hosts) or "none found"),
    ]
    screen.table(("", ""), [((name, "dim"), value) for name, value in facts])
    if result.config:
        screen.say(f"Wrote {result.config}.")
    screen.say("Next: ", (f"palazzo mine {result.root}", "bold"))


def mine(screen: Screen, result: MineResult) -> None:
    """Show what was read, what was left out and why."""
    counts = [("new", result.new), ("grown", result.grown), ("unchanged", result.unchanged)]
    parts = ", ".join(f"{number:,} {name}" for name, number in counts if number) or "none new"
    if result.sources or not result.unread:
        screen.say((f"{count_noun(result.sources, 'source')}: ", "bold"), parts)
    if result.dry_run:
        screen.say(("Dry run: nothing was read.", "yellow"))
        if result.files:
            dry_run_view.show_files(screen, result)
    elif result.items:
        into = f" in {', '.join(result.wings)}" if result.wings else ""
        noise = f" (and {count_noun(result.noise, 'row')} kept but not searchable)" if result.noise else ""
        screen.say(
            f"{count_noun(result.items, 'item')} archived{into}, {count_noun(result.drawers, 'drawer')} "
            f"searchable{noise}."
        )
    left_out(screen, result)
    by_rule(screen, result)
    show_timing(screen, result)


def by_rule(screen: Screen, result: MineResult) -> None:
    """Show how many documents a rule newly leaves out, and how many it no longer leaves out."""
    if result.left_out:
        number = result.left_out
        them, archive = ("it", "It stays archived.") if number == 1 else ("them", "They stay archived.")
        verb = "would no longer be" if result.dry_run else f"{agree(number)} no longer"
        documents = f"{count_noun(number, 'document')} {verb} searchable"
        screen.say(("left out  ", "yellow"), f"{documents}: a rule now excludes {them}. {archive}")
    if result.taken_back:
        verb = "would be" if result.dry_run else agree(result.taken_back)
        screen.say(("taken back  ", "green"), f"{count_noun(result.taken_back, 'document')} {verb} found again.")


def show_timing(screen: Screen, result: MineResult) -> None:
    """Say how long it took, and when all of it is searchable."""
    vectors = f", {result.embedding_s:,.1f} s of it for vectors" if result.embedding_s else ""
    screen.say((f"{result.took_s:,.1f} s{vectors}", "dim"))
    if result.note:
        screen.say((result.note, "yellow"))
    elif result.pending:
        screen.say(
            (
                f"Searchable by keyword now; {count_noun(result.pending, 'passage')} will soon be searchable "
                "by meaning.",
                "dim",
            )
        )


def left_out(screen: Screen, result: MineResult) -> None:
    """Show what failed, from which given paths nothing was read, and why files were skipped: each reason once."""
    for failed in result.failed[:_MOST_LISTED]:
        screen.say(("failed  ", "red"), f"{place(failed.uri)}: {failed.error}")
    verb = "would be" if result.dry_run else "was"
    for unread in result.unread:
        screen.say((f"Nothing {verb} read from {place(unread.uri)}: {unread.reason}.", "yellow"))
    listed = {file.uri for file in result.unread} | {file.uri for file in result.files}
    skips = [skipped for skipped in result.skipped if skipped.uri not in listed]
    reasons = Counter(skipped.reason for skipped in skips)
    for reason, number in reasons.most_common(_MOST_LISTED):
        first = next(skipped.uri for skipped in skips if skipped.reason == reason)
        screen.say(("skipped  ", "yellow"), f"{number:,} × {reason}", (f"  ({place(first)})", "dim"))


def remember(screen: Screen, result: RememberResult) -> None:
    """Show the note's place, its id, and an earlier note with the same content."""
    verb = "Remembered in " if result.filed else "This text is already stored in "
    screen.say(verb, (f"{result.wing}/{result.room}", "cyan"), f": {result.id}")
    if result.filed and result.duplicate_of:
        screen.say(("Similar text was already stored: ", "yellow"), f"palazzo show {result.duplicate_of}")


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
    """Show what was undone, or the last changes."""
    if result.undone is not None:
        screen.say(("Took back  ", "bold"), _describe_change(result.undone), (f"  ({result.undone.at})", "dim"))
    elif not result.changes:
        screen.say("There are no changes yet, so there is nothing to undo.")
    else:
        rows = [
            (
                (change.at, "dim"),
                change.actor,
                _describe_change(change),
                "undone" if change.undone else "",
                (change.id, "dim"),
            )
            for change in result.changes
        ]
        screen.table(("when", "who", "what", "", "id"), rows)


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
