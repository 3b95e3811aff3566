"""People sign on to a team: by a real provider's process in both ways, and with forged tokens that change nothing."""

from __future__ import annotations

import itertools
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.team.forged_provider import CLIENT, ForgedProvider, forging
from tests.team.members import Person, Team, serving
from tests.team.scripted_browser import RunningProvider, providing, visit, visit_beside

from palazzo.features.team.contract import SignOnStepView, TeamJoinRequest, TeamLoginRequest, TeamMemberRequest
from palazzo.team.client import sign_on as client_sign_on
from palazzo.team.client.membership import find_membership
from palazzo.team.client.sign_on import SignOnFailed
from palazzo.team.client.team_connection import TeamRefused
from palazzo.team.protocol import sign_on_nonce
from palazzo.team.server import accounts
from palazzo.team.server.accounts import NotAllowed
from palazzo.team.server.sign_on_service import SignOnService
from palazzo.team.server.sign_on_settings import SignOnSettings
from palazzo.team.server.team_database import TeamDatabase

pytestmark = pytest.mark.slow
DECISION = "We retry payments twice, because the bank closes connections at midnight."
PEOPLE = {name: {"email": f"{name}@example.org", "email_verified": True} for name in ("ada", "ben")}


# --- a real provider -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningProvider]:
    with providing(tmp_path_factory.mktemp("provider")) as started:
        yield started


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let a person sit at the browser that is opened from now on."""

    def use(login: str) -> None:
        def start(address: str) -> bool:
            visit_beside(address, {"login": login, "password": "x"})
            return True

        monkeypatch.setattr(webbrowser, "open", start)

    return use


@pytest.fixture
def signing_team(team_database: TeamDatabase, tmp_path: Path, provider: RunningProvider) -> Iterator[Team]:
    def settings_for(url: str) -> SignOnSettings:
        return SignOnSettings(
            provider.issuer, CLIENT, url, domains=("example.org",), admits_new_people=True, wings={"shop": "reader"}
        )

    provider.set_people(PEOPLE)
    with serving(team_database, tmp_path, settings_for) as started:
        yield started


def ignore(step: SignOnStepView) -> None:
    """See what is to be done, and leave it to the browser."""


def test_two_people_sign_on_in_both_ways_share_and_leave(
    signing_team: Team,
    provider: RunningProvider,
    browser: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    team = signing_team
    ada, ben = (Person(team.directory / name / "palace.db") for name in ("ada", "ben"))
    monkeypatch.setattr(client_sign_on, "_INTERVAL", 0.1)
    accounts.set_login(team.database, "Ada", "Ada@Example.org")
    browser("ada")
    assert ada.run(TeamJoinRequest(team.url), ignore).person == "Ada"
    ada.say(DECISION)
    ada.share()

    def enter_code(step: SignOnStepView) -> None:
        visit(step.address, {"user_code": step.code, "login": "ben", "password": "x"})

    assert ben.run(TeamJoinRequest(team.url, device=True), enter_code).person == "ben@example.org"
    ada.run(TeamMemberRequest("shop", "ben@example.org", "writer"))
    ben.say("Coupons are checked before the payment.")
    ben.share()
    team.build()
    assert ben.find("why do we retry payments twice")[0].person == "Ada"
    assert ada.find("when are coupons checked")[0].person == "ben@example.org"
    assert ada.run(TeamLoginRequest(), ignore).person == "Ada"  # the device and what it shares stay
    assert ada.share(None).sent == 0

    def enter_code_and_leave(step: SignOnStepView) -> None:
        enter_code(step)
        provider.set_people({"ada": PEOPLE["ada"]})

    with pytest.raises(SignOnFailed, match="does not accept the code"):
        ben.run(TeamLoginRequest(device=True), enter_code_and_leave)
    accounts.remove_person(team.database, "Ada")
    with pytest.raises(TeamRefused, match="not in the team any more"):
        ada.run(TeamLoginRequest(), ignore)
    verbs = ("create", "join", "sign on", "refused", "admit")
    with team.database.as_server() as session:
        rows = session.execute("SELECT verb FROM team.audit WHERE verb = ANY (%s) ORDER BY id", ([*verbs],)).fetchall()
    assert [verb for (verb,) in rows] == ["sign on", "create", "admit", "sign on", "sign on", "refused"]


def test_a_client_secret_stays_on_the_server(
    team_database: TeamDatabase, tmp_path: Path, provider: RunningProvider, browser: Callable[[str], None]
) -> None:
    provider.set_people(PEOPLE)
    accounts.set_login(team_database, "Ada", "ada")
    browser("ada")

    def settings_for(url: str) -> SignOnSettings:
        return SignOnSettings(provider.issuer, "confidential", url, "s3cret", person="sub", device_flow=False)

    with serving(team_database, tmp_path, settings_for) as team:
        ada = Person(tmp_path / "ada" / "palace.db")
        assert ada.run(TeamJoinRequest(team.url), ignore).person == "Ada"
        with pytest.raises(SignOnFailed, match="does not let people sign on by a code"):
            ada.run(TeamLoginRequest(device=True), ignore)


# --- forged tokens ---------------------------------------------------------------------------------------------

DEVICE, KEY, SALT, URL = b"d" * 16, b"k" * 32, "salt", "https://team.example.org"


@pytest.fixture
def forged() -> Iterator[ForgedProvider]:
    with forging() as started:
        started.add_key("first")
        yield started


class Attacker:
    """Signs on with tokens that the provider has made with other claims."""

    def __init__(self, database: TeamDatabase, provider: ForgedProvider) -> None:
        self.database, self.provider, self.numbers = database, provider, itertools.count()
        self.settings = SignOnSettings(provider.issuer, CLIENT, URL, domains=("example.org",))
        self.service = SignOnService(database, self.settings)

    def token(self, device: bytes = DEVICE, **changes: Any) -> str:
        nonce = sign_on_nonce(URL, device.hex(), KEY.hex(), SALT)
        return self.provider.sign({**self.provider.claims(nonce), "jti": str(next(self.numbers)), **changes})

    def sign_on(self, token: str, device: bytes = DEVICE) -> str:
        return self.service.sign_on(token, SALT, device, KEY, "laptop")[1]

    def counts(self) -> list[int]:
        tables = ("person", "identity", "device", "token", "used_id_token", "member")
        with self.database.as_server() as session:
            return [(session.execute(f"SELECT count(*) FROM team.{table}").fetchone() or (0,))[0] for table in tables]


def test_what_is_refused_changes_nothing(team_database: TeamDatabase, forged: ForgedProvider) -> None:
    attacker = Attacker(team_database, forged)
    accounts.set_login(team_database, "Ada", "ada@example.org")
    accounts.set_login(team_database, "Ben", "ben@example.org")
    first = attacker.token()
    assert attacker.sign_on(first) == "Ada"
    before = attacker.counts()
    attacks: list[tuple[str, bytes, str]] = [
        (first, DEVICE, "used already"),
        (f"{first}=", DEVICE, "no ID token|signature|used already"),
        (attacker.token(), b"e" * 16, "not made for this server and device"),
        (attacker.token(email_verified=False), DEVICE, "has not verified"),
        (attacker.token(email_verified="true"), DEVICE, "has not verified"),
        (attacker.token(email=None), DEVICE, "does not say your email"),
        (attacker.token(email="ada@example.org.evil.example"), DEVICE, "in none of the domains"),
        (attacker.token(email="eve@evil.example"), DEVICE, "in none of the domains"),
        (attacker.token(sub="2", email="eve@example.org"), DEVICE, "Nobody in this team signs on as 'eve@example.org'"),
        (attacker.token(sub="2"), DEVICE, "signed on with another account"),
        (attacker.token(sub="3", email="ben@example.org"), DEVICE, "another person's"),
    ]
    for token, device, reason in attacks:
        with pytest.raises(NotAllowed, match=reason):
            pytest.fail(f"{reason}: {attacker.sign_on(token, device)}")
        assert attacker.counts() == before, reason
    assert attacker.sign_on(attacker.token(email="ADA@example.org")) == "Ada"


def test_an_id_token_for_one_server_is_none_for_another(team_database: TeamDatabase, forged: ForgedProvider) -> None:
    attacker = Attacker(team_database, forged)
    accounts.set_login(team_database, "Ada", "ada@example.org")
    elsewhere = sign_on_nonce("https://evil.example", DEVICE.hex(), KEY.hex(), SALT)
    with pytest.raises(NotAllowed, match="not made for this server"):
        attacker.sign_on(forged.sign(forged.claims(elsewhere)))


def test_new_people_come_in_by_group_with_a_role_in_the_oldest_wing_of_the_name(
    team_database: TeamDatabase, forged: ForgedProvider
) -> None:
    attacker = Attacker(team_database, forged)
    ada = accounts.set_login(team_database, "Ada", "ada@example.org") and attacker.sign_on(attacker.token())
    assert ada == "Ada"
    for _ in range(2):
        with team_database.as_server() as session:
            person = accounts.find_person(session, "Ada")
        accounts.create_wing(team_database, accounts.Account(person, "Ada", None, None), "shop")
    settings = replace(attacker.settings, groups=("engineers",), admits_new_people=True, wings={"shop": "reader"})
    attacker.service = SignOnService(team_database, settings)
    new = {"sub": "2", "email": "ben@example.org"}
    for groups in (None, "engineers", ["sales"], [["engineers"]]):
        with pytest.raises(NotAllowed, match="in none of the groups"):
            attacker.sign_on(attacker.token(b"e" * 16, **new, groups=groups), b"e" * 16)
    assert attacker.sign_on(attacker.token(b"e" * 16, **new, groups=["engineers"]), b"e" * 16) == "ben@example.org"
    with team_database.as_server() as session:
        rows = session.execute("SELECT wing, role FROM team.member WHERE role <> 'owner'").fetchall()
        assert rows == [(1, "reader")]
    accounts.remove_person(team_database, "ben@example.org")
    with pytest.raises(NotAllowed, match="not in the team any more"):
        attacker.sign_on(attacker.token(b"e" * 16, **new, groups=["engineers"]), b"e" * 16)


def test_a_person_whose_account_was_replaced_is_let_in_by_the_operator(
    team_database: TeamDatabase, forged: ForgedProvider
) -> None:
    attacker = Attacker(team_database, forged)
    accounts.set_login(team_database, "Ada", "ada@example.org")
    assert attacker.sign_on(attacker.token()) == "Ada"
    accounts.set_login(team_database, "Ada", "ada@example.org")
    assert attacker.sign_on(attacker.token(sub="2")) == "Ada"
    with pytest.raises(NotAllowed, match="another account"):
        attacker.sign_on(attacker.token())


def test_a_provider_that_is_away_stops_only_the_sign_on(team_database: TeamDatabase, tmp_path: Path) -> None:
    def settings_for(url: str) -> SignOnSettings:
        return SignOnSettings("http://127.0.0.1:9", CLIENT, url)

    with serving(team_database, tmp_path, settings_for) as team:
        ben = team.join("Ben")  # by invitation
        assert ben.find("anything") == []
        eve = Person(tmp_path / "eve" / "palace.db")
        with pytest.raises(Exception, match="cannot be reached"):
            eve.run(TeamJoinRequest(team.url), ignore)
        assert find_membership(eve.palace) is None
