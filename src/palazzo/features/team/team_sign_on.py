"""Sign-on to a team: in the browser of this machine, or by a code for a browser on any."""

from __future__ import annotations

import secrets
import webbrowser
from typing import TYPE_CHECKING, Any

from palazzo.errors import UsageError
from palazzo.features.team.contract import INVITATION, SignOnStepView
from palazzo.frozen_class import frozen
from palazzo.security.device_keys import DeviceKey
from palazzo.team import identity_provider
from palazzo.team.client import sign_on as team_sign_on
from palazzo.team.client.sign_on import SignOn, SignOnStep, Surroundings
from palazzo.team.client.team_connection import TeamConnection
from palazzo.team.protocol import sign_on_nonce

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@frozen
class NewDevice:
    """The device that gets a token: its id, its key, and its name for the server's log."""

    id: str
    key: DeviceKey
    name: str


def sign_on(context: Context, url: str, device: NewDevice, is_device_wanted: bool) -> dict[str, Any]:
    """Let the person sign on; return the server's answer: a token, and who they are. Raises PalazzoError."""
    connection = TeamConnection(url, "")
    method = team_sign_on.find_method(connection)
    if method is None:
        raise UsageError(
            f"People join this team by invitation: give yours with --invitation-file FILE, or in {INVITATION}."
        )
    if not context.can_tell:
        raise UsageError("Signing on needs a terminal: run 'palazzo team join' there.")

    def show(step: SignOnStep) -> None:
        context.tell(SignOnStepView(step.address, step.code, step.is_opened))

    provider = identity_provider.discover(method.issuer)
    salt = secrets.token_hex(16)
    nonce = sign_on_nonce(url, device.id, device.key.public.hex(), salt)
    attempt = SignOn(connection, method, provider, Surroundings(show, _open_browser))
    id_token = attempt.obtain_id_token(nonce, is_device_wanted)
    return connection.sign_on(id_token, salt, device.id, device.key.public, device.name)


def _open_browser(address: str) -> bool:
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
