"""Figures of whole palaces that follow the change log: they are those that would be computed again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from tests.features.trust.sessions_written import World, run

from palazzo.features.sessions.stats import count_by_day
from palazzo.features.viewer import drawer_figures, session_index
from palazzo.features.viewer.kept_figures import KeptFigures
from palazzo.model import Micros
from palazzo.palace import Palace
from palazzo.store import session_overview
from palazzo.store.database import Connection
from palazzo.store.session_overview import SessionFilter

KEPT = {
    "sessions": session_index.SESSION_INDEX,
    "drawers": drawer_figures.DRAWER_FIGURES,
    "words": drawer_figures.WORDS,
    "archived": drawer_figures.ARCHIVED_BYTES,
}
NOW = Micros(1_800_000_000_000_000)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Three sessions and a note."""
    written = World(tmp_path)
    for number in range(3):
        session = written.session(f"s{number}")
        session.asks(f"Which port does service {number} use?")
        session.answers(f"Decision: service {number} listens on 80{number}0.")
    run(written.context(), "mine", (written.histories,))
    run(written.context(), "remember", "Reviews happen on Mondays.", wing="team", room="habits")
    yield written
    written.close()


class CountedFigures(KeptFigures[Any]):
    """Figures that say how often they were computed as a whole."""

    def __init__(self, figures: KeptFigures[Any]) -> None:
        super().__init__(figures._compute, figures._update)
        self.count, self._compute_all = 0, figures._compute
        self._compute = self.compute

    def compute(self, connection: Connection) -> Any:
        self.count += 1
        return self._compute_all(connection)


def describe(figures: dict[str, KeptFigures[Any]], palace: Palace, connection: Connection) -> dict[str, object]:
    """Everything that pages show of figures."""
    sessions = figures["sessions"].read(palace, connection)
    drawers = figures["drawers"].read(palace, connection)
    return {
        "sessions": sessions.sessions,
        "hosts": sessions.hosts,
        "of a wing": sessions.select(connection, SessionFilter(wing="team"), None),
        "drawers": drawers.drawers,
        "kinds": drawers.by_kind,
        "trusts": drawers.by_trust,
        "ages": drawers.by_age(NOW),
        "hours": drawers.by_hour,
        "days": count_by_day(drawers.exchanges_by_hour, UTC),
        "words": figures["words"].read(palace, connection),
        "archived": figures["archived"].read(palace, connection),
    }


class Reader:
    """A palace that stays open, with figures that are kept."""

    def __init__(self, world: World) -> None:
        self.palace = world.context().reading()
        self.figures = {name: CountedFigures(own) for name, own in KEPT.items()}

    def read(self) -> dict[str, object]:
        """Return kept figures, and assert that they are those that are computed now."""
        with self.palace.database.snapshot() as connection:
            kept = describe(dict(self.figures), self.palace, connection)
            new = {name: CountedFigures(own) for name, own in KEPT.items()}
            assert kept == describe(dict(new), self.palace, connection)
            words = self.figures["words"].read(self.palace, connection).values()
            assert sum(count for own in words for _, count in own) == session_overview.count_words(connection)
        return kept

    @property
    def computed(self) -> set[int]:
        """How often figures were computed as a whole."""
        return {own.count for own in self.figures.values()}


def test_kept_figures_are_those_that_would_be_computed_again(world: World) -> None:
    reader = Reader(world)
    states = [reader.read()]
    session = world.session("s1")
    session.asks("And with TLS?")
    session.answers("Then it is 8443.")
    world.session("s3").asks("Which port does service 3 use?")
    steps: list[tuple[str, dict[str, Any]]] = [
        ("mine", {"paths": (world.histories,)}),
        ("remember", {"text": "Deploys happen on Fridays.", "wing": "team", "room": "deploys"}),
        ("forget", {"session": "s2"}),
        ("undo", {}),
    ]
    for name, values in steps:
        run(world.context(), name, **values)
        states.append(reader.read())
        assert states[-1] != states[-2], name
    assert states[-1] == states[-3]
    assert [session.id for session in states[-1]["sessions"]] == ["s3", "s1", "s2", "s0"]  # type: ignore[attr-defined]
    assert reader.computed == {1}


def test_figures_are_computed_again_after_an_erasure_and_sessions_after_a_new_name_of_a_wing(world: World) -> None:
    reader = Reader(world)
    first = reader.read()
    run(world.context(), "wing_rename", wing="api", name="gateway")
    assert reader.read()["sessions"] != first["sessions"]
    run(world.context(), "erase", match="listens on 80", even_most=True)
    assert reader.read() != first
    assert min(reader.computed) > 1
