"""A team in a test: a server on loopback over a real database, and people with palaces of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.index.hashed_words import HashedWords

from palazzo.faces.http import http_socket
from palazzo.faces.team.team_server import TeamServer
from palazzo.features.team import contract
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.team.client.membership import Membership, load_membership
from palazzo.team.client.team_connection import TeamConnection
from palazzo.team.server import accounts
from palazzo.team.server.sign_on_service import SignOnService
from palazzo.team.server.sign_on_settings import SignOnSettings
from palazzo.team.server.team_database import TeamDatabase
from palazzo.team.server.team_search import TeamSearch
from palazzo.team.server.worker import Worker

METRICS_TOKEN = "figures"


@dataclass(frozen=True)
class Person:
    """A person with a palace, who may have joined the team."""

    palace: Path

    def say(self, text: str, wing: str = "shop", room: str = "checkout", **options: Any) -> None:
        with Palace.open(self.palace) as palace:
            palace.remember(text, Place(wing, room), **options)

    def run(self, request: Any, on_event: Callable[[Any], None] | None = None) -> Any:
        """Run an operation of the team, as the command line does."""
        name = type(request).__name__.removesuffix("Request").removeprefix("Team").lower()
        operation = getattr(contract, f"TEAM_{name.upper()}")
        with Context(self.palace, variables={}, on_event=on_event) as context:
            return operation.run(context, request)

    def share(self, wing: str | None = "shop", **options: Any) -> contract.SharedWing:
        """Share a wing with its past; None shares what is new in all."""
        options = {"with_past": wing is not None, **options}
        shared: contract.SharedWing = self.run(contract.TeamShareRequest(wing, **options)).wings[0]
        return shared

    def wing(self, name: str = "shop") -> str:
        """The id that a shared wing has on the server."""
        return self.membership.shared[name].id

    def find(self, query: str) -> list[contract.TeamHitView]:
        return list(self.run(contract.TeamSearchRequest(query)).hits)

    @property
    def membership(self) -> Membership:
        return load_membership(self.palace)

    @property
    def connection(self) -> TeamConnection:
        return TeamConnection(self.membership.url, self.membership.token)


@dataclass(frozen=True)
class Team:
    """A running server, its database and its worker."""

    url: str
    database: TeamDatabase
    worker: Worker
    directory: Path

    def join(self, name: str) -> Person:
        person = Person(self.directory / name / "palace.db")
        person.run(contract.TeamJoinRequest(self.url, accounts.add_person(self.database, name)))
        return person

    def build(self) -> None:
        """Merge what was shared, as the server's own worker does every few seconds."""
        self.worker.run()


@contextmanager
def serving(
    database: TeamDatabase, directory: Path, settings_for: Callable[[str], SignOnSettings] | None = None
) -> Iterator[Team]:
    """Run a server; `settings_for` gives the settings of sign-on for its address."""
    bound = http_socket.bound("127.0.0.1:0")
    service = None if settings_for is None else SignOnService(database, settings_for(bound.url))
    server = TeamServer(bound, database, TeamSearch(database, HashedWords), None, METRICS_TOKEN, service)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield Team(bound.url, database, Worker(database, directory / "scratch", HashedWords), directory)
    finally:
        server.stop()
        thread.join()
