"""What all pages share: the visitor's calls, and a filled template as the answer."""

from __future__ import annotations

from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from palazzo.faces.web import page_templates
from palazzo.faces.web.page_calls import PATIENCE, PageCalls
from palazzo.faces.web.slow_calls import SlowCalls
from palazzo.faces.web.web_guard import SESSION_KEY
from palazzo.faces.web.web_sessions import WebSession

CALL_KEY = "palazzo.call"
WAITS_FOR = "with"
"""The parameter that names the part for which a page waits."""
_AT_ONCE = 0.05
"""Seconds that a page waits for a part that can take long; the part is then fetched later."""
_DERIVE_SECONDS = 2.0
"""Seconds of work on what a part needs and is not derived yet, when it is fetched later. The background process does
the rest.
"""
FRAGMENT = "part"
"""The parameter with which a script asks for a part of a page."""


def calls_of(request: Request) -> PageCalls:
    """Return what runs operations for the visitor of a request."""
    session: WebSession = request.scope[SESSION_KEY]
    return PageCalls(request.scope[CALL_KEY], session.visitor)


def is_waiting(request: Request, part: str) -> bool:
    """Return whether the address says that the page is to wait for a part that can take long."""
    return request.query_params.get(WAITS_FOR) == part


class PartResult(NamedTuple):
    """An operation's result, None if a page would wait for it, and whether all that it is derived from is derived."""

    result: Any | None
    is_complete: bool


async def run_soon(
    request: Request, part: str, name: str, consumers: tuple[str, ...] = (), /, **values: Any
) -> PartResult:
    """Return the result of an operation from what `consumers` of the change log have derived already.

    If the page is to wait for this part, what is missing is derived first as far as that takes a moment, and the result
    is waited for until a page would give up. The operation goes on, and a later request gets its result.
    """
    waits = is_waiting(request, part)
    pending = await _read_backlog(request, consumers)
    derive_seconds = _DERIVE_SECONDS if waits and pending else 0.0
    session: WebSession = request.scope[SESSION_KEY]
    slow_calls: SlowCalls = request.app.state.slow_calls
    calls = calls_of(request).with_work_limit(derive_seconds)
    result = await slow_calls.run_within(PATIENCE if waits else _AT_ONCE, session.key, calls, name, **values)
    if derive_seconds:
        pending = await _read_backlog(request, consumers)
    return PartResult(result, not pending)


async def _read_backlog(request: Request, consumers: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of the consumers whose data is not complete."""
    if not consumers:
        return ()
    result = await calls_of(request).run("derivation_backlog", consumers=consumers)
    pending: tuple[str, ...] = result.pending
    return pending


def answer_page(request: Request, template: str, *, page: str, status: int = 200, **values: Any) -> Response:
    """Return a filled template. `page` is the page's name in the navigation."""
    session: WebSession = request.scope[SESSION_KEY]
    body = page_templates.fill(
        template,
        page=page,
        status=status,
        form_token=session.form_token,
        read_only=session.visitor.read_only,
        **values,
    )
    return Response(body, status, media_type="text/html")
