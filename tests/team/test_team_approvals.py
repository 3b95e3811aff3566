"""Approvals in a team: whose count for which notes, of exactly which words, and how they end."""

from __future__ import annotations

import pytest
from tests.index.hashed_words import HashedWords
from tests.team.members import Person, Team
from tests.team.test_team_isolation import fetch

from palazzo.errors import NotFound, UsageError
from palazzo.features.team.contract import (
    TEAM_APPROVE,
    TeamApproveRequest,
    TeamHitView,
    TeamLogRequest,
    TeamMemberRequest,
)
from palazzo.features.trust.contract import QUARANTINE_APPROVE, QuarantineApproveRequest
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.team import protocol
from palazzo.team.client.team_connection import TeamRefused
from palazzo.team.protocol import PREFIX
from palazzo.team.server.worker import Worker

pytestmark = pytest.mark.slow
NOTE = "The provider keeps an idempotency key for 24 hours, so payments stop retrying after 23."
QUERY = "idempotency key payments retrying"


def write_untrusted(person: Person, text: str = NOTE) -> str:
    """File a note as of an agent that had read untrusted content; return its drawer's id."""
    with Palace.open(person.palace) as palace:
        return palace.remember(text, Place("shop", "notes"), author="claude-code", trust="external").drawers[0]


def approve_here(person: Person, drawer: str) -> None:
    with Context(person.palace, variables={}) as context:
        QUARANTINE_APPROVE.run(context, QuarantineApproveRequest((drawer,)))


def find(person: Person) -> TeamHitView:
    return next(hit for hit in person.find(QUERY) if hit.text == NOTE)


def test_what_the_writer_approves_is_a_teammates_after_the_next_share(team: Team) -> None:
    ada, ben = team.join("Ada"), team.join("Ben")
    drawer = write_untrusted(ada)
    ada.share()
    ada.run(TeamMemberRequest("shop", "Ben"))
    team.build()
    assert find(ben).trust == "external"
    approve_here(ada, drawer)
    shared = ada.share(None)
    assert (shared.sent, shared.approvals) == (0, 1)
    team.build()
    assert find(ben).trust == "teammate"
    assert ada.share(None).approvals == 0
    assert "1 approved, 0 taken back" in [line.detail for line in ada.run(TeamLogRequest()).lines]

    with Palace.open(ada.palace) as palace:
        palace.undo()
    assert ada.share(None).approvals == 1
    team.build()
    assert find(ben).trust == "external"


def test_an_approval_may_arrive_before_the_wing_is_built(team: Team) -> None:
    ada = team.join("Ada")
    approve_here(ada, write_untrusted(ada))
    assert ada.share().approvals == 1
    team.build()
    assert find(ada).trust == "teammate"


def test_a_maintainer_approves_anybodys_note_and_takes_it_back(team: Team) -> None:
    ada, ben, cy = (team.join(name) for name in ("Ada", "Ben", "Cy"))
    drawer = write_untrusted(ada)
    ada.share()
    ada.run(TeamMemberRequest("shop", "Ben", "maintainer"))
    ada.run(TeamMemberRequest("shop", "Cy", "reader"))
    team.build()
    assert ben.run(TeamApproveRequest((drawer[:10],))).notes == (drawer,)
    team.build()
    assert find(cy).trust == "teammate"
    ben.run(TeamApproveRequest((drawer,), revoke=True))
    team.build()
    assert find(cy).trust == "external"
    with pytest.raises(TeamRefused, match="No maintainer has approved"):
        ben.run(TeamApproveRequest((drawer,), revoke=True))
    with pytest.raises(NotFound):
        ben.run(TeamApproveRequest(("0" * 12,)))


def test_who_does_not_maintain_a_wing_approves_nobody_elses_note(team: Team) -> None:
    ada, ben, eve = (team.join(name) for name in ("Ada", "Ben", "Eve"))
    drawer = write_untrusted(ada)
    ada.share()
    ada.run(TeamMemberRequest("shop", "Ben", "writer"))
    team.build()
    with pytest.raises(TeamRefused, match="needs maintainer"):
        ben.run(TeamApproveRequest((drawer,)))
    assert ("refused", "Ben") in [(line.verb, line.person) for line in ada.run(TeamLogRequest()).lines]
    path = f"{PREFIX}/wings/{ada.wing()}/approvals"
    key = bytes.fromhex(ben.connection.describe_wing(ada.wing())["key"])
    digest = protocol.digest_text(NOTE, key)
    ben.connection.replace_approvals(
        ada.wing(), {drawer: digest}, ben.membership.key
    )  # as of a note of Ben's own, which it is not
    team.build()
    assert find(ada).trust == "external"
    assert fetch(team, eve, "PUT", path, {"drawers": {drawer: digest}, "signature": "00"})[0] == 404
    assert fetch(team, eve, "POST", path, {"drawer": drawer, "digest": digest, "signature": "00"})[0] == 404
    ada.run(TeamMemberRequest("shop", "Ben", "reader"))
    with pytest.raises(UsageError, match="reader; this needs maintainer"):
        ben.run(TeamApproveRequest((drawer,)))
    with pytest.raises(TeamRefused, match="needs writer"):
        ben.connection.replace_approvals(ada.wing(), {}, ben.membership.key)


def test_a_token_alone_approves_nothing(team: Team) -> None:
    ada, ben = team.join("Ada"), team.join("Ben")
    drawer = write_untrusted(ada)
    ada.share()
    team.build()
    path = f"{PREFIX}/wings/{ada.wing()}/approvals"
    key = bytes.fromhex(ada.connection.describe_wing(ada.wing())["key"])
    digests = {drawer: protocol.digest_text(NOTE, key)}
    of_another = protocol.sign_approvals(ben.membership.key, ada.wing(), digests, protocol.OWN_APPROVALS)
    of_another_kind = protocol.sign_approvals(ada.membership.key, ada.wing(), digests, protocol.MAINTAINER_APPROVAL)
    for signature in ("", "zz", "00" * 64, of_another, of_another_kind):
        assert fetch(team, ada, "PUT", path, {"drawers": digests, "signature": signature})[0] in (400, 403)
    body = {"drawer": drawer, "digest": digests[drawer], "signature": "00" * 64}
    assert fetch(team, ada, "POST", path, body)[0] == 403
    team.build()
    assert find(ada).trust == "external"


def test_an_approval_is_of_exactly_these_words(team: Team) -> None:
    ada = team.join("Ada")
    drawer = write_untrusted(ada)
    ada.share()
    team.build()
    key = bytes.fromhex(ada.connection.describe_wing(ada.wing())["key"])
    ada.connection.approve(ada.wing(), drawer, protocol.digest_text("Disable TLS.", key), ada.membership.key)
    team.build()
    assert find(ada).trust == "external"


def test_only_an_untrusted_note_is_approved(team: Team) -> None:
    ada = team.join("Ada")
    with Palace.open(ada.palace) as palace:
        trusted = palace.remember("Payments are retried twice.", Place("shop", "notes")).drawers[0]
    ada.share()
    team.build()
    with pytest.raises(TeamRefused, match="Only a note that an agent wrote"):
        ada.run(TeamApproveRequest((trusted,)))
    path = f"{PREFIX}/wings/{ada.wing()}/approvals"
    bodies: tuple[dict[str, object], ...] = ({}, {"drawers": []}, {"drawers": {trusted: 1}})
    for body in bodies:
        assert fetch(team, ada, "PUT", path, body)[0] == 400
    for drawer, digest in (("12", "34"), (trusted, "34")):
        with pytest.raises(TeamRefused):
            ada.connection.approve(ada.wing(), drawer, digest, ada.membership.key)
    too_many = {f"{number:032x}": "0" * 32 for number in range(protocol.MOST_APPROVALS + 1)}
    with pytest.raises(TeamRefused, match="at most 10,000"):
        ada.connection.replace_approvals(ada.wing(), too_many, ada.membership.key)
    with pytest.raises(TeamRefused, match="32 hexadecimal"):
        ada.connection.replace_approvals(ada.wing(), {"zz": "00"}, ada.membership.key)


def test_an_agent_approves_nothing(team: Team) -> None:
    ada = team.join("Ada")
    with (
        Context(ada.palace, variables={"CLAUDECODE": "1"}) as context,
        pytest.raises(UsageError, match="Only a person"),
    ):
        TEAM_APPROVE.run(context, TeamApproveRequest(("00000000",)))


def test_what_is_withdrawn_leaves_no_approval(team: Team) -> None:
    ada = team.join("Ada")
    drawer = write_untrusted(ada)
    approve_here(ada, drawer)
    ada.share()
    team.build()
    with Palace.open(ada.palace) as palace:
        palace.forget([drawer])
    ada.share(None)
    team.build()
    with team.database.hold_wing(1) as held:
        assert held is not None
        with held.transaction() as session:
            assert session.execute("SELECT count(*) FROM team.approval").fetchone() == (0,)


def test_another_worker_applies_approvals_too(team: Team) -> None:
    ada = team.join("Ada")
    drawer = write_untrusted(ada)
    ada.share()
    team.build()
    key = bytes.fromhex(ada.connection.describe_wing(ada.wing())["key"])
    ada.connection.approve(ada.wing(), drawer, protocol.digest_text(NOTE, key), ada.membership.key)
    team.build()
    ada.say("Refunds need two approvals.", room="notes")
    ada.share(None)
    assert Worker(team.database, team.directory / "other", HashedWords).run() == 1
    assert find(ada).trust == "teammate"
