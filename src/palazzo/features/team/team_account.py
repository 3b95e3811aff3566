"""team join, team login, team member, team status, team log: who is in which team, and what happened there."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError, UsageError
from palazzo.features.team import team_sign_on
from palazzo.features.team.contract import (
    INVITATION,
    TeamJoinRequest,
    TeamJoinResult,
    TeamLoginRequest,
    TeamLogLine,
    TeamLogRequest,
    TeamLogResult,
    TeamMemberRequest,
    TeamMemberResult,
    TeamStatusRequest,
    TeamStatusResult,
    TeamWing,
)
from palazzo.features.team.team_sign_on import NewDevice
from palazzo.model import Micros
from palazzo.team.client import membership as memberships
from palazzo.team.client.membership import Membership
from palazzo.team.client.team_connection import TeamConnection, check_url

if TYPE_CHECKING:
    from typing import Any

    from palazzo.operations.context import Context


def connect(context: Context) -> tuple[Membership, TeamConnection]:
    """Return the team that this palace has joined, and how to ask its server."""
    member = memberships.load_membership(context.palace_path)
    return member, TeamConnection(member.url, member.token)


def find_team_wing(connection: TeamConnection, name: str) -> dict[str, Any] | None:
    """Return a wing of the team by its name there. Raises UsageError if the person may read several of that name."""
    matches = [wing for wing in connection.describe_me()["wings"] if wing["name"] == name]
    if len(matches) > 1:
        raise UsageError(
            f"The team has {len(matches)} wings called '{name}' that you may read; ask an owner to leave one."
        )
    return matches[0] if matches else None


def team_join(context: Context, request: TeamJoinRequest) -> TeamJoinResult:
    """Join a team."""
    invitation = (request.invitation or context.variables.get(INVITATION) or "").strip()
    return _join(context, request, invitation)


def _join(context: Context, request: TeamJoinRequest, invitation: str) -> TeamJoinResult:
    """Get a token for this device, with an invitation if there is one, and store the membership."""
    url = check_url(request.url)
    known = memberships.find_membership(context.palace_path)
    if known is not None and known.url != url:
        if known.shared:
            raise UsageError(f"This palace shares wings at {known.url}: 'palazzo team unshare' them first.")
        known = None
    device, key = memberships.new_device() if known is None else (known.device, known.key)
    name = request.name or platform.node()
    if invitation:
        answer = TeamConnection(url, invitation).join(device, key.public, name)
    else:
        answer = team_sign_on.sign_on(context, url, NewDevice(device, key, name), request.device)
    shared = {} if known is None else known.shared
    member = Membership(url, str(answer["token"]), str(answer["person"]), device, key.private.hex(), shared)
    memberships.save_membership(context.palace_path, member)
    return TeamJoinResult(url, member.person)


def team_login(context: Context, request: TeamLoginRequest) -> TeamJoinResult:
    """Sign on again."""
    member = memberships.load_membership(context.palace_path)
    return _join(context, TeamJoinRequest(member.url, device=request.device), "")


def team_member(context: Context, request: TeamMemberRequest) -> TeamMemberResult:
    """Give a teammate a role in a wing."""
    _, connection = connect(context)
    wing = find_team_wing(connection, request.wing)
    if wing is None:
        raise UsageError(f"The team has no wing '{request.wing}' that you may read; 'palazzo team status' lists them.")
    connection.set_member(str(wing["id"]), request.person, None if request.role == "none" else request.role)
    return TeamMemberResult(request.wing, request.person, request.role)


def team_status(context: Context, request: TeamStatusRequest) -> TeamStatusResult:
    """Show the team that this palace has joined; without its server, what is known here."""
    member = memberships.find_membership(context.palace_path)
    if member is None:
        return TeamStatusResult("", "", (), "")
    state = memberships.load_background(context.palace_path)
    background = (state.shared_at, state.failure)
    local_names = {share.id: name for name, share in member.shared.items()}
    try:
        wings = TeamConnection(member.url, member.token).describe_me()["wings"]
    except PalazzoError as error:
        shared = tuple(TeamWing(name, "", name) for name in sorted(member.shared))
        return TeamStatusResult(member.url, member.person, shared, str(error), *background)
    views = (TeamWing(str(wing["name"]), str(wing["role"]), local_names.get(str(wing["id"]), "")) for wing in wings)
    return TeamStatusResult(member.url, member.person, tuple(views), "", *background)


def team_log(context: Context, request: TeamLogRequest) -> TeamLogResult:
    """Show what was done on the server."""
    _, connection = connect(context)
    lines = connection.read_log()[: max(request.limit, 0)]
    return TeamLogResult(
        tuple(
            TeamLogLine(Micros(line["at"]), line["person"], line["verb"], line["wing"], line["detail"])
            for line in lines
        )
    )
