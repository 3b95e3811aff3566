"""Who may see the viewer: one-time links, the cookies that they are exchanged for, and the tokens of forms.

A link is valid once, for some minutes. Its cookie is valid until the viewer ends. Only a digest of a cookie is kept, so
a copy of this state opens nothing. The token of a form is derived from the cookie; another page cannot know it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from palazzo.frozen_class import frozen

LINK_SECONDS = 300.0
"""Seconds for which a link can be used: a browser that starts cold on a slow machine needs half a minute."""
MOST_LINKS = 32
"""The most unused links. Beyond these, the oldest becomes invalid."""
MOST_SESSIONS = 64
"""The most cookies. Beyond these, the oldest becomes invalid."""
_SECRET_BYTES = 32


@frozen
class Visitor:
    """Who looks: the directory and the variables of the shell that asked for the link, and whether it only reads."""

    cwd: Path
    variables: Mapping[str, str]
    read_only: bool = False


@frozen
class WebSession:
    """A browser that was admitted. `key` is the digest of its cookie, `form_token` what its forms must send."""

    key: str
    form_token: str
    visitor: Visitor


class WebSessions:
    """All links and cookies of one viewer. Any thread may call."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._links: dict[str, tuple[float, Visitor]] = {}
        self._visitors: dict[str, Visitor] = {}

    @property
    def visitors(self) -> dict[str, Visitor]:
        """Return the admitted visitors, by the digest of their cookie."""
        return dict(self._visitors)

    def make_link(self, visitor: Visitor) -> str:
        """Return the token of a new link for a visitor."""
        token = secrets.token_urlsafe(_SECRET_BYTES)
        self._links[_digest(token)] = (self._clock() + LINK_SECONDS, visitor)
        _drop_oldest(self._links, MOST_LINKS)
        return token

    def redeem(self, token: str) -> str | None:
        """Return a new cookie for the token of a link, which is used up; None if the link is not valid (any more)."""
        expires_at, visitor = self._links.pop(_digest(token), (0.0, None))
        if visitor is None or self._clock() > expires_at:
            return None
        cookie = secrets.token_urlsafe(_SECRET_BYTES)
        self.admit(_digest(cookie), visitor)
        return cookie

    def admit(self, key: str, visitor: Visitor) -> None:
        """Admit the bearer of a cookie by its digest, such as one from before the service was restarted."""
        self._visitors[key] = visitor
        _drop_oldest(self._visitors, MOST_SESSIONS)

    def find(self, cookie: str) -> WebSession | None:
        """Return the session of a cookie; None for an unknown one.

        The look-up is by digest, so its duration says nothing about a valid cookie.
        """
        key = _digest(cookie)
        visitor = self._visitors.get(key)
        return None if visitor is None else WebSession(key, _form_token(cookie), visitor)


def is_same(token: str, expected_token: str) -> bool:
    """Return whether two tokens are equal; the comparison takes equally long wherever they differ."""
    return hmac.compare_digest(token.encode("utf-8", "replace"), expected_token.encode())


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _form_token(cookie: str) -> str:
    return hmac.new(cookie.encode("utf-8", "replace"), b"palazzo form", hashlib.sha256).hexdigest()


def _drop_oldest(entries: dict[str, Any], most: int) -> None:
    while len(entries) > most:
        entries.pop(next(iter(entries)))
