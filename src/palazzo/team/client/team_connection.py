"""Requests to a team server, over HTTP. Standard library only.

Only https is spoken, except to this machine. A redirect is refused: it would get the token.
"""

from __future__ import annotations

import json
import math
import urllib.error
import urllib.request
from dataclasses import field
from http.client import HTTPException
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from palazzo.errors import PalazzoError, UsageError
from palazzo.frozen_class import frozen
from palazzo.index.openai_compatible import build_opener, is_loopback
from palazzo.security.device_keys import DeviceKey
from palazzo.team import protocol
from palazzo.team.identity_provider import ProviderAnswer, ProviderUnusable
from palazzo.team.protocol import PREFIX

TIMEOUT = 30.0
_LARGEST_ANSWER = 64 * 1024 * 1024
INCOMPLETE = "The answer of the team server is not complete, or not from one; try again later."
_TRUSTS = frozenset(["teammate", "repo", "tool", "external"])
_LATEST = 253_402_300_800_000_000
"""The year 10000, in microseconds: times from there on cannot be shown."""


class TeamUnreachable(PalazzoError):
    """No team server answers now; everything that is local works without it."""


class TeamRefused(PalazzoError):
    """The team server refused a request. `kind` is its word for why."""

    def __init__(self, message: str, kind: str) -> None:
        self.kind = kind
        super().__init__(message)


@frozen
class SharedHit:
    """A drawer that teammates share, as the server sends it: whose it is, how far it is trusted, and its text.

    `created_at` is in microseconds since 1970; `score` is the probability that it answers, 0 to 1.
    """

    id: str
    wing: str
    person: str
    trust: str
    kind: str
    author: str
    room: str
    title: str
    branch: str
    created_at: int
    score: float
    text: str


@frozen
class TeamConnection:
    """A team server, and the token to ask it with. No connection stays open between requests."""

    url: str
    token: str = field(repr=False)
    timeout: float = TIMEOUT

    def join(self, device: str, public_key: bytes, name: str) -> dict[str, Any]:
        """Exchange the invitation for a token of this device."""
        return self._send("POST", "/join", {"device": device, "public_key": public_key.hex(), "name": name})

    def describe_sign_on(self) -> dict[str, Any]:
        """Return how one signs on; without an issuer if people join by invitation only. Needs no token."""
        return self._send("GET", "/sign-on")

    def sign_on(self, id_token: str, salt: str, device: str, public_key: bytes, name: str) -> dict[str, Any]:
        """Exchange an ID token for a token of this device."""
        body = {"id_token": id_token, "salt": salt, "device": device, "public_key": public_key.hex(), "name": name}
        return self._send("POST", "/sign-on", body)

    def forward_to_provider(self, endpoint: Literal["token", "device"], form: dict[str, str]) -> ProviderAnswer:
        """Send a form to the identity provider through the server, which adds its client secret.

        Raises ProviderUnusable if it does not answer now.
        """
        try:
            answer = self._send("POST", f"/sign-on/{endpoint}", {"form": form})
        except TeamRefused as error:
            if error.kind in ("provider", "busy"):
                raise ProviderUnusable(str(error)) from None
            raise
        status, values = answer.get("status"), answer.get("values")
        if not (isinstance(status, int) and isinstance(values, dict)):
            raise TeamUnreachable(INCOMPLETE)
        return ProviderAnswer(status, values)

    def describe_me(self) -> dict[str, Any]:
        """Return the person, and the wings that they may read."""
        return self._send("GET", "/me")

    def create_wing(self, name: str) -> dict[str, Any]:
        """Create a wing of this person."""
        return self._send("POST", "/wings", {"name": name})

    def describe_wing(self, wing: str) -> dict[str, Any]:
        """Return a wing's key, and the last segment that the server has of this device."""
        return self._send("GET", f"/wings/{quote(wing)}")

    def send_segment(self, wing: str, name: str, content: bytes) -> None:
        """Send a segment; when this returns, the server has it."""
        self._send("POST", f"/wings/{quote(wing)}/segments/{quote(name)}", content)

    def withdraw(self, wing: str) -> bool:
        """Delete what this device has sent of a wing; return whether there was anything."""
        return bool(self._send("DELETE", f"/wings/{quote(wing)}/segments")["withdrawn"])

    def set_member(self, wing: str, person: str, role: str | None) -> None:
        """Give a person a role in a wing; None takes it away."""
        self._send("PUT", f"/wings/{quote(wing)}/members", {"person": person, "role": role})

    def replace_approvals(self, wing: str, digests: dict[str, str], key: DeviceKey) -> None:
        """Say which notes are approved here: the digests of their texts, by drawer. Others are not, any more."""
        signature = protocol.sign_approvals(key, wing, digests, protocol.OWN_APPROVALS)
        self._send("PUT", f"/wings/{quote(wing)}/approvals", {"drawers": digests, "signature": signature})

    def approve(self, wing: str, drawer: str, digest: str | None, key: DeviceKey) -> None:
        """Approve a teammate's note, as a maintainer; None takes that back."""
        signature = protocol.sign_approvals(key, wing, {drawer: digest}, protocol.MAINTAINER_APPROVAL)
        body = {"drawer": drawer, "digest": digest, "signature": signature}
        self._send("POST", f"/wings/{quote(wing)}/approvals", body)

    def search(self, query: str, limit: int, wing: str | None) -> list[SharedHit]:
        """Return the best hits, best first."""
        return _read_hits(self._send("POST", "/search", {"query": query, "limit": limit, "wing": wing}))

    def list_notes(self, wing: str, limit: int) -> list[SharedHit]:
        """Return the newest notes that others have written in a wing, newest first; their score says nothing."""
        return _read_hits(self._send("POST", "/notes", {"wing": wing, "limit": limit}))

    def read_drawers(self, prefix: str) -> list[SharedHit]:
        """Return the drawers that this person may read whose ids begin so."""
        return _read_hits(self._send("GET", f"/drawers/{quote(prefix, safe='')}"))

    def read_log(self) -> list[dict[str, Any]]:
        """Return the audit log, newest first."""
        return list(self._send("GET", "/log")["entries"])

    def list_erasures(self) -> list[dict[str, Any]]:
        """Return what became of each withdrawal, newest first."""
        return list(self._send("GET", "/erasures")["erasures"])

    def list_notices(self) -> dict[int, list[str]]:
        """Return the erasures that this device has to acknowledge: the ids of the drawers of each."""
        rows = self._send("GET", "/notices")["notices"]
        return {int(row["erasure"]): [str(uid) for uid in row["drawers"]] for row in rows}

    def acknowledge(self, erasures: list[int]) -> None:
        """Say that this device has removed what it had of these."""
        self._send("PUT", "/notices", {"erasures": erasures})

    def _send(self, method: str, path: str, body: dict[str, Any] | bytes | None = None) -> dict[str, Any]:
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        request = urllib.request.Request(  # noqa: S310 - `check_url` allows http and https alone
            f"{self.url}{PREFIX}{path}", content, {"Authorization": f"Bearer {self.token}"}, method=method
        )
        request.add_header("Content-Type", "application/json" if isinstance(body, dict) else "application/octet-stream")
        try:
            with build_opener(urlsplit(self.url))(request, timeout=self.timeout) as response:
                return _load(response.read(_LARGEST_ANSWER))
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error, self.url) from None
        except (OSError, HTTPException) as error:
            cause = getattr(error, "reason", None) or error
            reason = getattr(cause, "strerror", None) or cause
            raise TeamUnreachable(
                f"The team server at {self.url} cannot be reached ({reason}): what is local works without it; try "
                "again later."
            ) from error


def check_url(url: str) -> str:
    """Return a server's address without a slash at its end; raises UsageError unless it is safe to send a token to."""
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and is_loopback(parts.hostname or "")
    is_plain = bool(parts.hostname) and not (parts.query or parts.fragment or parts.username)
    if not is_plain or not (parts.scheme == "https" or is_local):
        raise UsageError(f"'{url}' is no address of a team server: give one that begins with https://.")
    return url.rstrip("/")


def _refusal(error: urllib.error.HTTPError, url: str) -> PalazzoError:
    try:
        answer = _load(error.read(_LARGEST_ANSWER))
        return TeamRefused(str(answer["error"]), str(answer["kind"]))
    except (TeamUnreachable, KeyError, OSError, HTTPException):
        return TeamUnreachable(
            f"{url} answers, but not as this Palazzo's team server ({error.code}): check the address, and whether both "
            "have the same version."
        )


def _load(content: bytes) -> dict[str, Any]:
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise TeamUnreachable(INCOMPLETE)
    return values


def _read_hits(answer: dict[str, Any]) -> list[SharedHit]:
    try:
        return [_read_hit(row) for row in answer["hits"]]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise TeamUnreachable(INCOMPLETE) from None


def _read_hit(row: Any) -> SharedHit:
    """Return a hit; a trust that is unknown here counts as the least. Raises KeyError, TypeError or ValueError."""
    texts = {name: row[name] for name in ("id", "wing", "person", "kind", "author", "room", "title", "branch", "text")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise TypeError("a field that must be text is something else")
    trust = row["trust"] if row["trust"] in _TRUSTS else "external"
    created_at, score = int(row["created_at"]), float(row["score"])
    if not (math.isfinite(score) and abs(created_at) < _LATEST):
        raise ValueError("a number is out of range")
    return SharedHit(trust=trust, created_at=created_at, score=min(max(score, 0.0), 1.0), **texts)
