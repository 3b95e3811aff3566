"""The paths of the team server, over HTTP. Each request carries a token; nothing else says who asks.

    POST   /team/v1/join                              {"device", "public_key", "name"}: a join token for a member token
    GET    /team/v1/sign-on                           how one signs on, for everybody; empty if by invitation only
    POST   /team/v1/sign-on                           {"id_token", "salt", "device", "public_key", "name"}: for a token
    POST   /team/v1/sign-on/{endpoint}                {"form"}: to the provider, with the client's secret
    GET    /team/v1/me                                the person, and the wings that they may read
    POST   /team/v1/wings                             {"name"}: create a wing
    GET    /team/v1/wings/{id}                        its key, for those who may write, and the device's head
    POST   /team/v1/wings/{id}/segments/{segment}     the bytes of a segment
    DELETE /team/v1/wings/{id}/segments               withdraw all that the device sent
    PUT    /team/v1/wings/{id}/members                {"person", "role"}: a role, or null
    PUT    /team/v1/wings/{id}/approvals              {"drawers": {id: digest}, "signature"}: of its own palace
    POST   /team/v1/wings/{id}/approvals              {"drawer", "digest", "signature"}: of a maintainer, or null
    POST   /team/v1/search                            {"query", "limit", "wing"}
    GET    /team/v1/drawers/{id}                      the drawers whose id begins so, at least 8 digits
    GET    /team/v1/log                               what was done, newest first
    GET    /team/v1/erasures                          certificates of what was withdrawn, newest first
    GET    /team/v1/notices                           erasures that the device has to acknowledge
    PUT    /team/v1/notices                           {"erasures"}: acknowledge them
    GET    /metrics                                   figures for Prometheus, with a token of their own
    GET    /healthz, /readyz                          whether the process, and the database, answer

An error is {"error": sentence, "kind": …}. Errors do not say whether something exists that the person may not read.
"""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from palazzo.errors import NotFound, PalazzoError, SegmentUnreadable, UsageError
from palazzo.sync.segments import SegmentName
from palazzo.team.identity_provider import ProviderUnusable
from palazzo.team.protocol import LARGEST_BODY, PREFIX, ROLES
from palazzo.team.server import accounts, approvals, erasures, ingress
from palazzo.team.server.accounts import Account, NotAllowed, QuotaExceeded, WingAccess
from palazzo.team.server.ingress import OutOfSequence
from palazzo.team.server.sign_on_service import SignOnBusy, SignOnService
from palazzo.team.server.team_database import DatabaseUnusable, TeamDatabase
from palazzo.team.server.team_metrics import ProcessMetrics, expose
from palazzo.team.server.team_search import TeamSearch

_STATUSES: tuple[tuple[type[PalazzoError], int, str], ...] = (
    (NotAllowed, 403, "not_allowed"),
    (QuotaExceeded, 429, "quota"),
    (OutOfSequence, 409, "out_of_sequence"),
    (DatabaseUnusable, 503, "database"),
    (SignOnBusy, 503, "busy"),
    (ProviderUnusable, 502, "provider"),
    (NotFound, 404, "not_found"),
    (UsageError, 400, "usage"),
    (SegmentUnreadable, 422, "segment"),
    (PalazzoError, 500, "error"),
)
_LARGEST_JSON, _LARGEST_APPROVALS = 64 * 1024, 1024 * 1024
_DEVICE_BYTES, _KEY_BYTES = 16, 32
_MOST_LOG_LINES, _MOST_CERTIFICATES = 500, 100
Answer = dict[str, Any]
Verb = Callable[["TeamApp", Request, bytes], Answer | str]


class TeamApp:
    """The verbs of the server, over one database. Without a `metrics_token` it shows no figures; without a service,
    nobody signs on.
    """

    def __init__(
        self,
        database: TeamDatabase,
        search: TeamSearch,
        metrics: ProcessMetrics,
        metrics_token: str = "",
        sign_on_service: SignOnService | None = None,
    ) -> None:
        self.database, self.search, self._sign_on = database, search, sign_on_service
        self._metrics, self._metrics_token = metrics, metrics_token

    def routes(self) -> list[Route]:
        """Return the paths."""
        wing = f"{PREFIX}/wings/{{wing}}"
        return [
            self._route(f"{PREFIX}/join", "POST", TeamApp.join),
            self._route(f"{PREFIX}/sign-on", "GET", TeamApp.describe_sign_on),
            self._route(f"{PREFIX}/sign-on", "POST", TeamApp.sign_on),
            self._route(f"{PREFIX}/sign-on/{{endpoint:str}}", "POST", TeamApp.forward_to_provider),
            self._route(f"{PREFIX}/me", "GET", TeamApp.describe_me),
            self._route(f"{PREFIX}/wings", "POST", TeamApp.create_wing),
            self._route(wing, "GET", TeamApp.describe_wing),
            self._route(f"{wing}/segments/{{segment}}", "POST", TeamApp.receive, LARGEST_BODY),
            self._route(f"{wing}/segments", "DELETE", TeamApp.withdraw),
            self._route(f"{wing}/members", "PUT", TeamApp.set_member),
            self._route(f"{wing}/approvals", "PUT", TeamApp.replace_approvals, _LARGEST_APPROVALS),
            self._route(f"{wing}/approvals", "POST", TeamApp.approve),
            self._route(f"{PREFIX}/search", "POST", TeamApp.find),
            self._route(f"{PREFIX}/drawers/{{id}}", "GET", TeamApp.read_drawers),
            self._route(f"{PREFIX}/notes", "POST", TeamApp.list_notes),
            self._route(f"{PREFIX}/log", "GET", TeamApp.read_log),
            self._route(f"{PREFIX}/erasures", "GET", TeamApp.list_certificates),
            self._route(f"{PREFIX}/notices", "GET", TeamApp.list_notices),
            self._route(f"{PREFIX}/notices", "PUT", TeamApp.acknowledge),
            self._route("/metrics", "GET", TeamApp.show_metrics),
            self._route("/healthz", "GET", TeamApp.answer_alive),
            self._route("/readyz", "GET", TeamApp.answer_ready),
        ]

    def _route(self, path: str, method: str, verb: Verb, most: int = _LARGEST_JSON) -> Route:
        async def endpoint(request: Request) -> Response:
            began, response = time.monotonic(), None
            try:
                body = await _read_body(request, most)
                answer = await run_in_threadpool(verb, self, request, body)
                response = PlainTextResponse(answer) if isinstance(answer, str) else JSONResponse(answer)
            except PalazzoError as error:
                response = _refusal(error)
            finally:
                status = 500 if response is None else response.status_code
                self._metrics.count_request(verb.__name__, status, time.monotonic() - began)
            return response

        run: Callable[[Request], Awaitable[Response]] = endpoint
        return Route(path, run, methods=[method])

    # --- accounts ------------------------------------------------------------------------------------------

    def join(self, request: Request, body: bytes) -> Answer:
        """Give a device a token for an invitation."""
        values = _values(body)
        device, public_key = _bytes(values, "device", _DEVICE_BYTES), _bytes(values, "public_key", _KEY_BYTES)
        token, person = accounts.join(self.database, _token(request), device, public_key, _text(values, "name"))
        return {"token": token, "person": person}

    def describe_sign_on(self, request: Request, body: bytes) -> Answer:
        """Say how one signs on. Needs no token."""
        return {} if self._sign_on is None else self._sign_on.describe()

    def sign_on(self, request: Request, body: bytes) -> Answer:
        """Give a device a token for an ID token."""
        values = _values(body)
        device, public_key = _bytes(values, "device", _DEVICE_BYTES), _bytes(values, "public_key", _KEY_BYTES)
        id_token, salt = _text(values, "id_token"), _text(values, "salt")
        token, person = self._service().sign_on(id_token, salt, device, public_key, _text(values, "name"))
        return {"token": token, "person": person}

    def forward_to_provider(self, request: Request, body: bytes) -> Answer:
        """Send a form of a sign-on to the provider, with the secret of the client."""
        endpoint, form = request.path_params["endpoint"], _values(body).get("form")
        if endpoint not in ("token", "device") or not isinstance(form, dict):
            raise UsageError("That is no form for the identity provider.")
        answer = self._service().forward(endpoint, form)
        return {"status": answer.status, "values": dict(answer.values)}

    def _service(self) -> SignOnService:
        if self._sign_on is None:
            raise UsageError("People join this team by invitation; nobody signs on.")
        return self._sign_on

    def describe_me(self, request: Request, body: bytes) -> Answer:
        """Say who asks, and what they may read."""
        account = self._account(request)
        wings = accounts.list_wings(self.database, account)
        return {"person": account.name, "wings": [_describe(wing) for wing in wings]}

    def create_wing(self, request: Request, body: bytes) -> Answer:
        """Create a wing."""
        return _describe(accounts.create_wing(self.database, self._account(request), _text(_values(body), "name")))

    def describe_wing(self, request: Request, body: bytes) -> Answer:
        """Say what a device needs to send a wing."""
        account, wing = self._wing(request)
        wing.require("writer")
        head = ingress.head_of(self.database, account, wing)
        return {**_describe(wing), "key": wing.key.hex(), "head": None if head is None else str(head)}

    def set_member(self, request: Request, body: bytes) -> Answer:
        """Give a person a role in a wing, or take it away."""
        account, wing = self._wing(request)
        values = _values(body)
        role = values.get("role")
        if role is not None and role not in ROLES:
            raise UsageError(f"A role is one of {', '.join(ROLES)}.")
        accounts.set_member(self.database, account, wing, _text(values, "person"), role)
        return {}

    def replace_approvals(self, request: Request, body: bytes) -> Answer:
        """Take over which notes are approved in the palace of a device."""
        account, wing = self._wing(request)
        digests = _values(body).get("drawers")
        if not (isinstance(digests, dict) and all(isinstance(digest, str) for digest in digests.values())):
            raise UsageError("'drawers' must have a digest for each id.")
        signature = _text(_values(body), "signature")
        return {"changed": approvals.replace_own(self.database, account, wing, digests, signature)}

    def approve(self, request: Request, body: bytes) -> Answer:
        """Let a maintainer approve a note, or take that back."""
        account, wing = self._wing(request)
        values = _values(body)
        drawer, signature = _text(values, "drawer"), _text(values, "signature")
        digest = None if values.get("digest") is None else _text(values, "digest")
        approvals.approve(self.database, account, wing, drawer, digest, signature)
        return {}

    def read_log(self, request: Request, body: bytes) -> Answer:
        """Return the audit log, as far as it concerns the person."""
        entries = accounts.read_log(self.database, self._account(request), _MOST_LOG_LINES)
        return {"entries": [asdict(entry) for entry in entries]}

    # --- segments and search -------------------------------------------------------------------------------

    def receive(self, request: Request, body: bytes) -> Answer:
        """Store a segment."""
        account, wing = self._wing(request)
        name = SegmentName.parse(str(request.path_params["segment"]))
        if name is None:
            raise UsageError("That is not the name of a segment.")
        ingress.receive(self.database, account, wing, name, body)
        return {"head": str(name)}

    def withdraw(self, request: Request, body: bytes) -> Answer:
        """Delete what the device sent of a wing."""
        account, wing = self._wing(request)
        return {"withdrawn": ingress.withdraw(self.database, account, wing)}

    def find(self, request: Request, body: bytes) -> Answer:
        """Search."""
        account, values = self._account(request), _values(body)
        limit, wing = values.get("limit", 10), values.get("wing")
        if type(limit) is not int or limit < 1 or not (wing is None or isinstance(wing, str)):
            raise UsageError("'limit' must be a positive number, and 'wing' a name.")
        return {"hits": [asdict(hit) for hit in self.search.search(account, _text(values, "query"), limit, wing)]}

    def read_drawers(self, request: Request, body: bytes) -> Answer:
        """Return the drawers of the person's wings whose id begins so."""
        account = self._account(request)
        return {"hits": [asdict(hit) for hit in self.search.read(account, request.path_params["id"])]}

    def list_notes(self, request: Request, body: bytes) -> Answer:
        """Return the newest notes of others in a wing."""
        account, values = self._account(request), _values(body)
        limit = values.get("limit", 10)
        if type(limit) is not int or limit < 1:
            raise UsageError("'limit' must be a positive number.")
        return {"hits": [asdict(hit) for hit in self.search.list_notes(account, _text(values, "wing"), limit)]}

    # --- erasures ------------------------------------------------------------------------------------------

    def list_certificates(self, request: Request, body: bytes) -> Answer:
        """Return what became of each withdrawal, as far as it concerns the person."""
        certificates = erasures.list_certificates(self.database, self._account(request), _MOST_CERTIFICATES)
        return {"erasures": [asdict(certificate) for certificate in certificates]}

    def list_notices(self, request: Request, body: bytes) -> Answer:
        """Return what a device must remove."""
        notices = erasures.list_notices(self.database, self._account(request))
        return {"notices": [{"erasure": erasure, "drawers": drawers} for erasure, drawers in notices]}

    def acknowledge(self, request: Request, body: bytes) -> Answer:
        """Note that a device has removed it."""
        account, numbers = self._account(request), _values(body).get("erasures")
        if not (isinstance(numbers, list) and all(type(number) is int and abs(number) < 1 << 62 for number in numbers)):
            raise UsageError("'erasures' must be a list of numbers.")
        return {"acknowledged": erasures.acknowledge(self.database, account, numbers)}

    # --- the process ---------------------------------------------------------------------------------------

    def answer_alive(self, request: Request, body: bytes) -> Answer:
        """Answer that the process runs."""
        return {"status": "ok"}

    def answer_ready(self, request: Request, body: bytes) -> Answer:
        """Answer that the database can be reached."""
        with self.database.as_server() as session:
            session.execute("SELECT 1 FROM team.migration")
        return {"status": "ok"}

    def show_metrics(self, request: Request, body: bytes) -> str:
        """Return the figures, to whoever has their token."""
        token = self._metrics_token.encode()
        if not token or not hmac.compare_digest(_token(request).encode("utf-8", "replace"), token):
            raise NotAllowed("The token of the figures is missing or not valid.")
        return expose(self.database, self._metrics)

    def _account(self, request: Request) -> Account:
        return accounts.authenticate(self.database, _token(request))

    def _wing(self, request: Request) -> tuple[Account, WingAccess]:
        account = self._account(request)
        try:
            uid = bytes.fromhex(str(request.path_params["wing"]))
        except ValueError:
            uid = b""
        return account, accounts.find_wing(self.database, account, uid)


def make_app(
    database: TeamDatabase,
    search: TeamSearch,
    metrics: ProcessMetrics,
    metrics_token: str = "",
    sign_on_service: SignOnService | None = None,
) -> Starlette:
    """Return the ASGI application."""
    return Starlette(routes=TeamApp(database, search, metrics, metrics_token, sign_on_service).routes())


def _refusal(error: PalazzoError) -> JSONResponse:
    status, kind = next((status, kind) for known, status, kind in _STATUSES if isinstance(error, known))
    return JSONResponse({"error": str(error), "kind": kind}, status)


async def _read_body(request: Request, most: int) -> bytes:
    """Read a body of limited size, whatever its headers claim."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise UsageError(f"The request is larger than {most // 1024:,} KiB.")
    return bytes(body)


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else ""


def _values(body: bytes) -> dict[str, Any]:
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise UsageError("The body must be a JSON object.")
    return values


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    if not isinstance(value, str):
        raise UsageError(f"'{name}' must be text.")
    return value


def _bytes(values: dict[str, Any], name: str, size: int) -> bytes:
    try:
        content = bytes.fromhex(_text(values, name))
    except ValueError:
        content = b""
    if len(content) != size:
        raise UsageError(f"'{name}' must be {2 * size} hexadecimal digits.")
    return content


def _describe(wing: WingAccess) -> Answer:
    return {"id": wing.uid.hex(), "name": wing.name, "role": wing.role}
