"""The guard of the viewer: which requests reach a page, and the headers of every answer. Pure ASGI.

A request is refused, in this order, for a head that is too large, a method other than GET, HEAD and POST, a `Host` that
is not this machine's loopback name with the viewer's port (DNS rebinding), an `Origin` or a site other than the
viewer's own (another page in the same browser), a missing or unknown cookie, and a form that is too large, is no plain
form or has no valid token. There are no CORS headers, so a page of another origin learns nothing.

A link is the exception: it may be opened from anywhere, because it is a secret by itself.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import anyio

from palazzo.faces.mcp.http_names import LOOPBACK, authority
from palazzo.faces.web.web_sessions import WebSession, WebSessions, is_same

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SESSION_KEY = "palazzo.web_session"
FORM_KEY = "palazzo.form"
LINK_PATH = "/open/"
STATIC_PATH = "/static/"
FORM_TOKEN = "form_token"  # noqa: S105 - the name of a field
METHODS = ("GET", "HEAD", "POST")
LARGEST_FORM = 65_536
"""In bytes. No form of a page has a field for a long text."""
LARGEST_HEAD = 16_384
"""Maximum bytes of the address and all headers together; browsers send less than 4,000."""
_FORM_SECONDS = 10.0
_FORM_TYPE = "application/x-www-form-urlencoded"
_MOST_FIELDS = 64

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        *("script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "font-src 'self'"),
        *("connect-src 'self'", "worker-src 'self'", "form-action 'self'", "manifest-src 'self'"),
        *("base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types palazzo"),
    )
)
"""Scripts and styles come from the viewer's own files; none stands in a page, so recorded words cannot become one.
`data:` and `blob:` are for images alone: a picture of the graph to save.
"""
HEADERS = (
    ("content-security-policy", CONTENT_POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),  # with no-referrer, a browser would send `Origin: null` with the own forms
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
)


class Refusal(Exception):
    """A request that is refused: the status, and one sentence for the person who sees the page."""

    def __init__(self, status: int, sentence: str) -> None:
        self.status, self.sentence = status, sentence
        super().__init__(sentence)


NO_SESSION = "This page needs a link of its own: run 'palazzo view' in a terminal, and open the link that it prints."
"""What a browser without a valid cookie reads."""


class WebGuard:
    """Wraps the application. `port` is that of the listening socket, `answer_refusal` makes the page of a refusal."""

    def __init__(
        self,
        app: App,
        sessions: WebSessions,
        port: int,
        answer_refusal: Callable[[Refusal], App],
        on_request: Callable[[], None],
    ) -> None:
        self._app, self._sessions, self._port = app, sessions, port
        self._answer_refusal, self._on_request = answer_refusal, on_request

    @property
    def cookie_name(self) -> str:
        """Return the name of the cookie: cookies of all ports share one jar, so each viewer has its own name."""
        return f"palazzo_{self._port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return  # nothing else is switched on
        guarded_send = _with_headers(send)
        try:
            passed_scope = await self._check(scope, receive)
        except Refusal as refusal:
            await self._answer_refusal(refusal)(scope, receive, guarded_send)
            return
        self._on_request()
        await self._app(passed_scope, receive, guarded_send)

    async def _check(self, scope: Scope, receive: Receive) -> Scope:
        """Return the scope to pass on; raise Refusal."""
        headers = _read_headers(scope)
        if scope["method"] not in METHODS:
            raise Refusal(405, f"Only {', '.join(METHODS)} are answered here.")
        self._check_host(headers)
        path = scope["path"]
        is_link = path.startswith(LINK_PATH) and scope["method"] == "GET"
        if not is_link:
            self._check_origin(scope["method"], headers)
        if is_link or path.startswith(STATIC_PATH):
            return {**scope, SESSION_KEY: None, FORM_KEY: {}}
        session = self._find_session(headers)
        form = await self._read_form(scope, headers, receive, session) if scope["method"] == "POST" else {}
        return {**scope, SESSION_KEY: session, FORM_KEY: form}

    def _check_host(self, headers: Mapping[str, list[str]]) -> None:
        hosts = headers.get("host", [])
        host = authority(hosts[0]) if len(hosts) == 1 else None
        if host is None or host.name not in LOOPBACK or (host.port or 80) != self._port:
            raise Refusal(421, "The viewer answers only at the address that 'palazzo view' prints.")

    def _check_origin(self, method: str, headers: Mapping[str, list[str]]) -> None:
        own_origins = [f"http://{host}" for host in headers["host"]]
        origins = headers.get("origin", [])
        if origins and origins != own_origins:
            raise Refusal(403, "Pages of other origins cannot use the viewer.")
        sites = headers.get("sec-fetch-site", [])
        if sites and sites not in (["same-origin"], ["none"]):
            raise Refusal(403, "Pages of other sites cannot use the viewer; open this address yourself.")
        if method == "POST" and not origins and sites != ["same-origin"]:
            raise Refusal(403, "A change needs the viewer's own page, and this request does not say where it is from.")

    def _find_session(self, headers: Mapping[str, list[str]]) -> WebSession:
        cookies = [pair.strip().partition("=") for line in headers.get("cookie", []) for pair in line.split(";")]
        values = [value for name, _, value in cookies if name == self.cookie_name]
        for value in values:  # another program of this machine may have set one of the same name
            session = self._sessions.find(value)
            if session is not None:
                return session
        raise Refusal(403, NO_SESSION)

    async def _read_form(
        self, scope: Scope, headers: Mapping[str, list[str]], receive: Receive, session: WebSession
    ) -> dict[str, str]:
        content_type = headers.get("content-type", [""])[0].partition(";")[0].strip().lower()
        if content_type != _FORM_TYPE:
            raise Refusal(415, "The viewer reads plain forms only.")
        try:
            with anyio.fail_after(_FORM_SECONDS):
                body = await _read_body(receive)
        except TimeoutError:
            raise Refusal(408, "The form did not arrive in time; send it again.") from None
        try:
            pairs = urllib.parse.parse_qsl(
                body.decode("utf-8"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
            )
        except ValueError:
            raise Refusal(400, "This is not a form of the viewer.") from None
        form = dict(pairs)
        if not is_same(form.get(FORM_TOKEN, ""), session.form_token):
            raise Refusal(403, "The form is out of date: reload the page, and do it again.")
        if session.visitor.read_only:
            raise Refusal(403, "This viewer only reads, because it was opened with --read-only.")
        return form


def _read_headers(scope: Scope) -> dict[str, list[str]]:
    size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        size += len(name) + len(value)
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    if size > LARGEST_HEAD:
        raise Refusal(431, f"An address and its headers can have at most {LARGEST_HEAD:,} bytes.")
    return headers


async def _read_body(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "The form is incomplete; send it again.")
        body += bytes(message.get("body", b""))
        if len(body) > LARGEST_FORM:
            raise Refusal(413, f"A form can have at most {LARGEST_FORM:,} bytes.")
        if not message.get("more_body"):
            return body


def _with_headers(send: Send) -> Send:
    """Add the headers of every answer. A page is not stored by the browser unless it says how long."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            own_names = {name.lower() for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in HEADERS]
            if b"cache-control" not in own_names:
                more.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return send_with_headers
