"""As of any day the palace is as it was: compared with a plain model of a year in which everything happens."""

from __future__ import annotations

import pytest
from tests.archive.conversations import fresh_palace
from tests.derived.state import complaints, drop_derived
from tests.derived.year import MONTHS, Year, as_of

from palazzo.derived.integrity_checks import verify
from palazzo.palace import Palace, without_embedder


def wrong(palace: Palace) -> list[str]:
    return [f"{check.name}: {check.detail}" for check in verify(palace.database, without_embedder) if not check.ok]


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 10))])
def test_every_month_of_a_year_is_seen_as_it_was(seed: int) -> None:
    with fresh_palace() as palace:
        year = Year(palace, seed)
        year.live(160)
        for at in MONTHS:
            assert as_of(palace, at) == year.expected(at)
        assert wrong(palace) == []
        palace.rebuild("all")
        assert wrong(palace) == []
        assert [as_of(palace, at) for at in MONTHS] == [year.expected(at) for at in MONTHS]
        drop_derived(palace)
        palace.rebuild("all")
        assert [as_of(palace, at) for at in MONTHS] == [year.expected(at) for at in MONTHS]
        assert wrong(palace) == []
        assert complaints(palace) == []
