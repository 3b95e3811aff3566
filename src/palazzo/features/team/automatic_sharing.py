"""Sharing by the service: sends what is new in each shared wing, and removes what teammates withdrew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError
from palazzo.features.team.contract import TeamShareRequest
from palazzo.features.team.team_account import connect
from palazzo.features.team.team_erasures import remove_withdrawn
from palazzo.features.team.team_sharing import team_share
from palazzo.team.client import membership as memberships
from palazzo.team.client.membership import BackgroundState
from palazzo.team.client.team_connection import TeamUnreachable

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def has_team(palace: Path) -> bool:
    """Return whether a palace has joined a team, without opening it."""
    return memberships.find_membership(palace) is not None


def is_wanted(context: Context) -> bool:
    """Return whether the service shares: the setting is on, and there is a team and a palace."""
    return context.has_palace and context.settings.flag("team.background") and has_team(context.palace_path)


def share(context: Context) -> str:
    """Share each wing; return what went wrong, '' if nothing. It is stored for `team status` and the doctor.

    A wing that the server refuses holds up no other; a server that does not answer is not asked for the rest.
    """
    failures: list[str] = []
    try:
        member, connection = connect(context)
        remove_withdrawn(context, connection)
        for wing in sorted(member.shared):
            try:
                team_share(context, TeamShareRequest(wing))
            except TeamUnreachable:
                raise
            except PalazzoError as error:
                failures.append(f"{wing}: {error}")
    except PalazzoError as error:
        failures.append(str(error))
    failure = " ".join(failures)
    former = memberships.load_background(context.palace_path)
    shared_at = former.shared_at if failure else context.now
    memberships.save_background(context.palace_path, BackgroundState(shared_at, failure))
    return failure
