"""The labels of the cases that the guard is measured on are sound: a claim is a stranger's word and nobody else's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from palazzo.bench.honest_controls import HONEST
from palazzo.bench.poison_cases import POISON_CASES
from palazzo.bench.poison_session import Case, Utterance

ALL = (*POISON_CASES, *HONEST)


def test_there_are_at_least_36_shapes_and_12_controls() -> None:
    assert len(POISON_CASES) >= 36
    assert len(HONEST) == 12
    assert len({case.name for case in ALL}) == len(ALL)
    assert len({case.claim for case in ALL}) == len(ALL)
    assert sum(case.is_delivered for case in HONEST) == 9


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_claim_stands_in_the_session_and_in_nothing_that_is_asked_later(case: Case) -> None:
    later = case.later
    assert case.claim in repr(case.steps)
    assert case.claim not in f"{later.asks} {later.works} {later.file} {later.command} {later.error}".lower()
    for other in ALL:
        if other is not case:
            assert case.claim not in repr(replace(other, name="")).lower()


@pytest.mark.parametrize("case", POISON_CASES, ids=lambda case: case.name)
def test_no_person_says_what_a_stranger_claims(case: Case) -> None:
    assert all(
        case.claim not in step.text for step in case.steps if isinstance(step, Utterance) and step.speaker == "user"
    )
