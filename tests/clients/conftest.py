"""A user with a palace, and hosts that start `palazzo mcp` for it as real ones do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.client.conftest import Host, relay_command
from tests.clients.stock import Stock
from tests.daemon.conftest import User, made_user

Start = Callable[..., Host]


@pytest.fixture(scope="module")
def someone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """A user whose service may be started, and is ended afterwards."""
    yield from made_user(tmp_path_factory.mktemp("clients") / "home")


@pytest.fixture(scope="module")
def stock(someone: User) -> Stock:
    """What the user's palace holds."""
    return Stock(someone.palace, someone.home / "acme")


@pytest.fixture
def start(someone: User, stock: Stock) -> Iterator[Start]:
    """Start `palazzo mcp` in the user's project: with the service, or `alone` with all of it in its own process."""
    started: list[Host] = []

    def start(*more: str, alone: bool = False) -> Host:
        variables = {**someone.variables, **({"PALAZZO_SERVICE": "off"} if alone else {})}
        started.append(Host(relay_command(someone.palace, *more), variables, str(stock.project)))
        return started[-1]

    yield start
    for host in started:
        host.end()
