"""Measures against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from palazzo.bench.measures import KS, MEASURES, margin, mean, measure, percentile


def test_a_ranking_with_two_of_three_wanted() -> None:
    found = measure(["x", "a", "y", "z", "b", "w"], {"a", "b", "c"})
    assert [found[f"recall@{k}"] for k in KS] == [0, 1 / 3, 2 / 3, 2 / 3]
    assert [found[f"any@{k}"] for k in KS] == [0, 1, 1, 1]
    assert [found[f"all@{k}"] for k in KS] == [0, 0, 0, 0]
    assert found["mrr"] == 1 / 2
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert found["ndcg@10"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(6)) / ideal)
    assert tuple(found) == MEASURES


def test_what_comes_first_is_whole() -> None:
    assert set(measure(["a"], {"a"}).values()) == {1.0}
    assert measure(["a", "b"], {"a", "b"})["all@1"] == 0
    assert measure(["a", "b"], {"a", "b"})["all@3"] == 1


def test_nothing_found_is_nothing() -> None:
    assert set(measure([], {"a"}).values()) == {0.0}
    assert set(measure(["x"], {"a"}).values()) == {0.0}


def test_the_ideal_has_no_more_than_ten_places() -> None:
    wanted = {str(n) for n in range(12)}
    found = measure([str(n) for n in range(12)], wanted)
    assert found["ndcg@10"] == pytest.approx(1)
    assert found["recall@10"] == pytest.approx(10 / 12)


def test_the_rank_behind_ten_counts_for_mrr_alone() -> None:
    found = measure([*(f"x{n}" for n in range(19)), "a"], {"a"})
    assert found["mrr"] == 1 / 20
    assert {found[name] for name in MEASURES if name != "mrr"} == {0.0}


def test_means_are_in_percent_and_nothing_has_none() -> None:
    rows = [measure(["a"], {"a"}), measure(["x"], {"a"}), measure(["x", "a"], {"a"})]
    assert mean(rows)["any@1"] == 33.33
    assert mean(rows)["any@3"] == 66.67
    assert set(mean([]).values()) == {None}
    assert tuple(mean([])) == MEASURES


def test_the_margin_is_that_of_the_normal_approximation() -> None:
    rows = [measure(["a"], {"a"})] * 3 + [measure([], {"a"})]
    assert margin(rows)["any@1"] == pytest.approx(100 * 1.96 * math.sqrt(0.25 / 4))
    assert margin(rows[:1])["any@1"] is None
    assert margin(rows[:3])["any@1"] == 0


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([3.0, 1.0, 2.0], 0.95) == 3.0
    assert percentile([], 0.5) == 0.0
