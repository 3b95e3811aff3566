"""Verification of ID tokens (OpenID Connect Core 1.0, section 3.1.3.7), with PyJWT.

The provider's keys are fetched once and kept for some minutes. A token with an unknown key has them fetched again,
because providers change their keys; but at most every half minute, because anybody can send such a token.
"""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from palazzo.frozen_class import frozen
from palazzo.team import identity_provider
from palazzo.team.identity_provider import Provider, ProviderUnusable
from palazzo.team.server.accounts import NotAllowed

ALGORITHMS: Mapping[str, tuple[str, str]] = {
    "RS256": ("RSA", ""),
    "ES256": ("EC", "P-256"),
    "EdDSA": ("OKP", "Ed25519"),
}
"""The only algorithms, with the type and the curve of their keys. All are asymmetric: nobody but the provider signs."""
LEEWAY = 60.0
"""Seconds by which clocks may differ."""
LONGEST_AGE = 600.0
"""Seconds from the making of a token to its use here; a token is made for this use alone."""
LARGEST_TOKEN = 16 * 1024
KEYS_LAST, REFETCH_PAUSE, FAILURE_LASTS = 600.0, 30.0, 10.0
"""Seconds until keys are fetched again; from a fetch to one because of an unknown key; and after a failed one."""
_SMALLEST_RSA_KEY = 2048
_REASONS: tuple[tuple[type[jwt.PyJWTError], str], ...] = (
    (jwt.ExpiredSignatureError, "it has expired"),
    (jwt.ImmatureSignatureError, "it is from the future: compare the clocks"),
    (jwt.InvalidIssuedAtError, "its time is no number"),
    (jwt.InvalidAudienceError, "it was made for another program"),
    (jwt.InvalidIssuerError, "it is from another provider"),
    (jwt.InvalidSignatureError, "its signature is wrong"),
    (jwt.MissingRequiredClaimError, "something is missing in it"),
)


class IdTokenRefused(NotAllowed):
    """An ID token is not valid here."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The ID token is not accepted: {reason}.")


@frozen
class IdToken:
    """A verified ID token: its claims, what it is recognised by, and until when it is accepted (seconds since 1970)."""

    claims: Mapping[str, Any]
    digest: bytes
    accepted_until: float

    @property
    def subject(self) -> str:
        """Return the provider's own id of the person."""
        return str(self.claims["sub"])


class ProviderKeys:
    """A provider's discovery document and keys. Threads may share it; `fetch` is called by one at a time."""

    def __init__(self, issuer: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer, self._clock, self._lock = issuer, clock, threading.Lock()
        self._provider: Provider | None = None
        self._keys: list[dict[str, Any]] = []
        self._fetched_at = self._failed_at = float("-inf")
        self._failure = ""

    def provider(self) -> Provider:
        """Return what the provider says about itself. Raises ProviderUnusable."""
        with self._lock:
            self._keep_fresh(KEYS_LAST)
            assert self._provider is not None  # noqa: S101 - else it has raised
            return self._provider

    def find_key(self, key_id: str | None, algorithm: str) -> dict[str, Any] | None:
        """Return the key with this id, or without an id the only one for the algorithm; None if there is none.

        Raises ProviderUnusable.
        """
        with self._lock:
            for longest_age in (KEYS_LAST, REFETCH_PAUSE):
                self._keep_fresh(longest_age)
                key = _choose_key(self._keys, key_id, algorithm)
                if key is not None:
                    return key
        return None

    def _keep_fresh(self, longest_age: float) -> None:
        """Fetch what is older than `longest_age` seconds; after a failure, raise it again for a while instead."""
        if self._clock() - self._fetched_at < longest_age:
            return
        if self._clock() - self._failed_at < FAILURE_LASTS:
            raise ProviderUnusable(self._failure)
        try:
            provider = identity_provider.discover(self._issuer)
            answer = identity_provider.request_json(provider.jwks_uri)
            keys = answer.values.get("keys")
            if answer.status != 200 or not isinstance(keys, list):
                raise ProviderUnusable(f"The provider at {self._issuer} does not show its keys.")
        except ProviderUnusable as error:
            self._failed_at, self._failure = self._clock(), str(error)
            raise
        self._provider, self._fetched_at = provider, self._clock()
        self._keys = [key for key in keys if isinstance(key, dict)]


def _choose_key(keys: list[dict[str, Any]], key_id: str | None, algorithm: str) -> dict[str, Any] | None:
    kind, curve = ALGORITHMS[algorithm]
    candidates = [
        key
        for key in keys
        if key.get("kty") == kind
        and key.get("crv", "") == curve
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) in (algorithm, curve)
        and (key_id is None or key.get("kid") == key_id)
    ]
    return candidates[0] if len(candidates) == 1 else None


class IdTokenVerifier:
    """Verifies ID tokens of one provider for one client."""

    def __init__(self, keys: ProviderKeys, issuer: str, client_id: str) -> None:
        self._keys, self._issuer, self._client_id = keys, issuer, client_id

    def verify(self, token: str, nonce: str, may_lack_nonce: bool) -> IdToken:
        """Return a token's claims. Raises IdTokenRefused, or ProviderUnusable where its keys cannot be had.

        The nonce binds it to this server and a device. `may_lack_nonce` accepts one without, as the device flow gives
        it, but none with another.
        """
        algorithm, key_id = _read_header(token)
        key = self._keys.find_key(key_id, algorithm)
        if key is None:
            raise IdTokenRefused("the provider has no such key")
        claims = self._decode(token, key, algorithm)
        self._check_party(claims)
        _check_age(claims)
        _check_nonce(claims, nonce, may_lack_nonce)
        subject = claims["sub"]
        if not (isinstance(subject, str) and 0 < len(subject) <= 255 and subject.isprintable()):
            raise IdTokenRefused("it names nobody")
        # Without the signature: from some signatures, others that are valid too can be made.
        digest = sha256(token.rpartition(".")[0].encode()).digest()
        return IdToken(claims, digest, float(claims["iat"]) + LONGEST_AGE + LEEWAY)

    def _decode(self, token: str, key: dict[str, Any], algorithm: str) -> dict[str, Any]:
        try:
            public_key = jwt.PyJWK(key, algorithm).key
            if isinstance(public_key, RSAPublicKey) and public_key.key_size < _SMALLEST_RSA_KEY:
                raise IdTokenRefused("the provider's key is too short")
            claims: dict[str, Any] = jwt.decode(
                token,
                public_key,
                algorithms=[algorithm],
                audience=self._client_id,
                issuer=self._issuer,
                leeway=LEEWAY,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError) as error:
            reason = next((reason for kind, reason in _REASONS if isinstance(error, kind)), "it is no ID token")
            raise IdTokenRefused(reason) from None
        return claims

    def _check_party(self, claims: Mapping[str, Any]) -> None:
        """Refuse a token that was made for other programs, too, unless this one asked for it."""
        party, audience = claims.get("azp"), claims["aud"]
        is_for_several = isinstance(audience, list) and len(audience) > 1
        if (party is not None or is_for_several) and party != self._client_id:
            raise IdTokenRefused("it was made for another program")


def _read_header(token: str) -> tuple[str, str | None]:
    """Return the algorithm and the key's id. Raises IdTokenRefused."""
    try:
        if len(token) > LARGEST_TOKEN:
            raise IdTokenRefused("it is too long")
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise IdTokenRefused("it is no ID token") from None
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or "crit" in header:
        raise IdTokenRefused("it is not signed as it must be")
    if str(header.get("typ", "JWT")).upper() != "JWT" or not (key_id is None or isinstance(key_id, str)):
        raise IdTokenRefused("it is no ID token")
    return algorithm, key_id


def _check_age(claims: Mapping[str, Any]) -> None:
    if time.time() - float(claims["iat"]) > LONGEST_AGE + LEEWAY:
        raise IdTokenRefused("it is too old")


def _check_nonce(claims: Mapping[str, Any], nonce: str, may_lack_nonce: bool) -> None:
    token_nonce = claims.get("nonce")
    if token_nonce is None and may_lack_nonce:
        return
    if not (
        isinstance(token_nonce, str) and hmac.compare_digest(token_nonce.encode("utf-8", "replace"), nonce.encode())
    ):
        raise IdTokenRefused("it was not made for this server and device")
