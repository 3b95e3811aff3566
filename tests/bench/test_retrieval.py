"""A benchmark's run from its file to its figures: mining, search and baselines are the real ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.bench import data_sets
from tests.index.hashed_words import HashedWords

from palazzo.bench import figures, locomo, longmemeval
from palazzo.bench.cases import Case, Turn
from palazzo.bench.embedding_cache import CachingEmbedder
from palazzo.bench.haystack import Haystack
from palazzo.bench.retrieval import OURS, Outcome, Plan, file_into, run, sample_cases
from palazzo.errors import PalazzoError
from palazzo.features.search.scratch_search import SearchRunner


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan(SearchRunner(), HashedWords, tmp_path / "cache")


def ran(cases: Sequence[Case], plan: Plan) -> Outcome:
    return run(cases, plan, lambda what, done, total: None)


def rankings(outcome: Outcome) -> list[object]:
    return [(one.question.text, dict(one.rankings)) for one in outcome.results]


def test_each_conversation_is_searched_alone(plan: Plan) -> None:
    outcome = ran(locomo.read(data_sets.locomo()), plan)
    assert [one.case for one in outcome.results] == ["one"] * 4 + ["two"]
    glacier, *_, kayak = outcome.results
    assert glacier.rankings[OURS].turns[0] in glacier.turns
    assert glacier.rankings[OURS].sessions[0] in glacier.sessions
    assert kayak.rankings[OURS].turns == tuple(kayak.turns)
    assert outcome.drawers == 5
    assert outcome.bytes == sum(len(t.text.encode()) for c in locomo.read(data_sets.locomo()) for t in turns(c))
    assert outcome.embedded_count == 5 + len({"Session 1", "Session 10"})  # titles of sessions have vectors too
    assert outcome.disk > 0


def turns(case: Case) -> list[Turn]:
    return [turn for talk in case.talks for turn in talk.turns]


def test_in_a_shared_palace_all_are_among_each_other(plan: Plan) -> None:
    cases = locomo.read(data_sets.locomo())
    alone, shared = ran(cases, plan), ran(cases, replace(plan, shared=True))
    assert shared.drawers == alone.drawers
    assert shared.results[-1].rankings[OURS].turns[0] in shared.results[-1].turns
    assert len(shared.results[-1].rankings["vector"].turns) == 5
    assert len(alone.results[-1].rankings["vector"].turns) == 1


def test_a_session_that_two_questions_share_is_filed_once_and_counts_for_both(plan: Plan) -> None:
    cases = longmemeval.read(data_sets.longmemeval())
    haystack = Haystack(cases)
    assert [one.archived_as for one in haystack.held] == ["q1/walls", "q1/ferns", "q1/ferns~2"]
    asked = ran(cases, replace(plan, shared=True)).results
    assert asked[0].sessions == asked[1].sessions
    assert asked[0].rankings[OURS].sessions[0] in asked[0].sessions


def test_the_baselines_rank_the_same_words(plan: Plan) -> None:
    asked = ran(locomo.read(data_sets.locomo()), plan).results
    for way in ("bm25", "vector"):
        assert asked[0].rankings[way].turns[0] in asked[0].turns
        assert asked[0].rankings[way].sessions[0] in asked[0].sessions


@pytest.mark.slow
def test_processes_side_by_side_find_the_same(plan: Plan) -> None:
    cases = locomo.read(data_sets.locomo())
    assert rankings(ran(cases, replace(plan, jobs=2))) == rankings(ran(cases, plan))


class Fatal(HashedWords):
    """Takes its process with it, as running out of memory does."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        os._exit(9)


def test_a_process_that_is_killed_ends_the_run_with_a_sentence(plan: Plan) -> None:
    with pytest.raises(PalazzoError, match="fewer --jobs"):
        ran(locomo.read(data_sets.locomo()), replace(plan, jobs=2, open_embedder=Fatal))


class Silent(HashedWords):
    """Has vectors of what is archived, and none of questions."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        raise AssertionError(text)


def test_a_stage_that_is_left_out_is_not_run(tmp_path: Path) -> None:
    path, embedder = tmp_path / "palace" / "palace.db", Silent()
    with closing(CachingEmbedder(embedder, tmp_path / "cache")) as remembering:
        file_into(path, Haystack(locomo.read(data_sets.locomo())), remembering, lambda what, done, total: None)
    with SearchRunner(("vectors",))(path, embedder) as ask:
        assert [hit.session for hit in ask("kayak").hits] == ["two/1"]
    with SearchRunner()(path, embedder) as ask, pytest.raises(AssertionError):
        ask("kayak")


class Killed(RuntimeError):
    """The process ends."""


class Mortal(HashedWords):
    """Ends after so many texts."""

    def __init__(self, texts: int) -> None:
        super().__init__()
        self._left = texts

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._left -= len(texts)
        if self._left < 0:
            raise Killed
        return super().embed(texts)


def test_an_interrupted_run_goes_on_with_the_vectors_it_made(plan: Plan) -> None:
    cases = locomo.read(data_sets.locomo())
    with pytest.raises(Killed):
        ran(cases, replace(plan, open_embedder=partial(Mortal, 7)))
    again = ran(cases, plan)
    assert (again.embedded_count, again.reuse_count) == (1, 7)
    assert rankings(again) == rankings(ran(cases, replace(plan, cache=plan.cache / "other")))


def test_a_torn_record_and_an_empty_one_are_made_again(tmp_path: Path) -> None:
    texts = [f"text number {n}" for n in range(5)]
    first = CachingEmbedder(HashedWords(), tmp_path)
    whole = first.embed(texts)
    first.close()
    (kept,) = tmp_path.rglob("*.vectors")
    data = kept.read_bytes()
    size = len(data) // 5
    kept.write_bytes(data[: size + 16] + bytes(size - 16) + data[2 * size : -3])
    again = CachingEmbedder(HashedWords(), tmp_path)
    assert np.array_equal(again.embed(texts), whole)
    assert (again.made, again.reused) == (2, 3)
    again.close()
    third = CachingEmbedder(HashedWords(), tmp_path)
    third.embed(texts)
    assert (third.made, third.reused) == (0, 5)
    third.close()


def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    for name in ("a", "b"):
        embedder = CachingEmbedder(HashedWords(name), tmp_path)
        embedder.embed(["the same text", "the same text"])
        assert (embedder.made, embedder.reused) == (1, 1)
        embedder.close()


def test_a_few_questions_are_drawn_the_same_for_a_seed() -> None:
    cases = locomo.read(data_sets.locomo())
    drawn = sample_cases(cases, 2, 1, shared=False)
    assert drawn == sample_cases(cases, 2, 1, shared=False)
    assert sum(len(case.questions) for case in drawn) == 2
    assert len({sample_cases(cases, 2, seed, shared=True) for seed in range(20)}) > 1
    assert [case.talks for case in sample_cases(cases, 1, 1, shared=True)] == [case.talks for case in cases]
    assert len(sample_cases(cases, 1, 1, shared=False)) == 1
    assert sample_cases(cases, 99, 1, shared=False) == cases


def test_figures_tell_apart_what_has_no_answer(plan: Plan) -> None:
    asked = ran(longmemeval.read(data_sets.longmemeval()), plan).results
    counted = figures.select_scored(asked)
    assert [one.case for one in counted] == ["q1"]
    assert figures.levels(counted).session["any@1"] == 100
    assert figures.levels(counted).turn["any@3"] == 100
    assert figures.share(asked).questions == 2
    assert set(figures.by_type(asked)) == {"abstention", "single-session-user"}
    assert figures.by_case(asked) == {}
    told = figures.unanswerable(asked)
    assert (told.questions, told.nothing_returned) == (1, 0.0 if asked[1].rankings[OURS].sessions else 100.0)
    assert figures.unanswerable(counted).nothing_returned is None


def test_figures_by_conversation_leave_out_questions_whose_evidence_is_not_named(plan: Plan) -> None:
    counted = figures.select_scored(ran(locomo.read(data_sets.locomo()), plan).results)
    assert {name: one.questions for name, one in figures.by_case(counted).items()} == {"one": 3, "two": 1}
    assert figures.by_type(counted)["multi-hop"].session["any@10"] == 100
    assert set(figures.baselines(counted)) == {"bm25", "vector"}
    assert set(figures.latency(counted)) == {"p50", "p95"}
