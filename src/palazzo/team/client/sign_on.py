"""Sign-on of a person: gets an ID token from the provider that the team server names.

    browser     authorization code with PKCE (RFC 7636), to a listener on this machine (RFC 8252): `browser_answer`
    device      a code that the person enters on any device (RFC 8628)

The client finds the provider's addresses itself, and sends a code to nobody else. Only where the server keeps a client
secret, it passes the form on to the provider. What a person has to do is reported while it waits.
"""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from palazzo.errors import PalazzoError
from palazzo.frozen_class import frozen
from palazzo.security.display_names import plain_name
from palazzo.team import identity_provider
from palazzo.team.client.browser_answer import BrowserAnswer, Listener
from palazzo.team.client.team_connection import TeamConnection
from palazzo.team.identity_provider import Provider, ProviderAnswer, ProviderUnusable
from palazzo.team.protocol import SCOPES

BROWSER_SECONDS = 300.0
"""How long a person has to sign on in the browser."""
_INTERVAL, _SLOW_DOWN, _LONGEST_INTERVAL = 5.0, 5.0, 60.0
"""Seconds between two questions of the device flow: RFC 8628's default, and what `slow_down` adds."""
_LONGEST_WAIT = 1_800.0
_LONGEST_CODE = 40
_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_REFUSALS = {
    "access_denied": "The sign-on was refused at the identity provider; nothing has changed here.",
    "expired_token": "The code has expired before somebody entered it: start again.",
    "invalid_grant": "The identity provider does not accept the code (any more): start again.",
    "invalid_client": "The identity provider does not know this team's client: tell whoever runs the team server.",
    "unauthorized_client": "The identity provider does not let this team's client sign on so: tell whoever runs the "
    "team server.",
}


class SignOnFailed(PalazzoError):
    """Nobody signed on; nothing has changed."""


@frozen
class SignOnStep:
    """What a person has to do: open an address, and with the device flow enter a code there."""

    address: str
    code: str
    is_opened: bool


@frozen
class SignOnMethod:
    """How one signs on at a team server, as it says itself."""

    url: str
    issuer: str
    client_id: str
    scopes: tuple[str, ...]
    has_device_flow: bool
    is_forwarded: bool
    """Whether the server passes forms on to the provider, because it keeps a client secret."""


@frozen
class Surroundings:
    """What a sign-on does to the world: shows a step, opens a browser (False if there is none), and waits."""

    show: Callable[[SignOnStep], None]
    open_browser: Callable[[str], bool]
    pause: Callable[[float], None] = time.sleep


def find_method(connection: TeamConnection) -> SignOnMethod | None:
    """Ask a team server how one signs on; None if people join by invitation only. Raises PalazzoError."""
    values = connection.describe_sign_on()
    if not values.get("issuer"):
        return None
    try:
        method = SignOnMethod(
            str(values["url"]),
            str(values["issuer"]),
            str(values["client_id"]),
            tuple(scope for scope in SCOPES if scope in values["scopes"]),
            values["has_device_flow"] is True,
            values["is_forwarded"] is True,
        )
    except (KeyError, TypeError):
        raise SignOnFailed("The team server does not say clearly how to sign on: update Palazzo here and there.") from (
            None
        )
    if method.url != connection.url:
        raise SignOnFailed(
            f"The team server calls itself '{plain_name(method.url)}', and an ID token is made for that address: join "
            "there."
        )
    is_local = identity_provider.is_local_address(connection.url)
    if not identity_provider.is_safe_address(method.issuer, is_local):
        raise SignOnFailed(f"The team server names a provider that is not https: '{plain_name(method.issuer)}'.")
    return method


@frozen
class SignOn:
    """One attempt to sign on."""

    connection: TeamConnection
    method: SignOnMethod
    provider: Provider
    surroundings: Surroundings

    def obtain_id_token(self, nonce: str, is_device_wanted: bool) -> str:
        """Return an ID token. Without a browser, or where wanted, by the device flow. Raises PalazzoError."""
        if not is_device_wanted:
            token = self._by_browser(nonce)
            if token is not None:
                return token
        return self._by_device()

    # --- the browser -------------------------------------------------------------------------------------------

    def _by_browser(self, nonce: str) -> str | None:
        """Return an ID token; None if there is no browser, and another way."""
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        with Listener(state, self.method.issuer) as listener:
            query = {
                "response_type": "code",
                "client_id": self.method.client_id,
                "redirect_uri": listener.address,
                "scope": " ".join(self.method.scopes),
                "state": state,
                "nonce": nonce,
                "code_challenge": base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode(),
                "code_challenge_method": "S256",
            }
            endpoint = self.provider.authorization_endpoint
            address = f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"
            is_opened = self.surroundings.open_browser(address)
            if not is_opened and self._has_device_flow:
                return None
            self.surroundings.show(SignOnStep(address, "", is_opened))
            code = _read_code(listener.wait(BROWSER_SECONDS))
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": listener.address,
            "code_verifier": verifier,
        }
        return _read_token(self._ask("token", form))

    # --- the device flow ---------------------------------------------------------------------------------------

    @property
    def _has_device_flow(self) -> bool:
        return self.method.has_device_flow and bool(self.provider.device_authorization_endpoint)

    def _by_device(self) -> str:
        if not self._has_device_flow:
            raise SignOnFailed("This team does not let people sign on by a code: use a machine with a browser.")
        answer = self._ask("device", {"scope": " ".join(self.method.scopes)})
        device_code, user_code = answer.text("device_code"), plain_name(answer.text("user_code"), _LONGEST_CODE)
        address = answer.text("verification_uri")
        is_local = identity_provider.is_local_address(self.method.issuer)
        if not (device_code and user_code and identity_provider.is_safe_address(address, is_local)):
            raise _refusal(answer)
        self.surroundings.show(SignOnStep(address, user_code, False))
        lasts = min(_seconds(answer.values.get("expires_in"), _LONGEST_WAIT), _LONGEST_WAIT)
        return self._poll(device_code, _seconds(answer.values.get("interval"), _INTERVAL), lasts)

    def _poll(self, device_code: str, interval: float, lasts: float) -> str:
        """Ask until somebody has entered the code; `lasts` are the seconds until it expires."""
        waited_seconds = 0.0
        while waited_seconds < lasts:
            interval = min(interval, _LONGEST_INTERVAL)
            self.surroundings.pause(interval)
            waited_seconds += interval
            try:
                answer = self._ask("token", {"grant_type": _DEVICE_GRANT, "device_code": device_code})
            except ProviderUnusable:
                interval *= 2  # as RFC 8628 wants for a provider that does not answer in time
                continue
            error = answer.text("error")
            if error == "slow_down":
                interval += _SLOW_DOWN
            elif error != "authorization_pending":
                return _read_token(answer)
        raise SignOnFailed(_REFUSALS["expired_token"])

    def _ask(self, endpoint: Literal["token", "device"], form: dict[str, str]) -> ProviderAnswer:
        if self.method.is_forwarded:
            return self.connection.forward_to_provider(endpoint, form)
        provider = self.provider
        address = provider.token_endpoint if endpoint == "token" else provider.device_authorization_endpoint
        return identity_provider.request_json(address, {"client_id": self.method.client_id, **form})


def _read_code(answer: BrowserAnswer | None) -> str:
    if answer is None:
        raise SignOnFailed(f"Nobody signed on within {BROWSER_SECONDS / 60:g} minutes: start again.")
    if answer.error:
        raise _refusal(ProviderAnswer(400, {"error": answer.error}))
    return answer.code


def _read_token(answer: ProviderAnswer) -> str:
    token = answer.text("id_token")
    if answer.status != 200 or not token:
        raise _refusal(answer)
    return token


def _refusal(answer: ProviderAnswer) -> SignOnFailed:
    error = answer.text("error")
    sentence = _REFUSALS.get(error)
    return SignOnFailed(
        sentence or f"The identity provider gives no ID token ('{plain_name(error) or answer.status}')."
    )


def _seconds(value: Any, default: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return max(float(value), 1.0) if is_number and value == value else default
