"""Terminal output of the team's commands."""

from __future__ import annotations

from collections.abc import Iterator

from palazzo.features.screen import Screen
from palazzo.features.search.hit_view import Answer, write_hit
from palazzo.features.team.contract import (
    ErasureView,
    SharedWing,
    SignOnStepView,
    TeamApproveResult,
    TeamErasuresResult,
    TeamJoinResult,
    TeamLogResult,
    TeamMemberResult,
    TeamSearchResult,
    TeamShareResult,
    TeamStatusResult,
    TeamUnshareResult,
)
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso


def team_join(screen: Screen, result: TeamJoinResult) -> None:
    """Say who this is in the team."""
    screen.say("Joined the team at ", (result.url, "bold"), f" as {result.person}. Nothing is shared yet.")
    screen.say(("'palazzo team share WING --dry-run' shows what sharing a wing would send.", "dim"))


def team_join_event(screen: Screen, step: SignOnStepView) -> None:
    """Say what to do in order to sign on."""
    if step.code:
        screen.say("Open ", (step.address, "bold"), " on any machine, and enter the code ", (step.code, "bold"), ".")
        screen.say(("Only enter a code that you asked for yourself, here.", "dim"))
    else:
        screen.say(
            "Sign on in your browser" if step.is_opened else "Open this address in a browser on this machine", ":"
        )
        screen.exact(f"{step.address}\n")


def team_login(screen: Screen, result: TeamJoinResult) -> None:
    """Say who this is in the team."""
    screen.say("Signed on at ", (result.url, "bold"), f" as {result.person}.")


team_login_event = team_join_event


def team_share(screen: Screen, result: TeamShareResult) -> None:
    """Say what was sent of each wing, and what stays."""
    for wing in result.wings:
        _show_wing(screen, wing, result.dry_run)


def _show_wing(screen: Screen, wing: SharedWing, dry_run: bool) -> None:
    counts = ", ".join(count_noun(count, kind) for kind, count in wing.records.items()) or "nothing yet"
    name, approvals = (wing.wing, "bold"), count_noun(wing.approvals, "approval")
    if dry_run and not wing.records:
        screen.say(name, ": there is nothing to share yet.")
    elif dry_run:
        screen.say(name, f": {count_noun(wing.sent, 'record')} would be sent. Shared then: {counts}.")
    elif wing.segments:
        size = f"{count_noun(wing.segments, 'segment')}, {wing.bytes / 1000:,.0f} kB"
        size += f", {approvals}" if wing.approvals else ""
        screen.say(name, f": sent {count_noun(wing.sent, 'record')} ({size}). Shared now: {counts}.")
    elif wing.approvals:
        screen.say(name, f": sent {approvals}. Shared now: {counts}.")
    else:
        screen.say(name, f": there is nothing new to send. Shared now: {counts}.")
    if wing.created:
        screen.say((f"Only you can read it: 'palazzo team member {wing.wing} NAME' lets a teammate in.", "dim"))
        screen.say(("The background service sends what is added, unless the setting team.background is off.", "dim"))
    if wing.withdrawn:
        screen.say(("What is no longer shared is withdrawn, so all of it is sent again.", "dim"))
    if wing.withheld:
        screen.say(("Stays here: " + ", ".join(f"{n:,} {why}" for why, n in wing.withheld.items()), "yellow"))


def team_unshare(screen: Screen, result: TeamUnshareResult) -> None:
    """Say what was withdrawn."""
    what = "withdrawn from the team" if result.withdrawn else "no longer shared; the server had nothing of it"
    screen.say((result.wing, "bold"), f": {what}")


def team_member(screen: Screen, result: TeamMemberResult) -> None:
    """Say who may do what."""
    role = "has no access to it any more" if result.role == "none" else f"is now a {result.role}"
    screen.say((result.wing, "bold"), f": {result.person} {role}")


def team_status(screen: Screen, result: TeamStatusResult) -> None:
    """Show the team and its wings."""
    if not result.url:
        screen.say("This palace has not joined a team.")
        return
    screen.say(f"{result.person} at ", (result.url, "bold"))
    if result.problem:
        screen.say((result.problem, "yellow"))
    if result.failure and result.failure != result.problem:
        screen.say((f"What is new could not be shared: {result.failure}", "yellow"))
    elif result.shared_at is not None and not result.failure and any(wing.shared_as for wing in result.wings):
        screen.say((f"All shared wings were sent at {to_iso(result.shared_at)}.", "dim"))
    for wing in result.wings:
        shared = f"shared from '{wing.shared_as}' here" if wing.shared_as else ""
        screen.say(f"  {wing.name} ({'; '.join(filter(None, (wing.role, shared)))})")


def team_log(screen: Screen, result: TeamLogResult) -> None:
    """Show the log, one event a line."""
    for line in result.lines:
        screen.say(f"{to_iso(line.at)}  {line.person}  {line.verb}  {line.wing}  {line.detail}".rstrip())


def team_erasures(screen: Screen, result: TeamErasuresResult) -> None:
    """Show each withdrawal, and where its words still are."""
    if result.removed_here:
        screen.say(f"Removed {count_noun(result.removed_here, 'text')} that teammates withdrew from the ledger here.")
    if not result.erasures:
        screen.say("Nothing was withdrawn.")
    for erasure in result.erasures:
        about = f"{erasure.person}, {erasure.device}, {to_iso(erasure.asked_at)}"
        size = f"{count_noun(len(erasure.segments), 'segment')}, {count_noun(len(erasure.drawers), 'drawer')}"
        screen.say((f"{erasure.id}  {erasure.wing}", "bold"), f"  {about}: {size}")
        for line in _places_of(erasure):
            screen.say(f"    {line}")


def _places_of(erasure: ErasureView) -> Iterator[str]:
    """Yield where a withdrawal's words are, or since when they are gone."""
    rows_at, heap_at = (None if at is None else to_iso(at) for at in (erasure.rows_at, erasure.heap_at))
    yield f"search: gone since {rows_at}" if rows_at else "search: a worker has not built the wing again yet"
    yield f"tables: gone since {heap_at}" if heap_at else "tables: still in their files until 'palazzo team purge'"
    if erasure.is_log_passed:
        yield f"write-ahead log: not needed any more before {erasure.log_position}"
    else:
        yield "write-ahead log: still needed for a restart, until PostgreSQL's next checkpoint after the purge"
    backups = f"gone on {erasure.backups_until}" if erasure.backups_until else "not stated ('team purge --backup-days')"
    yield f"backups and log archive: {backups}"
    stale = [copy.machine for copy in erasure.scratch if not copy.is_clean]
    yield f"workers: still on {', '.join(stale)}" if stale else "workers: gone"
    silent = [f"{own.person} ({own.device})" for own in erasure.clients if own.acknowledged_at is None]
    yield f"devices: no answer yet from {', '.join(silent)}" if silent else "devices: all have acknowledged"


def team_approve(screen: Screen, result: TeamApproveResult) -> None:
    """Say how many notes were approved."""
    notes = count_noun(len(result.notes), "note")
    if result.revoked:
        screen.say(f"The approval of {notes} was taken back.")
    else:
        screen.say(f"{notes} approved for everybody who may read them.")
    screen.say(("Search shows it as soon as a worker has built the wing again.", "dim"))


def team_search(screen: Screen, result: TeamSearchResult) -> None:
    """Show the hits as a search of the palace does: whose each is, and the lines around its best sentence."""
    if not result.hits:
        screen.say("Nothing found in the wings that teammates share with you.")
        return
    answer = Answer(result.searched_at, "", None, result.readable, frozenset(result.matched_words), explained=False)
    for rank, hit in enumerate(result.readable, 1):
        write_hit(screen, rank, hit, answer)
    hint = f"'palazzo show {result.readable[0].short_id}' shows the first in full"
    screen.say((f"{count_noun(len(result.hits), 'hit')}; {hint}", "dim"))
