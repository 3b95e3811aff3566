"""Daily samples of a palace's size, and the plot of them."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tests.features.trust.sessions_written import World, run

from palazzo.daemon.palace_pool import Pool
from palazzo.daemon.size_schedule import SizeSampling
from palazzo.faces.web.plots import level_bars
from palazzo.model import Micros
from palazzo.store import size_samples


def test_a_day_has_one_sample_of_the_palaces_size(tmp_path: Path) -> None:
    world = World(tmp_path)
    palace = world.context().palace_path
    with contextlib.closing(Pool()) as pool:
        sampling = SizeSampling(palace, {"HOME": str(tmp_path), "TZ": "UTC"}, pool)
        sampling.look()
        sampling.look()
    sizes = run(world.context(), "content_figures").sizes
    assert len(sizes) == 1
    assert abs(next(iter(sizes.values())) - run(world.context(), "status").size_bytes) < 100_000
    world.close()


def test_no_palace_is_made_for_a_sample(tmp_path: Path) -> None:
    with contextlib.closing(Pool()) as pool:
        SizeSampling(tmp_path / "palace.db", {"HOME": str(tmp_path)}, pool).look()
    assert not (tmp_path / "palace.db").exists()


def test_samples_older_than_two_years_are_dropped(tmp_path: Path) -> None:
    world = World(tmp_path)
    with world.context().writing().database.transaction() as connection:
        for number in range(800):
            size_samples.record(connection, f"{2020 + number // 300}-{number % 300 // 25 + 1:02}-{number % 25 + 1:02}")
        samples = size_samples.read(connection)
    assert len(samples) == 731
    assert min(samples) > "2020-03"
    world.close()


def test_archived_text_grows_from_day_to_day(tmp_path: Path) -> None:
    world = World(tmp_path)
    session = world.session("s1")
    session.asks("Which port does the gateway use?")
    run(world.context(), "mine", (world.histories,))
    before = run(world.context(), "content_figures")
    session.answers("It uses 8443, because clients know it.")
    run(world.context(), "mine", (world.histories,))
    world.now = Micros(4_000_000_000_000_000)  # a time in the future counts as now
    run(world.context(), "remember", "The gateway is deployed on Fridays.")
    after = run(world.context(), "content_figures")
    for name in ("archived", "drawers", "words"):
        levels = getattr(after, name)
        assert max(levels.values()) > max(getattr(before, name).values()) > 0
        assert list(levels.values()) == sorted(levels.values())
        assert max(levels) < "2090"
    assert max(after.drawers.values()) == run(world.context(), "status").drawers
    world.close()


def test_a_day_without_a_sample_has_the_level_of_the_day_before() -> None:
    plot = level_bars({"2026-03-01": 10.0, "2026-03-03": 20.0})
    assert [(bar.label, bar.count) for bar in plot.bars] == [
        ("2026-03-01", 10.0),
        ("2026-03-02", 10.0),
        ("2026-03-03", 20.0),
    ]
    assert level_bars({}).bars == ()
