"""R13: three replicas, random interleavings of writes and exchanges, with drops and repeats: always the same bytes.

Whatever was written, in whatever order it arrived, however often. `PALAZZO_RELIABILITY=1` runs all 1,000.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.reliability.sizes import chances, scaled
from tests.sync.model import converge
from tests.sync.replicas import Replica

pytestmark = pytest.mark.slow

ROUNDS, STEPS, THOROUGHLY = 1_000, 50, 5
"""Of so many rounds one is looked at thoroughly: verified, and searched."""


def test_replicas_converge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = scaled(ROUNDS)
    for n in range(rounds):
        monkeypatch.setattr(os, "urandom", chances(f"ids of R13 {n}").randbytes)
        own = chances(f"R13 {n}")
        machines = [Replica(tmp_path / f"{n}-{m}", m, b"k" * 32, chances(f"R13 {n} {m}")) for m in range(3)]
        try:
            converge(machines, own, STEPS, thoroughly=n % THOROUGHLY == 0)
        finally:
            for one in machines:
                one.close()
    print(f"{rounds} of {rounds} rounds of {STEPS} steps: three replicas hold the same bytes")
