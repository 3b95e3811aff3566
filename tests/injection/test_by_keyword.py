"""What was found by keyword alone is told where it holds enough of what was asked, by how rare its words are."""

from __future__ import annotations

import pytest

from palazzo.injection.keyword_relevance import answers, filter_hits, worth
from palazzo.store.readonly_palace import DrawerHit

COUNTED = {"retry": 130, "budget": 20, "queue": 2_000, "kafka": 0, "gateway": 4}
TOTAL = 10_000


@pytest.mark.parametrize(
    ("held", "asked", "tells"),
    [
        (["retry", "budget"], ["retry", "budget"], True),
        (["retry", "budget"], ["retry", "budget", "queue"], True),
        (["retry"], ["retry", "budget"], False),  # one word, and not a rare one
        (["gateway"], ["gateway", "retry"], True),  # one word, which is rare
        (["gateway"], ["gateway", "kafka", "budget"], False),  # rare, but too little of what was asked
        (["retry", "queue"], ["retry", "queue", "kafka"], False),  # nobody ever spoke of what was asked
        ([], ["retry"], False),
    ],
)
def test_what_is_told_holds_enough_of_what_was_asked(held: list[str], asked: list[str], tells: bool) -> None:
    assert answers(held, {word: COUNTED[word] for word in asked}, TOTAL) is tells


def test_in_a_small_palace_words_are_not_common_because_every_note_has_them() -> None:
    assert answers(["retry", "budget"], {"retry": 3, "budget": 3}, 3)
    assert worth(3, 3) == worth(3, 1_000) > 0


def test_what_is_far_behind_the_best_is_left_out() -> None:
    told = (b"\0" * 16, "exchange", "user", "", 0, "api", "room", "s", "")
    found = [DrawerHit(row, score, told) for row, score in enumerate((9.0, 3.0, 2.0))]
    for one in found:
        one.held = frozenset(["retry", "budget"])
    assert [one.score for one in filter_hits(found, {"retry": 130, "budget": 20}, TOTAL)] == [9.0, 3.0]
    assert filter_hits([], {}, 0) == []
