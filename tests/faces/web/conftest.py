"""A palace with sessions, notes and facts, and a viewer of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faces.web.served_viewer import ServedViewer, served_viewer
from tests.features.trust.sessions_written import Session, World, run

SESSION = "5e55104e-0000-4000-8000-000000000001"


def write_world(home: Path, sessions: int = 1) -> None:
    """Write a palace: one session with a tool call and a decision, other `sessions`, a note and a fact."""
    world = World(home)
    session = world.session(SESSION)
    session.asks("Which port does the gateway listen on?")
    session.calls("Bash", "gateway: port 8443", command="grep port gateway.toml")
    session.answers("The gateway listens on 8443. Decision: we keep 8443 for the gateway, because clients know it.")
    for number in range(1, sessions):
        other = Session(world, f"other-{number}")
        other.asks(f"Why does test {number} of the gateway fail?")
        other.answers(f"Test {number} waits for port {8000 + number}, which is taken.")
    run(world.context(), "mine", (world.histories,))
    run(world.context(), "remember", "The gateway is deployed on Fridays only.", wing="api", room="deploy")
    run(world.context(), "kg_add", "gateway", "listens on", "8443", wing="api")
    world.close()


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedViewer]:
    """A viewer without a cookie yet."""
    home = tmp_path_factory.mktemp("home")
    write_world(home)
    with served_viewer(home) as served:
        yield served


@pytest.fixture(scope="module")
def visitor(viewer: ServedViewer) -> ServedViewer:
    """A client that has opened a link."""
    return viewer.enter()
