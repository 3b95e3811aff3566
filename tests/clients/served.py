"""`palazzo mcp --http`, as a process on a port of this machine."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.daemon.conftest import User


@contextmanager
def http_server(someone: User, profile: str, project: Path) -> Iterator[str]:
    """Serve all tools of a profile; the address."""
    command = [sys.executable, "-m", "palazzo.cli", "mcp", "--http", "127.0.0.1:0", "--toolset", "full"]
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
        yield found[0]
    finally:
        process.terminate()
        process.communicate(timeout=60)
