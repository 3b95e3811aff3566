"""One session as a conversation, with its digest beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from palazzo.faces.web.page_answer import answer_page, calls_of
from palazzo.faces.web.page_calls import read_number
from palazzo.features.viewer.contract import MessageView
from palazzo.text.hashed_words import is_covered

_MESSAGES = 100
_MOST_OFFSET = 10_000_000


async def show(request: Request) -> Response:
    """Show some messages of a session; `at` is the id of a message to jump to."""
    calls = calls_of(request)
    session = request.path_params["session"]
    offset = read_number(request.query_params.get("offset"), "offset", 0, _MOST_OFFSET)
    around = request.query_params.get("at") or None
    conversation, digest = await asyncio.gather(
        calls.run("session_conversation", session=session, offset=offset, around=around, limit=_MESSAGES),
        calls.run("session_digest", session=session),
    )
    return answer_page(
        request,
        "session.html",
        page="sessions",
        conversation=conversation,
        digest=digest.digest,
        is_complete=digest.complete,
        is_erased=_is_erased(conversation.messages),
    )


def _is_erased(messages: Sequence[MessageView]) -> bool:
    """Return whether nothing is left of the words of a page's messages."""
    texts = [part.text for message in messages for part in message.parts if part.text]
    return bool(texts) and all(map(is_covered, texts))
