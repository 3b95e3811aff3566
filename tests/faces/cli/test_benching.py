"""`palazzo bench`: the documents that scripts read, what a person sees, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bench import data_sets
from tests.bench.data_sets import written
from tests.faces.cli.command import Command
from tests.index.hashed_words import HashedWords

from palazzo.bench.measures import MEASURES

LEVELS = {"session", "turn"}


@pytest.fixture
def locomo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("palazzo.index.embedder_choice.open_embedder", lambda spec: HashedWords())
    return str(written(tmp_path / "locomo.json", data_sets.locomo()))


def test_a_data_set(palazzo: Command, locomo: str, home: Path) -> None:
    found = palazzo.json("bench", "locomo", locomo, "--shared")
    assert (found["dataset"], found["questions"], found["shared"]) == ("locomo", 4, True)
    for level in (found["session"], found["turn"]):
        assert tuple(level) == MEASURES
        assert all(0 <= value <= 100 for value in level.values())
    assert set(found["baselines"]) == {"bm25", "vector"}
    for baseline in found["baselines"].values():
        assert set(baseline) == LEVELS
        assert tuple(baseline["turn"]) == MEASURES
    assert set(found["by_type"]["single-hop"]) == LEVELS | {"questions"}
    assert set(found["latency_ms"]) == {"p50", "p95"}
    assert found["ingest"]["drawers"] == 5
    assert found["ingest"]["seconds"] > 0
    assert found["unanswerable"]["questions"] == 1
    assert not (home / ".local" / "share" / "palazzo" / "palace.db").exists()
    assert list((home / ".cache" / "palazzo" / "embeddings").rglob("*.vectors"))


def test_measures_without_gold_are_null(palazzo: Command, locomo: str, tmp_path: Path) -> None:
    document = data_sets.longmemeval()
    for one in document:
        for session in one["haystack_sessions"]:
            for turn in session:
                turn.pop("has_answer", None)
    found = palazzo.json("bench", "longmemeval", str(written(tmp_path / "heads.json", document)))
    assert set(found["turn"].values()) == {None}
    assert found["session"]["any@5"] == 100
    assert found["questions"] == 1


def test_a_person_sees_tables_in_80_columns(palazzo: Command, locomo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = palazzo("bench", "locomo", locomo, "--without", "vectors", "--without", "ranking")
    assert ran.code == 0
    for said in (
        "without vectors, ranking",
        "recall@10",
        "bm25",
        "single-hop",
        "unanswerable",
        "two",
        "p95",
        "on disk",
    ):
        assert said in ran.out


def test_ones_own_palace(palazzo: Command, shop: Path) -> None:
    for n in range(30):
        palazzo.json("remember", f"Ticket {n}: the handler is on_order_{n}.")
    found = palazzo.json("bench", "self", "--limit", "9", "--seed", "2")
    assert set(found) == {"drawers", "questions", "seed", "index", "found", "by_kind", "latency_ms", "examples"}
    assert set(found["by_kind"]) == {"heading", "first turn", "identifier"}
    assert set(found["found"]) == {"found@1", "found@5", "found@10", "mrr"}
    assert found["index"] == "keyword-only"
    again = palazzo.json("bench", "self", "--limit", "9", "--seed", "2")
    assert (again["found"], again["examples"]) == (found["found"], found["examples"])
    shown = palazzo("bench", "self", "--limit", "9").out
    assert "identifier" in shown
    assert "by keyword only" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["locomo"], "Give the data set's file"),
        (["guard", "x.json"], "takes no file"),
        (["self", "--jobs", "2"], "takes no file"),
        (["locomo", "x.json", "--limit", "0"], "--limit is 0"),
        (["locomo", "x.json", "--jobs", "0"], "--jobs is 0"),
        (["locomo", "x.json", "--without", "magic"], "Choose from: keywords, vectors, ranking"),
        (["locomo", "x.json", "--without", "keywords", "--without", "vectors"], "nothing is left"),
        (["locomo", "x.json"], "cannot be read"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_done(
    palazzo: Command, arguments: list[str], said: str
) -> None:
    ran = palazzo("bench", *arguments)
    assert ran.code == 2
    assert said in ran.error
    assert ran.error.count("\n") == 1
