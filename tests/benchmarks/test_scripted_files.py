"""Of files that a script changes, it is told right whether what was cited still stands."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.scripted_files import Project

from palazzo.git.freshness import Checkout

KEY = bytes(range(32))


def test_nearly_all_states_are_right_and_none_that_is_wrong_is_fresh(tmp_path: Path) -> None:
    wrong: list[str] = []
    labels: Counter[str] = Counter()
    for seed in range(10, 14):
        project = Project(tmp_path / f"{seed}", seed, KEY)
        cited = project.cite(each=7)
        project.change(12)
        if seed % 2:
            project.rename_untold()
        found = Checkout(project.root, KEY, timeout=20).check([one.anchor for one in cited])
        for citation, standing in zip(cited, found, strict=True):
            labels[citation.label] += 1
            if standing.freshness != citation.label:
                wrong.append(standing.freshness)
    assert set(labels) == {"fresh", "moved", "changed", "gone", "unknown"}
    assert len(wrong) <= 0.02 * labels.total()
    assert "fresh" not in wrong


def test_the_same_seed_makes_the_same_project(tmp_path: Path) -> None:
    labels = []
    for root in (tmp_path / "a", tmp_path / "b"):
        project = Project(root, 7, KEY)
        cited = project.cite(each=3)
        project.change(6)
        labels.append([(one.anchor, one.label) for one in cited])
    assert labels[0] == labels[1]
