"""Sign-on: exchanges an ID token, once, for a token of a device, as an invitation is exchanged (`accounts`).

A person is known by the claim that the settings name. The first sign-on binds them to the provider's own id of theirs
(`sub`): should the provider give their address to somebody else, that one is refused.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Mapping
from typing import Any, Literal, LiteralString
from urllib.parse import quote

from palazzo.errors import PalazzoError, UsageError
from palazzo.security.display_names import plain_name
from palazzo.team import identity_provider
from palazzo.team.identity_provider import ProviderAnswer
from palazzo.team.protocol import sign_on_nonce
from palazzo.team.server import accounts
from palazzo.team.server.accounts import NotAllowed
from palazzo.team.server.id_tokens import IdToken, IdTokenVerifier, ProviderKeys
from palazzo.team.server.sign_on_settings import SignOnSettings
from palazzo.team.server.team_database import Session, TeamDatabase

_MOST_AT_ONCE = 8
"""Sign-ons at one time. They come from anybody, and may wait for the provider; members' requests must find a thread."""
_FORM_FIELDS = {
    "token": frozenset(["grant_type", "code", "redirect_uri", "code_verifier", "device_code"]),
    "device": frozenset(["scope"]),
}
_ANSWER_FIELDS = ("id_token", "error", "device_code", "user_code", "verification_uri", "expires_in", "interval")


_BOUND: LiteralString = "JOIN team.identity ON person = id WHERE issuer = %s AND subject = %s"


class SignOnBusy(PalazzoError):
    """Too many people sign on at this moment."""


class SignOnService:
    """Signs people on. Threads may share it."""

    def __init__(self, database: TeamDatabase, settings: SignOnSettings) -> None:
        self._database, self._settings = database, settings
        self._keys = ProviderKeys(settings.issuer)
        self._verifier = IdTokenVerifier(self._keys, settings.issuer, settings.client_id)
        self._free = threading.BoundedSemaphore(_MOST_AT_ONCE)

    def describe(self) -> dict[str, Any]:
        """Return what a client needs in order to sign on; nothing of it is secret."""
        settings = self._settings
        return {
            "url": settings.url,
            "issuer": settings.issuer,
            "client_id": settings.client_id,
            "scopes": list(settings.scopes),
            "has_device_flow": settings.device_flow,
            "is_forwarded": bool(settings.client_secret),
        }

    def sign_on(self, id_token: str, salt: str, device: bytes, public_key: bytes, name: str) -> tuple[str, str]:
        """Return a member token for a device, and the person's name.

        Raises NotAllowed, and ProviderUnusable or SignOnBusy where the token could not be verified now.
        """
        nonce = sign_on_nonce(self._settings.url, device.hex(), public_key.hex(), salt)
        with self._taking_turns():
            token = self._verifier.verify(id_token, nonce, may_lack_nonce=self._settings.device_flow)
        try:
            return self._exchange(token, device, public_key, name)
        except NotAllowed as error:
            self._record_refusal(token.subject, str(error))
            raise

    def _exchange(self, token: IdToken, device: bytes, public_key: bytes, name: str) -> tuple[str, str]:
        """Return what `sign_on` does, in one transaction: a refusal changes nothing."""
        email = _verified_email(token.claims) if self._settings.needs_email else ""
        self._check_admission(token.claims, email)
        login = email if self._settings.person == "email" else token.subject  # an id is compared to the letter
        with self._database.as_server() as session:
            _use_once(session, token)
            person, person_name = self._find_person(session, token.subject, login)
            days = self._settings.days
            return accounts.register_device(session, person, device, public_key, name, "sign on", days), person_name

    def _record_refusal(self, subject: str, reason: str) -> None:
        """Write a refusal into the log of the person, if it is one of the team."""
        with self._database.as_server() as session:
            person = _select_person(session, _BOUND, self._settings.issuer, subject)
            if person is not None:
                accounts.note(session, person[0], "refused", detail=f"sign on: {reason}")

    def forward(self, endpoint: Literal["token", "device"], form: Mapping[str, Any]) -> ProviderAnswer:
        """Send a client's form to the provider with the client's secret, which only this server has.

        Only what a sign-on needs is passed on, in both directions. Raises UsageError if there is no secret.
        """
        settings = self._settings
        if not settings.client_secret:
            raise UsageError("This team server has no client secret: ask the identity provider directly.")
        fields = {name: value for name, value in form.items() if name in _FORM_FIELDS[endpoint]}
        if len(fields) < len(form) or not all(isinstance(value, str) for value in fields.values()):
            raise UsageError("A form has a field that no sign-on needs.")
        with self._taking_turns():
            provider = self._keys.provider()
            address = provider.token_endpoint if endpoint == "token" else provider.device_authorization_endpoint
            if not address:
                raise UsageError("The identity provider has no device flow.")
            headers, secret = {}, {"client_id": settings.client_id}
            if provider.takes_basic_auth:
                pair = f"{quote(settings.client_id, safe='')}:{quote(settings.client_secret, safe='')}"
                headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
            else:
                secret["client_secret"] = settings.client_secret
            answer = identity_provider.request_json(address, {**fields, **secret}, headers)
        values = {name: answer.values[name] for name in _ANSWER_FIELDS if name in answer.values}
        return ProviderAnswer(answer.status, values)

    def _taking_turns(self) -> _Turn:
        return _Turn(self._free)

    def _check_admission(self, claims: Mapping[str, Any], email: str) -> None:
        """Refuse who is outside the allowed domains or groups."""
        settings = self._settings
        if settings.domains and email.rpartition("@")[2] not in settings.domains:
            raise NotAllowed("Your address at the identity provider is in none of the domains of this team.")
        groups = claims.get(settings.groups_claim)
        if settings.groups and not (
            isinstance(groups, list) and any(group in settings.groups for group in groups if isinstance(group, str))
        ):
            raise NotAllowed("At the identity provider, you are in none of the groups of this team.")

    # --- who it is ---------------------------------------------------------------------------------------------

    def _find_person(self, session: Session, subject: str, login: str) -> tuple[int, str]:
        """Return the id and the name of who signs on. Raises NotAllowed if that is nobody of the team."""
        issuer = self._settings.issuer
        bound = _select_person(session, _BOUND, issuer, subject)
        if bound is None:
            bound = _select_person(session, "WHERE login = %s", login) or self._create_person(session, login)
            added = session.execute(
                "INSERT INTO team.identity VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", (issuer, subject, bound[0])
            )
            if not added.rowcount:
                raise NotAllowed(
                    f"'{login}' signed on with another account of the identity provider before: whoever runs the team "
                    f"server can allow yours, with 'palazzo team invite NAME --login {login}'."
                )
        person, name, has_left = bound
        if has_left:
            raise NotAllowed(f"'{login}' is not in the team any more.")
        return person, name

    def _create_person(self, session: Session, login: str) -> tuple[int, str, bool]:
        """Create somebody unknown, with roles in the wings of the settings. Raises NotAllowed where that is not set."""
        if not self._settings.admits_new_people:
            raise NotAllowed(
                f"Nobody in this team signs on as '{plain_name(login)}': whoever runs the team server can let you in, "
                "with 'palazzo team invite NAME --login'."
            )
        row = session.execute(
            "INSERT INTO team.person(name, login) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING id", (login, login)
        ).fetchone()
        if row is None:
            raise NotAllowed(f"Somebody else in this team is called '{login}': tell whoever runs the team server.")
        person = int(row[0])
        for wing, role in self._settings.wings.items():
            session.execute(
                "INSERT INTO team.member(person, wing, role) SELECT %s, id, %s FROM team.wing WHERE name = %s"
                " ORDER BY id LIMIT 1",
                (person, role, wing),
            )
        accounts.note(session, person, "admit", detail=login)
        return person, login, False


class _Turn:
    """A place among those who sign on at one time. Raises SignOnBusy if none is free."""

    def __init__(self, free: threading.BoundedSemaphore) -> None:
        self._free = free

    def __enter__(self) -> None:
        if not self._free.acquire(timeout=1.0):
            raise SignOnBusy("Too many people sign on to this team server right now; try again in a moment.")

    def __exit__(self, *_: object) -> None:
        self._free.release()


def _verified_email(claims: Mapping[str, Any]) -> str:
    """Return the person's address, in small letters. Raises NotAllowed unless the provider has verified it."""
    email = claims.get("email")
    if not (isinstance(email, str) and email.isprintable() and " " not in email and email.count("@") == 1):
        raise NotAllowed("The identity provider does not say your email address: this team knows people by it.")
    if claims.get("email_verified") is not True:
        raise NotAllowed(f"The identity provider has not verified the address '{plain_name(email)}'.")
    return email.lower()


def _use_once(session: Session, token: IdToken) -> None:
    """Remember a token until no server accepts it any more. Raises NotAllowed if it was used already."""
    session.execute("DELETE FROM team.used_id_token WHERE accepted_until < now()")
    added = session.execute(
        "INSERT INTO team.used_id_token VALUES (%s, to_timestamp(%s)) ON CONFLICT DO NOTHING",
        (token.digest, token.accepted_until),
    )
    if not added.rowcount:
        raise NotAllowed("The ID token was used already: sign on again.")


def _select_person(session: Session, condition: LiteralString, *values: str) -> tuple[int, str, bool] | None:
    row = session.execute(f"SELECT id, name, left_at IS NOT NULL FROM team.person {condition}", values).fetchone()  # noqa: S608
    return None if row is None else (int(row[0]), str(row[1]), bool(row[2]))
