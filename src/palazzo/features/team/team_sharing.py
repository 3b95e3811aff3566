"""team share, team unshare, team search: what goes to the team, and what comes from it."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.search.team_hits import view_shared_hits
from palazzo.features.team.contract import (
    SharedWing,
    TeamHitView,
    TeamSearchRequest,
    TeamSearchResult,
    TeamShareRequest,
    TeamShareResult,
    TeamUnshareRequest,
    TeamUnshareResult,
)
from palazzo.features.team.team_account import connect, find_team_wing
from palazzo.model import Micros
from palazzo.operations.arguments import moment
from palazzo.team.client import membership as memberships
from palazzo.team.client import wing_records, wing_sharing
from palazzo.team.client.membership import BackgroundState, Share
from palazzo.team.client.wing_records import Selection

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.team.client.team_connection import TeamConnection


def team_share(context: Context, request: TeamShareRequest) -> TeamShareResult:
    """Share a wing, or send what is new in all that are shared."""
    if request.since is not None and request.with_past:
        raise UsageError("Give --since or --with-past, not both.")
    if request.wing is None and (request.since is not None or request.with_past):
        raise UsageError("Name the wing for which --since or --with-past counts.")
    member = memberships.find_membership(context.palace_path)
    shared = {} if member is None else member.shared
    names = sorted(shared) if request.wing is None else [request.wing]
    if request.dry_run and names:
        return TeamShareResult(True, tuple(_try_out(context, request, shared.get(name), name) for name in names))
    _, connection = connect(context)
    if not names:
        raise UsageError("No wing is shared yet; 'palazzo team share WING' shares one.")
    with memberships.sharing_alone(context.palace_path):
        result = TeamShareResult(False, tuple(_share(context, request, connection, name) for name in names))
    if request.wing is None:
        memberships.save_background(context.palace_path, BackgroundState(context.now))
    return result


def _try_out(context: Context, request: TeamShareRequest, share: Share | None, name: str) -> SharedWing:
    """Return what would be sent, as far as this palace knows what the server has."""
    selection = _select(context, name, _since(context, request, share))
    sent = memberships.SentState() if share is None else memberships.load_sent(context.palace_path, share.id)
    delta = wing_sharing.compare(selection, sent)
    counts, withheld = dict(selection.counts), dict(selection.withheld)
    return SharedWing(name, counts, withheld, len(delta.lines), 0, 0, delta.is_new_epoch, False)


def _since(context: Context, request: TeamShareRequest, share: Share | None) -> Micros | None:
    """Return from when on a wing is shared: as asked for, else as before, else from now on."""
    if request.with_past:
        return None
    if request.since is not None:
        return moment(request.since, context.now, "--since")
    return context.now if share is None else share.since


def _share(context: Context, request: TeamShareRequest, connection: TeamConnection, name: str) -> SharedWing:
    path = context.palace_path
    member = memberships.load_membership(path)
    known = member.shared.get(name)
    since, is_created = _since(context, request, known), False
    selection = _select(context, name, since)
    if known is None:
        wing = find_team_wing(connection, name)
        is_created = wing is None
        known = Share(str((wing or connection.create_wing(name))["id"]), since)
    member = member.with_shared(name, replace(known, since=since))
    memberships.save_membership(path, member)
    outcome = wing_sharing.send_wing(path, member, connection, known.id, selection, lambda: context.now)
    return SharedWing(
        name,
        dict(selection.counts),
        dict(selection.withheld),
        outcome.records,
        outcome.segments,
        outcome.bytes,
        outcome.is_new_epoch,
        is_created,
        outcome.approvals,
    )


def _select(context: Context, wing: str, since: Micros | None) -> Selection:
    with context.reading().database.snapshot() as connection:
        return wing_records.select_records(connection, wing, since)


def team_unshare(context: Context, request: TeamUnshareRequest) -> TeamUnshareResult:
    """Withdraw what this device has sent of a wing."""
    with memberships.sharing_alone(context.palace_path):
        member, connection = connect(context)
        share = member.shared.get(request.wing)
        if share is None:
            raise UsageError(f"The wing '{request.wing}' is not shared; 'palazzo team status' lists those that are.")
        is_withdrawn = connection.withdraw(share.id)
        memberships.save_membership(context.palace_path, member.with_shared(request.wing, None))
        memberships.forget_sent(context.palace_path, share.id)
    return TeamUnshareResult(request.wing, is_withdrawn)


def team_search(context: Context, request: TeamSearchRequest) -> TeamSearchResult:
    """Search what teammates share."""
    if request.limit < 1:
        raise UsageError("--limit must be at least 1.")
    _, connection = connect(context)
    hits = connection.search(request.query, request.limit, request.wing)
    words = frozenset(request.query.casefold().split())
    return TeamSearchResult(
        tuple(TeamHitView(**asdict(hit)) for hit in hits),
        readable=tuple(view_shared_hits(hits, words)),
        matched_words=tuple(sorted(words)),
        searched_at=context.now,
    )
