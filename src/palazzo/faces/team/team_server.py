"""The team server's process: uvicorn on a socket, and a worker on a thread of its own.

Any number of these processes may run over one database, on any machines: all that they share is in it. TLS belongs to
the proxy in front, so without one only this machine is served.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from pathlib import Path

from palazzo.errors import PalazzoError
from palazzo.faces.http.http_serving import make_server
from palazzo.faces.http.http_socket import Bound
from palazzo.faces.team.team_app import make_app
from palazzo.team.server.sign_on_service import SignOnService
from palazzo.team.server.team_database import TeamDatabase
from palazzo.team.server.team_metrics import ProcessMetrics
from palazzo.team.server.team_search import TeamSearch
from palazzo.team.server.worker import Worker

DEFAULT_ADDRESS = "127.0.0.1:8379"
"""Beside 8377 and 8378, the ports of `palazzo mcp --http` and of the viewer."""
WORKER_PAUSE = 2.0
"""Seconds between two looks for changed wings: a shared decision is found by others some seconds later."""
_GRACE = 5
"""Seconds that unfinished requests get when the server is stopped."""
_LARGEST_HEAD = 32_768
"""Bytes of a request's headers."""


class TeamServer:
    """Serves a team until `stop`. Without a `worker`, another process builds what is shared.

    `metrics_token` is what shows the figures for Prometheus; without one they are not shown. Without a
    `sign_on_service`, people join by invitation only.
    """

    def __init__(
        self,
        bound: Bound,
        database: TeamDatabase,
        search: TeamSearch,
        worker: Worker | None,
        metrics_token: str = "",
        sign_on_service: SignOnService | None = None,
    ) -> None:
        self._bound, self._worker, self._metrics = bound, worker, ProcessMetrics()
        self._stopping = threading.Event()
        app = make_app(database, search, self._metrics, metrics_token, sign_on_service)
        self._uvicorn = make_server(app, largest_head=_LARGEST_HEAD, grace=_GRACE)

    def run(self) -> None:
        """Serve until ^C, SIGTERM or `stop`."""
        thread = threading.Thread(target=self._work, name="palazzo-team-worker")
        if self._worker is not None:
            thread.start()
        try:
            with contextlib.closing(self._bound):
                asyncio.run(self._uvicorn.serve(sockets=self._bound.sockets))
        finally:
            self._stopping.set()
            if self._worker is not None:
                thread.join()

    def stop(self) -> None:
        """Stop listening; `run` then returns."""
        self._uvicorn.should_exit = True
        self._stopping.set()

    def _work(self) -> None:
        """Build changed wings. A database that is away for a while is waited for; any other failure ends the server."""
        assert self._worker is not None  # noqa: S101 - `run` has asked
        try:
            while not self._stopping.wait(WORKER_PAUSE):
                try:
                    self._metrics.count_builds("done", self._worker.run())
                except PalazzoError as error:
                    self._metrics.count_builds("failed")
                    print(f"worker: {error}", file=sys.stderr, flush=True)
        finally:
            self._uvicorn.should_exit = True


def scratch_directory(cache: Path) -> Path:
    """Return where a worker builds wings; the directory may be deleted while none runs."""
    return cache / "team-scratch"
