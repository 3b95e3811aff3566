"""Two people and a team server: what is shared is found by teammates, and by nobody else."""

from __future__ import annotations

import pytest
from tests.team.members import Team
from tests.team.postgres import working

from palazzo.errors import UsageError
from palazzo.features.team.contract import (
    TeamJoinRequest,
    TeamLogRequest,
    TeamMemberRequest,
    TeamStatusRequest,
    TeamUnshareRequest,
)
from palazzo.palace import Palace
from palazzo.team.client.team_connection import TeamRefused
from palazzo.team.server import accounts

pytestmark = pytest.mark.slow
DECISION = "We retry payments twice, because the bank closes connections at midnight."


def test_a_teammate_finds_a_shared_decision_with_its_author_and_branch(team: Team) -> None:
    ada, ben, eve = (team.join(name) for name in ("Ada", "Ben", "Eve"))
    ada.say(DECISION, author="Ada Lovelace", branch="main")
    shared = ada.share()
    assert shared.created
    assert shared.records["item"] == 1
    team.build()
    assert ben.find("payments retry") == []
    ada.run(TeamMemberRequest("shop", "Ben"))
    (hit,) = ben.find("why do we retry payments twice")
    assert (hit.text, hit.person, hit.trust, hit.wing, hit.room) == (DECISION, "Ada", "teammate", "shop", "checkout")
    assert (hit.author, hit.branch) == ("Ada Lovelace", "main")
    assert eve.find("payments retry") == []
    assert [wing.name for wing in eve.run(TeamStatusRequest()).wings] == []


def test_the_past_is_shared_only_when_asked_for(team: Team) -> None:
    ada = team.join("Ada")
    ada.say("Of yesterday.")
    assert ada.share(with_past=False).sent == 0
    ada.say(DECISION)
    assert ada.share(None).records["item"] == 1
    assert ada.share(with_past=True).records["item"] == 2


def test_only_the_named_wing_leaves(team: Team) -> None:
    ada = team.join("Ada")
    ada.say(DECISION)
    ada.say("The salary talk is on Thursday.", wing="personal")
    ada.share()
    with working(team.database, 1) as session:
        (content,) = session.execute("SELECT content FROM team.segment").fetchone() or (b"",)
    import zstandard

    lines = zstandard.ZstdDecompressor().stream_reader(content).read()
    assert b"retry payments" in lines
    for hidden in (b"salary", b"personal", str(ada.palace.parent).encode(), b'"link"', b'"device":"', b'"raw"'):
        assert hidden not in lines.replace(ada.membership.device.encode(), b"").partition(b"\n")[2], hidden


def test_a_dry_run_asks_nobody_and_lists_what_stays(team: Team) -> None:
    ada = team.join("Ada")
    ada.say(DECISION)
    ada.say("Remember the milk.", room="later")
    with Palace.open(ada.palace) as palace:
        with palace.database.snapshot() as connection:
            rows = connection.execute("SELECT drawer.uid FROM drawer JOIN room ON room.id = room WHERE name = 'later'")
            drawers = [bytes(uid).hex() for (uid,) in rows]
        palace.forget(drawers)
    view = ada.share(dry_run=True)
    assert (view.records["item"], view.sent, view.segments) == (1, sum(view.records.values()), 0)
    assert accounts.list_wings(team.database, accounts.authenticate(team.database, ada.membership.token)) == []


def test_new_words_continue_the_series_and_forgotten_ones_are_withdrawn(team: Team) -> None:
    ada = team.join("Ada")
    ada.say(DECISION)
    ada.share()
    ada.say("Refunds need two approvals.")
    outcome = ada.share(None)
    assert (outcome.sent, outcome.withdrawn) == (1, False)
    assert ada.share().segments == 0
    team.build()
    assert {hit.text for hit in ada.find("refunds payments approvals retry")} == {
        DECISION,
        "Refunds need two approvals.",
    }
    with Palace.open(ada.palace) as palace:
        with palace.database.snapshot() as connection:
            (uid,) = next(connection.execute("SELECT uid FROM drawer ORDER BY id LIMIT 1"))
        palace.forget([bytes(uid).hex()])
    assert ada.share().withdrawn
    team.build()
    assert [hit.text for hit in ada.find("refunds payments approvals retry")] == ["Refunds need two approvals."]
    with working(team.database, 1) as session:
        assert session.execute("SELECT count(*) FROM team.posting WHERE term = 'midnight'").fetchone() == (0,)


def test_unsharing_withdraws_only_ones_own_words(team: Team) -> None:
    ada, ben = team.join("Ada"), team.join("Ben")
    ada.say(DECISION)
    ada.share()
    ada.run(TeamMemberRequest("shop", "Ben", "writer"))
    ben.say("Coupons are checked before payments.")
    assert not ben.share().created
    team.build()
    assert {hit.person for hit in ada.find("payments")} == {"Ada", "Ben"}
    ada.run(TeamUnshareRequest("shop"))
    team.build()
    assert {hit.person for hit in ada.find("payments")} == {"Ben"}
    with pytest.raises(UsageError):
        ada.run(TeamUnshareRequest("shop"))


def test_a_member_who_leaves_reads_nothing_more(team: Team) -> None:
    ada, ben = team.join("Ada"), team.join("Ben")
    ada.say(DECISION)
    ada.share()
    ada.run(TeamMemberRequest("shop", "Ben"))
    team.build()
    assert ben.find("payments")
    accounts.remove_person(team.database, "Ben")
    with pytest.raises(TeamRefused, match="not valid"):
        ben.find("payments")
    assert "not valid" in ben.run(TeamStatusRequest()).problem


def test_a_device_that_joins_again_goes_on_with_a_new_token(team: Team) -> None:
    ada = team.join("Ada")
    ada.say(DECISION)
    ada.share()
    former = ada.connection
    ada.run(TeamJoinRequest(team.url, accounts.add_person(team.database, "Ada")))
    assert ada.share().segments == 0
    with pytest.raises(TeamRefused, match="not valid"):
        former.describe_me()


def test_the_log_says_what_was_done_in_a_wing_to_its_owner(team: Team) -> None:
    ada = team.join("Ada")
    ada.say(DECISION)
    ada.share()
    verbs = [line.verb for line in ada.run(TeamLogRequest()).lines]
    assert verbs == ["share", "create", "join", "invite"]


def test_a_lost_answer_is_repaired_by_the_next_share(team: Team) -> None:
    ada = team.join("Ada")
    ada.say(DECISION)
    ada.share()
    (sent,) = ada.palace.parent.glob("team-*.json")
    sent.unlink()  # as if the machine had died between the server's answer and this file
    ada.say("Refunds need two approvals.")
    ada.share()
    team.build()
    assert len(ada.find("refunds payments approvals retry")) == 2
