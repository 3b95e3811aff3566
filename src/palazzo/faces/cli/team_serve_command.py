"""The command palazzo team serve: runs the team server, which has no palace of its own."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from palazzo import paths
from palazzo.errors import PalazzoError, UsageError
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.local_command import LocalCommand
from palazzo.frozen_class import frozen
from palazzo.operations.operation import About

DATABASE = "PALAZZO_TEAM_DATABASE"
METRICS_TOKEN = "PALAZZO_TEAM_METRICS_TOKEN"  # noqa: S105 - the name of a variable
SIGN_ON = "PALAZZO_TEAM_SIGN_ON"
SIGN_ON_SECRET = "PALAZZO_TEAM_SIGN_ON_SECRET"  # noqa: S105 - the name of a variable


@frozen
class TeamServeRequest:
    """Which database, and at which address."""

    address: Annotated[str | None, About("Serve at HOST:PORT instead of 127.0.0.1:8379.", positional=True)] = None
    database: Annotated[str | None, About(f"The PostgreSQL database, instead of {DATABASE}.", metavar="URL")] = None
    sign_on: Annotated[
        str | None,
        About(f"Let people sign on by the provider of this file of settings, instead of {SIGN_ON}.", metavar="FILE"),
    ] = None
    no_worker: Annotated[bool, About("Only answer; another 'team serve' merges what is shared.")] = False


def team_serve(request: TeamServeRequest, common: Common) -> int:
    """Serve a team from a PostgreSQL database, until ^C.

    The database belongs to a role that is no superuser; its tables are created. People come in by 'palazzo team
    invite', or with --sign-on by an identity provider (OpenID Connect); a client secret is read from
    PALAZZO_TEAM_SIGN_ON_SECRET. A proxy in front brings TLS. With PALAZZO_TEAM_METRICS_TOKEN, /metrics has figures for
    Prometheus.
    """
    url = database_url(request.database)
    from palazzo.faces.http import http_socket
    from palazzo.faces.team import team_server
    from palazzo.operations.context import Context
    from palazzo.team.server.sign_on_service import SignOnService
    from palazzo.team.server.sign_on_settings import load_settings
    from palazzo.team.server.team_database import TeamDatabase
    from palazzo.team.server.team_search import TeamSearch
    from palazzo.team.server.worker import Worker

    context = Context(variables=os.environ)
    sign_on, secret = request.sign_on or os.environ.get(SIGN_ON), os.environ.get(SIGN_ON_SECRET, "").strip()
    settings = load_settings(Path(sign_on).expanduser(), secret) if sign_on else None
    with TeamDatabase(url) as database:
        database.prepare()
        bound = http_socket.bound(request.address or team_server.DEFAULT_ADDRESS)
        scratch = team_server.scratch_directory(paths.cache_directory())
        worker = None if request.no_worker else Worker(database, scratch, context.open_embedder)
        print(f"The team server listens at {bound.url}.", file=sys.stderr, flush=True)
        search, metrics_token = TeamSearch(database, context.open_embedder), os.environ.get(METRICS_TOKEN, "").strip()
        service = None if settings is None else SignOnService(database, settings)
        team_server.TeamServer(bound, database, search, worker, metrics_token, service).run()
    return 0


def database_url(url: str | None) -> str:
    """Return the address of the team's database; raises an error that says how to name one, or what is missing."""
    if any(find_spec(name) is None for name in ("psycopg", "psycopg_pool")):
        raise PalazzoError(
            "The team server needs a library that is not installed; install it with: pip install 'palazzo[team]'"
        )
    url = url or os.environ.get(DATABASE)
    if not url:
        raise UsageError(f"Name the database with --database postgresql://…, or in {DATABASE}.")
    return url


COMMAND = LocalCommand(
    "team serve",
    TeamServeRequest,
    team_serve,
    examples=(
        "palazzo team serve --database postgresql://palazzo@localhost/team",
        "palazzo team serve 0.0.0.0:8379 --sign-on sign-on.toml",
    ),
)
