"""The benchmarks that a user can run: named in one place, with their data in the package."""

from __future__ import annotations

from typing import get_args, get_type_hints

from palazzo.bench import BENCHES
from palazzo.bench.redaction_figures import quality
from palazzo.features.bench.contract import BenchRequest


def test_every_benchmark_can_be_asked_for() -> None:
    assert set(get_args(get_type_hints(BenchRequest)["name"])) == set(BENCHES)


def test_the_guard_reaches_its_goals_on_what_it_was_not_tuned_on() -> None:
    structured, generic, _ = quality([])
    assert float(structured["held out"]) >= 99
    assert float(generic["held out"]) >= 95
