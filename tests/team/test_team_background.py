"""The service shares by itself; a server that is away is asked again, nothing is sent twice, and one sentence tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.team.members import Person, Team, serving
from tests.team.postgres import working

from palazzo.daemon.palace_pool import Pool
from palazzo.daemon.team_schedule import BackgroundSharing
from palazzo.features.team.contract import TeamMemberRequest, TeamShareRequest, TeamStatusRequest
from palazzo.features.upkeep import doctor
from palazzo.operations.context import Context
from palazzo.team.client import membership as memberships

pytestmark = pytest.mark.slow
DECISION = "We retry payments twice, because the bank closes connections at midnight."


def look(person: Person, variables: dict[str, str] | None = None) -> None:
    """Look once, as the service does at its start."""
    pool = Pool()
    BackgroundSharing(person.palace, variables or {}, pool).look()
    pool.close()


def status(person: Person) -> str:
    failure: str = person.run(TeamStatusRequest()).failure
    return failure


def diagnoses(person: Person) -> list[str]:
    with Context(person.palace, variables={}) as context:
        return [diagnosis.mend for diagnosis in doctor._team(context)]


def count_segments(team: Team) -> int:
    with working(team.database, 1) as session:
        row = session.execute("SELECT count(*) FROM team.segment").fetchone()
    return int(row[0]) if row else 0


def test_the_service_sends_what_is_new_and_a_stopped_server_gets_it_once(team: Team, tmp_path: Path) -> None:
    ada = team.join("Ada")
    ada.say("Of yesterday.")
    look(ada)  # no wing is shared yet
    assert memberships.load_background(ada.palace).failure == ""
    ada.share(with_past=False)
    ada.say(DECISION)
    look(ada, {"PALAZZO_TEAM_BACKGROUND": "0"})
    assert count_segments(team) == 0
    look(ada)
    look(ada)
    assert count_segments(team) == 1

    member = ada.membership
    away = memberships.Membership("http://127.0.0.1:1", member.token, member.person, member.device, member.private_key)
    memberships.save_membership(ada.palace, away.with_shared("shop", member.shared["shop"]))
    ada.say("Refunds need two approvals.")
    for _ in range(2):
        look(ada)
    assert status(ada).count("cannot be reached") == 1
    assert diagnoses(ada) == ["palazzo team share"]
    with serving(team.database, tmp_path) as other:  # another copy of the server, at another address
        memberships.save_membership(
            ada.palace,
            memberships.Membership(
                other.url, member.token, member.person, member.device, member.private_key, member.shared
            ),
        )
        look(ada)
        assert (status(ada), diagnoses(ada), count_segments(team)) == ("", [], 2)


def test_a_wing_that_is_refused_holds_up_no_other(team: Team) -> None:
    ada, ben = team.join("Ada"), team.join("Ben")
    ada.say(DECISION)
    ada.share()
    ada.run(TeamMemberRequest("shop", "Ben", "writer"))
    ben.say("Coupons are checked first.")
    ben.share()
    ben.say("Invoices are sent on Mondays.", wing="office")
    ben.run(TeamShareRequest("office"))
    ben.say("Letters are sent on Fridays.", wing="office")
    ada.run(TeamMemberRequest("shop", "Ben", "none"))
    ben.say("Refunds need two approvals.")
    look(ben)
    assert status(ben).startswith("shop: ")
    team.build()
    assert {hit.text for hit in ben.find("letters fridays refunds approvals")} == {"Letters are sent on Fridays."}
    assert ben.run(TeamShareRequest("office")).wings[0].segments == 0
