"""An identity provider (OpenID Connect): its discovery document, and requests to it. Client and server ask it.

Only https is spoken, except to a provider on this machine. A redirect is refused, an answer has a limit of size and of
time, and its text is shown only as a short name. Standard library only.
"""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from http.client import HTTPException
from typing import Any
from urllib.parse import urlencode, urlsplit

from palazzo.errors import PalazzoError
from palazzo.frozen_class import frozen
from palazzo.index.openai_compatible import build_opener, is_loopback
from palazzo.security.display_names import plain_name

SECONDS = 10.0
"""The longest that one request takes, however slowly its answer comes."""
LARGEST_ANSWER = 256 * 1024
"""Most bytes of an answer: a discovery document has some 5,000, and a set of keys fewer."""
_LONGEST_ADDRESS = 2_000
_WELL_KNOWN = "/.well-known/openid-configuration"


class ProviderUnusable(PalazzoError):
    """The identity provider does not answer, or not as one."""


@frozen
class Provider:
    """What a provider's discovery document says. Without a device flow, that address is empty."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    device_authorization_endpoint: str
    takes_basic_auth: bool


@frozen
class ProviderAnswer:
    """An answer: the HTTP status, and the JSON object."""

    status: int
    values: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Return a value that is text, else ''."""
        value = self.values.get(name)
        return value if isinstance(value, str) else ""


def is_safe_address(address: str, is_local_allowed: bool) -> bool:
    """Return whether an address is https, or on this machine where that is allowed; and nothing but an address."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return False
    is_plain = len(address) <= _LONGEST_ADDRESS and address.isascii() and address.isprintable() and " " not in address
    is_complete = bool(parts.hostname) and not (parts.username or parts.password or parts.fragment)
    is_local = is_local_allowed and parts.scheme == "http" and is_loopback(parts.hostname or "")
    return is_plain and is_complete and (parts.scheme == "https" or is_local)


def is_local_address(address: str) -> bool:
    """Return whether an address is on this machine."""
    return is_loopback(urlsplit(address).hostname or "")


def discover(issuer: str) -> Provider:
    """Return what the provider with this address says about itself. Raises ProviderUnusable."""
    is_local = is_local_address(issuer)
    if not is_safe_address(issuer, is_local):
        raise ProviderUnusable(f"'{plain_name(issuer)}' is no address of an identity provider: it must be https.")
    answer = request_json(issuer.rstrip("/") + _WELL_KNOWN)
    if answer.status != 200:
        raise ProviderUnusable(f"{issuer} does not answer as an identity provider ({answer.status}): correct it.")
    if answer.text("issuer") != issuer:
        raise ProviderUnusable(
            f"The provider at {issuer} calls itself '{plain_name(answer.text('issuer'))}': name it exactly so, or "
            "correct the address."
        )
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "device_authorization_endpoint")
    endpoints = {name: answer.text(name) for name in names}
    for name, address in endpoints.items():
        is_absent = not address and name == "device_authorization_endpoint"
        if not (is_absent or is_safe_address(address, is_local)):
            raise ProviderUnusable(f"The provider at {issuer} names no https address as its {name}.")
    methods = answer.values.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    takes_basic = isinstance(methods, list) and "client_secret_basic" in methods
    return Provider(issuer=issuer, takes_basic_auth=takes_basic, **endpoints)


def request_json(
    address: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> ProviderAnswer:
    """Get a JSON object, or send a form for one. A refusal with a JSON object is an answer, too.

    Raises ProviderUnusable.
    """
    content = None if form is None else urlencode(form).encode()
    request = urllib.request.Request(  # noqa: S310 - callers have checked the address
        address, content, {"Accept": "application/json", "User-Agent": "palazzo", **(headers or {})}
    )
    answer: Future[tuple[int, bytes]] = Future()
    # A daemon: a provider that sends a byte a second must hold up neither the caller nor the end of the process.
    threading.Thread(target=_exchange, args=(request, answer), name="palazzo-provider", daemon=True).start()
    host = urlsplit(address).netloc
    try:
        status, body = answer.result(SECONDS)
    except FutureTimeoutError:
        raise ProviderUnusable(f"The identity provider {host} did not answer within {SECONDS:g} seconds.") from None
    except (OSError, HTTPException, ValueError) as error:
        cause = getattr(error, "reason", None) or error
        reason = plain_name(str(getattr(cause, "strerror", None) or cause))
        raise ProviderUnusable(f"The identity provider {host} cannot be reached ({reason}); try again later.") from None
    if 300 <= status < 400:
        raise ProviderUnusable(f"The identity provider {host} redirects, which is not followed: correct its address.")
    if len(body) > LARGEST_ANSWER:
        raise ProviderUnusable(f"The identity provider {host} sent more than {LARGEST_ANSWER // 1024} KiB.")
    return ProviderAnswer(status, _parse(body, status, host))


def _exchange(request: urllib.request.Request, answer: Future[tuple[int, bytes]]) -> None:
    try:
        try:
            with build_opener(urlsplit(request.full_url))(request, timeout=SECONDS) as response:
                answer.set_result((response.status, response.read(LARGEST_ANSWER + 1)))
        except urllib.error.HTTPError as error:
            with error:
                answer.set_result((error.code, error.read(LARGEST_ANSWER + 1)))
    except BaseException as error:  # noqa: BLE001 - the caller raises it
        answer.set_exception(error)


def _parse(body: bytes, status: int, host: str) -> dict[str, Any]:
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise ProviderUnusable(f"{host} does not answer as an identity provider ({status}): check its address.")
    return values
