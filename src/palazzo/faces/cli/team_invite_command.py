"""The command palazzo team invite: lets a person join the team, or ends that."""

from __future__ import annotations

import sys
from typing import Annotated

from palazzo.errors import UsageError
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.local_command import LocalCommand
from palazzo.faces.cli.team_serve_command import DATABASE, database_url
from palazzo.frozen_class import frozen
from palazzo.operations.operation import About
from palazzo.text.count_phrases import count_noun


@frozen
class TeamInviteRequest:
    """Whom to invite, or whose access to end."""

    name: Annotated[str, About("The person's name, as others see it.", positional=True)]
    database: Annotated[str | None, About(f"The PostgreSQL database, instead of {DATABASE}.", metavar="URL")] = None
    login: Annotated[
        str | None,
        About("Let the person sign on by this email address (or id) at the identity provider.", metavar="EMAIL"),
    ] = None
    remove: Annotated[bool, About("End the person's access: their tokens stop, and they leave every wing.")] = False
    revoke: Annotated[bool, About("End the tokens of all their devices first; their roles stay.")] = False
    withdraw: Annotated[bool, About("Also withdraw all that they have shared from all wings.")] = False


def team_invite(request: TeamInviteRequest, common: Common) -> int:
    """Print an invitation for a person: a token with which one device joins the team, once, within seven days.

    Run it where the team server runs. A person who is in the team already gets an invitation for another device. With
    --login, the person signs on instead, and no invitation is printed. With --revoke or --remove, what they shared
    stays, unless you add --withdraw.
    """
    if request.remove and (request.revoke or request.login is not None):
        raise UsageError("Give --remove alone, without --revoke or --login.")
    url = database_url(request.database)
    from palazzo.team.server import accounts, ingress
    from palazzo.team.server.team_database import TeamDatabase

    with TeamDatabase(url) as database:
        database.prepare()
        if request.remove:
            count = accounts.remove_person(database, request.name)
            print(f"{request.name} has no access any more ({count_noun(count, 'token')} revoked).")
        elif request.revoke:
            accounts.revoke_tokens(database, request.name)
        if request.withdraw:
            count = ingress.withdraw_all(database, request.name)
            print(f"Withdrew what {request.name} shared: {count_noun(count, 'wing')}.", file=sys.stderr)
        if request.login is not None:
            login = accounts.set_login(database, request.name, request.login)
            print(f"{request.name} signs on as {login}: palazzo team join URL")
        elif not request.remove:
            print(accounts.add_person(database, request.name))
    return 0


COMMAND = LocalCommand(
    "team invite",
    TeamInviteRequest,
    team_invite,
    examples=(
        "palazzo team invite Ada",
        "palazzo team invite Ada --login ada@example.org",
        "palazzo team invite Ada --revoke",
        "palazzo team invite Ada --remove",
    ),
)
