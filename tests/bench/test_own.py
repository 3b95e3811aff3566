"""`palazzo bench self`: questions made by rule from a palace, asked of the real search, without writing a byte."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.archive.conversations import PLACE, file_rows, file_version, said

from palazzo.bench import own_palace
from palazzo.bench.own_palace import Probe
from palazzo.errors import PalazzoError
from palazzo.features.bench.bench import bench
from palazzo.features.bench.contract import BenchRequest, OwnBench
from palazzo.model import Source
from palazzo.operations.context import Context
from palazzo.palace import Palace

HANDBOOK = Source(("shop", "handbook.md"), "document", "file:///shop/handbook.md")
SUBJECTS = ("ferry", "glacier", "orchard", "harbour", "lantern", "meadow", "quarry", "saddle", "turbine", "violin")


def section(subject: str) -> str:
    return (
        f"## How the {subject} engine is repaired\n\n"
        + f"The {subject} needs oil, a cloth and some patience. " * 12
        + "\n\n"
    )


@pytest.fixture
def stocked(palace: Palace) -> Palace:
    """A document of ten sections, notes with identifiers, one of which is everywhere, and a session."""
    file_version(palace, "# Manual\n\n" + "".join(map(section, SUBJECTS)))
    file_rows(
        palace,
        [
            said(0, "user", "Why does the turbine of the old mill shake? It did so before."),
            said(1, "assistant", "Its bearing is loose."),
        ],
    )
    for n in range(25):
        palace.remember(f"Note {n}: call reset_{SUBJECTS[n % 10]}_{n} and then flushEverything().", PLACE)
    return palace


def made(palace: Palace, limit: int = 60, seed: int = 1) -> list[Probe]:
    with palace.database.snapshot() as connection:
        return own_palace.probes(connection, limit, seed)[1]


def test_a_question_is_made_of_each_kind_and_knows_its_origin(stocked: Palace) -> None:
    probes = {probe.question: probe for probe in made(stocked)}
    repaired = probes["How the ferry engine is repaired"]
    assert repaired.kind == "heading"
    assert all("ferry" in stocked.drawer(drawer).text for drawer in repaired.origins)
    first = probes["Why does the turbine of the old mill shake?"]
    assert first.kind == "first turn"
    assert all("turbine of the old mill" in stocked.drawer(drawer).text for drawer in first.origins)
    names = [probe for probe in probes.values() if probe.kind == "identifier"]
    assert names
    for probe in names:
        assert 1 <= len(probe.origins) <= own_palace.RARE
        assert all(probe.question in stocked.drawer(drawer).text for drawer in probe.origins)


def test_a_heading_that_stands_elsewhere_too_is_asked_for_with_those_above_it(stocked: Palace) -> None:
    file_version(stocked, "# Handbook\n\n" + section("ferry"), HANDBOOK)
    asked = {probe.question for probe in made(stocked, 200) if "ferry" in probe.question and probe.kind == "heading"}
    assert len(asked) == 2
    assert all("›" in question for question in asked)


def test_what_many_drawers_hold_is_no_identifier(stocked: Palace) -> None:
    asked = {probe.question for seed in range(5) for probe in made(stocked, seed=seed)}
    assert not any("flushEverything" in question for question in asked)


def test_questions_are_the_same_for_a_seed(stocked: Palace) -> None:
    assert made(stocked, 9, 4) == made(stocked, 9, 4)
    assert made(stocked, 9, 4) != made(stocked, 9, 5)
    assert len(made(stocked, 9)) <= 9


def test_what_was_forgotten_is_not_asked_for(stocked: Palace) -> None:
    repaired = next(probe for probe in made(stocked) if "ferry" in probe.question and probe.kind == "heading")
    stocked.forget(sorted(repaired.origins))
    assert repaired.question not in {probe.question for probe in made(stocked)}


def test_a_palace_that_is_too_small_says_so(palace: Palace) -> None:
    palace.remember("Only this.", PLACE)
    with pytest.raises(PalazzoError, match=r"has 1 drawers.*palazzo mine"):
        made(palace)


def test_a_palace_without_anything_to_ask_about_says_so(palace: Palace) -> None:
    for subject in SUBJECTS:
        for colour in ("red", "green", "blue", "grey"):
            palace.remember(f"A {colour} {subject}.", PLACE)
    with pytest.raises(PalazzoError, match="No questions can be generated from this palace"):
        made(palace)


@dataclass(frozen=True)
class Shown:
    """A hit."""

    id: str
    title: str = ""
    score: float = 0.5
    text: str = ""


def test_ranks_are_counted_and_the_worst_come_first() -> None:
    probe = Probe("heading", "which", frozenset({"a", "b"}))
    answers: dict[int, Sequence[str]] = {1: ["b", "a"], 3: ["x", "y", "a"], 9: [*"qrstuvwx", "b"], 0: ["x"]}
    tried = []
    for hits in answers.values():
        found = [Shown(i) for i in hits]
        tried += own_palace.ask_all([probe], lambda question, found=found: found, lambda done, of: None)  # type: ignore[misc]
    assert [one.rank for one in tried] == [1, 3, 9, None]
    told = own_palace.measure_returns(tried)
    assert told.questions == 4
    assert told.found == {
        "found@1": 25.0,
        "found@5": 50.0,
        "found@10": 75.0,
        "mrr": round(100 * (1 + 1 / 3 + 1 / 9) / 4, 2),
    }
    assert [one.rank for one in own_palace.worst(tried, 2)] == [None, 9]
    assert own_palace.measure_returns([]).found["found@1"] is None


def test_the_palace_is_only_read(
    stocked: Palace, palace_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors are pending, which a search would have made in the background."""
    monkeypatch.setenv("HOME", str(tmp_path))
    started: list[object] = []

    def start(*given: object) -> bool:
        started.append(given)
        return True

    monkeypatch.setattr("palazzo.features.service.background_process._start", start)
    stocked.close()
    before = {path.name: digest(path) for path in palace_path.parent.iterdir()}
    with Context(palace=palace_path, cwd=tmp_path) as context:
        result = bench(context, BenchRequest("self", limit=12, seed=3))
    assert isinstance(result, OwnBench)
    assert 0 < result.questions <= 12
    assert result.found["found@10"] == 100
    assert set(result.by_kind) == set(own_palace.KINDS)
    assert started == []
    after = {
        path.name: digest(path) for path in palace_path.parent.iterdir() if not path.name.endswith(("-shm", "-wal"))
    }
    assert after == before


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
