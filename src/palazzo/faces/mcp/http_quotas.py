"""Quotas of each token on the HTTP server: requests, open streams, sessions. A part is reserved for admins.

    Guard ── RequestQuota ──► SessionQuota ──► the SDK's sessions

A read token must not be able to lock out the person who would revoke it. So each token has a quota, all non-admin
tokens together have one quota, and an unused session is ended before a new one is refused.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from palazzo.frozen_class import frozen
from palazzo.store.token_rows import TokenScope

GRANT_KEY = "palazzo.granted"
"""The key of an ASGI scope that holds the request's `Grant`."""

REQUESTS_OF_TOKEN = 64
"""Maximum concurrent requests and open streams of one token. A host has one stream and one or two calls for each
session.
"""
STREAMS_OF_TOKEN = 48
"""Maximum concurrent open streams of one token, so that streams leave capacity for calls."""
REQUESTS_BUT_ADMINS = 128
"""Maximum concurrent requests of all tokens except admins': half of `http_protocol.MOST_CONNECTIONS`."""
SESSIONS_OF_TOKEN = 100
"""Maximum sessions of one token: three times as many as a person with many agents has open."""
SESSIONS = 1_000
"""Maximum sessions of all tokens."""
SESSIONS_FOR_ADMINS = 100
"""Sessions that only admins' tokens may start."""

_SESSION_HEADER, _VERSION_HEADER = b"mcp-session-id", b"mcp-protocol-version"

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@frozen
class Grant:
    """The scope of a request, and the id and name of its token."""

    scope: TokenScope
    token: str
    name: str


class QuotaExceeded(Exception):
    """A token, or all tokens together, have used up a quota; `status` is the HTTP status."""

    def __init__(self, status: int, sentence: str) -> None:
        self.status, self.sentence = status, sentence
        super().__init__(sentence)


class RequestQuota:
    """Counts the requests in progress and enforces their quotas."""

    def __init__(
        self,
        of_token: int = REQUESTS_OF_TOKEN,
        streams_of_token: int = STREAMS_OF_TOKEN,
        but_admins: int = REQUESTS_BUT_ADMINS,
    ) -> None:
        self._of_token, self._streams_of_token, self._but_admins = of_token, streams_of_token, but_admins
        self._requests: Counter[str] = Counter()
        self._streams: Counter[str] = Counter()
        self._all_but_admins = 0

    @contextmanager
    def hold(self, grant: Grant, is_stream: bool) -> Iterator[None]:
        """Count one request while the block runs. Raises QuotaExceeded."""
        token, is_admin = grant.token, grant.scope == "admin"
        if self._requests[token] >= self._of_token:
            raise QuotaExceeded(429, f"This token has {self._of_token} open requests; wait until one is answered.")
        if is_stream and self._streams[token] >= self._streams_of_token:
            raise QuotaExceeded(429, f"This token has {self._streams_of_token} open streams; close one of them.")
        if not is_admin and self._all_but_admins >= self._but_admins:
            raise QuotaExceeded(503, "The server is at its limit of concurrent requests; try again in a moment.")
        self._count(token, is_stream, is_admin, 1)
        try:
            yield
        finally:
            self._count(token, is_stream, is_admin, -1)

    def _count(self, token: str, is_stream: bool, is_admin: bool, number: int) -> None:
        self._requests[token] += number
        self._streams[token] += number * is_stream
        self._all_but_admins += number * (not is_admin)
        for counter in (self._requests, self._streams):
            if not counter[token]:
                del counter[token]


@dataclass(slots=True)
class _Session:
    """A session: its token, the number of its requests in progress, and when the last one ended."""

    token: str
    scope: Scope
    requests: int
    used_at: float


class SessionQuota:
    """Passes requests on to the SDK's sessions, and ends idle sessions if a token would hold too many.

    The sessions of the same token are ended before those of others. Raises QuotaExceeded if none of them is idle.
    """

    def __init__(
        self,
        app: App,
        idle_seconds: float,
        of_token: int = SESSIONS_OF_TOKEN,
        most: int = SESSIONS,
        for_admins: int = SESSIONS_FOR_ADMINS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._idle_seconds, self._clock = app, idle_seconds, clock
        self._of_token, self._most, self._for_admins = of_token, most, for_admins
        self._sessions: dict[str, _Session] = {}
        self._beginning: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        grant: Grant = scope[GRANT_KEY]
        name = _header(scope, _SESSION_HEADER)
        if name is not None:
            await self._use(name, grant, scope, receive, send)
        elif scope["method"] == "POST" and _begins_session(scope):
            await self._begin(grant, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _use(self, name: str, grant: Grant, scope: Scope, receive: Receive, send: Send) -> None:
        session = self._sessions.get(name)
        if session is None or session.token != grant.token:
            await self._app(scope, receive, send)  # it answers that the session is unknown
            return
        response = _Response(send)
        session.requests += 1
        try:
            await self._app(scope, receive, response)
        finally:
            session.requests, session.used_at = session.requests - 1, self._clock()
            if response.status == 404 or scope["method"] == "DELETE":
                self._sessions.pop(name, None)

    async def _begin(self, grant: Grant, scope: Scope, receive: Receive, send: Send) -> None:
        self._beginning[grant.token] += 1
        try:
            await self._make_room(grant)
            response = _Response(send)
            await self._app(scope, receive, response)
            if response.session and (response.status or 500) < 400:
                session_scope = {key: scope[key] for key in scope if key != "state"}
                self._sessions[response.session] = _Session(grant.token, session_scope, 0, self._clock())
        finally:
            self._beginning[grant.token] -= 1
            if not self._beginning[grant.token]:
                del self._beginning[grant.token]

    async def _make_room(self, grant: Grant) -> None:
        """End idle sessions until there is room for one more."""
        self._forget_expired()
        most = self._most - (0 if grant.scope == "admin" else self._for_admins)
        while self._number_of(grant.token) > self._of_token:
            if not await self._end_idle(grant.token):
                raise QuotaExceeded(429, f"This token has {self._of_token} sessions, all in use; end one of them.")
        while len(self._sessions) + self._beginning.total() > most:
            if not await self._end_idle(self._largest_holder()):
                raise QuotaExceeded(503, "The server is at its limit of sessions; try again later.")

    def _forget_expired(self) -> None:
        oldest = self._clock() - self._idle_seconds
        for name in [
            name for name, session in self._sessions.items() if not session.requests and session.used_at < oldest
        ]:
            del self._sessions[name]

    def _number_of(self, token: str) -> int:
        return self._beginning[token] + sum(session.token == token for session in self._sessions.values())

    def _largest_holder(self) -> str:
        idle = Counter(session.token for session in self._sessions.values() if not session.requests)
        return max(idle, key=self._number_of, default="")

    async def _end_idle(self, token: str) -> bool:
        """End a token's least recently used session, as its client would; False if all are in use."""
        idle = [name for name, session in self._sessions.items() if session.token == token and not session.requests]
        if not idle:
            return False
        name = min(idle, key=lambda name: self._sessions[name].used_at)
        session = self._sessions.pop(name)
        headers = [
            header for header in session.scope["headers"] if header[0] not in (b"content-length", b"content-type")
        ]
        ending = {**session.scope, "method": "DELETE", "headers": [*headers, (_SESSION_HEADER, name.encode())]}
        await self._app(ending, _receive_nothing, _send_nowhere)
        return True


class _Response:
    """Passes a response on, and records its status and its session id."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None
        self.session = ""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            session_ids = (value for key, value in message.get("headers", ()) if key.lower() == _SESSION_HEADER)
            self.session = next(session_ids, b"").decode("latin-1")
        await self._send(message)


def _header(scope: Scope, name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), None)


def _begins_session(scope: Scope) -> bool:
    """Return whether a request without a session uses a protocol version that has sessions."""
    version = _header(scope, _VERSION_HEADER)
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


async def _receive_nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _send_nowhere(_: Message) -> None:
    return
