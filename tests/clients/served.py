"""`palazzo mcp --http` on a port of this machine: as a process, and for clients that cannot send a token."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.daemon.conftest import User
from tests.faces.mcp.http_served import running

from palazzo.archive import identity
from palazzo.faces.http.http_socket import bound
from palazzo.faces.mcp.client_calls import Call, Surroundings
from palazzo.faces.mcp.http_endpoint import HttpServer
from palazzo.faces.mcp.http_quotas import Receive, Scope, Send
from palazzo.palace import Palace
from palazzo.store import token_rows


def make_token(palace: Path) -> str:
    """Return the secret of a new token of the admin's."""
    with Palace.open(palace) as open_palace, open_palace.database.transaction() as connection:
        uid = bytes.fromhex(identity.new_id(open_palace.clock()))
        return token_rows.issue(connection, uid, "client", "admin", open_palace.clock())


@contextmanager
def http_without_token(palace: Path, around: Surroundings, profile: str, call: Call) -> Iterator[str]:
    """Serve all tools of a profile, with a token added to each request: some test suites send no headers."""
    secret = make_token(palace)
    with closing(bound("127.0.0.1:0")) as listener:
        server = HttpServer(listener, profile, "full", around, call)
        guard: Any = server._uvicorn.config.app

        async def add_token(scope: Scope, receive: Receive, send: Send) -> None:
            header = (b"authorization", f"Bearer {secret}".encode())
            await guard({**scope, "headers": [*scope["headers"], header]}, receive, send)

        server._uvicorn.config.app = add_token
        with running(server.run, server.stop):
            yield f"http://127.0.0.1:{listener.port}/mcp"


@contextmanager
def http_server(someone: User, profile: str, project: Path) -> Iterator[tuple[str, str]]:
    """Serve all tools of a profile; the address, and the secret of a token."""
    secret = make_token(someone.palace)
    command = [sys.executable, "-m", "palazzo.faces.cli", "mcp", "--http", "127.0.0.1:0", "--toolset", "full"]
    process = subprocess.Popen(
        [*command, "--profile", profile, "--palace", str(someone.palace)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=project,
        env=someone.variables,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", said)
        assert found, said
        yield found[0], secret
    finally:
        process.terminate()
        process.communicate(timeout=60)
