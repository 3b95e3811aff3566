"""Secrets that a fixed phrase announces: credentials in an address, `Authorization:`, a private key's first line.

Each function is given a text and where its phrase stands in it, in any case, and looks no further than a bounded
stretch around that.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from palazzo.security.token_forms import AZURE_CLIENT_SECRET, KEY_MATERIAL, PRIVATE_KEY, WEBHOOK

Found = tuple[int, int, str]
"""Where a secret begins, where it ends, and the rule that found it."""

_CREDENTIALS = re.compile(r"://[^\s/@:\"'`<>?#]{0,100}:([^\s/@\"'`<>]{3,200})@[\w.\[$-]")
_STAND_IN = re.compile(
    r"[$<{%*\[(]|(?:password|passwd|pass|pwd|secret|token|xxx+|\.\.\.|port)\Z|\d{2,5}\Z", re.IGNORECASE
)
_AUTHORIZATION = re.compile(
    r"auth(?:orization)?\\{0,16}[\"']?[ ]{0,4}[:=,][ ]{0,4}\\{0,16}[\"'`]?"
    r"(?:bearer|token|apikey|api-key|key|splunk)[ :=]{1,3}([\w.~+/=-]{12,4096})",
    re.IGNORECASE | re.ASCII,
)
_BEARER = re.compile(r"bearer[ ]{1,3}([A-Za-z0-9._~+/-]{20,4096}=*)", re.IGNORECASE)
_BASIC = re.compile(
    r"auth(?:orization)?\\{0,16}[\"']?[ ]{0,4}[:=,][ ]{0,4}\\{0,16}[\"'`]?(?:basic[ ]{1,3})?"
    r"([A-Za-z0-9+/]{8,1024}={0,2})",
    re.IGNORECASE,
)
_HOOK_GOES_ON = frozenset(["s.", "s/", ".o", "b2"])
"""After `hook`, in each of the addresses of `WEBHOOK`."""
_SIGNATURE = re.compile(r"sig=([A-Za-z0-9%+/]{40,100}(?:=|%3D)?)", re.IGNORECASE)
_CURL_USER = re.compile(
    r"curl\b[^\n]{0,400}?\s(?:-u|--user)[ =]{1,2}[\"']?[^\s:\"']{0,64}:([^\s:\"'$<{*\[(]{3,200})", re.IGNORECASE
)


def _credentials(text: str, at: int) -> Found | None:
    found = _CREDENTIALS.match(text, at)
    return None if not found or _STAND_IN.match(found[1]) else (*found.span(1), "url-password")


def _authorization(text: str, at: int) -> Found | None:
    found = _AUTHORIZATION.match(text, at)
    if found and any(map(str.isdigit, found[1])):
        return (*found.span(1), "authorization")
    basic = _BASIC.match(text, at)
    return (*basic.span(1), "authorization") if basic and _is_user_and_password(basic[1]) else None


def _is_user_and_password(body: str) -> bool:
    try:
        name, colon, word = base64.b64decode(body + "=" * (-len(body) % 4), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return False
    return bool(name and colon and word) and (name + word).isprintable()


def _bearer(text: str, at: int) -> Found | None:
    found = _BEARER.match(text, at)
    return (*found.span(1), "authorization") if found and any(map(str.isdigit, found[1])) else None


def _private_key(text: str, at: int) -> Found | None:
    found = PRIVATE_KEY.match(text, at)
    return (*found.span(), "private-key") if found and KEY_MATERIAL.search(found[1] or found[2]) else None


def _webhook(text: str, at: int) -> Found | None:
    if text[at + 4 : at + 6].lower() not in _HOOK_GOES_ON:
        return None
    found = WEBHOOK.search(text, max(0, at - 40), at + 200)
    return (*found.span(found.lastindex or 0), "webhook") if found else None


def _azure(text: str, at: int) -> Found | None:
    found = AZURE_CLIENT_SECRET.match(text, max(0, at - 5)) if text.startswith("Q", at - 1) else None
    return (*found.span(), "azure-client-secret") if found else None


def _signature(text: str, at: int) -> Found | None:
    found = _SIGNATURE.match(text, at)
    return (*found.span(1), "signature") if found and text[max(0, at - 1) : at] in "?&;" else None


def _curl_user(text: str, at: int) -> Found | None:
    found = _CURL_USER.match(text, at)
    return None if not found or _STAND_IN.match(found[1]) else (*found.span(1), "password")


PHRASES: tuple[tuple[bytes, Callable[[str, int], Found | None]], ...] = (
    (b"://", _credentials),
    (b"auth", _authorization),
    (b"bearer", _bearer),
    (b"-----begin", _private_key),
    (b"hook", _webhook),
    (b"~", _azure),
    (b"sig=", _signature),
    (b"curl", _curl_user),
)
"""Each phrase in lower case, and who looks at it."""
