"""The command palazzo team doctor: examines the team's database, where the team server runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.local_command import LocalCommand
from palazzo.faces.cli.team_serve_command import DATABASE, database_url
from palazzo.frozen_class import frozen
from palazzo.operations.operation import About


@frozen
class TeamDoctorRequest:
    """Which database."""

    database: Annotated[str | None, About(f"The PostgreSQL database, instead of {DATABASE}.", metavar="URL")] = None


def team_doctor(request: TeamDoctorRequest, common: Common) -> int:
    """Check the team's database: its role, its tables, row-level security, and what waits for a worker.

    Nothing is changed. The exit code is 1 if something is not as it must be.
    """
    url = database_url(request.database)
    from palazzo.team.server.team_database import TeamDatabase
    from palazzo.team.server.team_doctor import examine

    with TeamDatabase(url) as database:
        checks = examine(database)
    if common.as_json:
        print(json.dumps({"checks": [asdict(check) for check in checks]}, indent=2, ensure_ascii=False))
    else:
        for check in checks:
            print(f"{'ok' if check.is_ok else '!!'}  {check.name}: {check.detail}")
    return 0 if all(check.is_ok for check in checks) else 1


COMMAND = LocalCommand(
    "team doctor",
    TeamDoctorRequest,
    team_doctor,
    examples=("palazzo team doctor --database postgresql://palazzo@localhost/team",),
)
