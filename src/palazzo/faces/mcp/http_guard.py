"""The guard of the MCP server on HTTP: who may connect, under which name, with which request, and for how long.

Pure ASGI. It knows nothing of MCP except its one path and its three methods. A request is refused, in this order, for
too many headers, a `Host` or `Origin` that is not allowed, a missing or wrong token, an exhausted quota, another path
or method, a body that is not plain JSON, is too large or is too slow. Every request needs a token, whatever it asks for
and wherever it comes from. There are no CORS headers, so a page of another origin gets no information.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Protocol

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from palazzo.errors import PalazzoError
from palazzo.faces.mcp.http_names import Names
from palazzo.faces.mcp.http_quotas import (
    GRANT_KEY,
    App,
    Grant,
    Message,
    QuotaExceeded,
    Receive,
    RequestQuota,
    Scope,
    Send,
)

PATH = b"/mcp"
METHODS = ("POST", "GET", "DELETE")

LARGEST_BODY = 8_000_000
"""In bytes. The longest argument of a tool is 1,000,000 characters, and JSON may need six bytes for each."""
LONGEST_BODY = 30.0
"""Maximum seconds for receiving a body: 8 MB at 2 Mbit/s."""
MOST_HEADERS = 100
"""The same as in Apache."""
LARGEST_HEAD = 32_768
"""Maximum bytes of the path and all headers together: four times nginx's limit, because headers may contain arguments
(`Mcp-Param-…`). A larger head that arrives slowly is stopped earlier (`http_protocol`).
"""
RECHECK_SECONDS = 5.0
"""Seconds between two checks whether a response's token is still valid."""
LINGER = 1.0
"""Seconds for which the rest of a refused body is read and discarded, so that its sender can read the reason."""
_LINGER_BYTES = 32_000_000
MOST_LINGERING = 16
"""Maximum number of refused bodies that are skipped at the same time. Further senders are disconnected."""

_INVALID_REQUEST = -32600


class Tokens(Protocol):
    """Checks which tokens are accepted."""

    async def grant_of(self, secret: str) -> Grant | None:
        """Return the grant of a secret's bearer; None if there is none. Raises PalazzoError if it cannot be read."""
        ...


class _HttpError(Exception):
    def __init__(self, status: int, sentence: str, *headers: tuple[str, str]) -> None:
        self.status, self.sentence, self.headers = status, sentence, headers
        super().__init__(sentence)


class _ClientDisconnect(Exception):
    """The client disconnected before its request was complete, or sent data that is not HTTP."""


class Guard:
    """Wraps an ASGI application and passes on only permitted requests, with their body already read."""

    def __init__(
        self,
        app: App,
        names: Names,
        tokens: Tokens,
        *,
        largest_body: int = LARGEST_BODY,
        longest_body: float = LONGEST_BODY,
        recheck_seconds: float = RECHECK_SECONDS,
        linger: float = LINGER,
        quota: RequestQuota | None = None,
    ) -> None:
        self._app, self._names, self._tokens = app, names, tokens
        self._quota, self._lingering = quota or RequestQuota(), anyio.CapacityLimiter(MOST_LINGERING)
        self._largest_body, self._longest_body, self._linger = largest_body, longest_body, linger
        self._revoked_within = recheck_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return  # nothing else is switched on
        body = _Body(receive)
        with contextlib.ExitStack() as quota:
            try:
                secret = self._check_sender(scope)
                grant = await self._check_token(secret)
                quota.enter_context(self._quota.hold(grant, is_stream=scope["method"] == "GET"))
                self._check_shape(scope)
                content = await self._read(scope, body)
            except (_HttpError, QuotaExceeded) as refused:
                await self._refuse(refused, scope, body, send)
                return
            except _ClientDisconnect:
                return  # an incomplete body is not passed on: it may look like a complete one
            answer = _Answer(send)
            async with self._while_good(secret, answer):
                try:
                    await self._app(_passed_on(scope, grant), _Replay(content, receive), answer)
                except QuotaExceeded as refused:
                    await self._refuse(refused, scope, body, answer)

    async def _refuse(self, refusal: _HttpError | QuotaExceeded, scope: Scope, body: _Body, send: Send) -> None:
        headers = refusal.headers if isinstance(refusal, _HttpError) else (("retry-after", "5"),)
        await _answer_refusal(refusal.status, refusal.sentence, headers, send)
        names = {name for name, _ in scope["headers"]}
        is_awaited = bool(names & {b"content-length", b"transfer-encoding"}) and b"expect" not in names
        if is_awaited and self._lingering.available_tokens:
            async with self._lingering:
                await body.skip(self._linger)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    # --- who ----------------------------------------------------------------------------------------------

    def _check_sender(self, scope: Scope) -> str:
        """Return the bearer's secret."""
        size = len(scope["raw_path"]) + len(scope["query_string"])
        size += sum(len(name) + len(value) for name, value in scope["headers"])
        if size > LARGEST_HEAD or len(scope["headers"]) > MOST_HEADERS:
            raise _HttpError(
                431, f"A request can have at most {MOST_HEADERS} headers, with {LARGEST_HEAD:,} bytes in total."
            )
        host = _get_header(scope, b"host")
        came_to = scope["server"][0] if scope.get("server") else ""
        if host is None or not self._names.allows_host(host, came_to):
            raise _HttpError(
                421, "This server does not have this name; if it should, add the name to the setting 'http.hosts'."
            )
        origin = _get_header(scope, b"origin")
        if origin is not None and not self._names.allows_origin(origin, host):
            raise _HttpError(
                403,
                "Pages of this origin are not allowed to call; to allow them, add it to the setting 'http.origins'.",
            )
        if _get_header(scope, b"sec-fetch-site") not in (None, "none", "same-origin") and origin is None:
            raise _HttpError(403, "Pages of other sites are not allowed to call.")
        return _bearer(_get_header(scope, b"authorization"))

    async def _check_token(self, secret: str) -> Grant:
        try:
            grant = await self._tokens.grant_of(secret)
        except PalazzoError:  # what is wrong is told to whoever asks at the machine itself
            raise _HttpError(503, "The palace cannot be read now; run 'palazzo doctor' on its machine.") from None
        if grant is None:
            raise _HttpError(401, "This token is unknown or revoked: create one with 'palazzo token add NAME'.", _WRONG)
        return grant

    @contextlib.asynccontextmanager
    async def _while_good(self, secret: str, answer: _Answer) -> AsyncIterator[None]:
        """End a running answer when its token is revoked."""

        async def watch() -> None:
            with contextlib.suppress(PalazzoError):  # not known to be good any more
                while await self._tokens.grant_of(secret) is not None:
                    await anyio.sleep(self._revoked_within)
            await answer.end()
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(_run_later, self._revoked_within, watch)
            yield
            group.cancel_scope.cancel()

    # --- what ---------------------------------------------------------------------------------------------

    def _check_shape(self, scope: Scope) -> None:
        if scope["raw_path"] != PATH:
            raise _HttpError(404, f"Nothing is served here; the memory is at {PATH.decode()}.")
        if scope["method"] not in METHODS:
            raise _HttpError(405, f"Only {', '.join(METHODS)} are supported.", ("allow", ", ".join(METHODS)))
        length, transfer_encoding = _get_header(scope, b"content-length"), _get_header(scope, b"transfer-encoding")
        if transfer_encoding is not None and (length is not None or scope["http_version"] == "1.0"):
            raise _HttpError(400, "The body's length is given in two ways.")
        if scope["method"] != "POST":
            if transfer_encoding is not None or (length or "0") != "0":
                raise _HttpError(400, f"A {scope['method']} request must not have a body here.")
            return
        kind = (_get_header(scope, b"content-type") or "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise _HttpError(415, "The body must be application/json.")
        if (_get_header(scope, b"content-encoding") or "identity").strip().lower() != "identity":
            raise _HttpError(415, "The body must not be compressed.", ("accept-encoding", "identity"))
        if length is not None and int(length) > self._largest_body:
            raise self._too_large

    async def _read(self, scope: Scope, body: _Body) -> bytes:
        if scope["method"] != "POST":
            return b""
        content = bytearray()
        with anyio.move_on_after(self._longest_body):
            while (part := await body.part()) is not None:
                content += part
                if len(content) > self._largest_body:
                    raise self._too_large
            return bytes(content)
        raise _HttpError(408, f"The body must arrive within {self._longest_body:g} seconds.")

    @property
    def _too_large(self) -> _HttpError:
        return _HttpError(413, f"The body can have at most {self._largest_body:,} bytes; send a part of it.")


_CHALLENGE = ("www-authenticate", 'Bearer realm="palazzo"')
_WRONG = ("www-authenticate", 'Bearer realm="palazzo", error="invalid_token"')


def _get_header(scope: Scope, name: bytes) -> str | None:
    """Return the value of a header that may be given once."""
    values = [value for key, value in scope["headers"] if key == name]
    if len(values) > 1:
        raise _HttpError(400, f"The header {name.decode()} occurs more than once.")
    return values[0].decode("latin-1") if values else None


def _bearer(header: str | None) -> str:
    if header is None:
        raise _HttpError(401, "This needs a token: create one with 'palazzo token add NAME'.", _CHALLENGE)
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise _HttpError(401, "Send a token as 'Authorization: Bearer TOKEN'.", _WRONG)
    return secret.strip()


async def _run_later(seconds: float, callback: Callable[[], Awaitable[None]]) -> None:
    await anyio.sleep(seconds)
    await callback()


class _Body:
    """A request's body while it arrives."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._is_whole = False

    async def part(self) -> bytes | None:
        """Return the next bytes; None at the end."""
        if self._is_whole:
            return None
        message = await self._receive()
        if message["type"] != "http.request":
            self._is_whole = True
            raise _ClientDisconnect
        self._is_whole = not message.get("more_body", False)
        return bytes(message.get("body", b""))

    async def skip(self, seconds: float) -> None:
        """Discard the rest, which may be long and may never arrive."""
        remaining_bytes = _LINGER_BYTES
        with anyio.move_on_after(seconds), contextlib.suppress(_ClientDisconnect):
            while remaining_bytes > 0 and (part := await self.part()) is not None:
                remaining_bytes -= len(part)


class _Replay:
    """A body that was read, for reading again."""

    def __init__(self, content: bytes, receive: Receive) -> None:
        self._told: bytes | None = content
        self._receive = receive

    async def __call__(self) -> Message:
        if self._told is None:
            return await self._receive()
        content, self._told = self._told, None
        return {"type": "http.request", "body": content, "more_body": False}


class _Answer:
    """A response while it is sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = self._ended = False

    async def __call__(self, message: Message) -> None:
        if self._ended:
            return
        if message["type"] == "http.response.start":
            self._begun = True
            message["headers"] = [*message.get("headers", ()), (b"x-content-type-options", b"nosniff")]
        elif not message.get("more_body", False):
            self._ended = True
        await self._send(message)

    async def end(self) -> None:
        """End the response with what has been sent."""
        if not self._begun:
            await self({"type": "http.response.start", "status": 401, "headers": [_encode_header(_WRONG)]})
        await self({"type": "http.response.body", "body": b"", "more_body": False})


def _passed_on(scope: Scope, grant: Grant) -> Scope:
    """Return the scope for the application, without the secret.

    `user` is how the SDK identifies a session's owner: another token's requests find no such session. The application
    does not see `Last-Event-ID` either: no events are kept, and a GET with it would get no answer at all (mcp 2.3.0).
    """
    hidden_headers = (b"authorization", b"last-event-id")
    passed = {
        **scope,
        GRANT_KEY: grant,
        "headers": [header for header in scope["headers"] if header[0] not in hidden_headers],
    }
    access = AccessToken(token="", client_id=grant.token, scopes=[grant.scope])
    passed["user"] = AuthenticatedUser(access)
    return passed


def _encode_header(header: tuple[str, str]) -> tuple[bytes, bytes]:
    return header[0].encode(), header[1].encode()


async def _answer_refusal(status: int, sentence: str, more: Iterable[tuple[str, str]], send: Send) -> None:
    """Send the reason in the protocol's own form, and close: the rest of the body is not read."""
    error = {"code": _INVALID_REQUEST, "message": sentence}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = (
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("connection", "close"),
        *more,
    )
    await send(
        {"type": "http.response.start", "status": status, "headers": [_encode_header(header) for header in headers]}
    )
    await send({"type": "http.response.body", "body": body, "more_body": True})
