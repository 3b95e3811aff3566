"""The command palazzo team purge: removes withdrawn words from the files of the team's database."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

from palazzo.errors import UsageError
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.local_command import LocalCommand
from palazzo.faces.cli.team_serve_command import DATABASE, database_url
from palazzo.frozen_class import frozen
from palazzo.operations.operation import About
from palazzo.text.count_phrases import count_noun


@frozen
class TeamPurgeRequest:
    """Which database, and for how long its backups are kept."""

    database: Annotated[str | None, About(f"The PostgreSQL database, instead of {DATABASE}.", metavar="URL")] = None
    backup_days: Annotated[
        int | None, About("Days for which backups and the archive of the write-ahead log are kept.", metavar="DAYS")
    ] = None


def team_purge(request: TeamPurgeRequest, common: Common) -> int:
    """Rewrite the tables from whose files withdrawn words have not been removed yet, each under a lock.

    Run it every night, where the team server runs. With nothing withdrawn, nothing is done. The exit code is 1 if an
    older transaction still sees the words; then run it again.
    """
    if request.backup_days is not None and not 0 <= request.backup_days <= 36_500:
        raise UsageError("--backup-days must be between 0 and 36,500.")
    url = database_url(request.database)
    from palazzo.team.server.erasures import purge
    from palazzo.team.server.team_database import TeamDatabase

    with TeamDatabase(url) as database:
        database.prepare()
        outcome = purge(database, request.backup_days)
    if common.as_json:
        print(json.dumps(asdict(outcome), indent=2))
    elif outcome.blocked:
        print(f"An older transaction still sees {count_noun(outcome.blocked, 'withdrawn row')}: run this again later.")
    elif outcome.erasures:
        print(
            f"Rewrote {count_noun(outcome.tables, 'table')}; {count_noun(outcome.erasures, 'erasure')} done in the "
            "database's files. 'palazzo team erasures' says what is left elsewhere."
        )
    else:
        print("Nothing to purge.")
    return 1 if outcome.blocked else 0


COMMAND = LocalCommand(
    "team purge",
    TeamPurgeRequest,
    team_purge,
    examples=("palazzo team purge --backup-days 30",),
)
