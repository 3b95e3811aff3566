"""In no order of writing, erasing, pulling, pushing and being killed does a text get lost or an erased one come back.

`epoch_model` visits the states; `PALAZZO_MODEL_STATES` is how many the slow tests visit at most.
"""

from __future__ import annotations

import os

import pytest
from tests.sync.epoch_model import Bounds, explore

MOST = int(os.environ.get("PALAZZO_MODEL_STATES", "15000"))
ONE, BOTH = (0,), (0, 1)
LARGER = {
    "a device is lost": Bounds((BOTH, BOTH), (1, 1), losses=1),
    "two notes": Bounds((BOTH, BOTH), (1, 2), kills=0, losses=1),
    "two erasures": Bounds((ONE, ONE), (1, 2), erasures=2),
    "three devices": Bounds((ONE, ONE, ONE), (1, 1, 0), kills=0),
    "three devices and two remotes": Bounds((BOTH, BOTH, ONE), (1, 1, 0), kills=0, losses=1),
}


def test_two_devices_at_a_remote_go_right_in_every_order() -> None:
    search = explore(Bounds((ONE, ONE), (1, 1)), 20_000)
    assert search.wrong == "", search.way
    assert search.is_complete
    assert search.states > 5_000


def test_two_devices_at_two_remotes_go_right() -> None:
    search = explore(Bounds((BOTH, BOTH), (1, 1), kills=0), 2_000)
    assert search.wrong == "", search.way
    assert search.states > 500


@pytest.mark.parametrize(
    "rules",
    [
        Bounds((BOTH, BOTH), (1, 1), kills=0, others_tell="noted", tells_own=False),
        Bounds((BOTH, BOTH), (0, 2), kills=0, tells_own=False),
    ],
    ids=["the rules of earlier versions", "own chains of which another told the beginning"],
)
def test_the_search_finds_rules_that_lose_a_text(rules: Bounds) -> None:
    """`test_new_epochs` shows the first on real palaces."""
    search = explore(rules, 10_000)
    assert search.wrong.startswith("a new device does not get")
    assert any("erases" in step for step in search.way)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGER)
def test_larger_bounds_go_right(name: str) -> None:
    search = explore(LARGER[name], MOST)
    print(f"{name}: {search.states:,} states, {'all' if search.is_complete else 'more remain'}")
    assert search.wrong == "", search.way
