"""Ranking by what stands around a candidate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from palazzo.index.fusion import Candidate
from palazzo.index.neighbour_search import Around
from palazzo.index.query import ParsedQuery
from palazzo.index.ranking import (
    CO_USE_WEIGHT,
    PAGE,
    RERANK_LIMIT,
    TALK,
    WORK,
    CandidateRank,
    closest,
    rank,
    total,
    weights_without,
)
from palazzo.index.signals import Signals
from palazzo.store.drawers import DrawerPlacement
from palazzo.text.questions import Marks

QUESTION = ParsedQuery(
    (), (), "q", author_names=frozenset({"Mara"}), asks_when=True, words=frozenset({"shop"}), home="here"
)
PLAIN = DrawerPlacement(1, source=1, kind="exchange", author="", size=300, marks=0, wing="w")


def around(*placed: DrawerPlacement, **more: object) -> Around:
    rows = tuple(one.row for one in placed)
    empty = Around(rows, {one.row: one for one in placed}, {}, {}, {}, {}, {})
    return replace(empty, **more)  # type: ignore[arg-type]


def order(ranked: list[CandidateRank]) -> list[int]:
    return [one.candidate.row for one in ranked]


def candidates(count: int) -> list[Candidate]:
    """Equal in everything."""
    return [Candidate(row, 0.5, 2.0, 1.0) for row in range(1, count + 1)]


def alike(count: int, **of_the_first: object) -> list[DrawerPlacement]:
    others = [PLAIN._replace(row=row, source=row) for row in range(2, count + 1)]
    return [PLAIN._replace(**of_the_first), *others]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "first",
    [{"author": "Mara"}, {"marks": int(Marks.SPEAKS_OF_TIME)}, {"wing": "shop"}, {"wing": "here"}],
    ids=["its author is named", "it speaks of a time", "its wing is named", "it is of the project asked from"],
)
def test_what_speaks_for_a_drawer_puts_it_first(first: dict[str, object]) -> None:
    assert order(rank(QUESTION, candidates(3), around(*alike(3, **first))))[0] == 1


@pytest.mark.parametrize(
    "first",
    [{"marks": int(Marks.ASKS)}, {"kind": "tool"}, {"size": 5}],
    ids=["it asks itself", "it is a tool's", "it is a few letters"],
)
def test_what_speaks_against_it_puts_it_last(first: dict[str, object]) -> None:
    assert order(rank(QUESTION, candidates(3), around(*alike(3, **first))))[-1] == 1


@pytest.mark.parametrize(
    ("checked_out", "branches", "first", "values"),
    [
        ("feature/blue", ("main", "feature/blue", "feature/red"), 2, [0, 1, 0]),
        ("main", ("feature/red", "main", "feature/blue"), 2, [-1, 0, -1]),
        ("main", ("feature/red", "", "master"), 3, [-1, 0, 0]),
        ("", ("main", "feature/red", "trunk"), 3, [0, -1, 0]),  # a detached head
        (None, ("main", "feature/blue", "feature/red"), 3, [0, 0, 0]),
    ],
)
def test_what_belongs_to_what_is_checked_out_comes_first(
    checked_out: str | None, branches: tuple[str, ...], first: int, values: list[float]
) -> None:
    """Of equals the newest row comes first."""
    asked = replace(QUESTION, checked_out=checked_out)
    placed = [PLAIN._replace(row=n, source=n, wing="here", branch=one) for n, one in enumerate(branches, 1)]
    ranked = rank(asked, candidates(3), around(*placed))
    assert order(ranked)[0] == first
    assert {one.candidate.row: one.signals.branch for one in ranked} == dict(enumerate(values, 1))
    assert len({round(one.of_its_own, 9) for one in ranked}) == 1


def test_a_branch_of_another_project_is_no_matter() -> None:
    asked = replace(QUESTION, checked_out="feature/blue")
    ranked = rank(asked, candidates(2), around(*alike(2, branch="feature/blue")))
    assert [one.signals.branch for one in ranked] == [0.0, 0.0]


def test_a_neighbour_of_good_hits_comes_in_without_having_been_found() -> None:
    found = [Candidate(1, 0.6, 3.0, 1.0), Candidate(3, 0.6, 3.0, 1.0), Candidate(4, 0.1, None, 0.1)]
    placed = [PLAIN._replace(row=row) for row in (1, 2, 3)] + [PLAIN._replace(row=4, source=9)]
    neighbours = {1: ((), (2,)), 2: ((1,), (3,)), 3: ((2,), ()), 4: ((), ())}
    ranked = rank(QUESTION, found, around(*placed, neighbours=neighbours, windows={2: 0.6}, cosines={2: 0.4}))
    assert order(ranked).index(2) < order(ranked).index(4)
    beside = next(one for one in ranked if one.candidate.row == 2)
    assert (beside.signals.beside, beside.signals.words) == (2.0, 0.0)


def test_the_source_that_covers_the_question_goes_first() -> None:
    assert order(rank(QUESTION, candidates(2), around(*alike(2), coverage={1: 0.2, 2: 0.9})))[0] == 2


def test_candidates_that_were_not_looked_at_follow_in_their_order() -> None:
    found = [Candidate(row, 0.5, 2.0, 1.0 / row) for row in (1, 2, 3, 4)]
    assert order(rank(QUESTION, found, around(*alike(2))))[2:] == [3, 4]


def test_what_was_used_with_the_best_comes_before_its_likes() -> None:
    found = [Candidate(1, 0.9, 4.0, 2.0), *candidates(4)[1:]]
    placed = alike(4)
    plain = order(rank(QUESTION, found, around(*placed)))
    assert plain == [1, 4, 3, 2]
    ranked = rank(QUESTION, found, around(*placed, partners={2: {1: 0.5}, 1: {2: 0.5}}))
    assert order(ranked) == [1, 2, 4, 3]
    lifted = ranked[1]
    assert lifted.signals.together == 0.5
    assert lifted.of_its_own == pytest.approx(lifted.rank - 0.5 * CO_USE_WEIGHT)


def test_what_the_session_has_used_lifts_though_it_was_not_found() -> None:
    partners = {2: {99: 0.5}}
    assert order(rank(QUESTION, candidates(3), around(*alike(3), partners=partners, used=frozenset({99}))))[0] == 2
    assert order(rank(QUESTION, candidates(3), around(*alike(3), partners=partners)))[0] == 3


def test_what_ranks_low_hardly_lifts() -> None:
    found = [Candidate(1, 0.9, 4.0, 2.0), Candidate(2, 0.8, 3.8, 1.9), *candidates(4)[2:]]
    placed = alike(4)
    apart = {one.candidate.row: one.rank for one in rank(QUESTION, found, around(*placed))}
    ranked = rank(QUESTION, found, around(*placed, partners={3: {4: 1.0}, 4: {3: 1.0}}))
    assert order(ranked)[:2] == [1, 2]
    low = next(one for one in ranked if one.candidate.row == 3)
    assert 0 < low.rank - apart[3] < CO_USE_WEIGHT * 0.5


def test_nothing_found_ranks_nothing() -> None:
    assert rank(QUESTION, [], around()) == []


def test_without_vectors_or_words_the_rest_decides() -> None:
    by_words = [Candidate(1, None, 1.0, 0.5), Candidate(2, None, 2.0, 1.0)]
    by_vector = [Candidate(1, 0.2, None, 0.5), Candidate(2, 0.4, None, 1.0)]
    for found in (by_words, by_vector):
        assert order(rank(QUESTION, found, around(*alike(2)))) == [2, 1]


def test_each_signal_can_be_left_out_to_see_what_it_does() -> None:
    everything = Signals(**dict.fromkeys(Signals._fields, 1.0))
    for weights in (TALK, WORK, PAGE):
        for name, weight in weights._asdict().items():
            left = total(everything, weights_without(weights, {name}))
            assert left == pytest.approx(total(everything, weights) - weight)
        assert weights_without(weights, {"vectors", "no such signal"}) == weights


def test_talk_between_people_is_weighed_as_such_and_work_with_an_agent_as_work() -> None:
    placed = [
        PLAIN._replace(row=1, author="Mara", role="user"),
        PLAIN._replace(row=2, source=2, author="Mara", role="user+assistant"),
        PLAIN._replace(row=3, source=2, author="Mara", role="user"),
        PLAIN._replace(row=4, source=3, kind="section", author="Mara", role="author"),
        PLAIN._replace(row=5, source=4, role="user"),
    ]
    weighed = {one.candidate.row: one.weights for one in rank(QUESTION, candidates(5), around(*placed))}
    assert weighed == {1: TALK, 2: WORK, 3: WORK, 4: PAGE, 5: WORK}


def test_without_vectors_a_section_is_weighed_as_work() -> None:
    section = PLAIN._replace(row=1, kind="section", role="author")
    (ranked,) = rank(QUESTION, [Candidate(1, None, 1.0, 1.0)], around(section))
    assert ranked.weights == WORK


def test_what_the_shell_was_told_is_lifted_where_the_question_asks_how() -> None:
    told = around(*alike(2, kind="tool", title="Bash", role="tool"))
    plain, asking = (rank(replace(QUESTION, asks_how=how), candidates(2), told) for how in (False, True))
    of_first = [next(one.rank for one in ranked if one.candidate.row == 1) for ranked in (plain, asking)]
    assert of_first[1] - of_first[0] == pytest.approx(WORK.command)


def test_a_terse_answer_is_lifted_by_what_it_follows() -> None:
    sides = {1: ((3,), ()), 2: ((), ())}
    shared = around(
        *alike(2), neighbours=sides, worth={"port": 0.6, "gateway": 0.4}, words_by_row={3: frozenset({"port"})}
    )
    first, second = rank(QUESTION, candidates(2), shared)
    assert (first.candidate.row, first.signals.follows, second.signals.follows) == (1, 0.6, 0.0)


def test_the_last_that_was_said_of_an_identifier_is_lifted() -> None:
    assert order(rank(QUESTION, candidates(3), around(*alike(3), latest=frozenset({2}))))[0] == 2


def test_the_nearest_by_vector_is_looked_at_though_it_has_none_of_the_words() -> None:
    by_words = [Candidate(row, 0.1, 9.0, 0.9) for row in range(1, 101)]
    answer, of_the_wing = Candidate(200, 0.9, None, 0.2), Candidate(300, 0.05, None, 0.0)
    chosen = [one.row for one in closest([*by_words, answer, of_the_wing], near={300})]
    assert {200, 300} <= set(chosen)
    assert len(chosen) == RERANK_LIMIT
