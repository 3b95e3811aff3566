"""Isolation at random: whoever asks whatever of the server gets nothing of a wing that they may not read.

Each wing has words of its own in everything that could appear: its name, a text, a room, an author, a title, a branch.
Every endpoint and tool is asked by every person; the answers must have none of these words, no id, and must be equal
to those for a wing that does not exist. Scores must not change when a wing that cannot be read grows.
"""

from __future__ import annotations

import json
import random
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, LiteralString

import pytest
from psycopg import sql
from tests.team.members import Person, Team

from palazzo.features.search.contract import SEARCH as SEARCH_OPERATION
from palazzo.features.search.contract import SearchRequest
from palazzo.features.team.contract import TeamMemberRequest, TeamSearchRequest, TeamStatusRequest
from palazzo.features.team.tools import SEARCH, STATUS
from palazzo.operations.agent_tools.tool import CallArguments
from palazzo.operations.context import Context
from palazzo.team.protocol import PREFIX, ROLES
from palazzo.team.server import accounts, erasures

COMMON = "payments"
"""A word that every wing has: how often it occurs elsewhere must change no score."""


@dataclass
class World:
    """People, and wings by name: its owner, its id on the server, and what each person may do in it."""

    people: dict[str, Person]
    owners: dict[str, str]
    uids: dict[str, str] = field(default_factory=dict)
    roles: dict[tuple[str, str], str] = field(default_factory=dict)

    def hidden(self, person: str) -> list[str]:
        return [wing for wing in self.owners if (person, wing) not in self.roles]

    def marks(self, team: Team, wing: str) -> list[str]:
        """Everything that may appear only in answers to those who may read the wing."""
        return [wing, self.uids[wing], *self.drawers(team, wing), *self.read(team, wing, "SELECT hash FROM team.head")]

    def drawers(self, team: Team, wing: str) -> list[str]:
        """The ids of a wing's drawers."""
        return self.read(team, wing, "SELECT encode(uid, 'hex') FROM team.drawer")

    def read(self, team: Team, wing: str, query: LiteralString) -> list[str]:
        owner = accounts.authenticate(team.database, self.people[self.owners[wing]].membership.token)
        with team.database.as_person(owner.person) as session:
            only = sql.SQL(" WHERE wing = (SELECT id FROM team.wing WHERE name = %s)")
            return [str(value) for (value,) in session.execute(sql.SQL(query) + only, (wing,))]


def populate(team: Team, chance: random.Random, people: int, wings: int) -> World:
    """Let people join, own wings with words of their own, and have random roles in others' wings."""
    names = [f"person{number}" for number in range(people)]
    world = World(
        {name: team.join(name) for name in names}, {f"wing{number}w": chance.choice(names) for number in range(wings)}
    )
    for wing, owner in world.owners.items():
        person = world.people[owner]
        for number in range(chance.randint(1, 2)):
            text = f"The {wing}text says that {COMMON} are settled in {number} days."
            person.say(text, wing=wing, room=f"{wing}room{number}", author=f"{wing}author", branch=f"{wing}branch")
        person.share(wing)
        world.uids[wing], world.roles[owner, wing] = person.wing(wing), "owner"
        for name in names:
            role = chance.choice([*ROLES, None, None, None])
            if name != owner and role is not None:
                person.run(TeamMemberRequest(wing, name, role))  # type: ignore[arg-type]
                world.roles[name, wing] = role
    team.build()
    return world


def fetch(team: Team, person: Person, method: str, path: str, body: Any = None) -> tuple[int, str]:
    request = urllib.request.Request(
        f"{team.url}{path}",
        None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {person.membership.token}"},
        method=method,
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def ask_everything(team: Team, world: World, name: str, chance: random.Random) -> list[str]:
    """Ask every endpoint that names no wing, and every tool; return the answers."""
    person, words = world.people[name], [f"{wing}text" for wing in world.owners]
    answers = [
        fetch(team, person, "GET", f"{PREFIX}/{path}")[1] for path in ("me", "log", "erasures", "notices")
    ]  # fmt: skip
    for query in (*words, COMMON, f"{COMMON} settled days {chance.choice(words)}"):
        answers.append(fetch(team, person, "POST", f"{PREFIX}/search", {"query": query, "limit": 50})[1])
    query = f"{COMMON} {' '.join(words)}"
    found = person.run(TeamSearchRequest(query, limit=30))
    answers += [
        fetch(team, person, "GET", f"{PREFIX}/drawers/{uid}")[1]
        for wing in world.owners
        for uid in world.drawers(team, wing)
    ]
    answers += [SEARCH.answer([found], CallArguments({})).text, repr(found)]
    answers.append(STATUS.answer(person.run(TeamStatusRequest()), CallArguments({})).text)
    if name == "person0":  # the rest of a local search is the same for all, and takes a second
        person.say("An entry of one's own.", wing="own")
        with Context(person.palace, cwd=person.palace.parent, variables={}) as context:
            answers.append(repr(SEARCH_OPERATION.run(context, SearchRequest(query, team=True, limit=30)).hits))
    return answers


def check_isolation(team: Team, seed: int, people: int, wings: int) -> None:
    chance = random.Random(seed)
    world = populate(team, chance, people, wings)
    hidden = {name: world.hidden(name) for name in world.people}
    assert any(hidden.values())
    for name, person in world.people.items():
        answers = ask_everything(team, world, name, chance)
        for wing in world.owners:
            marks = world.marks(team, wing)
            if wing in hidden[name]:
                assert not [mark for mark in marks for answer in answers if mark in answer.replace(f"{wing}text", "")]
                assert not any(f"{wing}text says" in answer for answer in answers)
                check_refusals(team, person, wing, world.uids[wing])
            else:
                assert any(f"{wing}text says" in answer for answer in answers)
    check_growth(team, world, hidden)


def check_refusals(team: Team, person: Person, wing: str, uid: str) -> None:
    """What is asked of a wing that cannot be read is answered as for one that does not exist."""
    segment = f"1-1-{'0' * 40}"
    for method, path, body in (
        ("GET", "", None),
        ("POST", f"/segments/{segment}", {}),
        ("DELETE", "/segments", None),
        ("PUT", "/members", {"person": "person0", "role": "reader"}),
    ):
        answers = {fetch(team, person, method, f"{PREFIX}/wings/{of}{path}", body) for of in (uid, "ab" * 16)}
        assert len(answers) == 1
        assert next(iter(answers))[0] == 404
    query: dict[str, Any] = {"query": COMMON, "limit": 5}
    answers = {
        (status, answer.replace(of, "?"))
        for of in (wing, "no such wing")
        for status, answer in [fetch(team, person, "POST", f"{PREFIX}/search", {**query, "wing": of})]
    }
    assert len(answers) == 1


def check_growth(team: Team, world: World, hidden: dict[str, list[str]]) -> None:
    """When a wing grows, is withdrawn in part, or gets members, nothing changes for those who cannot read it."""
    wing = next(wing for name in world.people for wing in hidden[name])
    owner = world.people[world.owners[wing]]
    strangers = [name for name in world.people if wing in hidden[name]]

    def views() -> dict[str, tuple[str, ...]]:
        paths = ("me", "log", "erasures", "notices")
        body: dict[str, Any] = {"query": f"{COMMON} settled days", "limit": 50}
        return {
            name: (
                *(fetch(team, world.people[name], "GET", f"{PREFIX}/{path}")[1] for path in paths),
                fetch(team, world.people[name], "POST", f"{PREFIX}/search", body)[1],
            )
            for name in strangers
        }

    before = views()
    for number in range(2):
        owner.say(f"{COMMON} again, settled {number} days later", wing=wing)
    owner.share(wing)
    team.build()
    assert views() == before
    owner.connection.withdraw(world.uids[wing])
    team.build()
    assert erasures.purge(team.database, None).erasures == 1
    assert views() == before


def test_nothing_of_an_unreadable_wing_appears(team: Team) -> None:
    check_isolation(team, seed=1, people=3, wings=3)


@pytest.mark.slow
def test_nothing_of_an_unreadable_wing_appears_among_many(team: Team) -> None:
    check_isolation(team, seed=random.randrange(1 << 30), people=4, wings=4)
