"""uvicorn, with the settings that every server of Palazzo has: limits on connections, and nothing said of itself."""

from __future__ import annotations

import uvicorn
from starlette.types import ASGIApp

from palazzo.faces.http.http_protocol import MOST_CONNECTIONS, DeadlineProtocol


def make_server(app: ASGIApp, *, largest_head: int, grace: int) -> uvicorn.Server:
    """Return a server that has not started.

    `largest_head` is the maximum size of a request's headers in bytes while they arrive; `grace` is the number of
    seconds that unfinished answers get when the server is stopped.
    """
    config = uvicorn.Config(
        app,
        http=DeadlineProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=largest_head,
        timeout_graceful_shutdown=grace,
    )
    return uvicorn.Server(config)
