"""What comes unasked and is never used comes a little less readily."""

from __future__ import annotations

import pytest

from palazzo.injection.decay import wear
from palazzo.settings.setting_keys import BY_NAME

PROACTIVE_FLOOR = int(str(BY_NAME["proactive_floor"].default)) / 100


@pytest.mark.parametrize(
    ("unused", "left"),
    [(0, 1.0), (5, 1.0), (6, 0.97), (7, 0.9409), (10, 0.8587), (12, 0.808), (13, 0.8), (1_000, 0.8)],
)
def test_worth_falls_a_little_with_each_session_after_the_fifth(unused: int, left: float) -> None:
    assert wear(unused) == pytest.approx(left, abs=1e-4)


@pytest.mark.parametrize(
    ("score", "sessions"),
    [(0.70, 5), (0.72, 5), (0.75, 7), (0.80, 9), (0.87, 12), (0.875, None), (0.95, None)],
)
def test_what_is_told_for_a_prompt_comes_in_so_many_sessions_without_being_used(
    score: float, sessions: int | None
) -> None:
    """None: it never stops coming."""
    told = [unused for unused in range(100) if score * wear(unused) >= PROACTIVE_FLOOR]
    assert told[-1] == (99 if sessions is None else sessions)
