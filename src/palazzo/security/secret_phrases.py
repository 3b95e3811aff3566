"""Secrets that a fixed phrase announces: credentials in an address, `Authorization:`, a private key's first line.

Each function is given a text and where its phrase stands in it, in any case, and looks no further than a bounded
stretch around that.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from palazzo.security.command_passwords import find_command_password
from palazzo.security.stand_ins import is_default_login, is_public_example, is_stand_in
from palazzo.security.token_forms import AZURE_CLIENT_SECRET, KEY_MATERIAL, PRIVATE_KEY, PRIVATE_KEY_TAIL

Found = tuple[int, int, str]
"""Where a secret begins, where it ends, and the rule that found it."""

_CREDENTIALS = re.compile(r"://([^\s/@:\"'`<>?#]{0,100}):([^\s/@\"'`<>]{3,200})@(?=[\w.\[$-])")
_DATABASE = re.compile(
    r"(?:mongodb(?:\+srv)?|postgres(?:ql)?|mysql|mariadb|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|s?ftp|smb|ldaps?|mqtts?|nats)\Z",
    re.I,
)
_ODD_CREDENTIALS = re.compile(
    r"://([^\s/@:\"'`<>?#]{0,100}):(?!\d{1,5}[/?])([^\s\"'`<>]{3,200})@(?=[\w.\[-]{1,200}(?:[:/?\s\"'`<>,;)]|$))"
)
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
_SIGNATURE = re.compile(r"sig=([A-Za-z0-9%+/]{40,100}(?:=|%3D)?)", re.IGNORECASE)


def _credentials(text: str, at: int) -> Found | None:
    odd = _DATABASE.search(text, max(0, at - 20), at) is not None
    found = (_ODD_CREDENTIALS if odd else _CREDENTIALS).match(text, at)
    if not found:
        return _signed(text, at)
    user, password = found.groups()
    if _STAND_IN.match(password) or is_default_login(user, password, text[found.end() : found.end() + 60]):
        return None
    return (*found.span(2), "url-password")


def _signed(text: str, at: int) -> Found | None:
    """The signature of an address that lets its holder in."""
    if "ignature=" not in text[at : at + 1200]:
        return None
    found = _SIGNED.match(text, at)
    return (*found.span(1), "signature") if found else None


_SIGNED = re.compile(r"://[^\s\"'<>]{1,1100}?[?&](?:X-Amz-|X-Goog-|X-Oss-)?[Ss]ignature=([\w%+/-]{27,1024}={0,2})")


def _authorization(text: str, at: int) -> Found | None:
    found = _AUTHORIZATION.match(text, at)
    if found and any(map(str.isdigit, found[1])):
        return (*found.span(1), "authorization")
    basic = _BASIC.match(text, at)
    if not basic or not _is_user_and_password(basic[1]) or is_public_example(basic[1] + "=" * (-len(basic[1]) % 4)):
        return None
    return (*basic.span(1), "authorization")


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
    begin = text.rfind("-----", max(0, at - 50), at)
    if begin < 0:
        return None
    if text.startswith("-----END", begin):
        tail = PRIVATE_KEY_TAIL.search(text, max(0, begin - _LONGEST_TAIL), at)
        return (*tail.span(1), "private-key") if tail and KEY_MATERIAL.search(tail[1]) else None
    found = PRIVATE_KEY.match(text, begin)
    return (*found.span(), "private-key") if found and KEY_MATERIAL.search(found[1] or found[2]) else None


_LONGEST_TAIL = 4096


def _azure(text: str, at: int) -> Found | None:
    found = AZURE_CLIENT_SECRET.match(text, max(0, at - 5)) if text.startswith("Q", at - 1) else None
    return (*found.span(), "azure-client-secret") if found else None


def _signature(text: str, at: int) -> Found | None:
    found = _SIGNATURE.match(text, at)
    return (*found.span(1), "signature") if found and text[max(0, at - 1) : at] in "?&;" else None


def _login(text: str, at: int) -> Found | None:
    """`"AUTH" "user" "X"` of Redis, `NEO4J_AUTH=user/X`, `ldap_default_authtok = X`, `_auth=…` of npm."""
    found = _AUTH.match(text, at)
    if not found:
        return None
    group = found.lastgroup or ""
    value = found[group]
    if is_stand_in(value) or (group == "redis" and not text.startswith("AUTH", at)):
        return None
    return (*found.span(group), "password")


_AUTH = re.compile(
    r"auth(?:\"(?: \"[^\"\n]{1,60}\")? \"(?P<redis>[^\"\n]{4,200})\"|=[\w.-]{1,40}/(?P<slash>[^\s\"']{4,100})"
    r"|tok(?:en)?[ ]{0,4}=[ ]{0,4}(?P<token>[^\s\"']{6,200}))",
    re.IGNORECASE,
)


def _auth(text: str, at: int) -> Found | None:
    return _authorization(text, at) or _login(text, at)


def _identified(text: str, at: int) -> Found | None:
    found = _IDENTIFIED.match(text, at)
    return (*found.span(2), "password") if found and not is_stand_in(found[2]) else None


_IDENTIFIED = re.compile(
    r"identified (?:with \S{1,60} )?(?:by|as) (?:password )?(\\{0,2}[\"'`])?([^\s\"'`;\\]{3,200})", re.IGNORECASE
)


def _community(text: str, at: int) -> Found | None:
    found = _COMMUNITY.match(text, at)
    if not found or is_stand_in(found[1]):
        return None
    directive = text[max(0, at - 20) : at].lower().endswith(("ro", "rw", "snmp-server ", "snmp ", "trap", "ro6"))
    return (*found.span(1), "password") if directive and found[1] not in ("string", "public") else None


_COMMUNITY = re.compile(r"community(?:-string)?[ ]{1,4}[\"']?([^\s\"']{4,100})", re.IGNORECASE)


PHRASES: tuple[tuple[bytes, Callable[[str, int], Found | None]], ...] = (
    (b"://", _credentials),
    (b"auth", _auth),
    (b"bearer", _bearer),
    (b"private key", _private_key),
    (b"~", _azure),
    (b"sig=", _signature),
    (b" -", find_command_password),
    (b"identified ", _identified),
    (b"community", _community),
)
"""Each phrase in lower case, and who looks at it."""
