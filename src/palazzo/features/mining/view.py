"""Terminal output of init, mine, sync-sources, restore-session and watch."""

from __future__ import annotations

import time
from collections import Counter

from palazzo.features.mining import dry_run_view
from palazzo.features.mining.contract import (
    DocumentState,
    InitResult,
    MineResult,
    RestoreSessionResult,
    SyncSourcesResult,
    WatchEvent,
    WatchResult,
)
from palazzo.features.screen import INDENT, Screen, place
from palazzo.security.display_names import quoted_name
from palazzo.text.count_phrases import agree, count_noun

_MOST_NAMED = 6
_MOST_LISTED = 10
_MOST_DOCUMENTS = 20
_STANDINGS = {"written": "wrote", "there": "already exists", "would": "would write"}
_STATES = {"missing": "red", "ignored": "yellow", "unreachable": "cyan"}


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
    if result.wing_created:
        palace = "the palace and " if result.created else ""
        screen.say(
            f"Created {palace}the wing {quoted_name(result.wing)} for this project. It is empty until you index files."
        )
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
    if result.commits:
        verb = "would be archived" if result.dry_run else "archived"
        screen.say(f"{count_noun(result.commits, 'commit')} {verb}, with merges and tags.")
    left_out(screen, result)
    by_rule(screen, result)
    if result.code_skipped and result.new and not result.dry_run:
        verb, them = ("was", "it") if result.code_skipped == 1 else ("were", "them")
        files = count_noun(result.code_skipped, "source file")
        screen.say((f"{files} {verb} not read; 'palazzo mine --mode all' reads {them} too.", "dim"))
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
    elif result.pending and result.items:
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


def restore_session(screen: Screen, result: RestoreSessionResult) -> None:
    """Show the files that were written."""
    for file in result.files:
        screen.say((f"{_STANDINGS[file.standing]}  ", "bold"), f"{file.path} ({file.size:,} bytes)")
    if result.note:
        screen.say((result.note, "yellow"))


def watch(screen: Screen, result: WatchResult) -> None:
    """Show what was imported."""
    screen.say(f"{count_noun(result.items, 'item')} archived, {count_noun(result.drawers, 'drawer')} searchable.")


def watch_event(screen: Screen, event: WatchEvent) -> None:
    """Show one event, on one line."""
    at = time.strftime("%H:%M:%S", time.localtime(event.at / 1_000_000))
    screen.say((f"{at}  ", "dim"), *_format_event(event))


def _format_event(event: WatchEvent) -> tuple[str | tuple[str, str], ...]:
    places = ", ".join(place(uri) for uri in event.uris[:_MOST_NAMED])
    if len(event.uris) > _MOST_NAMED:
        places += f" and {len(event.uris) - _MOST_NAMED:,} more"
    counts = f"{count_noun(event.items, 'item')}, {count_noun(event.drawers, 'drawer')}"
    match event.event:
        case "watching":
            return (("watching  ", "bold"), places or "nothing yet: no agent history and no project that was read")
        case "caught-up":
            return (("caught up  ", "bold"), f"{counts} in {event.took_s:,.1f} s")
        case "read":
            return (("read  ", "green"), f"{counts}  ", (places, "dim"))
        case "found":
            return (("found  ", "bold"), places)
        case "failed":
            return (("failed  ", "red"), f"{places}: {event.detail}")
        case "looking":
            return (("note  ", "yellow"), event.detail)


def sync_sources(screen: Screen, result: SyncSourcesResult) -> None:
    """Show what is missing, left out or unreachable, and the result."""
    for document in result.documents[:_MOST_DOCUMENTS]:
        _document(screen, document)
    if len(result.documents) > _MOST_DOCUMENTS:
        more = Counter(document.state for document in result.documents[_MOST_DOCUMENTS:])
        screen.say((f"{INDENT}and {', '.join(f'{number:,} {state}' for state, number in more.items())} more", "dim"))
    screen.say(
        (f"{count_noun(result.scanned, 'document')} of {', '.join(result.tops)}: ", "bold"), f"{result.kept:,} kept"
    )
    if result.change is not None:
        screen.say(
            f"{count_noun(result.drawers, 'drawer')} {agree(result.drawers)} no longer searchable. 'palazzo undo' "
            "reverts this."
        )
    elif result.ignored or result.missing:
        summary = f"{count_noun(result.ignored + result.missing, 'document')} ({count_noun(result.drawers, 'drawer')})"
        screen.say(f"With --apply, {summary} would no longer be searchable.")
    if result.unreachable:
        screen.say((f"{count_noun(result.unreachable, 'document')} kept: possibly only unreachable.", "dim"))


def _document(screen: Screen, document: DocumentState) -> None:
    screen.say((f"{document.state}  ", _STATES[document.state]), place(document.uri), wrap_indent=len(INDENT))
    screen.say((f"{INDENT}{document.reason}", "dim"))
