"""A process that serves MCP over HTTP, with the palace and the model warm: `palazzo mcp --http`.

python -m palazzo.daemon.http_server [HOST:PORT] [--profile NAME] [--toolset NAME] [--palace PATH] [--read-only]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path

from palazzo import paths
from palazzo.daemon.engine import Engine
from palazzo.daemon.mcp_connections import carried_out
from palazzo.errors import PalazzoError, UsageError
from palazzo.faces.http import http_socket
from palazzo.faces.mcp import http_endpoint
from palazzo.faces.mcp.client_calls import Surroundings
from palazzo.operations.context import Context


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal ends it; return the exit code."""
    parser = argparse.ArgumentParser(prog="palazzo mcp --http", add_help=False)
    parser.add_argument("address", nargs="?", default=http_socket.DEFAULT)
    parser.add_argument("--profile", default="palazzo")
    parser.add_argument("--toolset", default="core")
    parser.add_argument("--palace", type=Path)
    parser.add_argument("--read-only", action="store_true")
    options = parser.parse_args(arguments)
    with Context(options.palace) as context:
        engine = Engine(context.palace_path)
    around = Surroundings(Path(paths.working_directory()), dict(os.environ), engine.palace, read_only=options.read_only)
    with contextlib.closing(engine):
        try:
            return http_endpoint.serve(
                options.address, options.profile, options.toolset, around, lambda asked: carried_out(engine, asked)
            )
        except PalazzoError as error:
            print(f"palazzo: {error}", file=sys.stderr)
            return 2 if isinstance(error, UsageError) else 1
        finally:
            engine.stopping.set()


if __name__ == "__main__":
    sys.exit(main())
